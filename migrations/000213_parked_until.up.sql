-- The bot tries again to write to a chat that refused it, after longer and longer pauses. It does
-- not try a chat that it has left (is_active).
ALTER TABLE chats
    -- nothing is sent before this time, because the last request was refused
    ADD COLUMN parked_until timestamptz,
    -- how many requests in a row were refused, counted up to 4
    ADD COLUMN parkings     smallint NOT NULL DEFAULT 0,
    ADD CONSTRAINT chats_parkings_check CHECK (parkings BETWEEN 0 AND 4);
-- chats that were parked for good are tried again soon
UPDATE chats SET parked_until = now() WHERE parked_at IS NOT NULL AND is_active;
