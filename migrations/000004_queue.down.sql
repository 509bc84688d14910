DROP TABLE ensured_messages;
ALTER TABLE match_messages DROP COLUMN fingerprint, DROP COLUMN told, DROP COLUMN outbox_id;

DROP INDEX dead_letters_last_seen_at_idx, chats_parked_idx, chats_frozen_until_idx;

-- what must be there is a message of its own to the release before
UPDATE outbox SET action = 'send' WHERE action = 'ensure';
DROP INDEX outbox_finished_at_idx, outbox_match_id_idx, outbox_batch_idx, outbox_questions_idx, outbox_supersede_key,
    outbox_waiting_idx;
ALTER TABLE outbox
    DROP CONSTRAINT outbox_counts_check,
    ADD CONSTRAINT outbox_counts_check CHECK (attempts >= 0 AND perhaps_sent >= 0),
    DROP CONSTRAINT outbox_purpose_check,
    DROP CONSTRAINT outbox_action_check,
    ADD CONSTRAINT outbox_action_check CHECK (CASE action
        WHEN 'send' THEN callback_query_id IS NULL
        WHEN 'edit' THEN callback_query_id IS NULL AND match_id IS NOT NULL
        WHEN 'toast' THEN callback_query_id IS NOT NULL AND match_id IS NULL
        ELSE false END),
    DROP COLUMN not_before, DROP COLUMN tried_at, DROP COLUMN failures, DROP COLUMN repeated, DROP COLUMN unnamed,
    DROP COLUMN batch, DROP COLUMN supersede_key, DROP COLUMN object, DROP COLUMN addressee, DROP COLUMN purpose, DROP COLUMN key;
CREATE INDEX outbox_waiting_idx ON outbox (chat_id, id) WHERE state IN ('planned', 'sending');
DROP TABLE leases;
