-- report: what a report means, or whether it counts at all; wizard: the parts of a result, one after the other; which: the match to
-- be undone
ALTER TABLE prompts ALTER COLUMN match_id DROP NOT NULL;
-- what a prompt asks about that is no match yet
ALTER TABLE prompts ADD COLUMN request jsonb;
ALTER TABLE prompts DROP CONSTRAINT prompts_kind_check;
ALTER TABLE prompts ADD CONSTRAINT prompts_kind_check CHECK (CASE
    WHEN kind = 'undo' THEN match_id IS NOT NULL AND request IS NULL
    WHEN kind IN ('report', 'wizard', 'which') THEN match_id IS NULL AND request IS NOT NULL
    ELSE false END);

-- what was reported at about the same time
CREATE INDEX matches_played_at_idx ON matches (group_id, played_at);
