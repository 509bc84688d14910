package pgstats_test

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// plainMatch is a match that counts, from the point of view of one of its players.
type plainMatch struct {
	Number                     int
	Played                     time.Time
	Player                     int64
	Own, Other                 int // without points, 0 for the winner and -1 for all others
	Before, After              int
	Partners, Opponents        []int64
	OwnRatings, OthersRatings  []int
	streak, expected, surprise int
}

// readPlain reads the matches of a ladder that count, once for each player, in the order of their
// numbers. It calculates the runs of wins after the matches, the expected scores in
// ten-thousandths, and by how many points a winning side was rated lower.
func readPlain(t *testing.T, pool *pgxpool.Pool, in int64) []*plainMatch {
	t.Helper()
	rows, err := pool.Query(t.Context(), `
		WITH parts AS (
		    SELECT m.id, m.number, m.played_at, mp.player_id,
		           CASE WHEN winner IS NULL THEN score_a WHEN winner = 1 THEN 0 ELSE -1 END AS score_a,
		           CASE WHEN winner IS NULL THEN score_b WHEN winner = 2 THEN 0 ELSE -1 END AS score_b,
		           mp.side, h.elo_before, h.elo_after
		    FROM matches m JOIN match_players mp ON mp.match_id = m.id
		    JOIN elo_history h ON h.match_id = m.id AND h.player_id = mp.player_id AND h.superseded_at = 'infinity'
		    WHERE m.undone_at IS NULL AND m.ladder_id = $1)
		SELECT number, played_at, player_id,
		       CASE side WHEN 1 THEN score_a ELSE score_b END,
		       CASE side WHEN 1 THEN score_b ELSE score_a END, elo_before, elo_after,
		       ARRAY(SELECT player_id FROM parts o WHERE o.id = p.id AND o.side = p.side AND o.player_id <> p.player_id),
		       ARRAY(SELECT player_id FROM parts o WHERE o.id = p.id AND o.side <> p.side),
		       ARRAY(SELECT elo_before FROM parts o WHERE o.id = p.id AND o.side = p.side),
		       ARRAY(SELECT elo_before FROM parts o WHERE o.id = p.id AND o.side <> p.side), 0, side, 0
		FROM parts p ORDER BY number, player_id`, in)
	dbtest.Must(t, err)
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*plainMatch, error) {
		m := new(plainMatch)
		return m, row.Scan(&m.Number, &m.Played, &m.Player, &m.Own, &m.Other, &m.Before, &m.After,
			&m.Partners, &m.Opponents, &m.OwnRatings, &m.OthersRatings, &m.streak, &m.expected, &m.surprise)
	})
	dbtest.Must(t, err)
	streaks := make(map[int64]int)
	for _, m := range all {
		if m.Own > m.Other {
			streaks[m.Player]++
		} else {
			streaks[m.Player] = 0
		}
		m.streak = streaks[m.Player]
		own, others := mean(m.OwnRatings), mean(m.OthersRatings)
		a, _ := own.Float64()
		b, _ := others.Float64()
		if m.expected == 2 { // the query returns the side here
			m.expected = 10_000 - int(math.Round(10_000/(1+math.Pow(10, (a-b)/400))))
		} else {
			m.expected = int(math.Round(10_000 / (1 + math.Pow(10, (b-a)/400))))
		}
		if m.Own > m.Other {
			halfUp := new(big.Rat).Add(new(big.Rat).Sub(others, own), big.NewRat(1, 2))
			m.surprise = int(new(big.Int).Div(halfUp.Num(), halfUp.Denom()).Int64())
		}
	}
	return all
}

func mean(ratings []int) *big.Rat {
	sum := new(big.Rat)
	for _, r := range ratings {
		sum.Add(sum, big.NewRat(int64(r), 1))
	}
	return sum.Quo(sum, big.NewRat(int64(len(ratings)), 1))
}

// plainLadder is the data from which the views of a ladder are calculated.
type plainLadder struct {
	members []plainMember // in the order in which they joined
	matches []*plainMatch // matches that count, once for each player
	since   time.Time     // players without a match since then have no place
	noDraws bool
	needed  int // how many matches a player must have played for a place
}

// plainMember is a player of a ladder, without the matches.
type plainMember struct {
	Player   int64
	User     int64 // 0 for an unclaimed player
	StartElo int
	Left     bool
}

