package postgres

// NamesOfPlayers are the names of all players that an outbox row i names by their ids, as a JSON object of outbox.Name; null
// if there are none. A player is called as in the group of the row's chat. A merged player is called like the one into whom
// they were merged. Players with the same name in the ladder have a mark: the username, or else a number.
//
// The planner expects far more ids than there are. With LIMIT 1 it looks up each row by its key nevertheless.
const NamesOfPlayers = `(
		    SELECT jsonb_object_agg(wanted.id, jsonb_build_object('name', called.name, 'mark', CASE WHEN namesakes.others > 0 THEN
		        coalesce(called.username, (1 + namesakes.earlier)::text) ELSE '' END))
		    FROM (
		        SELECT (jsonb_path_query(i.payload, '$.**.player'))::bigint AS id
		        UNION SELECT i.addressee_id WHERE i.addressee_id IS NOT NULL
		    ) AS wanted
		    CROSS JOIN LATERAL (SELECT coalesce(merged_into, id) AS id FROM players WHERE id = wanted.id LIMIT 1) AS one
		    CROSS JOIN LATERAL (SELECT * FROM players WHERE id = one.id LIMIT 1) AS p
		    LEFT JOIN LATERAL (
		        SELECT l.id, l.group_id FROM groups g JOIN ladders l ON l.group_id = g.id AND l.is_default
		        WHERE g.chat_id = i.chat_id LIMIT 1) AS l ON true
		    LEFT JOIN LATERAL (SELECT * FROM group_players WHERE ladder_id = l.id AND player_id = p.id LIMIT 1) AS s ON true
		    CROSS JOIN LATERAL (
		        SELECT coalesce(s.name, p.display_name) AS name, CASE WHEN p.telegram_user_id IS NULL THEN p.username
		            ELSE (SELECT username FROM sightings WHERE group_id = l.group_id AND player_id = p.id) END AS username) AS called
		    CROSS JOIN LATERAL (
		        SELECT count(*) AS others, count(*) FILTER (WHERE s.id IS NULL OR o.id < s.id) AS earlier FROM group_players o
		        WHERE o.ladder_id = l.id AND o.id IS DISTINCT FROM s.id AND lower(o.name) = lower(called.name)) AS namesakes)`
