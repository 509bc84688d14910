package pgranking

import (
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// queueMatchesMeant reads the matches that matchQuery selects and passes them to found. q, ref and
// counts are as for matchQuery. If matchQuery returns no query, found is not called.
func queueMatchesMeant(
	batch *pgx.Batch, q ranking.Query, ref ranking.MatchRef, counts bool, found func([]ranking.StoredMatch),
) {
	sql, args := matchQuery(q, ref, counts)
	if sql == "" {
		return
	}
	batch.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		matches, err := pgx.CollectRows(rows, postgres.RowTo(storedMatch.match))
		found(matches)
		return err
	})
}

// storedMatch is a row of a query that begins with matchColumns.
type storedMatch struct {
	recentMatch
	StandIns     [2]int
	ID           ladder.MatchID
	Ladder       ladder.ID
	Season       ladder.SeasonID
	Position     ladder.Position
	UndoneAt     zeronull.Timestamptz
	UndoneBy     ladder.PlayerID
	Later        int
	SidesSwapped bool
	SamePerson   bool
	Asked        map[ladder.PlayerID]ranking.PromptID
}

func (m storedMatch) match() ranking.StoredMatch {
	undoneAt, recent := time.Time(m.UndoneAt), m.recentMatch.match()
	recent.StandIns = m.StandIns
	return ranking.StoredMatch{
		RecentMatch: recent, ID: m.ID, Ladder: m.Ladder, Season: m.Season, Position: m.Position,
		Undone: !undoneAt.IsZero(), UndoneAt: undoneAt,
		UndoneBy: m.UndoneBy, Later: m.Later, SidesSwapped: m.SidesSwapped, SamePerson: m.SamePerson, Asked: m.Asked,
	}
}

// countingSender is the id of the player for whom the account with the user id $2 counts in the
// chat's group.
var countingSender = postgres.Counting(postgres.ThisPlayer, postgres.ThisGroup)

// matchColumns is the start of a query for matches m of a chat. The caller appends a condition.
var matchColumns = `
		SELECT m.id, m.idempotency_key AS key, m.ladder_id AS ladder, m.season_id AS season, m.number,
		       ` + postgres.Position + ` AS position,
		       ` + postgres.Score + `, ` + postgres.StandIns + `, m.sets,
		       coalesce(m.games, '') AS games, m.played_at, ` + postgres.ReportedAt + ` AS reported_at, m.undone_at,
		       coalesce(` + postgres.Counting("m.undone_by", "g.id") + `, 0) AS undone_by, m.changes,
		       g.last_match_number - (` + postgres.Position + ` >> 32)::integer AS later, false AS twice,
		       coalesce(` + postgres.Counting("m.reported_by", "g.id") + `, 0) AS reported_by,
		       ARRAY(SELECT mp.player_id FROM match_players mp
		             WHERE mp.match_id = m.id AND mp.side = 1 ORDER BY mp.place) AS side_a,
		       ARRAY(SELECT mp.player_id FROM match_players mp
		             WHERE mp.match_id = m.id AND mp.side = 2 ORDER BY mp.place) AS side_b,
		       ` + postgres.SidesSwapped + ` AS sides_swapped,
		       (SELECT count(DISTINCT coalesce(p.merged_into, s.counts_as, p.id)) < count(*) FROM match_players mp
		        JOIN players p ON p.id = mp.player_id
		        LEFT JOIN sightings s ON s.group_id = g.id AND s.player_id = p.id
		        WHERE mp.match_id = m.id) AS same_person,
		       (SELECT jsonb_object_agg(coalesce(answerer_id, 0), id) FROM prompts
		        WHERE match_id = m.id AND closed_at IS NULL
		          AND (delivered_at IS NOT NULL OR asked_at > now() - ` + promptWindow + `)) AS asked
		FROM groups g JOIN matches m ON m.group_id = g.id
		WHERE g.chat_id = ` + postgres.ThisChat + ` AND `

// matchQuery returns the query for the match that ref refers to, or for all matches of ref's
// message, and the query's arguments. An empty ref refers to the last match that the sender has
// played, or has reported since q.ReportedSince, unless the match was imported. If counts is true,
// an empty ref skips undone matches. A ref with LastUndone refers to the match that the sender
// undid last. The query is empty if it needs a sender and there is none.
func matchQuery(q ranking.Query, ref ranking.MatchRef, counts bool) (sql string, args []any) {
	chat, sender := q.Chat.ID, q.Sender
	match := matchColumns
	byID := match + `m.id = $2`
	byNumber := match + `m.number = $2`
	// match_messages keeps the id that the chat had when the message was sent.
	ofMessage := match + `m.id = ANY (ARRAY(
		    SELECT mm.match_id FROM match_messages mm WHERE mm.telegram_chat_id = $1 AND mm.telegram_message_id = $2
		    UNION ALL
		    SELECT made.id FROM generate_series(1, $4::integer) AS n CROSS JOIN LATERAL (
		        SELECT * FROM matches
		        WHERE idempotency_key = $3 || CASE WHEN n > 1 THEN '` + ranking.ExtraMatch + `' || n ELSE '' END
		        LIMIT 1) AS made))
		ORDER BY m.number`
	// the sender's player, with all who count as that player
	mine := `ANY (ARRAY(
		    SELECT ` + countingSender + ` UNION ALL
		    SELECT player_id FROM sightings
		    WHERE group_id = ` + postgres.ThisGroup + ` AND counts_as = ` + countingSender + `))`
	last := match + `m.number = (
		    SELECT max(number) FROM players sender CROSS JOIN LATERAL (
		        (SELECT played.number FROM match_players mp
		         CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = mp.match_id LIMIT 1) AS played
		         WHERE mp.player_id = sender.id AND played.group_id = ` + postgres.ThisGroup + `
		           AND (NOT $3 OR played.undone_at IS NULL)
		           AND NOT starts_with(played.idempotency_key, '` + ranking.ImportKey + `')
		         ORDER BY mp.match_id DESC LIMIT 1)
		        UNION ALL
		        (SELECT max(r.number) FROM matches r
		         WHERE r.ladder_id = ANY (ARRAY(SELECT id FROM ladders WHERE group_id = ` + postgres.ThisGroup + `))
		           AND r.played_at >= $4::timestamptz - $5 * interval '1 day' AND r.reported_by = ` + mine + `
		           AND (r.played_at >= $4 OR r.position IS NOT NULL AND r.created_at >= $4)
		           AND (NOT $3 OR r.undone_at IS NULL))
		    ) AS of_sender
		    WHERE sender.id = ` + countingSender + `)`
	lastUndone := match + `m.id = (
		    SELECT undone.id FROM matches undone
		    WHERE undone.undone_by = ` + mine + ` AND undone.group_id = ` + postgres.ThisGroup + `
		    ORDER BY undone.undone_at DESC, undone.id DESC LIMIT 1)`
	switch {
	case ref.ID != 0:
		return byID, []any{chat, ref.ID}
	case ref.Number != 0:
		return byNumber, []any{chat, ref.Number}
	case ref.Message != 0, ref.Key != "":
		return ofMessage, []any{chat, ref.Message, ref.Key, ranking.MaxReports}
	case sender != nil && ref.LastUndone:
		return lastUndone, []any{chat, sender.ID}
	case sender != nil:
		return last, []any{chat, sender.ID, counts, q.ReportedSince, ranking.AdminDays + 1}
	}
	return "", nil
}