// compare compares the ranking, the view and the standings of a player, a player's meetings with
// another player, the records of all time and of a month, and the gains of a month with a plain
// calculation.
func (c *club) compare() {
	chat := c.chats[c.draw("chat", 0, len(c.chats)-1)]
	in := dbtest.Ladder(c.t, c.pool, chat)
	l := c.plainLadder(chat)
	if len(l.members) == 0 {
		return
	}
	a, b := l.members[c.draw("a", 0, len(l.members)-1)], l.members[c.draw("b", 0, len(l.members)-1)]
	ctx := c.t.Context()
	page, err := c.store.Ranking(ctx, in, nil, stats.RankingQuestion{Places: stats.MaxPlaces}, c.now)
	c.compareView(l.ranking(c.now), page.Rows, err)
	history, err := c.store.Player(ctx, in, ladder.PlayerID(a.Player), c.now)
	c.compareView(l.player(a), history.View(), err)
	if a.Player != b.Player {
		met, meetings, err := c.store.HeadToHead(ctx, in, ladder.PlayerID(a.Player), ladder.PlayerID(b.Player))
		met.Meet(meetings)
		c.compareView(l.headToHead(a, b), met, err)
	}
	all, err := c.store.Records(ctx, in, time.Time{})
	c.compareView(l.records(time.Time{}), all, err)
	month := ranking.MonthOf(c.now, c.now.Location())
	played, err := c.store.MatchesOf(ctx, in, month, ranking.LaterMonth(month, 1))
	ofMonth := stats.RecordsOf(played)
	ofMonth.Month = month
	c.compareView(l.records(month), ofMonth, err)
	c.compareView(l.month(month), stats.GainRowsOf(played), err)
	if a.User != 0 {
		c.compareStandings(ctx, chat, a, l)
	}
}

// month returns how much the players have gained since a time, the highest gain first.
func (l *plainLadder) month(since time.Time) (rows []stats.GainRow) {
	all := make(map[int64]stats.GainRow)
	for _, m := range l.matches {
		if m.Played.Before(since) {
			continue
		}
		r := all[m.Player]
		r.Name.Player = ladder.PlayerID(m.Player)
		r.Gained += m.After - m.Before
		switch {
		case m.Own > m.Other:
			r.Won++
		case m.Own < m.Other:
			r.Lost++
		default:
			r.Drawn++
		}
		all[m.Player] = r
	}
	rows = slices.Collect(maps.Values(all))
	slices.SortFunc(rows, func(a, b stats.GainRow) int {
		return cmp.Or(b.Gained-a.Gained, int(a.Name.Player-b.Name.Player))
	})
	return rows
}

func (c *club) compareView(want, got any, err error) {
	if err != nil {
		c.rt.Fatal(err)
	}
	byPlayer := cmpopts.SortSlices(func(a, b ranking.Name) bool { return a.Player < b.Player })
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty(), byPlayer); diff != "" {
		c.rt.Errorf("%T (-calculated +read):\n%s", want, diff)
	}
}

// compareStandings checks that the member m has the standing that l calculates, in the group of the
// chat.
func (c *club) compareStandings(ctx context.Context, chat ranking.ExternalChatID, m plainMember, l *plainLadder) {
	got, err := c.store.Standings(ctx, command.Person{ID: ladder.UserID(m.User)}, stats.MaxGroups, c.now)
	if err != nil {
		c.rt.Fatal(err)
	}
	p := l.player(m)
	want := stats.GroupStanding{
		Title: "Club", Position: p.Position, Total: p.Total, PlaceMatches: l.needed,
		Elo: p.Elo, Won: p.Won, Drawn: p.Drawn, Lost: p.Lost,
		NoDraws: l.noDraws, Inactive: p.Inactive,
	}
	if p.Played() > 0 && !slices.Contains(got.Groups, want) {
		c.rt.Errorf("the standings of player %d have no %+v of %d:\n%+v", m.Player, want, chat, got)
	}
}

func (c *club) plainLadder(chat ranking.ExternalChatID) *plainLadder {
	l := new(plainLadder)
	for _, in := range dbtest.Values[int64](c.t, c.pool, `
		SELECT l.id FROM ladders l JOIN groups g ON g.id = l.group_id JOIN chats ch ON ch.id = g.chat_id
		WHERE ch.telegram_chat_id = $1`, chat) {
		l.noDraws = !dbtest.Value[bool](c.t, c.pool, `SELECT draws_allowed FROM ladders WHERE id = $1`, in)
		l.needed = dbtest.Value[int](c.t, c.pool, `SELECT place_matches FROM ladders WHERE id = $1`, in)
		if days := dbtest.Value[int](c.t, c.pool, `SELECT hide_days FROM ladders WHERE id = $1`, in); days > 0 {
			l.since = c.now.Add(-time.Duration(days) * 24 * time.Hour)
		}
		l.matches = readPlain(c.t, c.pool, in)
		rows, err := c.pool.Query(c.t.Context(), `
			SELECT s.player_id, coalesce(p.telegram_user_id, 0), s.start_elo, s.left_at IS NOT NULL
			FROM group_players s JOIN players p ON p.id = s.player_id WHERE s.season_id = $1 ORDER BY s.id`, in)
		if err == nil {
			l.members, err = pgx.CollectRows(rows, pgx.RowToStructByPos[plainMember])
		}
		dbtest.Must(c.t, err)
	}
	return l
}

