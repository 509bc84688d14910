WITH gone AS (DELETE FROM prompts WHERE kind = 'import' RETURNING id)
DELETE FROM timers WHERE key = ANY (ARRAY(SELECT 't:prompt:' || id FROM gone));
ALTER TABLE prompts DROP CONSTRAINT prompts_kind_check, ADD CONSTRAINT prompts_kind_check CHECK (CASE
    WHEN kind = 'undo' THEN match_id IS NOT NULL AND request IS NULL
    WHEN kind IN ('report', 'wizard', 'which') THEN match_id IS NULL AND request IS NOT NULL
    ELSE false END);
