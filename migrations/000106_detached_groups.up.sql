-- A group without a chat: its chat turned out to be that of another group, because Telegram gave it a new id, and the other group
-- has more matches. Nobody sees it, but its matches stay.
ALTER TABLE groups ALTER COLUMN chat_id DROP NOT NULL;
-- the chat that it had
ALTER TABLE groups ADD COLUMN former_chat_id bigint;
ALTER TABLE groups ADD CONSTRAINT groups_former_chat_id_fkey FOREIGN KEY (former_chat_id) REFERENCES chats (id);
ALTER TABLE groups ADD CONSTRAINT groups_chat_check CHECK (num_nonnulls(chat_id, former_chat_id) = 1);
CREATE INDEX groups_former_chat_id_idx ON groups (former_chat_id) WHERE former_chat_id IS NOT NULL;

-- an earlier release appended the matches of one group to those of the other one, and said so
DELETE FROM outbox WHERE kind = 'groups_merged' AND finished_at IS NULL;
