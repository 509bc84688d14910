-- Conditions that a statement of a pipelined transaction must fulfil. If the value is not true, the statement fails with
-- the name of the constraint, and the whole transaction with it. Without them, an UPDATE that finds no row is no error.
CREATE DOMAIN unchanged AS boolean CONSTRAINT unchanged CHECK (VALUE IS TRUE);
CREATE DOMAIN lease_held AS boolean CONSTRAINT lease_held CHECK (VALUE IS TRUE);

-- == The bot and its instances ==

-- The bot that the database belongs to. Its chats, messages and buttons are out of reach for any other bot.
CREATE TABLE bot (
    only_one         boolean NOT NULL DEFAULT true,
    telegram_user_id bigint NOT NULL,
    CONSTRAINT bot_pkey PRIMARY KEY (only_one),
    CONSTRAINT bot_only_one_check CHECK (only_one),
    CONSTRAINT bot_telegram_user_id_check CHECK (telegram_user_id > 0)
);

-- The exclusive right to do what exactly one instance must do. Each holder has its own epoch. It writes on condition
-- that the row still has this epoch, and holds the row FOR KEY SHARE meanwhile.
CREATE TABLE leases (
    name       text NOT NULL,
    holder     text NOT NULL,
    epoch      bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    -- how far ahead expires_at is set at a time; if it is further ahead, the clock was set back
    duration   interval,
    CONSTRAINT leases_pkey PRIMARY KEY (name),
    -- makes a change of the epoch, and nothing else, wait for whoever holds the row FOR KEY SHARE
    CONSTRAINT leases_name_epoch_key UNIQUE (name, epoch),
    CONSTRAINT leases_epoch_check CHECK (epoch >= 1),
    CONSTRAINT leases_duration_check CHECK (duration > interval '0')
);

-- == Chats ==

-- The chats with the bot. All other tables refer to the internal id, because Telegram's id of a chat can change.
CREATE TABLE chats (
    id               bigint GENERATED ALWAYS AS IDENTITY,
    telegram_chat_id bigint NOT NULL,
    kind             text NOT NULL,
    title            text NOT NULL DEFAULT '',
    language         text NOT NULL DEFAULT 'en',
    -- an admin chose the language; before that it is that of whoever added the bot
    language_chosen  boolean NOT NULL DEFAULT false,
    -- rankings and standings are sent as tables, which old apps do not show
    tables           boolean NOT NULL DEFAULT false,
    -- cards say what is special about a match
    celebrations     boolean NOT NULL DEFAULT true,
    -- charts are dark; they are light where nobody has chosen otherwise
    dark_charts      boolean NOT NULL DEFAULT false,
    -- the bot is in the group, or may write to the person, as far as it knows
    is_active        boolean NOT NULL DEFAULT true,
    -- nothing is sent before this time, because Telegram has asked for a pause
    frozen_until     timestamptz,
    -- when the bot found out that it may not write here; nothing is sent until the chat sends an update
    parked_at        timestamptz,
    -- when the bot was added and when it last greeted the group, by Telegram's clock; null if unknown or not in the chat
    added_at         timestamptz,
    greeted_at       timestamptz,
    created_at       timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT chats_pkey PRIMARY KEY (id),
    CONSTRAINT chats_telegram_chat_id_key UNIQUE (telegram_chat_id),
    CONSTRAINT chats_kind_check CHECK (kind IN ('private', 'group', 'supergroup'))
);
-- how many chats Telegram limits now, for the metrics
CREATE INDEX chats_frozen_until_idx ON chats (frozen_until) WHERE frozen_until IS NOT NULL;
-- parked chats whose notices are too old, for the purge
CREATE INDEX chats_parked_idx ON chats (id) WHERE parked_at IS NOT NULL;

-- Former Telegram ids of chats: a group that becomes a supergroup gets a new one. A former id refers to its chat forever.
CREATE TABLE chat_aliases (
    telegram_chat_id bigint NOT NULL,
    chat_id          bigint NOT NULL,
    created_at       timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT chat_aliases_pkey PRIMARY KEY (telegram_chat_id),
    CONSTRAINT chat_aliases_chat_id_fkey FOREIGN KEY (chat_id) REFERENCES chats (id)
);
-- the former ids of a chat that becomes one with another chat
CREATE INDEX chat_aliases_chat_id_idx ON chat_aliases (chat_id);

