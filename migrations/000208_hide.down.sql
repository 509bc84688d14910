ALTER TABLE ladders DROP COLUMN hide_days;
