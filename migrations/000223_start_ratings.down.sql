-- the standings keep their start ratings
DROP TABLE start_ratings;
DELETE FROM imports WHERE matches = 0;
ALTER TABLE imports DROP CONSTRAINT imports_matches_check,
    ADD CONSTRAINT imports_matches_check CHECK (first_match >= 1 AND matches >= 1);