-- An id refers to one chat: it is not the current id of one chat and a former id of another. Whoever adds a former id has
-- given it to a chat as its current id earlier in the same transaction, so that concurrent inserts wait and then see it.
CREATE FUNCTION require_one_chat() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM chats JOIN chat_aliases USING (telegram_chat_id) WHERE telegram_chat_id = NEW.telegram_chat_id
    ) THEN
        RAISE EXCEPTION 'the id % refers to two chats', NEW.telegram_chat_id
            USING ERRCODE = 'unique_violation', CONSTRAINT = TG_NAME;
    END IF;
    RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER chats_no_alias AFTER INSERT OR UPDATE OF telegram_chat_id ON chats
    FOR EACH ROW EXECUTE FUNCTION require_one_chat();
CREATE CONSTRAINT TRIGGER chat_aliases_no_chat AFTER INSERT OR UPDATE OF telegram_chat_id ON chat_aliases
    FOR EACH ROW EXECUTE FUNCTION require_one_chat();

-- The board of a group: a message that always shows the ranking.
CREATE TABLE boards (
    chat_id      bigint NOT NULL,
    -- the forum topic of the message, null for none
    thread_id    bigint,
    turned_on_at timestamptz NOT NULL DEFAULT now(),
    -- wanted: to be pinned; pinned: was pinned once, and who unpins it means it; refused: the bot may not, and has said so
    pin          text NOT NULL DEFAULT 'wanted',
    CONSTRAINT boards_pkey PRIMARY KEY (chat_id),
    CONSTRAINT boards_chat_id_fkey FOREIGN KEY (chat_id) REFERENCES chats (id),
    CONSTRAINT boards_thread_id_check CHECK (thread_id > 0),
    CONSTRAINT boards_pin_check CHECK (pin IN ('wanted', 'pinned', 'refused'))
);

-- == Groups, ladders and people ==

-- The ranking side of a group chat. Locking its row puts the matches of a group in one order. A group without a chat is detached: its chat
-- turned out to be that of another group, because Telegram gave it a new id, and the other group has more matches. Nobody sees it, but its
-- matches stay.
CREATE TABLE groups (
    id                bigint GENERATED ALWAYS AS IDENTITY,
    chat_id           bigint,
    -- the chat that a detached group had
    former_chat_id    bigint,
    last_match_number integer NOT NULL DEFAULT 0,
    created_at        timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT groups_pkey PRIMARY KEY (id),
    CONSTRAINT groups_chat_id_key UNIQUE (chat_id),
    CONSTRAINT groups_chat_id_fkey FOREIGN KEY (chat_id) REFERENCES chats (id),
    CONSTRAINT groups_former_chat_id_fkey FOREIGN KEY (former_chat_id) REFERENCES chats (id),
    CONSTRAINT groups_chat_check CHECK (num_nonnulls(chat_id, former_chat_id) = 1),
    CONSTRAINT groups_last_match_number_check CHECK (last_match_number >= 0)
);
-- the detached groups of a chat
CREATE INDEX groups_former_chat_id_idx ON groups (former_chat_id) WHERE former_chat_id IS NOT NULL;

-- A ranking within a group, with its rules.
CREATE TABLE ladders (
    id                   bigint GENERATED ALWAYS AS IDENTITY,
    group_id             bigint NOT NULL,
    is_default           boolean NOT NULL,
    start_elo            integer NOT NULL DEFAULT 1500,
    k_factor             integer NOT NULL DEFAULT 32,
    draws_allowed        boolean NOT NULL DEFAULT true,
    uneven_teams_allowed boolean NOT NULL DEFAULT false,
    -- the K-factor of a player's first matches in the ladder, and how many those are; both 0: as for other matches
    provisional_k_factor integer NOT NULL DEFAULT 0,
    provisional_matches  integer NOT NULL DEFAULT 0,
    -- a larger margin of victory changes the ratings more
    margin_of_victory    boolean NOT NULL DEFAULT false,
    created_at           timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT ladders_pkey PRIMARY KEY (id),
    -- lets a match prove that its ladder belongs to its group
    CONSTRAINT ladders_group_id_id_key UNIQUE (group_id, id),
    CONSTRAINT ladders_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups (id),
    CONSTRAINT ladders_start_elo_check CHECK (start_elo BETWEEN 0 AND 10000),
    CONSTRAINT ladders_k_factor_check CHECK (k_factor BETWEEN 1 AND 1000),
    CONSTRAINT ladders_provisional_check CHECK (provisional_k_factor = 0 AND provisional_matches = 0
        OR provisional_k_factor BETWEEN 1 AND 1000 AND provisional_matches BETWEEN 1 AND 100)
);
-- the ladder of a group that commands mean
CREATE UNIQUE INDEX ladders_default_key ON ladders (group_id) WHERE is_default;

