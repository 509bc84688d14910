-- the generation of the link of the group's web board: 0 if it was never on, negative while it is off
ALTER TABLE groups ADD COLUMN web_generation integer NOT NULL DEFAULT 0;
