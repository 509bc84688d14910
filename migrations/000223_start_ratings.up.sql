-- an import of start ratings has no matches
ALTER TABLE imports DROP CONSTRAINT imports_matches_check,
    ADD CONSTRAINT imports_matches_check CHECK (first_match >= 1 AND matches >= 0);
-- the start ratings that imports have set. A standing may be gone since
CREATE TABLE start_ratings (
    group_id     bigint NOT NULL,
    import       integer NOT NULL,
    standing_id  bigint NOT NULL,
    old_start    integer NOT NULL,
    new_start    integer NOT NULL,
    CONSTRAINT start_ratings_pkey PRIMARY KEY (group_id, import, standing_id),
    CONSTRAINT start_ratings_import_fkey FOREIGN KEY (group_id, import) REFERENCES imports (group_id, number),
    CONSTRAINT start_ratings_check CHECK (old_start BETWEEN 0 AND 10000 AND new_start BETWEEN 0 AND 10000)
);
