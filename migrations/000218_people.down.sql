-- Players without an account who count for another one stay merged. Who counts for another account stays so in the
-- matches of today.
UPDATE matches SET undone_at = now() WHERE undone_at = 'epoch';
DELETE FROM group_players WHERE named_id = player_id;
DROP INDEX players_guest_key;
ALTER TABLE players DROP CONSTRAINT players_identity_check, DROP COLUMN folded;
UPDATE players p SET merged_into = s.counts_as, group_id = NULL, username = NULL
FROM sightings s WHERE s.player_id = p.id AND s.group_id = p.group_id AND s.counts_as IS NOT NULL;
UPDATE players SET username = 'guest_' || id
WHERE merged_into IS NULL AND telegram_user_id IS NULL AND username IS NULL;
ALTER TABLE players ADD CONSTRAINT players_identity_check CHECK (CASE
    WHEN merged_into IS NOT NULL
        THEN telegram_user_id IS NULL AND group_id IS NULL AND username IS NULL AND merged_into <> id
    WHEN telegram_user_id IS NOT NULL THEN group_id IS NULL
    ELSE group_id IS NOT NULL AND username IS NOT NULL END);
ALTER TABLE group_players DROP COLUMN named_id;
ALTER TABLE match_players DROP COLUMN named_id;
DELETE FROM sightings WHERE seen_at IS NULL;
ALTER TABLE sightings DROP COLUMN counts_as, DROP COLUMN out_at, DROP COLUMN nick, ALTER COLUMN seen_at SET NOT NULL;
