-- Only the default ladder of a group can be seen then. The others stay as they are, under their ids.
UPDATE elo_history SET reason = 'fix' WHERE reason = 'move';
ALTER TABLE elo_history
    DROP CONSTRAINT elo_history_reason_check,
    ADD CONSTRAINT elo_history_reason_check CHECK (reason IN ('match', 'undo', 'restore', 'fix', 'merge', 'repair'));

DROP INDEX matches_ladder_id_number_idx;
DROP INDEX matches_played_at_idx;
CREATE INDEX matches_played_at_idx ON matches (group_id, played_at);

DROP TABLE match_moves;

DELETE FROM boards b WHERE NOT EXISTS (SELECT FROM ladders l WHERE l.id = b.ladder_id AND l.is_default);
DELETE FROM ensured_messages m WHERE starts_with(object, 'board:') AND NOT EXISTS (
    SELECT FROM boards b WHERE b.chat_id = m.chat_id AND m.object = 'board:' || b.ladder_id || coalesce(':' || b.thread_id, ''));
UPDATE ensured_messages SET object = regexp_replace(object, '^board:[0-9]+', 'board') WHERE starts_with(object, 'board:');
UPDATE outbox SET state = 'expired', finished_at = now(), last_error = 'boards belong to chats', supersede_key = NULL
    WHERE action = 'ensure' AND finished_at IS NULL;
DROP INDEX boards_chat_id_idx;
ALTER TABLE boards DROP CONSTRAINT boards_pkey, DROP COLUMN ladder_id, ADD CONSTRAINT boards_pkey PRIMARY KEY (chat_id);

DROP TABLE topics;

DROP INDEX ladders_name_key;
ALTER TABLE ladders DROP COLUMN name, DROP COLUMN archived_at;
