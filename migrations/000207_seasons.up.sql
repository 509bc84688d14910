-- A ladder has seasons, and standings belong to one. Before a group starts another one, all is season 1.
CREATE TABLE seasons (
    id        bigint GENERATED ALWAYS AS IDENTITY,
    group_id  bigint NOT NULL,
    ladder_id bigint NOT NULL,
    -- 1, 2, 3 … in its ladder
    number    integer NOT NULL,
    -- null if nobody has named it
    name      text,
    -- the instant from which on messages report its matches; null for the first one
    starts_at timestamptz,
    -- the instant from which on they do not any more; null if it goes on until an admin ends it
    ends_at   timestamptz,
    -- how many matches gave a place when it ended; null while it goes on
    place_matches integer,
    -- whether people began the next season half-way back to the start rating; null while it goes on
    halfway boolean,
    CONSTRAINT seasons_pkey PRIMARY KEY (id),
    CONSTRAINT seasons_ladder_id_number_key UNIQUE (ladder_id, number),
    -- lets a match prove that its season belongs to its ladder, and that to its group
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
    -- the season that goes on, the last one
    ADD COLUMN season_id bigint,
    -- people begin a season half-way between the rating with which they ended the one before and the start rating
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
    -- the season has the ladder, and the ladder the group
    ADD CONSTRAINT matches_season_id_fkey FOREIGN KEY (group_id, ladder_id, season_id) REFERENCES seasons (group_id, ladder_id, id);
