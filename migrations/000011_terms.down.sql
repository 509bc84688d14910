UPDATE outbox SET kind = 'put_aside' WHERE kind = 'command_failed';
ALTER DOMAIN unchanged RENAME TO as_read;
ALTER DOMAIN as_read RENAME CONSTRAINT unchanged TO as_read;
ALTER TABLE handled_commands RENAME CONSTRAINT handled_commands_rate_class_check TO handled_commands_sort_check;
ALTER TABLE handled_commands RENAME COLUMN rate_class TO sort;
ALTER TABLE match_messages RENAME CONSTRAINT match_messages_covered_check TO match_messages_told_check;
ALTER TABLE match_messages RENAME COLUMN covered TO told;
ALTER TABLE outbox RENAME COLUMN possible_duplicates TO perhaps_sent;
