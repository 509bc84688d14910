-- Chats that are parked are so until they send something.
ALTER TABLE chats DROP COLUMN parked_until, DROP COLUMN parkings;
