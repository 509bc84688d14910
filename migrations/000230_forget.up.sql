-- A forgotten person has neither an account nor a name. U+001A, which no name has, stands for the name, and in a group
-- the number follows that the group gave the person.
ALTER TABLE players DROP CONSTRAINT players_identity_check;
ALTER TABLE players ADD CONSTRAINT players_identity_check CHECK (CASE
    WHEN merged_into IS NOT NULL
        THEN telegram_user_id IS NULL AND group_id IS NULL AND username IS NULL AND merged_into <> id
    WHEN telegram_user_id IS NOT NULL THEN group_id IS NULL
    ELSE group_id IS NOT NULL OR username IS NULL AND folded IS NULL AND display_name = chr(26) END);
-- the unclaimed players whom a username means in any group
CREATE INDEX players_username_idx ON players (lower(username)) WHERE group_id IS NOT NULL;
-- the person of the private chat was forgotten; it is deleted when nothing waits there
ALTER TABLE chats ADD COLUMN forgotten boolean NOT NULL DEFAULT false;
CREATE INDEX chats_forgotten_idx ON chats (id) WHERE forgotten;

-- Keys of ephemeral messages had the id of the sender. Now they have a hash, as in the bot.
UPDATE handled_commands SET key = 'u:' || encode(sha256(convert_to(substring(key FROM '^[^#]*'), 'UTF8')), 'hex')
    || coalesce(substring(key FROM '#.*'), '') WHERE key ~ '^u:-?\d+:\d+:\d+';
UPDATE matches SET idempotency_key = 'u:' || encode(sha256(convert_to(substring(idempotency_key FROM '^[^#]*'), 'UTF8')), 'hex')
    || coalesce(substring(idempotency_key FROM '#.*'), '') WHERE idempotency_key ~ '^u:-?\d+:\d+:\d+';
