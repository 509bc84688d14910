-- whether the import made the seasons of its ladder, so that taking it back joins them
ALTER TABLE imports ADD COLUMN divided boolean NOT NULL DEFAULT false;
