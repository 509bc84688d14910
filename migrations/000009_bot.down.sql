DROP INDEX outbox_toasts_finished_at_idx;

UPDATE handled_commands SET sender = NULL, sent_at = NULL, sort = NULL WHERE sort = 'press';
ALTER TABLE handled_commands
    DROP CONSTRAINT handled_commands_sort_check,
    ADD CONSTRAINT handled_commands_sort_check CHECK (sort IN ('question', 'slowed', 'result', 'refused'));

DROP TABLE bot;