// of returns the matches of a player, in the order of their numbers.
func (l *plainLadder) of(player int64) (own []*plainMatch) {
	for _, m := range l.matches {
		if m.Player == player {
			own = append(own, m)
		}
	}
	return own
}

// rating returns a member's rating, and whether the member has a place, provided that at least
// three players have one.
func (l *plainLadder) rating(m plainMember) (elo int, placed bool) {
	own := l.of(m.Player)
	elo, active := m.StartElo, false
	for _, played := range own {
		elo, active = played.After, active || played.Played.After(l.since)
	}
	return elo, len(own) >= l.needed && active && !m.Left
}

// ranking returns the ranking with each player's movement within a week.
func (l *plainLadder) ranking(now time.Time) (rows []stats.Row) {
	year, month, today := now.Date()
	day := time.Date(year, month, today-7, 0, 0, 0, 0, now.Location())
	then := make(map[int64]int) // ratings a week ago of players who had played enough for a place
	for _, m := range l.members {
		p, own := l.player(m), l.of(m.Player)
		if len(own) == 0 || m.Left || p.Inactive {
			continue
		}
		row := stats.Row{Name: p.Name, Position: p.Position, Elo: p.Elo, Won: p.Won, Drawn: p.Drawn, Lost: p.Lost}
		rows = append(rows, row)
		elo := p.Elo
		for _, later := range slices.Backward(own) {
			if later.Played.Before(day) {
				break
			}
			elo, own = later.Before, own[:len(own)-1]
		}
		if len(own) >= l.needed {
			then[m.Player] = elo
		}
	}
	if len(then) < 3 {
		clear(then)
	}
	for i, r := range rows {
		elo, had := then[int64(r.Name.Player)]
		if !had {
			continue
		}
		before := 1
		for _, other := range then {
			if other > elo {
				before++
			}
		}
		rows[i].Moved = before - r.Position
	}
	slices.SortStableFunc(rows, func(a, b stats.Row) int {
		placeless := func(r stats.Row) int { return max(0, 1-r.Position) }
		return cmp.Or(placeless(a)-placeless(b), b.Elo-a.Elo)
	})
	return rows
}

func (l *plainLadder) player(m plainMember) stats.PlayerStanding {
	own := l.of(m.Player)
	n := stats.PlayerStanding{
		Name: ranking.Name{Player: ladder.PlayerID(m.Player)}, Best: m.StartElo, NoDraws: l.noDraws, Left: m.Left,
	}
	elo, placed := l.rating(m)
	n.Elo, n.PlaceMatches = elo, l.needed
	if placed {
		n.Position = 1
		for _, other := range l.members {
			if rating, has := l.rating(other); has {
				n.Total++
				if rating > elo {
					n.Position++
				}
			}
		}
	}
	if n.Total < 3 {
		n.Position, n.Total = 0, 0
	}
	n.Inactive = len(own) > 0
	for _, m := range own {
		n.Best = max(n.Best, m.After)
		n.Inactive = n.Inactive && !m.Played.After(l.since)
		switch {
		case m.Own > m.Other:
			n.Won, n.Streak = n.Won+1, max(n.Streak, 0)+1
		case m.Own < m.Other:
			n.Lost, n.Streak = n.Lost+1, min(n.Streak, 0)-1
		default:
			n.Drawn, n.Streak = n.Drawn+1, 0
		}
	}
	n.Last = lastOf(own, stats.LastMatches, true)
	for _, m := range lastOf(own, stats.FormMatches, true) {
		n.Form = map[int]string{-1: "l", 0: "d", 1: "w"}[cmp.Compare(m.Score[0], m.Score[1])] + n.Form
	}
	if best := highest(own, func(m *plainMatch) int { return m.After }); best != nil && n.Best > m.StartElo {
		n.BestIn = ref(best)
	}
	if upset := highest(own, func(m *plainMatch) int { return m.surprise }); upset != nil &&
		upset.surprise >= ladder.MinUpset {
		n.Upset = &stats.Upset{MatchRef: *ref(upset), By: upset.surprise, Beaten: namesOf(upset.Opponents)}
	}
	n.Most, n.Favorite, n.Hardest, n.Partner = l.pairings(m.Player)
	return n
}

