-- Rows that a summary stands for have ended; the batch of each is the row of the summary.
ALTER TABLE outbox DROP COLUMN unnamed;
UPDATE outbox SET kind = 'results_summary', payload = payload || '{"results": [], "answers": 0}', alone = true
WHERE kind = 'results_expired' AND finished_at IS NULL;
-- what ends where too many rows wait is found among the first rows of the lane
DROP INDEX outbox_questions_idx;