-- A person. With a telegram_user_id the player is an account, one for all groups. Without it the player is unclaimed:
-- somebody in the group mentioned the username, but the person has not been seen there yet. An unclaimed player exists in
-- that group only. A merged player turned out to be the same person as another one, to whom everything that counts has
-- passed. The row of a merged player stays for the matches in which the two seem to have played each other.
CREATE TABLE players (
    id               bigint GENERATED ALWAYS AS IDENTITY,
    telegram_user_id bigint,
    -- the group of an unclaimed player
    group_id         bigint,
    -- the last one seen, or the one by which an unclaimed player is mentioned
    username         text,
    display_name     text NOT NULL,
    merged_into      bigint,
    created_at       timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT players_pkey PRIMARY KEY (id),
    CONSTRAINT players_telegram_user_id_key UNIQUE (telegram_user_id),
    CONSTRAINT players_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups (id),
    CONSTRAINT players_merged_into_fkey FOREIGN KEY (merged_into) REFERENCES players (id),
    CONSTRAINT players_identity_check CHECK (CASE
        WHEN merged_into IS NOT NULL
            THEN telegram_user_id IS NULL AND group_id IS NULL AND username IS NULL AND merged_into <> id
        WHEN telegram_user_id IS NOT NULL THEN group_id IS NULL
        ELSE group_id IS NOT NULL AND username IS NOT NULL END),
    CONSTRAINT players_username_check CHECK (username <> ''),
    CONSTRAINT players_display_name_check CHECK (display_name <> '')
);
-- the unclaimed player whom a mention means
CREATE UNIQUE INDEX players_unclaimed_key ON players (group_id, lower(username)) WHERE group_id IS NOT NULL;
-- those who were merged into a player who is merged too
CREATE INDEX players_merged_into_idx ON players (merged_into) WHERE merged_into IS NOT NULL;

-- With which username an account was last seen in a group. In a group, a mention means the account that was last seen
-- there with that username, because usernames pass from one person to another.
CREATE TABLE sightings (
    group_id  bigint NOT NULL,
    player_id bigint NOT NULL,
    -- null if the person had none, or if another account has been seen with it since
    username  text,
    -- when the person was first seen with it, by Telegram's clock
    seen_at   timestamptz NOT NULL,
    CONSTRAINT sightings_pkey PRIMARY KEY (group_id, player_id),
    CONSTRAINT sightings_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups (id),
    CONSTRAINT sightings_player_id_fkey FOREIGN KEY (player_id) REFERENCES players (id),
    CONSTRAINT sightings_username_check CHECK (username <> '')
);
-- the account that a mention means
CREATE UNIQUE INDEX sightings_username_key ON sightings (group_id, lower(username));

-- A player's standing in a ladder. A result changes no index, and each page keeps room for the new version of a row.
CREATE TABLE group_players (
    id             bigint GENERATED ALWAYS AS IDENTITY,
    ladder_id      bigint NOT NULL,
    player_id      bigint NOT NULL,
    -- the player's last name in the group, stored here so that rankings and searches for equal names need no join
    name           text NOT NULL,
    elo            integer NOT NULL,
    start_elo      integer NOT NULL,
    best_elo       integer NOT NULL,
    -- changes with every write; whoever writes proves with it that nothing has changed since the read
    version        bigint NOT NULL DEFAULT 1,
    played         integer NOT NULL DEFAULT 0,
    won            integer NOT NULL DEFAULT 0,
    drawn          integer NOT NULL DEFAULT 0,
    lost           integer NOT NULL DEFAULT 0,
    -- wins in a row, or losses in a row as a negative number; a draw ends both
    streak         integer NOT NULL DEFAULT 0,
    -- the most wins in a row
    longest_streak integer NOT NULL DEFAULT 0,
    -- when the player last played a match that counts, null for never; the ranking leaves out who has not played for long
    last_played_at timestamptz,
    -- when the player left the group, null for a member; the ranking does not show those who left
    left_at        timestamptz,
    created_at     timestamptz NOT NULL DEFAULT now(),
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
    CONSTRAINT group_players_streak_check CHECK (streak BETWEEN -lost AND won),
    CONSTRAINT group_players_longest_streak_check CHECK (longest_streak BETWEEN greatest(streak, 0) AND won)
) WITH (fillfactor = 80);
-- a person's standings in all groups
CREATE INDEX group_players_player_id_idx ON group_players (player_id);
-- who else has a name
CREATE INDEX group_players_name_idx ON group_players (ladder_id, lower(name));

