package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/ranking"
)

// queueMatchRef reads the match that the query refers to.
func queueMatchRef(batch *pgx.Batch, q ranking.Query, snap *ranking.Snapshot) {
	const match = `
		SELECT m.id, m.ladder_id, m.number, m.score_a, m.score_b, m.sets, m.played_at, m.undone_at IS NOT NULL,
		       coalesce(m.reported_by, 0), coalesce(s.name, p.display_name, ''),
		       ARRAY(SELECT mp.player_id FROM match_players mp WHERE mp.match_id = m.id AND mp.side = 1 ORDER BY mp.place),
		       ARRAY(SELECT mp.player_id FROM match_players mp WHERE mp.match_id = m.id AND mp.side = 2 ORDER BY mp.place),
		       ` + sidesSwapped + `, m.idempotency_key
		FROM groups g JOIN matches m ON m.group_id = g.id
		LEFT JOIN players p ON p.id = m.reported_by
		LEFT JOIN group_players s ON s.ladder_id = m.ladder_id AND s.player_id = m.reported_by
		WHERE g.chat_id = ` + thisChat + ` AND `
	const byNumber = match + `m.number = $2`
	// messages are found by the id that the chat had when they were sent
	const matchOfMessage = `(SELECT mm.match_id FROM match_messages mm
		     WHERE mm.telegram_chat_id = $1 AND mm.telegram_message_id = $2 ORDER BY mm.match_id DESC LIMIT 1)`
	const byNumberBelow = match + `m.id = coalesce(` + matchOfMessage + `,
		    (SELECT shown.id FROM matches shown WHERE shown.group_id = g.id AND shown.number = $3))`
	// a message that shows several matches does not tell which one is meant
	const byMessage = match + `m.id = coalesce((SELECT min(mm.match_id) FROM match_messages mm
		     WHERE mm.telegram_chat_id = $1 AND mm.telegram_message_id = $2 HAVING count(*) = 1),
		    (SELECT made.id FROM matches made WHERE made.idempotency_key = $3))`
	const last = match + `m.number = (
		    SELECT max(number) FROM players sender CROSS JOIN LATERAL (
		        (SELECT played.number FROM match_players mp JOIN matches played ON played.id = mp.match_id
		         WHERE mp.player_id = sender.id AND played.group_id = g.id ORDER BY mp.match_id DESC LIMIT 1)
		        UNION ALL
		        (SELECT r.number FROM matches r
		         WHERE r.reported_by = sender.id AND r.group_id = g.id ORDER BY r.number DESC LIMIT 1)
		    ) AS of_sender
		    WHERE sender.id = coalesce(
		        (SELECT p.id FROM players p WHERE p.telegram_user_id = $2),
		        (SELECT p.id FROM players p WHERE lower(p.username) = lower($3) AND p.telegram_user_id IS NULL)))`
	var query *pgx.QueuedQuery
	switch ref := *q.Match; {
	case ref.Number != 0 && ref.Below != 0:
		query = batch.Queue(byNumberBelow, q.Chat.ID, ref.Below, ref.Number)
	case ref.Number != 0:
		query = batch.Queue(byNumber, q.Chat.ID, ref.Number)
	case ref.Message != 0:
		query = batch.Queue(byMessage, q.Chat.ID, ref.Message, ref.Key)
	case len(q.People) > 0:
		query = batch.Queue(last, q.Chat.ID, q.People[0].ID, q.People[0].Username)
	default:
		return
	}
	query.Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*ranking.StoredMatch, error) {
			var m ranking.StoredMatch
			var points [][]int16
			var key string
			err := row.Scan(&m.ID, &m.Ladder, &m.Number, &m.Result.A, &m.Result.B, &points, &m.PlayedAt, &m.Undone,
				&m.ReportedBy, &m.Reporter, &m.Players[0], &m.Players[1], &m.Turned, &key)
			m.Result.Sets = setScores(points)
			m.ByCommand = q.Match.Number == 0 && q.Match.Key == key
			return &m, err
		})
		if len(found) > 0 {
			snap.Match = found[0]
		}
		return err
	})
}

// sidesSwapped tells whether side B comes first on the card of a match m, because it was the winner originally.
const sidesSwapped = `coalesce(
		           (SELECT f.old_score_b > f.old_score_a FROM match_fixes f WHERE f.match_id = m.id ORDER BY f.id LIMIT 1),
		           m.score_b > m.score_a)`

// setScores is the opposite of setPoints.
func setScores(points [][]int16) []ranking.Score {
	var sets []ranking.Score
	for _, p := range points {
		sets = append(sets, ranking.Score{A: int(p[0]), B: int(p[1])})
	}
	return sets
}

