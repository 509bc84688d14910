ALTER TABLE outbox
    -- uncertain: perhaps sent so often that it is not sent again
    DROP CONSTRAINT outbox_state_check,
    ADD CONSTRAINT outbox_state_check CHECK (state IN ('planned', 'sending', 'sent', 'dead', 'expired', 'uncertain')),
    DROP CONSTRAINT outbox_finished_check,
    ADD CONSTRAINT outbox_finished_check
        CHECK ((state IN ('sent', 'dead', 'expired', 'uncertain')) = (finished_at IS NOT NULL));

-- Edits that wait have had no deadline so far.
UPDATE outbox SET expires_at = now() + interval '7 days'
WHERE action = 'edit' AND finished_at IS NULL AND expires_at IS NULL;
