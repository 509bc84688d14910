-- A match of singles, statement by statement. The bot's own transaction does more, and takes the number of the match from
-- the row of its group. Here the number comes from a sequence, so that transactions do not wait for each other.
\set group random(1, :groups)
\set one random(1, :people - 1)
\set other random(:one + 1, :people)
-- lock rows in the order of their ids
\set winner (:group - 1) * :people + :one
\set loser (:group - 1) * :people + :other
\set key random(1, 9000000000000000000)
BEGIN;
SELECT id FROM matches WHERE idempotency_key = 'm:' || :key::text;
SELECT elo AS elo_a, best_elo AS best_a, streak AS streak_a FROM group_players WHERE id = :winner FOR UPDATE \gset
SELECT elo AS elo_b, best_elo AS best_b, streak AS streak_b FROM group_players WHERE id = :loser FOR UPDATE \gset
\set change int(32 * (1 - 1 / (1 + pow(10, (:elo_b - :elo_a) / 400.0))) + 0.5)
\set after_a :elo_a + :change
\set after_b :elo_b - :change
UPDATE group_players SET elo = :after_a, best_elo = greatest(best_elo, :after_a), version = version + 1,
    played = played + 1, won = won + 1, streak = greatest(streak, 0) + 1 WHERE id = :winner;
UPDATE group_players SET elo = :after_b, version = version + 1,
    played = played + 1, lost = lost + 1, streak = least(streak, 0) - 1 WHERE id = :loser;
-- elo_history refers to match_players, so insert those together with the match
WITH match AS (
    INSERT INTO matches (group_id, ladder_id, number, score_a, score_b, k_factor, reported_by, played_at, idempotency_key)
    VALUES (:group, :group, nextval('match_number'), 3, 1, 32, :winner, now(), 'm:' || :key::text)
    RETURNING id, ladder_id, played_at
), sides AS (
    INSERT INTO match_players (match_id, player_id, side, ladder_id, played_at)
    SELECT match.id, played.player_id, played.side, match.ladder_id, match.played_at
    FROM match, (VALUES (:winner::bigint, 1), (:loser::bigint, 2)) AS played (player_id, side)
)
SELECT id AS match FROM match \gset
INSERT INTO elo_history (match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, reason)
VALUES (:match, :winner, :elo_a, :after_a, 32, :best_a, :streak_a, 'match');
INSERT INTO elo_history (match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, reason)
VALUES (:match, :loser, :elo_b, :after_b, 32, :best_b, :streak_b, 'match');
INSERT INTO outbox (chat_id, key, kind, payload, addressee, reply_to, expires_at, match_id)
VALUES (:group, 'm:' || :key::text, 'match_recorded', jsonb_build_object('number', :match::bigint, 'sides',
    '[{"players": [{"name": {"text": "Player one"}, "before": 1500, "after": 1516}], "score": 3}, {"players": [{"name": {"text": "Player two"}, "before": 1500, "after": 1484}], "score": 1}]'::jsonb),
    'Player one', 12345, now() + interval '1 day', :match);
COMMIT;
