-- Which bot the database belongs to. Its chats, messages and buttons are that bot's: another one reaches none of them.
CREATE TABLE bot (
    only_one         boolean NOT NULL DEFAULT true,
    telegram_user_id bigint NOT NULL,
    CONSTRAINT bot_pkey PRIMARY KEY (only_one),
    CONSTRAINT bot_only_one_check CHECK (only_one),
    CONSTRAINT bot_telegram_user_id_check CHECK (telegram_user_id > 0)
);

-- press: the press of a button that changes nothing
ALTER TABLE handled_commands
    DROP CONSTRAINT handled_commands_sort_check,
    ADD CONSTRAINT handled_commands_sort_check CHECK (sort IN ('question', 'slowed', 'result', 'refused', 'press'));

-- Answers to presses are of no use once they are shown, and are purged first.
CREATE INDEX outbox_toasts_finished_at_idx ON outbox (finished_at) WHERE action = 'toast' AND finished_at IS NOT NULL;
