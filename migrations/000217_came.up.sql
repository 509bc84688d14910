-- the person has sent a command or pressed a button in the group, so their player stays even if
-- none of its matches counts
ALTER TABLE sightings ADD COLUMN came boolean NOT NULL DEFAULT true;
