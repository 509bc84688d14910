-- the number of days without a match after which the ladder's ranking hides a player; 0 for never
ALTER TABLE ladders
    ADD COLUMN hide_days smallint NOT NULL DEFAULT 60,
    ADD CONSTRAINT ladders_hide_days_check CHECK (hide_days BETWEEN 0 AND 3650);
