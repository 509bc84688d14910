-- the zone in which days and months begin for the chat, and in which it is shown dates: an IANA name
ALTER TABLE chats
    ADD COLUMN time_zone text NOT NULL DEFAULT 'UTC',
    ADD CONSTRAINT chats_time_zone_check CHECK (char_length(time_zone) BETWEEN 1 AND 64);