// highest returns the first match with the highest value, or nil if there are no matches.
func highest(own []*plainMatch, value func(*plainMatch) int) *plainMatch {
	var best *plainMatch
	for _, m := range own {
		if best == nil || value(m) > value(best) {
			best = m
		}
	}
	return best
}

func ref(m *plainMatch) *stats.MatchRef { return &stats.MatchRef{Number: m.Number, At: m.Played.UTC()} }

func namesOf(players []int64) (names []ranking.Name) {
	for _, p := range players {
		names = append(names, ranking.Name{Player: ladder.PlayerID(p)})
	}
	return names
}

// lastOf returns at most limit of the last matches, the newest first. It sets Against only if
// opponents is true.
func lastOf(own []*plainMatch, limit int, opponents bool) (last []stats.PlayedMatch) {
	own = slices.SortedFunc(slices.Values(own), func(a, b *plainMatch) int {
		return cmp.Compare(b.Number, a.Number)
	})
	for _, m := range own[:min(limit, len(own))] {
		p := stats.PlayedMatch{
			MatchRef: *ref(m), Score: [2]int{m.Own, m.Other}, Change: m.After - m.Before,
			Teams: len(m.Opponents)+len(m.Partners) > 1,
		}
		if opponents {
			p.Against = namesOf(m.Opponents)
		}
		last = append(last, p)
	}
	return last
}

// plainPair sums up the matches of two players.
type plainPair struct {
	stats.Pairing
	own, other, gained, surplus int
}

// pairs sums up a player's matches with each of the players whom others returns.
func pairs(own []*plainMatch, others func(*plainMatch) []int64) map[int64]*plainPair {
	all := make(map[int64]*plainPair)
	for _, m := range own {
		for _, other := range others(m) {
			p := all[other]
			if p == nil {
				p = &plainPair{Pairing: stats.Pairing{With: ranking.Name{Player: ladder.PlayerID(other)}}}
				all[other] = p
			}
			score := 0
			switch p.Played++; {
			case m.Own > m.Other:
				p.Won++
				score = 10_000
			case m.Own < m.Other:
				p.Lost++
			default:
				p.Drawn++
				score = 5_000
			}
			if m.Own >= 0 && m.Other >= 0 {
				p.own, p.other = p.own+m.Own, p.other+m.Other
			}
			p.gained, p.surplus = p.gained+m.After-m.Before, p.surplus+score-m.expected
		}
	}
	return all
}

func opponentsOf(m *plainMatch) []int64 { return m.Opponents }

func (l *plainLadder) pairings(player int64) (most, favorite, hardest, partner *stats.Pairing) {
	own := l.of(player)
	// first returns the pairing with the highest value among those that count, or nil. Among equal
	// values, the smallest id of the other player wins.
	first := func(
		others func(*plainMatch) []int64, counts func(*plainPair) bool, value func(*plainPair) float64,
	) *stats.Pairing {
		var best *plainPair
		for _, p := range pairs(own, others) {
			if counts(p) && (best == nil || value(p) > value(best) ||
				value(p) == value(best) && p.With.Player < best.With.Player) {
				best = p
			}
		}
		if best == nil {
			return nil
		}
		return &best.Pairing
	}
	perMatch := func(p *plainPair) float64 { return float64(p.surplus) / float64(p.Played) }
	better := func(p *plainPair) bool { return p.Played >= 5 && p.surplus > 0 }
	most = first(opponentsOf, func(*plainPair) bool { return true },
		func(p *plainPair) float64 { return float64(p.Played) })
	favorite = first(opponentsOf, better, perMatch)
	hardest = first(opponentsOf, func(p *plainPair) bool { return p.Played >= 5 && p.surplus < 0 },
		func(p *plainPair) float64 { return -perMatch(p) })
	partner = first(func(m *plainMatch) []int64 { return m.Partners }, better, perMatch)
	return most, favorite, hardest, partner
}

