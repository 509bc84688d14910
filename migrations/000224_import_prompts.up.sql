-- import: what an import of a file leaves open
ALTER TABLE prompts DROP CONSTRAINT prompts_kind_check, ADD CONSTRAINT prompts_kind_check CHECK (CASE
    WHEN kind = 'undo' THEN match_id IS NOT NULL AND request IS NULL
    WHEN kind IN ('report', 'wizard', 'which', 'import') THEN match_id IS NULL AND request IS NOT NULL
    ELSE false END);