-- == Matches ==

-- The ids of a group's matches are in the order of their numbers.
CREATE TABLE matches (
    id                   bigint GENERATED ALWAYS AS IDENTITY,
    group_id             bigint NOT NULL,
    ladder_id            bigint NOT NULL,
    -- 1, 2, 3 … in its group: the order in which matches count
    number               integer NOT NULL,
    score_a              integer NOT NULL,
    score_b              integer NOT NULL,
    -- the points of each set, as {{11,7},{9,11}}; the score then counts the sets
    sets                 smallint[],
    -- the rules of the ladder that the match was played under, as far as they rate it
    k_factor             integer NOT NULL,
    provisional_k_factor integer NOT NULL DEFAULT 0,
    provisional_matches  integer NOT NULL DEFAULT 0,
    margin_of_victory    boolean NOT NULL DEFAULT false,
    -- null if an anonymous admin reported it
    reported_by          bigint,
    played_at            timestamptz NOT NULL,
    -- of the message that reported it, whatever triggered it; #2, #3 … follow for further matches of the same message
    idempotency_key      text NOT NULL,
    -- when the command that undid it was sent, by Telegram's clock: whoever restores it is measured by the same clock, and an
    -- outage between the two commands changes nothing; for a merge, when it was done
    undone_at            timestamptz,
    -- null if an anonymous admin undid it, or the merge of two players; then one of the players is merged
    undone_by            bigint,
    -- how often it was undone, restored or fixed. A button carries the number, so that it acts only on what it was made for.
    changes              integer NOT NULL DEFAULT 0,
    -- by how much the average rating of the losers exceeded that of the winners, if that is 100 or more; null for an undone match
    upset                integer,
    created_at           timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT matches_pkey PRIMARY KEY (id),
    CONSTRAINT matches_group_id_number_key UNIQUE (group_id, number),
    CONSTRAINT matches_idempotency_key_key UNIQUE (idempotency_key),
    -- the ladder has the group
    CONSTRAINT matches_ladder_id_fkey FOREIGN KEY (group_id, ladder_id) REFERENCES ladders (group_id, id),
    CONSTRAINT matches_reported_by_fkey FOREIGN KEY (reported_by) REFERENCES players (id),
    CONSTRAINT matches_undone_by_fkey FOREIGN KEY (undone_by) REFERENCES players (id),
    CONSTRAINT matches_undone_by_check CHECK (undone_by IS NULL OR undone_at IS NOT NULL),
    CONSTRAINT matches_changes_check CHECK (changes >= 0),
    CONSTRAINT matches_upset_check CHECK (upset >= 100),
    CONSTRAINT matches_number_check CHECK (number >= 1),
    CONSTRAINT matches_score_check CHECK (score_a BETWEEN 0 AND 999 AND score_b BETWEEN 0 AND 999),
    CONSTRAINT matches_sets_check CHECK (sets IS NULL OR
        (array_ndims(sets) = 2 AND array_length(sets, 1) BETWEEN 2 AND 25 AND array_length(sets, 2) = 2
         AND 0 <= ALL (sets) AND 999 >= ALL (sets)) IS TRUE),
    CONSTRAINT matches_k_factor_check CHECK (k_factor BETWEEN 1 AND 1000),
    CONSTRAINT matches_provisional_check CHECK (provisional_k_factor = 0 AND provisional_matches = 0
        OR provisional_k_factor BETWEEN 1 AND 1000 AND provisional_matches BETWEEN 1 AND 100)
);
-- for the last match that a person undid in a group
CREATE INDEX matches_undone_by_idx ON matches (undone_by, group_id, undone_at) WHERE undone_by IS NOT NULL;
-- what was reported at about the same time or not long ago, and the matches of a month
CREATE INDEX matches_played_at_idx ON matches (group_id, played_at);
-- for the largest upset of all time
CREATE INDEX matches_upset_idx ON matches (ladder_id, upset DESC, number) WHERE upset IS NOT NULL;
-- for the largest upset of a month, which every result needs to know
CREATE INDEX matches_month_upset_idx ON matches (ladder_id, played_at) WHERE upset IS NOT NULL;

