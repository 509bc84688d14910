CREATE INDEX outbox_questions_idx ON outbox (chat_id, lane) WHERE finished_at IS NULL AND purpose = 'answer';
UPDATE outbox SET kind = 'results_expired', payload = jsonb_build_object('count', payload -> 'count'), alone = false
WHERE kind = 'results_summary' AND finished_at IS NULL;
ALTER TABLE outbox ADD COLUMN unnamed boolean NOT NULL DEFAULT false;
