-- Everything that the bot talks to. All other tables refer to the internal id, never to Telegram's.
CREATE TABLE chats (
    id               bigint GENERATED ALWAYS AS IDENTITY,
    telegram_chat_id bigint NOT NULL,
    kind             text NOT NULL,
    title            text NOT NULL DEFAULT '',
    language         text NOT NULL DEFAULT 'en',
    -- no request goes to the chat before this moment: Telegram has asked for the pause
    frozen_until     timestamptz,
    -- the bot may not write here: nothing is sent until the chat is heard of again
    parked_at        timestamptz,
    created_at       timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT chats_pkey PRIMARY KEY (id),
    CONSTRAINT chats_telegram_chat_id_key UNIQUE (telegram_chat_id),
    CONSTRAINT chats_kind_check CHECK (kind IN ('private', 'group', 'supergroup'))
);

-- The ranking side of a group chat. Its row is what puts the records of a group in one order.
CREATE TABLE groups (
    id                bigint GENERATED ALWAYS AS IDENTITY,
    chat_id           bigint NOT NULL,
    last_match_number integer NOT NULL DEFAULT 0,
    created_at        timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT groups_pkey PRIMARY KEY (id),
    CONSTRAINT groups_chat_id_key UNIQUE (chat_id),
    CONSTRAINT groups_chat_id_fkey FOREIGN KEY (chat_id) REFERENCES chats (id),
    CONSTRAINT groups_last_match_number_check CHECK (last_match_number >= 0)
);

CREATE TABLE ladders (
    id            bigint GENERATED ALWAYS AS IDENTITY,
    group_id      bigint NOT NULL,
    is_default    boolean NOT NULL,
    start_elo     integer NOT NULL DEFAULT 1500,
    k_factor      integer NOT NULL DEFAULT 32,
    draws_allowed boolean NOT NULL DEFAULT true,
    created_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT ladders_pkey PRIMARY KEY (id),
    -- lets a match prove that its ladder belongs to its group
    CONSTRAINT ladders_group_id_id_key UNIQUE (group_id, id),
    CONSTRAINT ladders_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups (id),
    CONSTRAINT ladders_start_elo_check CHECK (start_elo BETWEEN 0 AND 10000),
    CONSTRAINT ladders_k_factor_check CHECK (k_factor BETWEEN 1 AND 1000)
);
CREATE UNIQUE INDEX ladders_default_key ON ladders (group_id) WHERE is_default;

-- A person. Without a telegram_user_id the player is unclaimed: somebody has named the username, and the person
-- has not been seen yet.
CREATE TABLE players (
    id               bigint GENERATED ALWAYS AS IDENTITY,
    telegram_user_id bigint,
    username         text,
    display_name     text NOT NULL,
    created_at       timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT players_pkey PRIMARY KEY (id),
    CONSTRAINT players_telegram_user_id_key UNIQUE (telegram_user_id),
    CONSTRAINT players_identity_check CHECK (telegram_user_id IS NOT NULL OR username IS NOT NULL),
    CONSTRAINT players_username_check CHECK (username <> ''),
    CONSTRAINT players_display_name_check CHECK (display_name <> '')
);
CREATE UNIQUE INDEX players_username_key ON players (lower(username));

