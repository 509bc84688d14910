-- Taking results back: undo, fix, the merging of people who turn out to be one, and what it takes to replay a ladder.

-- Whether sides may differ in size.
ALTER TABLE ladders ADD COLUMN uneven_teams_allowed boolean NOT NULL DEFAULT false;

-- A merged player is the same person as another one: everything that counts belongs to that one. The row stays for the
-- matches that the two seem to have played against each other.
ALTER TABLE players ADD COLUMN merged_into bigint;
ALTER TABLE players DROP CONSTRAINT players_identity_check;
ALTER TABLE players
    ADD CONSTRAINT players_merged_into_fkey FOREIGN KEY (merged_into) REFERENCES players (id),
    ADD CONSTRAINT players_identity_check CHECK (CASE WHEN merged_into IS NULL
        THEN telegram_user_id IS NOT NULL OR username IS NOT NULL
        ELSE telegram_user_id IS NULL AND username IS NULL AND merged_into <> id END);

ALTER TABLE matches
    -- the points of each set, as {{11,7},{9,11}}; the score counts the sets then
    ADD COLUMN sets smallint[],
    -- null when an anonymous admin has undone it, or the merging of two players
    ADD COLUMN undone_by bigint,
    ADD CONSTRAINT matches_undone_by_fkey FOREIGN KEY (undone_by) REFERENCES players (id),
    ADD CONSTRAINT matches_undone_by_check CHECK (undone_by IS NULL OR undone_at IS NOT NULL),
    ADD CONSTRAINT matches_sets_check CHECK (sets IS NULL OR
        (array_ndims(sets) = 2 AND array_length(sets, 1) BETWEEN 2 AND 25 AND array_length(sets, 2) = 2
         AND 0 <= ALL (sets) AND 999 >= ALL (sets)) IS TRUE);
-- the last match that somebody has reported in a group
DROP INDEX matches_reported_by_idx;
CREATE INDEX matches_reported_by_idx ON matches (reported_by, group_id, number);

-- The order in which the players of a match were named.
ALTER TABLE match_players
    ADD COLUMN place smallint NOT NULL DEFAULT 1,
    ADD CONSTRAINT match_players_place_check CHECK (place >= 1);

-- The corrections of scores: what a match said before and what it has said since.
CREATE TABLE match_fixes (
    id          bigint GENERATED ALWAYS AS IDENTITY,
    match_id    bigint NOT NULL,
    old_score_a integer NOT NULL,
    old_score_b integer NOT NULL,
    old_sets    smallint[],
    new_score_a integer NOT NULL,
    new_score_b integer NOT NULL,
    new_sets    smallint[],
    -- null when an anonymous admin has fixed it
    fixed_by    bigint,
    fixed_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT match_fixes_pkey PRIMARY KEY (id),
    CONSTRAINT match_fixes_match_id_fkey FOREIGN KEY (match_id) REFERENCES matches (id),
    CONSTRAINT match_fixes_fixed_by_fkey FOREIGN KEY (fixed_by) REFERENCES players (id),
    CONSTRAINT match_fixes_score_check CHECK (old_score_a BETWEEN 0 AND 999 AND old_score_b BETWEEN 0 AND 999
        AND new_score_a BETWEEN 0 AND 999 AND new_score_b BETWEEN 0 AND 999),
    CONSTRAINT match_fixes_change_check CHECK ((old_score_a, old_score_b, old_sets)
        IS DISTINCT FROM (new_score_a, new_score_b, new_sets))
);
CREATE INDEX match_fixes_match_id_idx ON match_fixes (match_id);

-- Which messages tell of a match. They go by Telegram's id of the chat as it was when they were sent: in a group that
-- is upgraded the ids of messages begin anew.
CREATE TABLE match_messages (
    telegram_chat_id    bigint NOT NULL,
    telegram_message_id bigint NOT NULL,
    match_id            bigint NOT NULL,
    CONSTRAINT match_messages_pkey PRIMARY KEY (telegram_chat_id, telegram_message_id, match_id),
    CONSTRAINT match_messages_match_id_fkey FOREIGN KEY (match_id) REFERENCES matches (id),
    CONSTRAINT match_messages_message_check CHECK (telegram_message_id > 0)
);
CREATE INDEX match_messages_match_id_idx ON match_messages (match_id);

-- The history says of each match how a standing was before it in all that cannot be reckoned backwards, so that a replay
-- can begin anywhere.
ALTER TABLE elo_history
    ADD COLUMN best_before integer,
    ADD COLUMN streak_before integer,
    DROP CONSTRAINT elo_history_reason_check,
    ADD CONSTRAINT elo_history_reason_check CHECK (reason IN ('match', 'undo', 'fix', 'merge', 'repair')),
    -- a merged player's part in a match passes to the other player, and its history with it
    DROP CONSTRAINT elo_history_match_player_fkey,
    ADD CONSTRAINT elo_history_match_player_fkey FOREIGN KEY (match_id, player_id)
        REFERENCES match_players (match_id, player_id) ON UPDATE CASCADE;
