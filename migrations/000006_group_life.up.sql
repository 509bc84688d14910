-- What becomes of a group and of the people in it.

ALTER TABLE chats
    -- the bot is in the group, or may write to the person, as far as it knows
    ADD COLUMN is_active boolean NOT NULL DEFAULT true,
    -- when the group was last greeted, by the clock of what has asked for it; null until then, and where the bot is not
    ADD COLUMN greeted_at timestamptz,
    -- when the bot was added, by the same clock; null where that is not known, and where the bot is not
    ADD COLUMN added_at timestamptz;

-- Who uses the bot already needs no greeting. Where it may not write it has been removed, perhaps.
UPDATE chats SET greeted_at = created_at WHERE kind <> 'private' AND parked_at IS NULL;

-- When the player has left the group; null for a member. Who has left is not shown in the ranking until the next match.
ALTER TABLE group_players ADD COLUMN left_at timestamptz;
DROP INDEX group_players_ranking_idx;
CREATE INDEX group_players_ranking_idx ON group_players (ladder_id, elo DESC, id) WHERE played > 0 AND left_at IS NULL;

-- How much somebody has asked and reported lately, by Telegram's clock, so that what waited during an outage is no flood.
ALTER TABLE handled_commands
    -- the person, or for somebody without a name the chat, by Telegram's id; null where nobody counts
    ADD COLUMN sender bigint,
    ADD COLUMN sent_at timestamptz,
    -- question: was answered; slowed: was answered by asking for patience; result: a match reported, undone or corrected;
    -- refused: one of those that was too many
    ADD COLUMN sort text,
    ADD CONSTRAINT handled_commands_sort_check CHECK (sort IN ('question', 'slowed', 'result', 'refused')),
    ADD CONSTRAINT handled_commands_sender_check CHECK (
        (sender IS NULL) = (sort IS NULL) AND (sender IS NULL) = (sent_at IS NULL));
CREATE INDEX handled_commands_sender_idx ON handled_commands (sender, sent_at) WHERE sender IS NOT NULL;

-- What has to be true of what a statement has found, or it fails by the name of the constraint, and a pipelined transaction
-- with it: an UPDATE that finds no row is no error by itself. The function require_rows, which has said so, is here still
-- for instances of the release before.
CREATE DOMAIN as_read AS boolean CONSTRAINT as_read CHECK (VALUE IS TRUE);
CREATE DOMAIN lease_held AS boolean CONSTRAINT lease_held CHECK (VALUE IS TRUE);
