-- The exclusive right to do what exactly one instance must do. Each holder has an epoch of its own, and what it writes is
-- written on condition that the epoch is still the one of the row, held FOR KEY SHARE.
CREATE TABLE leases (
    name       text NOT NULL,
    holder     text NOT NULL,
    epoch      bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT leases_pkey PRIMARY KEY (name),
    -- makes a change of the epoch, and nothing else, wait for whoever holds the row FOR KEY SHARE
    CONSTRAINT leases_name_epoch_key UNIQUE (name, epoch),
    CONSTRAINT leases_epoch_check CHECK (epoch >= 1)
);

ALTER TABLE outbox
    -- the idempotency key of the command that it comes from, for whoever follows a command through the log
    ADD COLUMN key text NOT NULL DEFAULT '',
    -- outcome: what came of a command; answer: to a question; notification: for people who have not asked
    ADD COLUMN purpose text NOT NULL DEFAULT 'outcome',
    -- whom it answers, by name, for a message that answers several people
    ADD COLUMN addressee text NOT NULL DEFAULT '',
    -- what exists once in the chat, for the action ensure
    ADD COLUMN object text,
    -- a newer row with the same key takes the place of this one; null as soon as it has been tried
    ADD COLUMN supersede_key text,
    -- the first row of the message that tells several, while it is being sent and afterwards; null in all others
    ADD COLUMN batch bigint,
    -- the message that tells several does not name this one: it says how many there are
    ADD COLUMN unnamed boolean NOT NULL DEFAULT false,
    -- the request under way repeats one whose outcome is unknown
    ADD COLUMN repeated boolean NOT NULL DEFAULT false,
    -- failed requests that count against the row
    ADD COLUMN failures integer NOT NULL DEFAULT 0,
    -- when the last request began
    ADD COLUMN tried_at timestamptz,
    -- no request before this moment
    ADD COLUMN not_before timestamptz,
    DROP CONSTRAINT outbox_action_check,
    ADD CONSTRAINT outbox_action_check CHECK (CASE action
        WHEN 'send' THEN callback_query_id IS NULL
        WHEN 'edit' THEN callback_query_id IS NULL AND match_id IS NOT NULL
        WHEN 'toast' THEN callback_query_id IS NOT NULL AND match_id IS NULL
        WHEN 'ensure' THEN callback_query_id IS NULL AND object IS NOT NULL
        ELSE false END),
    ADD CONSTRAINT outbox_purpose_check CHECK (purpose IN ('outcome', 'answer', 'notification')),
    DROP CONSTRAINT outbox_counts_check,
    ADD CONSTRAINT outbox_counts_check CHECK (attempts >= 0 AND perhaps_sent >= 0 AND failures >= 0);

-- The row that has told a match says what its card is to say by now, whatever the edits of it have come to.
UPDATE outbox o SET payload = e.payload
FROM (SELECT DISTINCT ON (match_id) match_id, kind, payload FROM outbox WHERE action = 'edit' ORDER BY match_id, id DESC) e
WHERE o.match_id = e.match_id AND o.kind = e.kind AND o.action = 'send';

-- What waits, lane by lane. None of the indexes names the state, so that marking a row as being sent by itself touches none.
DROP INDEX outbox_waiting_idx;
CREATE INDEX outbox_waiting_idx ON outbox (chat_id, (action = 'toast'), id) WHERE finished_at IS NULL;
CREATE UNIQUE INDEX outbox_supersede_key ON outbox (chat_id, supersede_key) WHERE supersede_key IS NOT NULL;
-- what ends first where too much waits
CREATE INDEX outbox_questions_idx ON outbox (chat_id, (action = 'toast')) WHERE finished_at IS NULL AND purpose = 'answer';
CREATE INDEX outbox_batch_idx ON outbox (batch, id) WHERE batch IS NOT NULL;
-- what tells of a match, for who changes what there is to be told
CREATE INDEX outbox_match_id_idx ON outbox (match_id) WHERE match_id IS NOT NULL;
-- what was sent lately, which counts against the limits, and what is old enough to go
CREATE INDEX outbox_finished_at_idx ON outbox (finished_at) WHERE finished_at IS NOT NULL;

-- For the figures, and for the purge of what waits in vain.
CREATE INDEX chats_frozen_until_idx ON chats (frozen_until) WHERE frozen_until IS NOT NULL;
CREATE INDEX chats_parked_idx ON chats (id) WHERE parked_at IS NOT NULL;
CREATE INDEX dead_letters_last_seen_at_idx ON dead_letters (last_seen_at);

ALTER TABLE match_messages
    -- the row of the outbox that has told it, as long as it is kept
    ADD COLUMN outbox_id bigint,
    -- how many items the message tells, this one included
    ADD COLUMN told integer NOT NULL DEFAULT 1,
    -- of what the message says; empty when it is not known
    ADD COLUMN fingerprint text NOT NULL DEFAULT '',
    ADD CONSTRAINT match_messages_told_check CHECK (told >= 1);
UPDATE match_messages mm SET outbox_id = o.id
FROM outbox o JOIN chats c ON c.id = o.chat_id
WHERE o.match_id = mm.match_id AND o.action = 'send' AND o.telegram_message_id = mm.telegram_message_id
  AND c.telegram_chat_id = mm.telegram_chat_id;

-- The messages that exist once in a chat and are kept up to date.
CREATE TABLE ensured_messages (
    chat_id             bigint NOT NULL,
    object              text NOT NULL,
    telegram_message_id bigint NOT NULL,
    fingerprint         text NOT NULL,
    CONSTRAINT ensured_messages_pkey PRIMARY KEY (chat_id, object),
    CONSTRAINT ensured_messages_chat_id_fkey FOREIGN KEY (chat_id) REFERENCES chats (id),
    CONSTRAINT ensured_messages_message_check CHECK (telegram_message_id > 0)
);
