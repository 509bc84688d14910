-- after how many days without a match the ladder's ranking leaves a player out; 0 for never
ALTER TABLE ladders
    ADD COLUMN hide_days smallint NOT NULL DEFAULT 60,
    ADD CONSTRAINT ladders_hide_days_check CHECK (hide_days BETWEEN 0 AND 3650);
