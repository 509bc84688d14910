package pgranking

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/notice"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// queueNumbers assigns the number of one new match in each of the groups, which also locks them.
func queueNumbers(batch *pgx.Batch, groups []ranking.GroupID) {
	batch.Queue(`
		WITH assigned AS (
		    UPDATE groups SET last_match_number = last_match_number + 1 WHERE id = ANY ($1) RETURNING 1)
		SELECT (count(*) = cardinality($1))::unchanged FROM assigned`, groups)
}

// newMatch is a match to be inserted, with the changes of its command.
type newMatch struct {
	*ranking.NewMatch
	ranking.Changes
}

// insertMatches inserts matches of different groups at once.
const insertMatches = `
	WITH new AS (
	    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::integer[], $4::integer[], $5::text[], $6::integer[],
	                         $7::integer[], $8::integer[], $9::boolean[],
	                         $10::bigint[], $11::timestamptz[], $12::text[], $13::bigint[], $14::text[], $15::text[],
	                         $16::jsonb[], $17::text[], $18::bigint[], $19::bigint[], $20::interval[],
	                         $21::bigint[], $22::text[], $23::integer[], $34::smallint[])
	        AS n (group_id, ladder_id, score_a, score_b, sets, k_factor,
	              provisional_k_factor, provisional_matches, margin_of_victory,
	              reported_by, played_at, key, chat_id, kind, purpose,
	              payload, addressee, reply_to, thread_id, time_left, addressee_id, command, upset, winner)
	), match AS (
	    INSERT INTO matches (group_id, ladder_id, number, score_a, score_b, sets, k_factor, provisional_k_factor,
	                         provisional_matches, margin_of_victory, reported_by, played_at, idempotency_key, upset, winner)
	    SELECT g.id, n.ladder_id, g.last_match_number, n.score_a, n.score_b, n.sets::smallint[], n.k_factor,
	           n.provisional_k_factor, n.provisional_matches, n.margin_of_victory, nullif(n.reported_by, 0), n.played_at, n.key,
	           nullif(n.upset, 0), n.winner
	    FROM new n JOIN groups g ON g.id = n.group_id
	    RETURNING id, group_id, number
	), sides AS (
	    INSERT INTO match_players (match_id, player_id, side, place)
	    SELECT match.id, p.player_id, p.side, p.place
	    FROM unnest($24::bigint[], $25::bigint[], $26::smallint[], $27::smallint[])
	         AS p (group_id, player_id, side, place) JOIN match USING (group_id)
	), history AS (
	    INSERT INTO elo_history (match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, longest_before, reason)
	    SELECT match.id, p.player_id, p.elo_before, p.elo_after, p.k_factor, p.best_before, p.streak_before, p.longest_before, 'match'
	    FROM unnest($24::bigint[], $25::bigint[], $27::smallint[], $28::integer[], $29::integer[], $30::integer[],
	                $31::integer[], $32::integer[], $33::integer[])
	         AS p (group_id, player_id, place, elo_before, elo_after, k_factor, best_before, streak_before, longest_before)
	         JOIN match USING (group_id)
	    ORDER BY match.id, p.place
	)
	INSERT INTO outbox (chat_id, key, kind, purpose, payload, addressee, reply_to, thread_id, expires_at, match_id, addressee_id)
	SELECT n.chat_id, n.command, n.kind, n.purpose, n.payload || jsonb_build_object('number', match.number), n.addressee,
	       nullif(n.reply_to, 0), nullif(n.thread_id, 0), clock_timestamp() + n.time_left, match.id, nullif(n.addressee_id, 0)
	FROM new n JOIN match USING (group_id)`

