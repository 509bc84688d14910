DROP INDEX handled_commands_handled_at_idx;

DELETE FROM outbox WHERE action <> 'send' OR state = 'expired';
ALTER TABLE outbox
    DROP CONSTRAINT outbox_action_check,
    DROP COLUMN action,
    DROP COLUMN callback_query_id,
    DROP COLUMN match_id,
    DROP CONSTRAINT outbox_state_check,
    ADD CONSTRAINT outbox_state_check CHECK (state IN ('planned', 'sending', 'sent', 'dead')),
    DROP CONSTRAINT outbox_finished_check,
    ADD CONSTRAINT outbox_finished_check CHECK ((state IN ('sent', 'dead')) = (finished_at IS NOT NULL));

DROP INDEX elo_history_current_key;
CREATE UNIQUE INDEX elo_history_current_key ON elo_history (match_id, player_id) WHERE superseded_at IS NULL;
UPDATE elo_history SET reason = 'match';
ALTER TABLE elo_history
    DROP COLUMN best_before,
    DROP COLUMN streak_before,
    DROP CONSTRAINT elo_history_reason_check,
    ADD CONSTRAINT elo_history_reason_check CHECK (reason IN ('match')),
    DROP CONSTRAINT elo_history_match_player_fkey,
    ADD CONSTRAINT elo_history_match_player_fkey
        FOREIGN KEY (match_id, player_id) REFERENCES match_players (match_id, player_id);

ALTER TABLE match_players DROP COLUMN place;
DROP TABLE match_messages;
DROP TABLE match_fixes;

DROP INDEX matches_reported_by_idx;
CREATE INDEX matches_reported_by_idx ON matches (reported_by);
ALTER TABLE matches DROP COLUMN sets, DROP COLUMN undone_by;

ALTER TABLE players DROP CONSTRAINT players_identity_check;
-- What a merged player had passes to nobody: a username that no account can have stands for it.
UPDATE players SET username = 'merged ' || id WHERE merged_into IS NOT NULL;
ALTER TABLE players
    DROP COLUMN merged_into,
    ADD CONSTRAINT players_identity_check CHECK (telegram_user_id IS NOT NULL OR username IS NOT NULL);

ALTER TABLE ladders DROP COLUMN uneven_teams_allowed;
