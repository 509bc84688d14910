ALTER TABLE ladders DROP COLUMN place_matches;
