package postgres

// NamesOfPlayers selects the names of the addressee and of all players in the payload of an outbox
// row i, as a JSON object of outbox.Name by player id; null if there are none. A player has the
// name used in the group of the row's chat, or else the display name. A merged player has the name
// of the player that remains. If several players of the group have the same name, ignoring case,
// their marks are their usernames, or numbers for those without one. All other marks are empty.
//
// The planner expects far more ids than there are. LIMIT 1 and OFFSET 0 make it use indexes anyway:
// it looks up players by their keys, and namesakes by name, season by season. The table players is
// read only for players without a standing and for marks.
const NamesOfPlayers = `(
		    SELECT jsonb_object_agg(wanted.id, jsonb_build_object('name', called.name,
		        'mark', CASE WHEN namesakes.others > 0 THEN
		        coalesce((
		            SELECT CASE WHEN p.telegram_user_id IS NULL THEN p.username
		                ELSE (SELECT username FROM sightings WHERE group_id = g.group_id AND player_id = p.id) END
		            FROM players p WHERE p.id = called.id), (1 + namesakes.earlier)::text) ELSE '' END))
		    FROM (SELECT (SELECT id FROM groups WHERE chat_id = i.chat_id) AS group_id OFFSET 0) AS g
		    CROSS JOIN LATERAL (
		        SELECT ARRAY(SELECT season_id FROM ladders WHERE group_id = g.group_id) AS seasons OFFSET 0) AS l
		    CROSS JOIN LATERAL (
		        SELECT (jsonb_path_query(i.payload, '$.**.player'))::bigint AS id
		        UNION SELECT i.addressee_id WHERE i.addressee_id IS NOT NULL
		    ) AS wanted
		    CROSS JOIN LATERAL (
		        (SELECT player_id AS id, name, named_id IS DISTINCT FROM player_id AS counts FROM group_players
		         WHERE season_id = ANY (l.seasons) AND player_id = wanted.id LIMIT 1)
		        UNION ALL
		        SELECT p.id, coalesce(s.name, p.display_name), s.named_id IS DISTINCT FROM s.player_id
		        FROM (SELECT coalesce(merged_into, id) AS id FROM players WHERE id = wanted.id LIMIT 1) AS one
		        CROSS JOIN LATERAL (SELECT * FROM players WHERE id = one.id LIMIT 1) AS p
		        LEFT JOIN LATERAL (
		            SELECT * FROM group_players WHERE season_id = ANY (l.seasons) AND player_id = p.id LIMIT 1) AS s ON true
		        LIMIT 1) AS called
		    CROSS JOIN LATERAL (
		        SELECT count(DISTINCT o.player_id) FILTER (
		                   WHERE o.named_id IS DISTINCT FROM o.player_id OR NOT called.counts OR o.name = '…') AS others,
		               count(DISTINCT o.player_id) FILTER (WHERE o.player_id < called.id) AS earlier
		        FROM unnest(l.seasons) AS season
		        CROSS JOIN LATERAL (
		            SELECT * FROM group_players WHERE season_id = season AND lower(name) = lower(called.name) OFFSET 0) AS o
		        WHERE o.player_id <> called.id) AS namesakes)`
