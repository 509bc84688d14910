ALTER TABLE sightings DROP COLUMN former;
