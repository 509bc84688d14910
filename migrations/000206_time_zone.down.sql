ALTER TABLE chats DROP COLUMN time_zone;