-- A player's standing in a ladder.
CREATE TABLE group_players (
    id         bigint GENERATED ALWAYS AS IDENTITY,
    ladder_id  bigint NOT NULL,
    player_id  bigint NOT NULL,
    -- the name that the group last knew the player by, here so that lists and look-ups of equal names need no join
    name       text NOT NULL,
    elo        integer NOT NULL,
    start_elo  integer NOT NULL,
    version    bigint NOT NULL DEFAULT 1,
    played     integer NOT NULL DEFAULT 0,
    won        integer NOT NULL DEFAULT 0,
    drawn      integer NOT NULL DEFAULT 0,
    lost       integer NOT NULL DEFAULT 0,
    -- wins (positive) or losses (negative) in a row; a draw ends both
    streak     integer NOT NULL DEFAULT 0,
    best_elo   integer NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT group_players_pkey PRIMARY KEY (id),
    CONSTRAINT group_players_ladder_id_player_id_key UNIQUE (ladder_id, player_id),
    CONSTRAINT group_players_ladder_id_fkey FOREIGN KEY (ladder_id) REFERENCES ladders (id),
    CONSTRAINT group_players_player_id_fkey FOREIGN KEY (player_id) REFERENCES players (id),
    CONSTRAINT group_players_elo_check CHECK (elo BETWEEN 0 AND 10000),
    CONSTRAINT group_players_start_elo_check CHECK (start_elo BETWEEN 0 AND 10000),
    CONSTRAINT group_players_best_elo_check CHECK (best_elo BETWEEN elo AND 10000),
    CONSTRAINT group_players_name_check CHECK (name <> ''),
    CONSTRAINT group_players_played_check
        CHECK (won >= 0 AND drawn >= 0 AND lost >= 0 AND played = won + drawn + lost),
    CONSTRAINT group_players_streak_check CHECK (streak BETWEEN -lost AND won)
);
CREATE INDEX group_players_player_id_idx ON group_players (player_id);
CREATE INDEX group_players_name_idx ON group_players (ladder_id, lower(name));
CREATE INDEX group_players_ranking_idx ON group_players (ladder_id, elo DESC, id) WHERE played > 0;

CREATE TABLE matches (
    id              bigint GENERATED ALWAYS AS IDENTITY,
    group_id        bigint NOT NULL,
    ladder_id       bigint NOT NULL,
    -- 1, 2, 3 … in its group: the order in which matches count
    number          integer NOT NULL,
    score_a         integer NOT NULL,
    score_b         integer NOT NULL,
    k_factor        integer NOT NULL,
    -- null when an anonymous admin has reported it
    reported_by     bigint,
    played_at       timestamptz NOT NULL,
    idempotency_key text NOT NULL,
    undone_at       timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT matches_pkey PRIMARY KEY (id),
    CONSTRAINT matches_group_id_number_key UNIQUE (group_id, number),
    CONSTRAINT matches_idempotency_key_key UNIQUE (idempotency_key),
    CONSTRAINT matches_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups (id),
    CONSTRAINT matches_ladder_id_fkey FOREIGN KEY (group_id, ladder_id) REFERENCES ladders (group_id, id),
    CONSTRAINT matches_reported_by_fkey FOREIGN KEY (reported_by) REFERENCES players (id),
    CONSTRAINT matches_number_check CHECK (number >= 1),
    CONSTRAINT matches_score_check CHECK (score_a BETWEEN 0 AND 999 AND score_b BETWEEN 0 AND 999),
    CONSTRAINT matches_k_factor_check CHECK (k_factor BETWEEN 1 AND 1000)
);
CREATE INDEX matches_reported_by_idx ON matches (reported_by);
CREATE INDEX matches_ladder_id_number_idx ON matches (ladder_id, number);

-- Who played on which side. The primary key keeps a player from being on both.
CREATE TABLE match_players (
    match_id  bigint NOT NULL,
    player_id bigint NOT NULL,
    side      smallint NOT NULL,
    CONSTRAINT match_players_pkey PRIMARY KEY (match_id, player_id),
    CONSTRAINT match_players_match_id_fkey FOREIGN KEY (match_id) REFERENCES matches (id),
    CONSTRAINT match_players_player_id_fkey FOREIGN KEY (player_id) REFERENCES players (id),
    CONSTRAINT match_players_side_check CHECK (side IN (1, 2))
);
CREATE INDEX match_players_player_id_idx ON match_players (player_id, match_id);

