UPDATE handled_commands SET outcome = 'rules_changed' WHERE outcome = 'language_changed';
ALTER TABLE handled_commands DROP CONSTRAINT handled_commands_outcome_check;
ALTER TABLE handled_commands ADD CONSTRAINT handled_commands_outcome_check CHECK (outcome IN
    ('recorded', 'undone', 'restored', 'fixed', 'joined', 'rules_changed', 'answered', 'asked', 'refused', 'unanswered'));
ALTER TABLE match_messages DROP COLUMN language;
ALTER TABLE outbox DROP COLUMN language;
ALTER TABLE chats DROP COLUMN language_chosen;
