DROP INDEX players_added_by_idx;
ALTER TABLE players DROP COLUMN added_by;
ALTER TABLE sightings DROP COLUMN ignored_at;
ALTER TABLE ladders DROP COLUMN only_joined, DROP COLUMN reporters;
