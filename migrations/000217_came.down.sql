ALTER TABLE sightings DROP COLUMN came;
