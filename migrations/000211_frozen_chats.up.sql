-- No query looks for frozen chats: the chat of a notice is found by its id.
DROP INDEX chats_frozen_until_idx;
