package pgranking

import (
	"cmp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// queueNumbers assigns the next match number in each of the groups, which also locks the groups.
func queueNumbers(batch *pgx.Batch, groups []ranking.GroupID) {
	batch.Queue(`
		WITH assigned AS (
		    UPDATE groups SET last_match_number = last_match_number + 1 WHERE id = ANY ($1) RETURNING 1)
		SELECT (count(*) = cardinality($1))::unchanged FROM assigned`, groups)
}

// newMatch is a match to be inserted, with the changes of its command.
type newMatch struct {
	*ranking.NewMatch
	*ranking.Changes
}

// insertMatches inserts matches of different groups in one statement, with their players, history
// and cards. $1 is an array of matchRow.
const insertMatches = `
	WITH new AS (
	    SELECT n.* FROM unnest($1::jsonb[]) AS one CROSS JOIN LATERAL jsonb_to_record(one) AS n (
	        group_id bigint, ladder_id bigint, season_id bigint,
	        score_a integer, score_b integer, winner smallint, sets smallint[], games text, upset integer,
	        stand_ins_a smallint, stand_ins_b smallint,
	        k_factor integer, provisional_k_factor integer, provisional_matches integer, margin_of_victory boolean,
	        reported_by bigint, played_at timestamptz, created_at timestamptz, position bigint, key text, players jsonb,
	        chat_id bigint, command text, card jsonb, addressee text, addressee_id bigint,
	        reply_to bigint, thread_id bigint, time_left bigint)
	), match AS (
	    INSERT INTO matches (group_id, ladder_id, season_id, number, score_a, score_b, sets, games,
	                         k_factor, provisional_k_factor, provisional_matches, margin_of_victory,
	                         reported_by, played_at, created_at, position, idempotency_key, upset, winner,
	                         stand_ins_a, stand_ins_b)
	    SELECT g.id, n.ladder_id, n.season_id, g.last_match_number, n.score_a, n.score_b, n.sets, n.games,
	           n.k_factor, n.provisional_k_factor, n.provisional_matches, n.margin_of_victory,
	           n.reported_by, n.played_at, coalesce(n.created_at, now()),
	           CASE n.position WHEN 0 THEN g.last_match_number::bigint << 32 ELSE n.position END,
	           n.key, n.upset, n.winner, n.stand_ins_a, n.stand_ins_b
	    FROM new n JOIN groups g ON g.id = n.group_id
	    RETURNING id, group_id, number
	), player AS (
	    SELECT match.id AS match_id, p.*
	    FROM new n JOIN match USING (group_id) CROSS JOIN LATERAL jsonb_to_recordset(n.players) AS p (
	        player_id bigint, named_id bigint, side smallint, place smallint,
	        elo_before integer, elo_after integer, k_factor integer,
	        best_before integer, streak_before integer, longest_before integer)
	), sides AS (
	    INSERT INTO match_players (match_id, player_id, side, place, named_id)
	    SELECT match_id, player_id, side, place, named_id FROM player
	), history AS (
	    INSERT INTO elo_history
	        (match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, longest_before, reason)
	    SELECT match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, longest_before, 'match'
	    FROM player ORDER BY match_id, place
	)
	INSERT INTO outbox
	    (chat_id, key, kind, purpose, payload, addressee, reply_to, thread_id, expires_at, match_id, addressee_id)
	SELECT n.chat_id, n.command, $2, $3, n.card || jsonb_build_object('number', match.number),
	       n.addressee, n.reply_to, n.thread_id,
	       clock_timestamp() + n.time_left * interval '1 microsecond', match.id, n.addressee_id
	FROM new n JOIN match USING (group_id)`

// matchRow is an element of the argument of insertMatches. Its JSON names are the column names in
// that query.
type matchRow struct {
	Group  ranking.GroupID `json:"group_id"`
	Ladder ladder.ID       `json:"ladder_id"`
	Season ladder.SeasonID `json:"season_id"`
	ScoreA *int            `json:"score_a"`
	ScoreB *int            `json:"score_b"`
	Winner *int            `json:"winner"`
	Sets   [][]int16       `json:"sets"`
	Games  string          `json:"games,omitzero"`
	Upset  int             `json:"upset,omitzero"`

	StandInsA int `json:"stand_ins_a,omitzero"`
	StandInsB int `json:"stand_ins_b,omitzero"`
	ladder.RatingRules
	ReportedBy ladder.PlayerID `json:"reported_by,omitzero"`
	PlayedAt   time.Time       `json:"played_at"`
	*placeRow
	Key         string          `json:"key"`
	Players     []playerRow     `json:"players"`
	Chat        ranking.ChatID  `json:"chat_id"`
	Command     string          `json:"command"`
	Card        labeled         `json:"card"`
	Addressee   string          `json:"addressee"`
	AddresseeID ladder.PlayerID `json:"addressee_id,omitzero"`
	ReplyTo     int64           `json:"reply_to,omitzero"`
	Thread      int64           `json:"thread_id,omitzero"`
	TimeLeft    *int64          `json:"time_left"` // in microseconds; nil for no limit
}

// placeRow is the part of a matchRow that only a match of another day has.
type placeRow struct {
	ReportedAt *time.Time      `json:"created_at,omitempty"` // nil for the time of the transaction
	Position   ladder.Position `json:"position"`             // as in ranking.Inserted
}

// playerRow is a player of a match in the argument of insertMatches.
type playerRow struct {
	Player ladder.PlayerID `json:"player_id"`
	Named  ladder.PlayerID `json:"named_id,omitzero"` // as in ladder.Part
	Side   int             `json:"side"`
	Place  int             `json:"place"` // among the players of the match, from 1
	ladder.Entry
}

// queueMatches inserts matches under the numbers that queueNumbers has assigned, with their
// players, history and cards. The matches must be of different groups.
func queueMatches(batch *pgx.Batch, now time.Time, matches []newMatch) {
	kind := notice.KindOf(ranking.MatchRecorded{})
	rows := make([]matchRow, len(matches))
	for i, m := range matches {
		a, b, winner := scoreColumns(m.Score)
		rows[i] = matchRow{
			Group: m.Group, Ladder: m.NewMatch.Ladder, Season: m.Season,
			ScoreA: a, ScoreB: b, Winner: winner, Sets: setPoints(m.Sets), Games: m.Games, Upset: m.Upset,
			StandInsA: m.StandIns[0], StandInsB: m.StandIns[1],
			RatingRules: m.RatingRules, ReportedBy: m.ReportedBy,
			PlayedAt: m.PlayedAt, Key: m.NewMatch.Key, Players: make([]playerRow, len(m.Players)),
			Chat: m.Chat, Command: m.Changes.Key, Card: labeled{m.Card, m.Changes.Ladder},
			Addressee: m.Addressee.Name, AddresseeID: m.Addressee.Player,
			ReplyTo: m.ReplyTo, Thread: m.Thread,
		}
		if in := m.Inserted; in != nil {
			rows[i].placeRow = &placeRow{Position: in.Position}
			if !m.SentAt.IsZero() {
				rows[i].ReportedAt = &m.SentAt
			}
		}
		if left := TimeLeft(m.SentAt, now, kind.Purpose.Lifetime()); left != nil {
			rows[i].TimeLeft = new(left.Microseconds())
		}
		for place, p := range m.Players {
			rows[i].Players[place] = playerRow{p.Before.Player, p.Named, p.Side, place + 1, ladder.Entry{
				Before: p.Before.Elo, After: p.After.Elo, K: p.K,
				BestBefore: p.Before.BestElo, StreakBefore: p.Before.Streak, LongestBefore: p.Before.Longest,
			}}
		}
	}
	batch.Queue(insertMatches, rows, kind.Name, kind.Purpose)
}

// scoreColumns returns the columns in which a score is stored. These are either the points a and b,
// or only the winner: 1 or 2 for a side, 0 for a draw. The other columns are nil.
func scoreColumns(s ladder.Score) (a, b, winner *int) {
	switch {
	case s.HasPoints():
		return &s.A, &s.B, nil
	case s == ladder.Win:
		return nil, nil, new(1)
	case s == ladder.Loss:
		return nil, nil, new(2)
	default:
		return nil, nil, new(0)
	}
}

// resultRow is the result of a match as queries with postgres.Score select it.
type resultRow struct {
	ScoreA, ScoreB int
	Sets           [][]int16
	Games          string
}

func (r resultRow) result() ladder.Result {
	result := ladder.Result{Score: ladder.Score{A: r.ScoreA, B: r.ScoreB}, Games: r.Games}
	for _, points := range r.Sets {
		result.Sets = append(result.Sets, ladder.Score{A: int(points[0]), B: int(points[1])})
	}
	return result
}

// setPoints returns the points of sets as they are stored: an array of pairs, nil for no sets.
func setPoints(sets []ladder.Score) [][]int16 {
	var points [][]int16
	for _, s := range sets {
		points = append(points, []int16{int16(s.A), int16(s.B)})
	}
	return points
}

// queueChangedStandings overwrites standings. The batch fails if the version of one of them has
// changed since it was read. The standings are sorted by id, so that any two such statements lock
// them in the same order.
func queueChangedStandings(batch *pgx.Batch, standings []ladder.Standing) {
	if len(standings) == 0 {
		return
	}
	batch.Queue(`
		WITH changed AS (
		    UPDATE group_players s
		    SET elo = w.elo, start_elo = w.start_elo, best_elo = w.best_elo, played = w.played, won = w.won,
		        drawn = w.drawn, lost = w.lost, streak = w.streak, longest_streak = w.longest_streak, left_at = w.left_at,
		        last_played_at = w.last_played_at, version = s.version + 1
		    FROM unnest($1::jsonb[]) AS one CROSS JOIN LATERAL jsonb_populate_record(NULL::group_players, one) AS w
		    WHERE s.id = w.id AND s.version = w.version
		    RETURNING 1)
		SELECT (count(*) = cardinality($1))::unchanged FROM changed`,
		slices.SortedFunc(slices.Values(standings), func(a, b ladder.Standing) int { return cmp.Compare(a.ID, b.ID) }))
}

// queueNewMatches inserts matches of one group, and writes the standings that they change. The
// number of the first match must have been assigned.
func queueNewMatches(batch *pgx.Batch, now time.Time, c ranking.Changes, matches ranking.NewMatches) {
	in, standings := matches[0].Inserted, lastStandings(matches)
	if in != nil {
		queueSpread(batch, *in)
		queueRewrite(batch, matches[len(matches)-1].Inserted.Rewrite)
		standings = nil
	}
	var known []ladder.Standing
	for _, s := range standings {
		if s.ID == 0 {
			queueNewStanding(batch, matches[0].Season, s)
		} else {
			known = append(known, s)
		}
	}
	queueChangedStandings(batch, known)
	if len(known) == 0 && len(c.Corrected) == 0 && in == nil {
		// If no player has had a standing before, no version reveals whether the season has ended
		// since the read. A season that was already over at the read needs no check.
		queueGoesOn(batch, matches[0].Season)
	}
	if c.Ladder != nil {
		queueCameBack(batch, returning(matches))
	}
	for i, m := range matches {
		if i > 0 {
			queueNumbers(batch, []ranking.GroupID{m.Group})
		}
		for _, p := range m.Players {
			if p.Named != 0 && p.Before.ID == 0 { // a new standing has no version that would reveal a split
				batch.Queue(`
					SELECT EXISTS (SELECT FROM sightings WHERE group_id = $1 AND player_id = $2 AND counts_as = $3)::unchanged`,
					m.Group, p.Named, p.Before.Player)
			}
		}
		queueMatches(batch, now, []newMatch{{m, &c}})
	}
}

// lastStandings returns the standing of each player after the player's last match.
func lastStandings(matches ranking.NewMatches) []ladder.Standing {
	var last []ladder.Standing
	for i, m := range matches {
		for _, p := range m.Players {
			at := -1
			if i > 0 {
				at = slices.IndexFunc(last, func(s ladder.Standing) bool { return s.Player == p.After.Player })
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

// queueNewStanding inserts a standing. If it has no name, it gets the name by which the group calls
// the player.
func queueNewStanding(batch *pgx.Batch, season ladder.SeasonID, s ladder.Standing) {
	// A player who has been merged into another player in the meantime, now counts as another
	// player, was deleted, or was forgotten since the read must not join a ladder again. A player
	// with a match is not deleted, even without a name. A player who has left another ladder of the
	// group has left this ladder too.
	batch.Queue(`
		WITH new AS (
		    SELECT * FROM jsonb_populate_record(NULL::group_players, $2)
		), player AS (
		    SELECT id, display_name FROM players WHERE id = (SELECT player_id FROM new) AND merged_into IS NULL
		      AND (NOT starts_with(display_name, '`+ranking.Former+`') OR (SELECT name ~ '^(`+ranking.Former+`|$)' FROM new))
		      AND NOT EXISTS (
		          SELECT FROM sightings WHERE player_id = players.id
		            AND group_id = (SELECT group_id FROM seasons WHERE id = $1) AND (counts_as IS NOT NULL
		              OR out_at IS NOT NULL AND coalesce(telegram_user_id::text, players.username, folded) IS NULL
		                AND NOT EXISTS (SELECT FROM match_players mp WHERE mp.player_id = players.id)))
		    FOR KEY SHARE
		), added AS (
		    INSERT INTO group_players
		        (season_id, player_id, name, elo, start_elo, best_elo,
		         played, won, drawn, lost, streak, longest_streak, last_played_at, left_at)
		    SELECT $1, p.id, coalesce(nullif(n.name, ''), (
		               SELECT nick FROM sightings
		               WHERE player_id = p.id AND group_id = (SELECT group_id FROM seasons WHERE id = $1)), p.display_name),
		           n.elo, n.start_elo, n.best_elo,
		           n.played, n.won, n.drawn, n.lost, n.streak, n.longest_streak, n.last_played_at, coalesce((
		        SELECT max(left_at) FROM group_players
		        WHERE player_id = p.id AND left_at IS NOT NULL AND named_id IS DISTINCT FROM player_id
		          AND season_id = ANY (ARRAY(
		            SELECT season_id FROM ladders WHERE group_id = (SELECT group_id FROM seasons WHERE id = $1)))), (
		        SELECT out_at FROM sightings
		        WHERE player_id = p.id AND group_id = (SELECT group_id FROM seasons WHERE id = $1)))
		    FROM player p CROSS JOIN new n
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM added)::unchanged`, season, s)
}
