-- Nothing looks for frozen chats: a chat that is to get something is found by its id.
DROP INDEX chats_frozen_until_idx;