-- The players of a match. The primary key keeps a player from being on both sides.
CREATE TABLE match_players (
    match_id  bigint NOT NULL,
    player_id bigint NOT NULL,
    side      smallint NOT NULL,
    -- the position among the players as they were named
    place     smallint NOT NULL DEFAULT 1,
    CONSTRAINT match_players_pkey PRIMARY KEY (match_id, player_id),
    CONSTRAINT match_players_match_id_fkey FOREIGN KEY (match_id) REFERENCES matches (id),
    CONSTRAINT match_players_player_id_fkey FOREIGN KEY (player_id) REFERENCES players (id),
    CONSTRAINT match_players_side_check CHECK (side IN (1, 2)),
    CONSTRAINT match_players_place_check CHECK (place >= 1)
);
-- the matches of a player, the newest first
CREATE INDEX match_players_player_id_idx ON match_players (player_id, match_id);

-- The corrections of scores.
CREATE TABLE match_fixes (
    id          bigint GENERATED ALWAYS AS IDENTITY,
    match_id    bigint NOT NULL,
    old_score_a integer NOT NULL,
    old_score_b integer NOT NULL,
    old_sets    smallint[],
    new_score_a integer NOT NULL,
    new_score_b integer NOT NULL,
    new_sets    smallint[],
    -- null if an anonymous admin corrected it
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
-- the last fix of a match
CREATE INDEX match_fixes_match_id_idx ON match_fixes (match_id);

-- How each match changed each rating. Append-only: an entry that no longer applies is marked as superseded.
CREATE TABLE elo_history (
    -- the order in which entries were made
    id             bigint GENERATED ALWAYS AS IDENTITY,
    match_id       bigint NOT NULL,
    player_id      bigint NOT NULL,
    elo_before     integer NOT NULL,
    elo_after      integer NOT NULL,
    -- the player's K-factor in the match: by its rules, the usual or the provisional one
    k_factor       integer NOT NULL,
    -- of the standing before the match: a replay that begins here cannot calculate them
    best_before    integer NOT NULL,
    streak_before  integer NOT NULL,
    longest_before integer NOT NULL,
    reason         text NOT NULL,
    -- infinity for the current entry
    superseded_at  timestamptz NOT NULL DEFAULT 'infinity',
    created_at     timestamptz NOT NULL DEFAULT now(),
    -- one current entry for each player of a match
    CONSTRAINT elo_history_pkey PRIMARY KEY (match_id, player_id, superseded_at),
    -- the part of a merged player in a match passes to the other player, and its history with it
    CONSTRAINT elo_history_match_player_fkey FOREIGN KEY (match_id, player_id)
        REFERENCES match_players (match_id, player_id) ON UPDATE CASCADE,
    CONSTRAINT elo_history_elo_check CHECK (elo_before BETWEEN 0 AND 10000 AND elo_after BETWEEN 0 AND 10000),
    CONSTRAINT elo_history_best_before_check CHECK (best_before BETWEEN elo_before AND 10000),
    CONSTRAINT elo_history_longest_before_check CHECK (longest_before >= greatest(streak_before, 0)),
    CONSTRAINT elo_history_k_factor_check CHECK (k_factor BETWEEN 1 AND 1000),
    CONSTRAINT elo_history_reason_check CHECK (reason IN ('match', 'undo', 'restore', 'fix', 'merge', 'repair'))
);

-- == Commands ==

-- The idempotency keys of handled commands, and what counts towards the rate limits of their senders.
CREATE TABLE handled_commands (
    key        text NOT NULL,
    handled_at timestamptz NOT NULL DEFAULT now(),
    -- what brought about the outcome: the message itself, or later its edit or the press of a button; or a timer
    trigger    text NOT NULL DEFAULT 'message',
    outcome    text NOT NULL DEFAULT 'unanswered',
    -- Telegram's id of the person, or of the chat for an anonymous admin; null if the command does not count
    sender     bigint,
    sent_at    timestamptz,
    -- question: was answered; slowed: was answered by asking to slow down; result: reported, undid, restored or corrected a match;
    -- refused: a result over the limit; press: a button press that changed no match, or answered a prompt
    rate_class text,
    CONSTRAINT handled_commands_pkey PRIMARY KEY (key),
    CONSTRAINT handled_commands_trigger_check CHECK (trigger IN ('message', 'edit', 'press', 'timer')),
    CONSTRAINT handled_commands_outcome_check CHECK (outcome IN
        ('recorded', 'undone', 'restored', 'fixed', 'joined', 'setting_changed', 'answered', 'asked', 'refused', 'unanswered')),
    CONSTRAINT handled_commands_rate_class_check CHECK (rate_class IN ('question', 'slowed', 'result', 'refused', 'press')),
    CONSTRAINT handled_commands_sender_check CHECK (
        (sender IS NULL) = (rate_class IS NULL) AND (sender IS NULL) = (sent_at IS NULL))
);
-- for the purge by age; the rows are stored in about that order
CREATE INDEX handled_commands_handled_at_idx ON handled_commands USING brin (handled_at) WITH (autosummarize = on);
-- what counts towards the limits of a sender
CREATE INDEX handled_commands_sender_idx ON handled_commands (sender, sent_at) WHERE sender IS NOT NULL;

-- Questions with buttons. A prompt is open until somebody answers or cancels it, or its timer t:prompt:<id> ends it.
CREATE TABLE prompts (
    -- that of the row of the outbox that asks
    id                  bigint NOT NULL,
    chat_id             bigint NOT NULL,
    -- undo: whether to undo match_id; report: what a report means, or whether it counts at all; wizard: the parts of a result, one after
    -- the other; which: the match to be undone
    kind                text NOT NULL,
    match_id            bigint,
    -- what a prompt asks about that is no match yet
    request             jsonb,
    -- matches.changes when it was asked; another match is not what the question is about
    match_changes       integer NOT NULL DEFAULT 0,
    -- who may answer; null for every admin of the chat
    answerer_id         bigint,
    asked_at            timestamptz NOT NULL DEFAULT now(),
    -- when Telegram accepted the message; its id is null if it is unknown or means another message by now
    delivered_at        timestamptz,
    telegram_message_id bigint,
    closed_at           timestamptz,
    closed_as           text,
    CONSTRAINT prompts_pkey PRIMARY KEY (id),
    CONSTRAINT prompts_chat_id_fkey FOREIGN KEY (chat_id) REFERENCES chats (id),
    CONSTRAINT prompts_match_id_fkey FOREIGN KEY (match_id) REFERENCES matches (id),
    CONSTRAINT prompts_answerer_id_fkey FOREIGN KEY (answerer_id) REFERENCES players (id),
    CONSTRAINT prompts_kind_check CHECK (CASE
        WHEN kind = 'undo' THEN match_id IS NOT NULL AND request IS NULL
        WHEN kind IN ('report', 'wizard', 'which') THEN match_id IS NULL AND request IS NOT NULL
        ELSE false END),
    CONSTRAINT prompts_message_check CHECK (telegram_message_id > 0 AND delivered_at IS NOT NULL OR telegram_message_id IS NULL),
    CONSTRAINT prompts_closed_check
        CHECK ((closed_at IS NULL) = (closed_as IS NULL) AND closed_as IN ('answered', 'cancelled', 'expired'))
);
-- the prompts of a chat that gets a new id
CREATE INDEX prompts_chat_id_idx ON prompts (chat_id);
-- whether somebody was asked already
CREATE INDEX prompts_match_id_idx ON prompts (match_id);
-- for the purge by age
CREATE INDEX prompts_closed_at_idx ON prompts (closed_at) WHERE closed_at IS NOT NULL;

-- What happens by itself at a certain time. The transaction of what happens deletes the timer, so it happens once.
CREATE TABLE timers (
    -- t:<what>:<of what>, also the idempotency key of what happens
    key     text NOT NULL,
    chat_id bigint NOT NULL,
    due_at  timestamptz NOT NULL,
    CONSTRAINT timers_pkey PRIMARY KEY (key),
    CONSTRAINT timers_chat_id_fkey FOREIGN KEY (chat_id) REFERENCES chats (id),
    CONSTRAINT timers_key_check CHECK (starts_with(key, 't:'))
);
-- what is due, in order
CREATE INDEX timers_due_at_idx ON timers (due_at, key);
-- the timers of a chat that becomes one with another chat
CREATE INDEX timers_chat_id_idx ON timers (chat_id);

-- == Messages ==

-- Notices on their way to Telegram, written in the transaction of their cause. Each page keeps room for the new versions of its rows.
CREATE TABLE outbox (
    id                  bigint GENERATED ALWAYS AS IDENTITY,
    chat_id             bigint NOT NULL,
    -- the idempotency key of the command that caused it, for the log
    key                 text NOT NULL DEFAULT '',
    kind                text NOT NULL,
    -- outcome: of a command; answer: to a question; notification: for people who did not ask
    purpose             text NOT NULL DEFAULT 'outcome',
    -- a player is named by the id in a field "player"; the name is looked up when the notice is sent
    payload             jsonb NOT NULL,
    -- the language of a message that one person alone reads; null for that of the chat
    language            text,
    -- send: a new message; edit: the message that shows match_id; ensure: the one message that shows the object;
    -- callback_answer: the answer to a pressed button; page: the message with the pressed button
    action              text NOT NULL DEFAULT 'send',
    -- set aside until a release leads that knows the kind
    deferred_at         timestamptz,
    -- which of the chat's queues it is in; the values are those of outbox.LaneKind, and 3 for rows that are set aside
    lane                smallint NOT NULL GENERATED ALWAYS AS (CASE
        WHEN deferred_at IS NOT NULL THEN 3 WHEN action = 'callback_answer' THEN 1 WHEN action = 'page' THEN 2
        WHEN action = 'ensure' THEN 4 ELSE 0 END) STORED,
    -- always a message of its own
    alone               boolean NOT NULL DEFAULT false,
    -- who is answered, for a message that answers several people: a player, or the name of somebody who is none
    addressee_id        bigint,
    addressee           text NOT NULL DEFAULT '',
    -- the message that is answered, and its forum topic
    reply_to            bigint,
    thread_id           bigint,
    callback_query_id   text,
    match_id            bigint,
    object              text,
    -- the message that a page replaces
    edited_message_id   bigint,
    -- a newer row with the same key replaces this one; null once it was tried
    supersede_key       text,
    state               text NOT NULL DEFAULT 'planned',
    -- the first row of a message that covers several, while it is sent and afterwards; of rows that a summary stands for, its row; null in
    -- all other rows
    batch               bigint,
    -- requests started
    attempts            integer NOT NULL DEFAULT 0,
    -- requests with an unknown outcome, so that a copy may have arrived
    possible_duplicates integer NOT NULL DEFAULT 0,
    -- the current request repeats one with an unknown outcome
    repeated            boolean NOT NULL DEFAULT false,
    -- failed requests that count against the row
    failures            integer NOT NULL DEFAULT 0,
    last_error          text,
    -- when the last request began
    tried_at            timestamptz,
    -- no request before this time
    not_before          timestamptz,
    -- not worth sending after this time; null for never
    expires_at          timestamptz,
    telegram_message_id bigint,
    created_at          timestamptz NOT NULL DEFAULT now(),
    finished_at         timestamptz,
    CONSTRAINT outbox_pkey PRIMARY KEY (id),
    CONSTRAINT outbox_chat_id_fkey FOREIGN KEY (chat_id) REFERENCES chats (id),
    CONSTRAINT outbox_match_id_fkey FOREIGN KEY (match_id) REFERENCES matches (id),
    CONSTRAINT outbox_purpose_check CHECK (purpose IN ('outcome', 'answer', 'notification')),
    CONSTRAINT outbox_action_check CHECK (CASE action
        WHEN 'send' THEN callback_query_id IS NULL
        WHEN 'edit' THEN callback_query_id IS NULL AND match_id IS NOT NULL
        WHEN 'ensure' THEN callback_query_id IS NULL AND object IS NOT NULL
        WHEN 'callback_answer' THEN callback_query_id IS NOT NULL AND match_id IS NULL
        WHEN 'page' THEN callback_query_id IS NULL AND match_id IS NULL
        ELSE false END),
    CONSTRAINT outbox_edited_message_check
        CHECK ((action = 'page') = (edited_message_id IS NOT NULL) AND coalesce(edited_message_id > 0, true)),
    CONSTRAINT outbox_state_check CHECK (state IN ('planned', 'sending', 'sent', 'dead', 'expired', 'uncertain')),
    CONSTRAINT outbox_finished_check
        CHECK ((state IN ('sent', 'dead', 'expired', 'uncertain')) = (finished_at IS NOT NULL)),
    CONSTRAINT outbox_deferred_check CHECK (deferred_at IS NULL OR state IN ('planned', 'expired')),
    CONSTRAINT outbox_counts_check CHECK (attempts >= 0 AND possible_duplicates >= 0 AND failures >= 0)
) WITH (fillfactor = 60);
-- No index contains the state, so that marking a row as sending changes none.

-- the row that a newer one replaces
CREATE UNIQUE INDEX outbox_supersede_key ON outbox (chat_id, supersede_key) WHERE supersede_key IS NOT NULL;
-- the pages of a message, to tell which is the newest
CREATE INDEX outbox_edited_message_idx ON outbox (chat_id, edited_message_id) WHERE edited_message_id IS NOT NULL;
-- the rows of a message
CREATE INDEX outbox_batch_idx ON outbox (batch, id) WHERE batch IS NOT NULL;
-- what shows a match, for whoever changes its card
CREATE INDEX outbox_match_id_idx ON outbox (match_id) WHERE match_id IS NOT NULL;
-- recent requests, which count against the limits, and rows that are old enough to purge
CREATE INDEX outbox_finished_at_idx ON outbox (finished_at) WHERE finished_at IS NOT NULL;
-- answers to presses are of no use once they are shown, and are purged first
CREATE INDEX outbox_callback_answers_finished_at_idx ON outbox (finished_at)
    WHERE action = 'callback_answer' AND finished_at IS NOT NULL;
-- waiting rows, lane by lane
CREATE INDEX outbox_waiting_idx ON outbox (chat_id, lane, id) WHERE finished_at IS NULL;
-- What was set aside. In an empty table, all indexes cost the same, and the newest is chosen: what was set aside must not be looked for
-- among all that waits.
CREATE INDEX outbox_deferred_idx ON outbox (deferred_at) WHERE deferred_at IS NOT NULL AND finished_at IS NULL;

-- The messages that show matches. They are stored under the chat's Telegram id at the time of sending, because message
-- ids start over in a group that becomes a supergroup.
CREATE TABLE match_messages (
    telegram_chat_id    bigint NOT NULL,
    telegram_message_id bigint NOT NULL,
    match_id            bigint NOT NULL,
    -- the row of the outbox that was sent; such rows are purged earlier
    outbox_id           bigint,
    -- how many items the message covers, including this one
    covered             integer NOT NULL DEFAULT 1,
    -- of the message's content; empty if unknown
    fingerprint         text NOT NULL DEFAULT '',
    -- the language that the message was sent in, which its edits use too; null for that of the chat
    language            text,
    CONSTRAINT match_messages_pkey PRIMARY KEY (telegram_chat_id, telegram_message_id, match_id),
    CONSTRAINT match_messages_match_id_fkey FOREIGN KEY (match_id) REFERENCES matches (id),
    CONSTRAINT match_messages_message_check CHECK (telegram_message_id > 0),
    CONSTRAINT match_messages_covered_check CHECK (covered >= 1)
);
-- the messages to be edited when a match changes
CREATE INDEX match_messages_match_id_idx ON match_messages (match_id);

-- The messages that exist once in a chat and are kept up to date.
CREATE TABLE ensured_messages (
    chat_id             bigint NOT NULL,
    object              text NOT NULL,
    telegram_message_id bigint NOT NULL,
    fingerprint         text NOT NULL,
    CONSTRAINT ensured_messages_pkey PRIMARY KEY (chat_id, object),
    CONSTRAINT ensured_messages_chat_id_fkey FOREIGN KEY (chat_id) REFERENCES chats (id),
    CONSTRAINT ensured_messages_message_check CHECK (telegram_message_id > 0)
);

-- == What failed ==

-- Updates that could not be handled, and notices that could not be sent.
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
-- the newest ones, and those that are old enough to purge
CREATE INDEX dead_letters_last_seen_at_idx ON dead_letters (last_seen_at);

-- Attempts to handle an update that have begun and not returned. They are counted only after a crash.
CREATE TABLE update_attempts (
    update_id     bigint NOT NULL,
    attempts      integer NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_begun_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT update_attempts_pkey PRIMARY KEY (update_id),
    CONSTRAINT update_attempts_attempts_check CHECK (attempts >= 1)
);
-- whether recent attempts are open, and those that are old enough to purge
CREATE INDEX update_attempts_last_begun_at_idx ON update_attempts (last_begun_at);