-- How each rating came about. Append-only: a row that no longer holds is marked as superseded.
CREATE TABLE elo_history (
    id            bigint GENERATED ALWAYS AS IDENTITY,
    match_id      bigint NOT NULL,
    player_id     bigint NOT NULL,
    elo_before    integer NOT NULL,
    elo_after     integer NOT NULL,
    reason        text NOT NULL,
    superseded_at timestamptz,
    created_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT elo_history_pkey PRIMARY KEY (id),
    CONSTRAINT elo_history_match_player_fkey
        FOREIGN KEY (match_id, player_id) REFERENCES match_players (match_id, player_id),
    CONSTRAINT elo_history_elo_check CHECK (elo_before BETWEEN 0 AND 10000 AND elo_after BETWEEN 0 AND 10000),
    CONSTRAINT elo_history_reason_check CHECK (reason IN ('match'))
);
CREATE UNIQUE INDEX elo_history_current_key ON elo_history (match_id, player_id) WHERE superseded_at IS NULL;

-- The idempotency keys of the commands that have been answered.
CREATE TABLE handled_commands (
    key        text NOT NULL,
    handled_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT handled_commands_pkey PRIMARY KEY (key)
);

-- Notices on their way to Telegram, written in the transaction of what they tell.
CREATE TABLE outbox (
    id                  bigint GENERATED ALWAYS AS IDENTITY,
    chat_id             bigint NOT NULL,
    kind                text NOT NULL,
    payload             jsonb NOT NULL,
    -- the message that is answered, and the forum topic that it stands in
    reply_to            bigint,
    thread_id           bigint,
    state               text NOT NULL DEFAULT 'planned',
    -- requests begun
    attempts            integer NOT NULL DEFAULT 0,
    -- requests whose outcome is unknown, so that a copy may have arrived
    perhaps_sent        integer NOT NULL DEFAULT 0,
    last_error          text,
    telegram_message_id bigint,
    created_at          timestamptz NOT NULL DEFAULT now(),
    finished_at         timestamptz,
    CONSTRAINT outbox_pkey PRIMARY KEY (id),
    CONSTRAINT outbox_chat_id_fkey FOREIGN KEY (chat_id) REFERENCES chats (id),
    CONSTRAINT outbox_state_check CHECK (state IN ('planned', 'sending', 'sent', 'dead')),
    CONSTRAINT outbox_finished_check CHECK ((state IN ('sent', 'dead')) = (finished_at IS NOT NULL)),
    CONSTRAINT outbox_counts_check CHECK (attempts >= 0 AND perhaps_sent >= 0)
);
CREATE INDEX outbox_waiting_idx ON outbox (chat_id, id) WHERE state IN ('planned', 'sending');

-- What could not be handled: updates on their way in and notices on their way out.
CREATE TABLE dead_letters (
    id            bigint GENERATED ALWAYS AS IDENTITY,
    kind          text NOT NULL,
    update_id     bigint,
    outbox_id     bigint,
    payload       bytea NOT NULL,
    last_error    text NOT NULL,
    attempts      integer NOT NULL,
    first_seen_at timestamptz NOT NULL,
    last_seen_at  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT dead_letters_pkey PRIMARY KEY (id),
    CONSTRAINT dead_letters_update_id_key UNIQUE (update_id),
    CONSTRAINT dead_letters_outbox_id_key UNIQUE (outbox_id),
    CONSTRAINT dead_letters_kind_check CHECK (
        (kind = 'update' AND update_id IS NOT NULL AND outbox_id IS NULL)
        OR (kind = 'notice' AND outbox_id IS NOT NULL AND update_id IS NULL)),
    CONSTRAINT dead_letters_last_error_check CHECK (last_error <> ''),
    CONSTRAINT dead_letters_attempts_check CHECK (attempts >= 1)
);

-- Turns "the row is not what was read" into an SQL error, so that a pipelined transaction fails as a whole: an UPDATE
-- that finds no row is no error by itself.
CREATE FUNCTION require_rows(actual bigint, expected bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF actual <> expected THEN
        RAISE EXCEPTION 'expected to change % rows, changed %', expected, actual
            USING ERRCODE = 'serialization_failure';
    END IF;
END
$$;
