WITH chat AS (
    INSERT INTO chats (telegram_chat_id, kind, title) SELECT id, 'supergroup', 'Group' FROM unnest($1::bigint[]) AS id
    RETURNING id
)
INSERT INTO outbox (chat_id, key, kind, payload, addressee, expires_at)
SELECT chat.id, 'm:' || chat.id || ':' || n, 'match_recorded', jsonb_build_object('number', n, 'sides',
    '[{"players": [{"name": {"name": "Player one"}, "before": 1500, "after": 1516}], "score": 3}, {"players": [{"name": {"name": "Player two"}, "before": 1500, "after": 1484}], "score": 1}]'::jsonb),
    'Player one', now() + interval '1 day'
FROM generate_series(1, $2::integer) AS n CROSS JOIN chat
