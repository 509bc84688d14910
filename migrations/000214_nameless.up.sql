-- somebody whose account shows no name was called by Telegram's id, in English
UPDATE players SET display_name = '…' WHERE display_name = 'Player ' || telegram_user_id;
UPDATE group_players s SET name = '…' FROM players p WHERE p.id = s.player_id AND s.name = 'Player ' || p.telegram_user_id;
