-- A guest is a person without Telegram: a player of a group with neither an account nor a username.
ALTER TABLE players DROP CONSTRAINT players_identity_check;
ALTER TABLE players ADD CONSTRAINT players_identity_check CHECK (CASE
    WHEN merged_into IS NOT NULL
        THEN telegram_user_id IS NULL AND group_id IS NULL AND username IS NULL AND merged_into <> id
    WHEN telegram_user_id IS NOT NULL THEN group_id IS NULL
    ELSE group_id IS NOT NULL END);
-- the name of a guest, without differences of case, dots and accents that do not matter
ALTER TABLE players ADD COLUMN folded text COLLATE "C";
ALTER TABLE players ADD CONSTRAINT players_folded_check
    CHECK (folded IS NULL OR folded <> '' AND telegram_user_id IS NULL AND username IS NULL);
CREATE UNIQUE INDEX players_guest_key ON players (group_id, folded) WHERE folded IS NOT NULL;

-- A sighting is now all that a group knows of a player. The group may know something of a player whom it has never seen.
ALTER TABLE sightings ALTER COLUMN seen_at DROP NOT NULL;
-- what the group calls the player, instead of the name that Telegram shows
ALTER TABLE sightings ADD COLUMN nick text;
ALTER TABLE sightings ADD CONSTRAINT sightings_nick_check CHECK (char_length(nick) BETWEEN 1 AND 32);
-- since when the player does not take part in the group's rankings, by their own wish or an admin's
ALTER TABLE sightings ADD COLUMN out_at timestamptz;
-- the player for whom this one counts in the group, null for itself
ALTER TABLE sightings ADD COLUMN counts_as bigint;
ALTER TABLE sightings ADD CONSTRAINT sightings_counts_as_fkey FOREIGN KEY (counts_as) REFERENCES players (id);
ALTER TABLE sightings ADD CONSTRAINT sightings_counts_as_check CHECK (counts_as <> player_id);
-- who counts as another player
CREATE INDEX sightings_counts_as_idx ON sightings (group_id, counts_as) WHERE counts_as IS NOT NULL;

-- who was named, if that player counts as the player player_id; null if they are the same
ALTER TABLE match_players ADD COLUMN named_id bigint;
ALTER TABLE match_players ADD CONSTRAINT match_players_named_id_fkey FOREIGN KEY (named_id) REFERENCES players (id);
-- whose standing it is, if that player counts as the player player_id, who had none; null if they are the same. A
-- standing of a player who counts as another one with a standing is kept, without matches, with named_id = player_id.
ALTER TABLE group_players ADD COLUMN named_id bigint;
ALTER TABLE group_players ADD CONSTRAINT group_players_named_id_fkey FOREIGN KEY (named_id) REFERENCES players (id);
