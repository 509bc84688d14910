-- A ladder has seasons, and each standing belongs to a season. All existing data becomes season 1.
CREATE TABLE seasons (
    id        bigint GENERATED ALWAYS AS IDENTITY,
    group_id  bigint NOT NULL,
    ladder_id bigint NOT NULL,
    -- 1, 2, 3 … in its ladder
    number    integer NOT NULL,
    -- null if the season has no name
    name      text,
    -- when the season starts, inclusive; null for the first season
    starts_at timestamptz,
    -- when the season ends, exclusive; null if only an admin can end it
    ends_at   timestamptz,
    -- the number of matches needed for a place when the season ended; null for the current season
    place_matches integer,
    -- whether players began the next season halfway back to the start rating; null for the current
    -- season
    halfway boolean,
    CONSTRAINT seasons_pkey PRIMARY KEY (id),
    CONSTRAINT seasons_ladder_id_number_key UNIQUE (ladder_id, number),
    -- lets a match prove that its season belongs to its ladder, and its ladder to its group
    CONSTRAINT seasons_group_id_ladder_id_id_key UNIQUE (group_id, ladder_id, id),
    CONSTRAINT seasons_ladder_id_fkey FOREIGN KEY (group_id, ladder_id) REFERENCES ladders (group_id, id) ON DELETE CASCADE,
    CONSTRAINT seasons_number_check CHECK (number >= 1 AND (number = 1) = (starts_at IS NULL)),
    CONSTRAINT seasons_name_check CHECK (char_length(name) BETWEEN 1 AND 32),
    CONSTRAINT seasons_ends_at_check CHECK (ends_at > starts_at)
);
-- the first season of a ladder has the id of the ladder, so that standings need not change
INSERT INTO seasons (id, group_id, ladder_id, number) OVERRIDING SYSTEM VALUE SELECT id, group_id, id, 1 FROM ladders;
SELECT setval('seasons_id_seq', coalesce(max(id), 1), max(id) IS NOT NULL) FROM seasons;

ALTER TABLE ladders
    -- the current season, which is the last one
    ADD COLUMN season_id bigint,
    -- players begin a season halfway between the start rating and their rating at the end of the
    -- previous season
    ADD COLUMN season_halfway boolean NOT NULL DEFAULT false;
UPDATE ladders SET season_id = id;
ALTER TABLE ladders
    ALTER season_id SET NOT NULL,
    -- a new ladder and its first season refer to each other
    ADD CONSTRAINT ladders_season_id_fkey FOREIGN KEY (group_id, id, season_id) REFERENCES seasons (group_id, ladder_id, id)
        DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE group_players RENAME ladder_id TO season_id;
ALTER TABLE group_players
    DROP CONSTRAINT group_players_ladder_id_fkey,
    ADD CONSTRAINT group_players_season_id_fkey FOREIGN KEY (season_id) REFERENCES seasons (id);
ALTER TABLE group_players RENAME CONSTRAINT group_players_ladder_id_player_id_key TO group_players_season_id_player_id_key;

ALTER TABLE matches ADD COLUMN season_id bigint;
UPDATE matches SET season_id = ladder_id;
ALTER TABLE matches
    ALTER season_id SET NOT NULL,
    DROP CONSTRAINT matches_ladder_id_fkey,
    -- the season belongs to the ladder, and the ladder to the group
    ADD CONSTRAINT matches_season_id_fkey FOREIGN KEY (group_id, ladder_id, season_id) REFERENCES seasons (group_id, ladder_id, id);