func (l *plainLadder) headToHead(a, b plainMember) stats.HeadToHead {
	var met []*plainMatch
	for _, m := range l.of(a.Player) {
		if slices.Contains(m.Opponents, b.Player) {
			met = append(met, m)
		}
	}
	n := stats.HeadToHead{
		A: ranking.Name{Player: ladder.PlayerID(a.Player)}, B: ranking.Name{Player: ladder.PlayerID(b.Player)},
		NoDraws: l.noDraws, Last: lastOf(met, stats.LastMatches, false),
	}
	n.Ratings[0], _ = l.rating(a)
	n.Ratings[1], _ = l.rating(b)
	if p := pairs(met, opponentsOf)[b.Player]; p != nil {
		n.Won, n.Drawn, n.Lost, n.For, n.Against, n.Gained = p.Won, p.Drawn, p.Lost, p.own, p.other, p.gained
	}
	inTeams := slices.DeleteFunc(slices.Clone(met), func(m *plainMatch) bool {
		return len(m.Opponents)+len(m.Partners) == 1
	})
	if p := pairs(inTeams, opponentsOf)[b.Player]; p != nil {
		n.InTeams = [3]int{p.Won, p.Drawn, p.Lost}
		n.Won, n.Drawn, n.Lost = n.Won-p.Won, n.Drawn-p.Drawn, n.Lost-p.Lost
	}
	return n
}

// records calculates the records of a month, or of all time if month is zero.
func (l *plainLadder) records(month time.Time) stats.Records {
	n := stats.Records{Month: month}
	var bests [3]*plainMatch // of the longest streak, the highest rating and the biggest upset
	values := [3]func(*plainMatch) int{
		func(m *plainMatch) int { return atLeast(2, m.streak) }, func(m *plainMatch) int { return m.After },
		func(m *plainMatch) int { return atLeast(ladder.MinUpset, m.surprise) },
	}
	var rivals *plainPair
	for _, member := range slices.SortedFunc(slices.Values(l.members), func(a, b plainMember) int {
		return cmp.Compare(a.Player, b.Player)
	}) {
		own, records := l.of(member.Player), values
		if !month.IsZero() {
			own = slices.DeleteFunc(own, func(m *plainMatch) bool {
				return !ranking.MonthOf(m.Played, month.Location()).Equal(month)
			})
		} else { // the rating with which a player began is no record
			records[1] = func(m *plainMatch) int { return atLeast(member.StartElo+1, m.After) }
		}
		if len(own) > 0 && (n.Played == nil || len(own) > n.Played.Value) {
			n.Played = &stats.Record{Name: namesOf([]int64{member.Player})[0], Value: len(own)}
		}
		for i, value := range records {
			if m := highest(own, value); m != nil && value(m) > 0 && precedes(m, bests[i], values[i]) {
				bests[i] = m
			}
		}
		for other, p := range pairs(own, opponentsOf) {
			if member.Player < other && p.Played >= 5 && 5*min(p.Won, p.Lost) >= 2*p.Played &&
				rivalsPrecede(member.Player, p, n.Rivalry, rivals) {
				rivals, n.Rivalry = p, &stats.RivalryOf{Name: namesOf([]int64{member.Player})[0], Pairing: p.Pairing}
			}
		}
	}
	record := func(m *plainMatch, value func(*plainMatch) int) *stats.Record {
		if m == nil {
			return nil
		}
		return &stats.Record{Name: namesOf([]int64{m.Player})[0], Value: value(m), In: ref(m)}
	}
	n.Streak, n.Rating = record(bests[0], values[0]), record(bests[1], values[1])
	if upset := record(bests[2], values[2]); upset != nil {
		n.Upset = &stats.UpsetBy{
			Name: upset.Name, Upset: stats.Upset{MatchRef: *upset.In, By: upset.Value, Beaten: namesOf(bests[2].Opponents)},
		}
	}
	return n
}

// atLeast returns value, or 0 if value is smaller than limit.
func atLeast(limit, value int) int {
	if value < limit {
		return 0
	}
	return value
}

// precedes reports whether the match m takes the record from other. other is a match of a player
// with a smaller id, or nil if there is no record yet.
func precedes(m, other *plainMatch, value func(*plainMatch) int) bool {
	if other == nil {
		return true
	}
	return cmp.Or(cmp.Compare(value(other), value(m)), cmp.Compare(m.Number, other.Number)) < 0
}

// rivalsPrecede reports whether p, a pair of player, takes the record from rivals. rivals is nil if
// there is no record yet. Otherwise its first player, who is in until, is player or has a smaller
// id.
func rivalsPrecede(player int64, p *plainPair, until *stats.RivalryOf, rivals *plainPair) bool {
	return rivals == nil || p.Played > rivals.Played ||
		p.Played == rivals.Played && until.Name.Player == ladder.PlayerID(player) && p.With.Player < rivals.With.Player
}
