-- A forgotten person becomes a guest of the first group that knows them. Nothing refers to those of no group.
DELETE FROM players p WHERE display_name = chr(26) AND num_nonnulls(telegram_user_id, group_id, merged_into) = 0
    AND NOT EXISTS (SELECT FROM sightings WHERE player_id = p.id);
UPDATE players p SET group_id = (SELECT min(group_id) FROM sightings WHERE player_id = p.id)
    WHERE display_name = chr(26) AND num_nonnulls(telegram_user_id, group_id, merged_into) = 0;
ALTER TABLE chats DROP COLUMN forgotten;
DROP INDEX players_username_idx;
ALTER TABLE players DROP CONSTRAINT players_identity_check;
ALTER TABLE players ADD CONSTRAINT players_identity_check CHECK (CASE
    WHEN merged_into IS NOT NULL
        THEN telegram_user_id IS NULL AND group_id IS NULL AND username IS NULL AND merged_into <> id
    WHEN telegram_user_id IS NOT NULL THEN group_id IS NULL
    ELSE group_id IS NOT NULL END);
