CREATE INDEX chats_frozen_until_idx ON chats (frozen_until) WHERE frozen_until IS NOT NULL;
