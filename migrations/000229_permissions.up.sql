-- who reports matches: 0 anybody, 1 those who played, 2 admins
ALTER TABLE ladders ADD COLUMN reporters smallint NOT NULL DEFAULT 0;
ALTER TABLE ladders ADD CONSTRAINT ladders_reporters_check CHECK (reporters BETWEEN 0 AND 2);
-- whether reports name only people who have joined
ALTER TABLE ladders ADD COLUMN only_joined boolean NOT NULL DEFAULT false;

-- since when the group's admins have the bot refuse the reports and presses of this account
ALTER TABLE sightings ADD COLUMN ignored_at timestamptz;

-- the account that first named the player, null for the account of the player
ALTER TABLE players ADD COLUMN added_by bigint;
-- how many people an account has added in a day
CREATE INDEX players_added_by_idx ON players (added_by, created_at) WHERE added_by IS NOT NULL;
