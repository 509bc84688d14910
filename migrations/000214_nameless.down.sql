UPDATE group_players s SET name = 'Player ' || p.telegram_user_id FROM players p
WHERE p.id = s.player_id AND s.name = '…' AND p.telegram_user_id IS NOT NULL;
UPDATE players SET display_name = 'Player ' || telegram_user_id WHERE display_name = '…' AND telegram_user_id IS NOT NULL;
