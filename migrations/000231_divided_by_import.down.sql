ALTER TABLE imports DROP COLUMN divided;
