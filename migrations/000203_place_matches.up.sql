-- how many matches give a player a place in the ladder's ranking
ALTER TABLE ladders
    ADD COLUMN place_matches integer NOT NULL DEFAULT 3,
    ADD CONSTRAINT ladders_place_matches_check CHECK (place_matches BETWEEN 1 AND 100);