// queueHistory reads the matches of a ladder from a number on, and the standings of all who play in them.
func queueHistory(batch *pgx.Batch, from ranking.HistoryFrom, history *ranking.MatchHistory) {
	// the array is built once; a join would scan all matches of each player in the ladder
	const playing = rankedPlayers + `$1 AND s.player_id = ANY (ARRAY(
		    SELECT DISTINCT mp.player_id FROM matches m JOIN match_players mp ON mp.match_id = m.id
		    WHERE m.ladder_id = $1 AND m.number >= $2))
		ORDER BY s.id`
	sql, args := playing, []any{from.Ladder, from.Number}
	if from.Number == 0 {
		sql, args = allRankedPlayers, args[:1]
	}
	batch.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		var err error
		history.Standings, err = pgx.CollectRows(rows, scanRankedPlayer)
		return err
	})
	batch.Queue(playedMatches, from.Ladder, from.Number).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		return eachMatch(rows, func(m ranking.PlayedMatch) error {
			history.Matches = append(history.Matches, m)
			return nil
		})
	})
}

// rankedPlayers reads standings with everything needed to name their players. The id of the ladder must follow.
const rankedPlayers = `
	SELECT s.id, s.player_id, s.name, s.elo, s.start_elo, s.best_elo, s.version,
	       s.played, s.won, s.drawn, s.lost, s.streak, s.left_at, coalesce(p.username, ''), namesakes.others, namesakes.earlier,
	       p.merged_into IS NOT NULL
	FROM group_players s
	JOIN players p ON p.id = s.player_id
	CROSS JOIN LATERAL (
	    SELECT count(*) AS others, count(*) FILTER (WHERE o.id < s.id) AS earlier
	    FROM group_players o
	    WHERE o.ladder_id = s.ladder_id AND o.id <> s.id AND lower(o.name) = lower(s.name)
	) AS namesakes
	WHERE s.ladder_id = `

// allRankedPlayers reads all ranked players of a ladder.
const allRankedPlayers = rankedPlayers + `$1 ORDER BY s.id`

func scanRankedPlayer(row pgx.CollectableRow) (ranking.RankedPlayer, error) {
	var c ranking.RankedPlayer
	err := row.Scan(append(standingFields(&c.Standing), &c.Username, &c.Namesakes, &c.Earlier, &c.Merged)...)
	return c, err
}

// standingFields returns the scan targets for the columns of a standing, in the order of the queries here.
func standingFields(s *ranking.Standing) []any {
	return []any{&s.ID, &s.Player, &s.Name, &s.Elo, &s.StartElo, &s.BestElo, &s.Version,
		&s.Played, &s.Won, &s.Drawn, &s.Lost, &s.Streak, (*zeronull.Timestamptz)(&s.LeftAt)}
}

// playedMatches has one row for each player in a match.
const playedMatches = `
	SELECT m.id, m.number, m.k_factor, m.score_a, m.score_b, m.sets, m.undone_at IS NOT NULL, mp.player_id, mp.side,
	       coalesce(h.id, 0), coalesce(h.elo_before, 0), coalesce(h.elo_after, 0),
	       coalesce(h.best_before, 0), coalesce(h.streak_before, 0)
	FROM matches m
	JOIN match_players mp ON mp.match_id = m.id
	LEFT JOIN elo_history h ON h.match_id = m.id AND h.player_id = mp.player_id AND h.superseded_at IS NULL
	WHERE m.ladder_id = $1 AND m.number >= $2
	ORDER BY m.number, mp.side, mp.place, mp.player_id`

// eachMatch assembles the rows of playedMatches into matches, one after the other.
func eachMatch(rows pgx.Rows, yield func(ranking.PlayedMatch) error) error {
	var current ranking.PlayedMatch
	for rows.Next() {
		var m ranking.PlayedMatch
		var p ranking.Part
		var e ranking.Entry
		var points [][]int16
		err := rows.Scan(&m.ID, &m.Number, &m.K, &m.A, &m.B, &points, &m.Undone, &p.Player, &p.Side,
			&e.ID, &e.Before, &e.After, &e.BestBefore, &e.StreakBefore)
		if err != nil {
			return fmt.Errorf("read match history: %w", err)
		}
		if e.ID != 0 {
			p.Entry = &e
		}
		if m.ID != current.ID {
			if current.ID != 0 {
				if err := yield(current); err != nil {
					return err
				}
			}
			current = m
			current.Sets = setScores(points)
		}
		current.Parts = append(current.Parts, p)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read match history: %w", err)
	}
	if current.ID == 0 {
		return nil
	}
	return yield(current)
}

// history reads a match history on its own.
func (s *Store) history(ctx context.Context, from ranking.HistoryFrom) (ranking.MatchHistory, error) {
	var history ranking.MatchHistory
	var batch pgx.Batch
	queueHistory(&batch, from, &history)
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return history, fmt.Errorf("read match history: %w", translate(err))
	}
	return history, nil
}
