-- An admin chose the language. Before that it is that of whoever added the bot.
ALTER TABLE chats ADD COLUMN language_chosen boolean NOT NULL DEFAULT false;

-- The language of a message that one person alone reads; null for that of the chat.
ALTER TABLE outbox ADD COLUMN language text;

-- The language that the message was sent in, which its edits use too; null for that of the chat.
ALTER TABLE match_messages ADD COLUMN language text;

ALTER TABLE handled_commands DROP CONSTRAINT handled_commands_outcome_check;
ALTER TABLE handled_commands ADD CONSTRAINT handled_commands_outcome_check CHECK (outcome IN
    ('recorded', 'undone', 'restored', 'fixed', 'joined', 'rules_changed', 'answered', 'asked', 'refused', 'unanswered', 'language_changed'));
