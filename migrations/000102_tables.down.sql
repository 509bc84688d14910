UPDATE handled_commands SET outcome = 'language_changed' WHERE outcome = 'display_changed';
ALTER TABLE handled_commands DROP CONSTRAINT handled_commands_outcome_check;
ALTER TABLE handled_commands ADD CONSTRAINT handled_commands_outcome_check CHECK (outcome IN
    ('recorded', 'undone', 'restored', 'fixed', 'joined', 'rules_changed', 'answered', 'asked', 'refused', 'unanswered', 'language_changed'));
ALTER TABLE chats DROP COLUMN tables;
