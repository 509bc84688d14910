-- A group may have several ladders, each with a name, rules, a board and matches of its own.
ALTER TABLE ladders
    -- null for a group's only ladder that nobody has named
    ADD COLUMN name text,
    -- an archived ladder gets no more matches, and is shown as before
    ADD COLUMN archived_at timestamptz,
    ADD CONSTRAINT ladders_name_check CHECK (char_length(name) BETWEEN 1 AND 24),
    ADD CONSTRAINT ladders_archived_check CHECK (archived_at IS NULL OR NOT is_default);
-- the ladder that a name means
CREATE UNIQUE INDEX ladders_name_key ON ladders (group_id, lower(name));

-- Which ladder applies in a forum topic of a chat. Everywhere else that is the default one.
CREATE TABLE topics (
    chat_id   bigint NOT NULL,
    thread_id bigint NOT NULL,
    ladder_id bigint NOT NULL,
    CONSTRAINT topics_pkey PRIMARY KEY (chat_id, thread_id),
    CONSTRAINT topics_chat_id_fkey FOREIGN KEY (chat_id) REFERENCES chats (id),
    CONSTRAINT topics_ladder_id_fkey FOREIGN KEY (ladder_id) REFERENCES ladders (id) ON DELETE CASCADE,
    CONSTRAINT topics_thread_id_check CHECK (thread_id > 0)
);
-- the topics of a ladder
CREATE INDEX topics_ladder_id_idx ON topics (ladder_id);

-- A board is that of a ladder.
ALTER TABLE boards ADD COLUMN ladder_id bigint;
UPDATE boards b SET ladder_id = (
    SELECT l.id FROM groups g JOIN ladders l ON l.group_id = g.id AND l.is_default WHERE g.chat_id = b.chat_id);
DELETE FROM boards WHERE ladder_id IS NULL;
ALTER TABLE boards
    ALTER ladder_id SET NOT NULL,
    DROP CONSTRAINT boards_pkey,
    ADD CONSTRAINT boards_pkey PRIMARY KEY (ladder_id),
    ADD CONSTRAINT boards_ladder_id_fkey FOREIGN KEY (ladder_id) REFERENCES ladders (id);
-- the boards of a chat
CREATE INDEX boards_chat_id_idx ON boards (chat_id);
-- what identifies the message of a board names the ladder
DELETE FROM ensured_messages m WHERE object ~ '^board(:|$)' AND NOT EXISTS (SELECT FROM boards WHERE chat_id = m.chat_id);
UPDATE ensured_messages m SET object = regexp_replace(object, '^board', 'board:' || b.ladder_id) FROM boards b
    WHERE b.chat_id = m.chat_id AND m.object ~ '^board(:|$)';
UPDATE outbox SET state = 'expired', finished_at = now(), last_error = 'boards belong to ladders', supersede_key = NULL
    WHERE action = 'ensure' AND finished_at IS NULL;

-- The matches that were moved to another ladder of the group.
CREATE TABLE match_moves (
    id            bigint GENERATED ALWAYS AS IDENTITY,
    match_id      bigint NOT NULL,
    old_ladder_id bigint NOT NULL,
    new_ladder_id bigint NOT NULL,
    -- null if an anonymous admin moved it
    moved_by      bigint,
    moved_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT match_moves_pkey PRIMARY KEY (id),
    CONSTRAINT match_moves_match_id_fkey FOREIGN KEY (match_id) REFERENCES matches (id),
    CONSTRAINT match_moves_old_ladder_id_fkey FOREIGN KEY (old_ladder_id) REFERENCES ladders (id),
    CONSTRAINT match_moves_new_ladder_id_fkey FOREIGN KEY (new_ladder_id) REFERENCES ladders (id),
    CONSTRAINT match_moves_moved_by_fkey FOREIGN KEY (moved_by) REFERENCES players (id),
    CONSTRAINT match_moves_ladders_check CHECK (old_ladder_id <> new_ladder_id)
);
-- the moves of a match
CREATE INDEX match_moves_match_id_idx ON match_moves (match_id);

ALTER TABLE elo_history
    DROP CONSTRAINT elo_history_reason_check,
    -- whatever fulfilled the old condition fulfils this one
    ADD CONSTRAINT elo_history_reason_check CHECK (reason IN ('match', 'undo', 'restore', 'fix', 'move', 'merge', 'repair')) NOT VALID;

-- Views of a time, charts and duplicates are about one ladder.
DROP INDEX matches_played_at_idx;
CREATE INDEX matches_played_at_idx ON matches (ladder_id, played_at);
-- the matches of a ladder, the newest first
CREATE INDEX matches_ladder_id_number_idx ON matches (ladder_id, number);
