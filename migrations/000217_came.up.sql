-- the person has sent a command or pressed a button in the group, so that they stay where no match of theirs counts
ALTER TABLE sightings ADD COLUMN came boolean NOT NULL DEFAULT true;
