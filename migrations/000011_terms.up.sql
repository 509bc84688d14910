-- Columns go by the terms that the rest of elobot uses.
ALTER TABLE outbox RENAME COLUMN perhaps_sent TO possible_duplicates;
ALTER TABLE match_messages RENAME COLUMN told TO covered;
ALTER TABLE match_messages RENAME CONSTRAINT match_messages_told_check TO match_messages_covered_check;
ALTER TABLE handled_commands RENAME COLUMN sort TO rate_class;
ALTER TABLE handled_commands RENAME CONSTRAINT handled_commands_sort_check TO handled_commands_rate_class_check;
ALTER DOMAIN as_read RENAME CONSTRAINT as_read TO unchanged;
ALTER DOMAIN as_read RENAME TO unchanged;
UPDATE outbox SET kind = 'command_failed' WHERE kind = 'put_aside';
