DROP DOMAIN lease_held;
DROP DOMAIN as_read;

DROP INDEX handled_commands_sender_idx;
ALTER TABLE handled_commands
    DROP CONSTRAINT handled_commands_sender_check,
    DROP CONSTRAINT handled_commands_sort_check,
    DROP COLUMN sort, DROP COLUMN sent_at, DROP COLUMN sender;

DROP INDEX group_players_ranking_idx;
ALTER TABLE group_players DROP COLUMN left_at;
CREATE INDEX group_players_ranking_idx ON group_players (ladder_id, elo DESC, id) WHERE played > 0;

ALTER TABLE chats DROP COLUMN added_at, DROP COLUMN greeted_at, DROP COLUMN is_active;
