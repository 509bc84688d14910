-- The earlier ids of chats are lost: to the release before, what still comes by one of them
-- comes from a new chat.
DROP TRIGGER chats_no_alias ON chats;
DROP TABLE chat_aliases;
DROP FUNCTION require_one_chat();
