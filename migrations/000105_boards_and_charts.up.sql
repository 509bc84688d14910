-- The board of a group: a message that always shows the ranking.
CREATE TABLE boards (
    chat_id      bigint NOT NULL,
    -- the forum topic of the message, null for none
    thread_id    bigint,
    turned_on_at timestamptz NOT NULL DEFAULT now(),
    -- wanted: to be pinned; pinned: was pinned once, and who unpins it means it; refused: the bot may not, and has said so
    pin          text NOT NULL DEFAULT 'wanted',
    CONSTRAINT boards_pkey PRIMARY KEY (chat_id),
    CONSTRAINT boards_chat_id_fkey FOREIGN KEY (chat_id) REFERENCES chats (id),
    CONSTRAINT boards_thread_id_check CHECK (thread_id > 0),
    CONSTRAINT boards_pin_check CHECK (pin IN ('wanted', 'pinned', 'refused'))
);

-- Messages that exist once have a lane of their own. The expression of a generated column cannot be changed, so the column is made
-- again, and with it the indexes that contain it.
ALTER TABLE outbox DROP COLUMN lane;
-- which of the chat's queues it is in; the values are those of outbox.LaneKind, and 3 for rows that are set aside
ALTER TABLE outbox ADD COLUMN lane smallint NOT NULL GENERATED ALWAYS AS (CASE
    WHEN deferred_at IS NOT NULL THEN 3 WHEN action = 'callback_answer' THEN 1 WHEN action = 'page' THEN 2 WHEN action = 'ensure' THEN 4
    ELSE 0 END) STORED;
CREATE INDEX outbox_waiting_idx ON outbox (chat_id, lane, id) WHERE finished_at IS NULL;
CREATE INDEX outbox_questions_idx ON outbox (chat_id, lane) WHERE finished_at IS NULL AND purpose = 'answer';
-- In an empty table, all indexes cost the same, and the newest is chosen: what was set aside must not be looked for among all that waits.
DROP INDEX outbox_deferred_idx;
CREATE INDEX outbox_deferred_idx ON outbox (deferred_at) WHERE deferred_at IS NOT NULL AND finished_at IS NULL;

-- Charts are light where nobody has chosen otherwise.
ALTER TABLE chats ADD COLUMN dark_charts boolean NOT NULL DEFAULT false;
