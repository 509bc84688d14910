-- A chat that the bot may not write to is tried again, after longer and longer. One that the bot
-- has left (is_active) is not.
ALTER TABLE chats
    -- nothing is sent before this time, because the last request was refused
    ADD COLUMN parked_until timestamptz,
    -- how many requests in a row were refused, counted up to 4
    ADD COLUMN parkings     smallint NOT NULL DEFAULT 0,
    ADD CONSTRAINT chats_parkings_check CHECK (parkings BETWEEN 0 AND 4);
-- chats that were parked for good are tried soon
UPDATE chats SET parked_until = now() WHERE parked_at IS NOT NULL AND is_active;