-- one current entry for each part in a match, and a way to all of them
DROP INDEX elo_history_current_key;
CREATE UNIQUE INDEX elo_history_current_key ON elo_history (match_id, player_id, superseded_at) NULLS NOT DISTINCT;

WITH played AS (
    SELECT h.id, m.ladder_id, h.player_id, m.number, h.elo_after,
           CASE WHEN m.score_a = m.score_b THEN 0
                WHEN (m.score_a > m.score_b) = (mp.side = 1) THEN 1 ELSE -1 END AS outcome
    FROM elo_history h
    JOIN matches m ON m.id = h.match_id
    JOIN match_players mp ON mp.match_id = h.match_id AND mp.player_id = h.player_id
    WHERE h.superseded_at IS NULL
), runs AS (
    SELECT p.*, row_number() OVER player - row_number() OVER same AS run
    FROM played p
    WINDOW player AS (PARTITION BY ladder_id, player_id ORDER BY number),
           same AS (PARTITION BY ladder_id, player_id, outcome ORDER BY number)
), streaks AS (
    SELECT r.*, outcome * row_number() OVER (PARTITION BY ladder_id, player_id, outcome, run ORDER BY number) AS streak
    FROM runs r
), before AS (
    SELECT s.id, s.ladder_id, s.player_id,
           lag(streak, 1, 0::bigint) OVER player AS streak,
           max(elo_after) OVER (player ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS best
    FROM streaks s
    WINDOW player AS (PARTITION BY ladder_id, player_id ORDER BY number)
)
UPDATE elo_history h
SET best_before = greatest(gp.start_elo, b.best, h.elo_before), streak_before = b.streak
FROM before b JOIN group_players gp ON gp.ladder_id = b.ladder_id AND gp.player_id = b.player_id
WHERE h.id = b.id;
-- superseded entries are there only when this step was taken back before; no replay begins with them
UPDATE elo_history SET best_before = elo_before, streak_before = 0 WHERE best_before IS NULL;

ALTER TABLE elo_history
    ALTER COLUMN best_before SET NOT NULL,
    ALTER COLUMN streak_before SET NOT NULL,
    ADD CONSTRAINT elo_history_best_before_check CHECK (best_before BETWEEN elo_before AND 10000);

ALTER TABLE outbox
    -- send: a message of its own; edit: the message that tells of match_id; toast: the answer to a pressed button
    ADD COLUMN action text NOT NULL DEFAULT 'send',
    ADD COLUMN callback_query_id text,
    -- the match that the message tells of
    ADD COLUMN match_id bigint,
    ADD CONSTRAINT outbox_match_id_fkey FOREIGN KEY (match_id) REFERENCES matches (id),
    ADD CONSTRAINT outbox_action_check CHECK (CASE action
        WHEN 'send' THEN callback_query_id IS NULL
        WHEN 'edit' THEN callback_query_id IS NULL AND match_id IS NOT NULL
        WHEN 'toast' THEN callback_query_id IS NOT NULL AND match_id IS NULL
        ELSE false END),
    -- expired: there is no point in it any more
    DROP CONSTRAINT outbox_state_check,
    ADD CONSTRAINT outbox_state_check CHECK (state IN ('planned', 'sending', 'sent', 'dead', 'expired')),
    DROP CONSTRAINT outbox_finished_check,
    ADD CONSTRAINT outbox_finished_check CHECK ((state IN ('sent', 'dead', 'expired')) = (finished_at IS NOT NULL));

-- the cards that have been told so far
UPDATE outbox o SET match_id = m.id
FROM groups g JOIN matches m ON m.group_id = g.id
WHERE g.chat_id = o.chat_id AND o.kind = 'match_recorded' AND m.number = (o.payload ->> 'number')::integer;
INSERT INTO match_messages (telegram_chat_id, telegram_message_id, match_id)
SELECT c.telegram_chat_id, o.telegram_message_id, o.match_id
FROM outbox o JOIN chats c ON c.id = o.chat_id
WHERE o.state = 'sent' AND o.match_id IS NOT NULL AND o.telegram_message_id > 0
ON CONFLICT DO NOTHING;

-- for the purge, which asks by age; the rows lie in the order of their age
CREATE INDEX handled_commands_handled_at_idx ON handled_commands USING brin (handled_at) WITH (autosummarize = on);
