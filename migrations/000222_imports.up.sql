-- what the idempotency keys of imported matches are made of: a secret of the group that nothing exports. The first
-- import creates it
ALTER TABLE groups ADD COLUMN import_secret uuid;
-- the files of results that were imported; the matches of each have consecutive numbers
CREATE TABLE imports (
    group_id     bigint NOT NULL,
    number       integer NOT NULL,
    ladder_id    bigint NOT NULL,
    first_match  integer NOT NULL,
    matches      integer NOT NULL,
    -- the standings of people who had none in the season before
    standings    bigint[] NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    -- since when its matches are gone, because it was taken back
    undone_at    timestamptz,
    CONSTRAINT imports_pkey PRIMARY KEY (group_id, number),
    CONSTRAINT imports_ladder_id_fkey FOREIGN KEY (group_id, ladder_id) REFERENCES ladders (group_id, id),
    CONSTRAINT imports_number_check CHECK (number >= 1),
    CONSTRAINT imports_matches_check CHECK (first_match >= 1 AND matches >= 1)
);
