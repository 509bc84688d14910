DROP INDEX matches_played_at_idx;

DELETE FROM timers WHERE key IN (SELECT 't:prompt:' || id FROM prompts WHERE kind <> 'undo');
DELETE FROM prompts WHERE kind <> 'undo';
ALTER TABLE prompts DROP CONSTRAINT prompts_kind_check;
ALTER TABLE prompts ADD CONSTRAINT prompts_kind_check CHECK (kind IN ('undo'));
ALTER TABLE prompts DROP COLUMN request;
ALTER TABLE prompts ALTER COLUMN match_id SET NOT NULL;
