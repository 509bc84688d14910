-- Each group has a chat again. Telegram has none with such an id.
INSERT INTO chats (telegram_chat_id, kind, title, is_active)
SELECT -9000000000000000000 - g.id, 'group', c.title, false FROM groups g JOIN chats c ON c.id = g.former_chat_id;
UPDATE groups g SET chat_id = c.id, former_chat_id = NULL
FROM chats c WHERE g.former_chat_id IS NOT NULL AND c.telegram_chat_id = -9000000000000000000 - g.id;

DROP INDEX groups_former_chat_id_idx;
ALTER TABLE groups DROP CONSTRAINT groups_chat_check;
ALTER TABLE groups DROP COLUMN former_chat_id;
ALTER TABLE groups ALTER COLUMN chat_id SET NOT NULL;
