-- Rankings and standings are sent as tables, which old apps do not show.
ALTER TABLE chats ADD COLUMN tables boolean NOT NULL DEFAULT false;

ALTER TABLE handled_commands DROP CONSTRAINT handled_commands_outcome_check;
ALTER TABLE handled_commands ADD CONSTRAINT handled_commands_outcome_check CHECK (outcome IN
    ('recorded', 'undone', 'restored', 'fixed', 'joined', 'rules_changed', 'answered', 'asked', 'refused', 'unanswered',
     'language_changed', 'display_changed'));