// queueMatches inserts matches under the assigned numbers, with their players, history and cards. The matches must be of different groups.
func queueMatches(batch *pgx.Batch, now time.Time, matches []newMatch) error {
	var payloads [][]byte
	var players []matchPlayer
	var a, b, winner []*int
	for _, m := range matches {
		pointsA, pointsB, won := scoreColumns(m.Score)
		a, b, winner = append(a, pointsA), append(b, pointsB), append(winner, won)
		payload, err := encode(m.Card, m.Changes.Ladder)
		if err != nil {
			return err
		}
		payloads = append(payloads, payload)
		for i, p := range m.Players {
			players = append(players, matchPlayer{p, m.Group, i + 1})
		}
	}
	batch.Queue(insertMatches,
		postgres.Column(matches, func(m newMatch) ranking.GroupID { return m.Group }),
		postgres.Column(matches, func(m newMatch) ranking.LadderID { return m.NewMatch.Ladder }),
		a, b,
		postgres.Column(matches, func(m newMatch) *string { return setsText(m.Sets) }),
		postgres.Column(matches, func(m newMatch) int { return m.K }),
		postgres.Column(matches, func(m newMatch) int { return m.Provisional.K }),
		postgres.Column(matches, func(m newMatch) int { return m.Provisional.Matches }),
		postgres.Column(matches, func(m newMatch) bool { return m.Margin }),
		postgres.Column(matches, func(m newMatch) ranking.PlayerID { return m.ReportedBy }),
		postgres.Column(matches, func(m newMatch) time.Time { return m.PlayedAt }),
		postgres.Column(matches, func(m newMatch) string { return m.NewMatch.Key }),
		postgres.Column(matches, func(m newMatch) ranking.ChatID { return m.Chat }),
		postgres.Column(matches, func(m newMatch) string { return notice.KindOf(m.Card).Name }),
		postgres.Column(matches, func(m newMatch) string { return string(notice.KindOf(m.Card).Purpose) }),
		payloads,
		postgres.Column(matches, func(m newMatch) string { return m.Addressee.Name }),
		postgres.Column(matches, func(m newMatch) int64 { return m.ReplyTo }),
		postgres.Column(matches, func(m newMatch) int64 { return m.Thread }),
		postgres.Column(matches, func(m newMatch) *time.Duration {
			return TimeLeft(m.SentAt, now, notice.KindOf(m.Card).Purpose.Lifetime())
		}),
		postgres.Column(matches, func(m newMatch) ranking.PlayerID { return m.Addressee.Player }),
		postgres.Column(matches, func(m newMatch) string { return m.Changes.Key }),
		postgres.Column(matches, func(m newMatch) int { return m.Upset }),
		postgres.Column(players, func(p matchPlayer) ranking.GroupID { return p.group }),
		postgres.Column(players, func(p matchPlayer) ranking.PlayerID { return p.Before.Player }),
		postgres.Column(players, func(p matchPlayer) int { return p.Side }),
		postgres.Column(players, func(p matchPlayer) int { return p.place }),
		postgres.Column(players, func(p matchPlayer) int { return p.Before.Elo }),
		postgres.Column(players, func(p matchPlayer) int { return p.After.Elo }),
		postgres.Column(players, func(p matchPlayer) int { return p.K }),
		postgres.Column(players, func(p matchPlayer) int { return p.Before.BestElo }),
		postgres.Column(players, func(p matchPlayer) int { return p.Before.Streak }),
		postgres.Column(players, func(p matchPlayer) int { return p.Before.Longest }),
		winner)
	return nil
}

// matchPlayer is a player of a new match; place is the position among its players, from 1.
type matchPlayer struct {
	ranking.MatchPlayer
	group ranking.GroupID
	place int
}

// setsText returns the points of sets in PostgreSQL's notation, because all elements of an array of arrays must have the same length.
func setsText(sets []ranking.Score) *string {
	if len(sets) == 0 {
		return nil
	}
	pairs := make([]string, len(sets))
	for i, s := range sets {
		pairs[i] = fmt.Sprintf("{%d,%d}", s.A, s.B)
	}
	text := "{" + strings.Join(pairs, ",") + "}"
	return &text
}

// scoreColumns returns a score in its stored form: the points, or else the side that won, 0 for a draw.
func scoreColumns(s ranking.Score) (a, b, winner *int) {
	switch {
	case s.HasPoints():
		return &s.A, &s.B, nil
	case s == ranking.Win:
		return nil, nil, new(1)
	case s == ranking.Loss:
		return nil, nil, new(2)
	default:
		return nil, nil, new(0)
	}
}

// resultRow is the result of a match as its columns have it.
type resultRow struct {
	ScoreA, ScoreB int
	Sets           [][]int16
}

func (r resultRow) result() ranking.Result {
	result := ranking.Result{Score: ranking.Score{A: r.ScoreA, B: r.ScoreB}}
	for _, points := range r.Sets {
		result.Sets = append(result.Sets, ranking.Score{A: int(points[0]), B: int(points[1])})
	}
	return result
}

