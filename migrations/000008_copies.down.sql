-- to the release before, what is perhaps sent and not sent again is at an end like what came too late
UPDATE outbox SET state = 'expired' WHERE state = 'uncertain';
-- and it has no words for results that came too late
UPDATE outbox SET state = 'expired', finished_at = now(), supersede_key = NULL, batch = NULL
WHERE kind = 'results_expired' AND finished_at IS NULL;
ALTER TABLE outbox
    DROP CONSTRAINT outbox_finished_check,
    ADD CONSTRAINT outbox_finished_check CHECK ((state IN ('sent', 'dead', 'expired')) = (finished_at IS NOT NULL)),
    DROP CONSTRAINT outbox_state_check,
    ADD CONSTRAINT outbox_state_check CHECK (state IN ('planned', 'sending', 'sent', 'dead', 'expired'));
