ALTER TABLE chats DROP COLUMN dark_charts;

ALTER TABLE outbox DROP COLUMN lane;
ALTER TABLE outbox ADD COLUMN lane smallint NOT NULL GENERATED ALWAYS AS (CASE
    WHEN deferred_at IS NOT NULL THEN 3 WHEN action = 'callback_answer' THEN 1 WHEN action = 'page' THEN 2 ELSE 0 END) STORED;
CREATE INDEX outbox_waiting_idx ON outbox (chat_id, lane, id) WHERE finished_at IS NULL;
CREATE INDEX outbox_questions_idx ON outbox (chat_id, lane) WHERE finished_at IS NULL AND purpose = 'answer';
DROP INDEX outbox_deferred_idx;
CREATE INDEX outbox_deferred_idx ON outbox (deferred_at) WHERE deferred_at IS NOT NULL AND finished_at IS NULL;

DROP TABLE boards;
