-- Parked chats stay parked until they send something.
ALTER TABLE chats DROP COLUMN parked_until, DROP COLUMN parkings;