// setPoints returns the points of sets in their stored form: nil, or an array of pairs.
func setPoints(sets []ranking.Score) [][]int16 {
	var points [][]int16
	for _, s := range sets {
		points = append(points, []int16{int16(s.A), int16(s.B)})
	}
	return points
}

// queueChangedStandings overwrites standings, provided that their versions are still those that were read. It goes in the order of their
// ids, the order in which all transactions lock them.
func queueChangedStandings(batch *pgx.Batch, standings []ranking.Standing) {
	n := len(standings)
	if n == 0 {
		return
	}
	standings = slices.SortedFunc(slices.Values(standings), func(a, b ranking.Standing) int { return cmp.Compare(a.ID, b.ID) })
	ids, versions := make([]int64, n), make([]int64, n)
	var numbers [9][]int32
	for i := range numbers {
		numbers[i] = make([]int32, n)
	}
	left, played := make([]zeronull.Timestamptz, n), make([]zeronull.Timestamptz, n)
	for i, s := range standings {
		ids[i], versions[i] = int64(s.ID), s.Version
		left[i], played[i] = zeronull.Timestamptz(s.LeftAt), zeronull.Timestamptz(s.LastPlayed)
		for j, number := range [...]int{s.Elo, s.StartElo, s.BestElo, s.Played, s.Won, s.Drawn, s.Lost, s.Streak, s.Longest} {
			numbers[j][i] = int32(number)
		}
	}
	batch.Queue(`
		WITH changed AS (
		    UPDATE group_players s
		    SET elo = w.elo, start_elo = w.start_elo, best_elo = w.best_elo, played = w.played, won = w.won,
		        drawn = w.drawn, lost = w.lost, streak = w.streak, longest_streak = w.longest_streak, left_at = w.left_at,
		        last_played_at = w.last_played_at, version = s.version + 1
		    FROM unnest($1::bigint[], $2::bigint[], $3::integer[], $4::integer[], $5::integer[], $6::integer[],
		                $7::integer[], $8::integer[], $9::integer[], $10::integer[], $11::integer[], $12::timestamptz[], $13::timestamptz[])
		         AS w (id, version, elo, start_elo, best_elo, played, won, drawn, lost, streak, longest_streak, left_at, last_played_at)
		    WHERE s.id = w.id AND s.version = w.version
		    RETURNING 1)
		SELECT (count(*) = cardinality($1))::unchanged FROM changed`,
		ids, versions, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6], numbers[7], numbers[8], left, played)
}

// queueNewMatches inserts matches of one group, whose first number is assigned, and what they change.
func queueNewMatches(batch *pgx.Batch, now time.Time, c ranking.Changes, matches ranking.NewMatches) error {
	var known []ranking.Standing
	for _, s := range lastStandings(matches) {
		if s.ID == 0 {
			queueNewStanding(batch, matches[0].Ladder, s)
		} else {
			known = append(known, s)
		}
	}
	queueChangedStandings(batch, known)
	for i, m := range matches {
		if i > 0 {
			queueNumbers(batch, []ranking.GroupID{m.Group})
		}
		if err := queueMatches(batch, now, []newMatch{{m, c}}); err != nil {
			return err
		}
	}
	return nil
}

// lastStandings returns the standing of each player after the last of the player's matches.
func lastStandings(matches ranking.NewMatches) []ranking.Standing {
	var last []ranking.Standing
	for i, m := range matches {
		for _, p := range m.Players {
			at := -1
			if i > 0 {
				at = slices.IndexFunc(last, func(s ranking.Standing) bool { return s.Player == p.After.Player })
			}
			if at < 0 {
				last = append(last, p.After)
			} else {
				last[at] = p.After
			}
		}
	}
	return last
}

func queueNewStanding(batch *pgx.Batch, ladder ranking.LadderID, s ranking.Standing) {
	// a player who has been merged into another one in the meantime must not join a ladder again
	batch.Queue(`
		WITH player AS (
		    SELECT id FROM players WHERE id = $2 AND merged_into IS NULL FOR KEY SHARE
		), added AS (
		    INSERT INTO group_players
		        (ladder_id, player_id, name, elo, start_elo, best_elo, played, won, drawn, lost, streak, longest_streak, last_played_at)
		    SELECT $1, id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 FROM player
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM added)::unchanged`,
		ladder, s.Player, s.Name, s.Elo, s.StartElo, s.BestElo, s.Played, s.Won, s.Drawn, s.Lost, s.Streak, s.Longest, zeronull.Timestamptz(s.LastPlayed))
}
