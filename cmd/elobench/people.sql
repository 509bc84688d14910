INSERT INTO chats (id, telegram_chat_id, kind, title) OVERRIDING SYSTEM VALUE
SELECT g, -1002000000000 - g, 'supergroup', 'Group ' || g FROM generate_series(1, $1) AS g;
INSERT INTO groups (id, chat_id) OVERRIDING SYSTEM VALUE SELECT g, g FROM generate_series(1, $1) AS g;
INSERT INTO ladders (id, group_id, is_default) OVERRIDING SYSTEM VALUE SELECT g, g, true FROM generate_series(1, $1) AS g;
INSERT INTO players (id, telegram_user_id, username, display_name) OVERRIDING SYSTEM VALUE
SELECT p, 1000 + p, 'player_' || p, 'Player_' || p FROM generate_series(1, $1 * $2) AS p;
INSERT INTO group_players (id, ladder_id, player_id, name, elo, start_elo, best_elo) OVERRIDING SYSTEM VALUE
SELECT p, (p - 1) / $2 + 1, p, 'Player_' || p, 1500, 1500, 1500 FROM generate_series(1, $1 * $2) AS p;
CREATE SEQUENCE match_number;
ANALYZE
