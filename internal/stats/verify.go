package stats

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"elobot/internal/ranking"
)

// TallyAuditStore gives read access to a consistent snapshot of tallies and matches.
type TallyAuditStore interface {
	// AuditTallies runs fn on a snapshot of the store. It changes nothing.
	AuditTallies(ctx context.Context, fn func(context.Context, TallyAuditReader) error) error
}

// TallyAuditReader reads from one snapshot.
type TallyAuditReader interface {
	// Ladders returns the ladders of the chat, or all ladders if chat is 0.
	Ladders(ctx context.Context, chat ranking.ExternalChatID) ([]AuditedLadder, error)
	// Players returns the next players of a ladder in the order of their ids, after the given one. last is the id up to which
	// there are no others, ranking.PlayerID's maximum if these are the last ones.
	Players(ctx context.Context, ladder ranking.LadderID, after ranking.PlayerID) (names map[ranking.PlayerID]string, last ranking.PlayerID, err error)
	// Matches returns the matches of players that count, in the order of their numbers.
	Matches(ctx context.Context, ladder ranking.LadderID, players []ranking.PlayerID) ([]CountedMatch, error)
	// Stored returns the stored tallies of the players after one up to another, and the months that have marks.
	Stored(ctx context.Context, ladder ranking.LadderID, after, last ranking.PlayerID) (StoredTallies, error)
	// WrongPlaces returns the players whose places of some days ago are not in the order of the ratings then. There are none while
	// the places are due to be calculated.
	WrongPlaces(ctx context.Context, ladder ranking.LadderID) ([]WrongPlace, error)
}

// WrongPlace is a stored place, and the one that it should be as far as the other players who have one are concerned.
type WrongPlace struct {
	Name         string
	Stored, Want int
}

// AuditedLadder is a ladder whose tallies are to be verified.
type AuditedLadder struct {
	Chat       ranking.ExternalChatID
	Title      string // of the group
	Ladder     ranking.LadderID
	Recounting bool
}

// StoredTallies are tallies as they are stored.
type StoredTallies struct {
	Tallies
	Totals map[PairKey]*Pair // under a zero month
	Marked map[MonthKey]bool // the months that are not up to date
}

// Unverified counts what VerifyTallies leaves out because it is not up to date.
type Unverified struct{ Ladders, Months int }

// VerifyTallies counts the matches of ladders, of the chat or of all if chat is 0, and calls found for each difference from the
// stored tallies. It leaves out ladders for which skip returns true.
func VerifyTallies(
	ctx context.Context, store TallyAuditStore, chat ranking.ExternalChatID, skip func(ranking.LadderID) bool, found func(ranking.Finding),
) (left Unverified, err error) {
	err = store.AuditTallies(ctx, func(ctx context.Context, reader TallyAuditReader) error {
		ladders, err := reader.Ladders(ctx, chat)
		if err != nil {
			return fmt.Errorf("verify tallies: %w", err)
		}
		for _, l := range ladders {
			if skip(l.Ladder) {
				continue
			}
			if l.Recounting {
				left.Ladders++
				continue
			}
			a := tallyAudit{reader: reader, ladder: l, found: found, left: &left}
			if err := a.run(ctx); err != nil {
				return fmt.Errorf("verify tallies of group %d: %w", l.Chat, err)
			}
		}
		return nil
	})
	return left, err
}

// tallyAudit is the verification of the tallies of a ladder.
type tallyAudit struct {
	reader TallyAuditReader
	ladder AuditedLadder
	found  func(ranking.Finding)
	left   *Unverified
	names  map[ranking.PlayerID]string
}

// run verifies the players in steps, so that the memory it takes does not grow with the ladder.
func (a *tallyAudit) run(ctx context.Context) error {
	const allPlayers = ranking.PlayerID(1<<63 - 1)
	for after := ranking.PlayerID(0); after < allPlayers; {
		names, last, err := a.reader.Players(ctx, a.ladder.Ladder, after)
		if err != nil {
			return err
		}
		players := make([]ranking.PlayerID, 0, len(names))
		for p := range names {
			players = append(players, p)
		}
		matches, err := a.reader.Matches(ctx, a.ladder.Ladder, players)
		if err != nil {
			return err
		}
		stored, err := a.reader.Stored(ctx, a.ladder.Ladder, after, last)
		if err != nil {
			return err
		}
		want := NewTallies()
		for i := range matches {
			want.Add(&matches[i], func(k MonthKey) bool { _, there := names[k.Player]; return there })
		}
		a.names = names
		a.left.Months += len(stored.Marked)
		a.compare(stored, want)
		after = last
	}
	return a.places(ctx)
}

// places verifies the places of some days ago.
func (a *tallyAudit) places(ctx context.Context) error {
	wrong, err := a.reader.WrongPlaces(ctx, a.ladder.Ladder)
	for _, w := range wrong {
		place := func(n int) string { return fmt.Sprintf("place %d a week ago", n) }
		a.found(a.finding(w.Name, place(w.Stored), place(w.Want)))
	}
	return err
}

func (a *tallyAudit) finding(player, stored, want string) ranking.Finding {
	return ranking.Finding{
		Chat: a.ladder.Chat, Title: a.ladder.Title, Ladder: a.ladder.Ladder, Problem: ranking.WrongTally,
		Player: player, Stored: stored, Want: want,
	}
}

func (a *tallyAudit) compare(stored StoredTallies, want Tallies) {
	var all []ranking.Finding
	differ := func(player ranking.PlayerID, stored, want string) {
		if stored != want {
			name := a.names[player]
			if name == "" {
				name = fmt.Sprintf("player %d", player)
			}
			all = append(all, a.finding(name, stored, want))
		}
	}
	for k := range union(stored.Months, want.Months) {
		if !stored.Marked[k] {
			differ(k.Player, k.describe(stored.Months[k]), k.describe(want.Months[k]))
		}
	}
	for k := range union(stored.Pairs, want.Pairs) {
		if !stored.Marked[k.MonthKey] {
			differ(k.Player, k.describe(stored.Pairs[k]), k.describe(want.Pairs[k]))
		}
	}
	// the months have been compared, so the sums of what is stored must be right
	sums := stored.Tallies.Totals()
	for k := range union(stored.Totals, sums) {
		differ(k.Player, k.describe(stored.Totals[k]), k.describe(sums[k]))
	}
	slices.SortFunc(all, func(x, y ranking.Finding) int {
		return cmp.Or(cmp.Compare(x.Player, y.Player), cmp.Compare(x.Want, y.Want), cmp.Compare(x.Stored, y.Stored))
	})
	for _, f := range all {
		a.found(f)
	}
}

// union returns the keys of both maps.
func union[K comparable, V any](a, b map[K]V) map[K]bool {
	all := make(map[K]bool, len(a))
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all[k] = true
	}
	return all
}

// describe formats what a player did in a month for operators.
func (k MonthKey) describe(m *PlayerMonth) string {
	if m == nil {
		return "nothing in " + k.Month.Format("2006-01")
	}
	return fmt.Sprintf("%s in %s, best %d, streak %d, upset %d (matches with the ids %d, %d, %d)", m.Results, k.Month.Format("2006-01"),
		m.Best.Value, m.Streak.Value, m.Upset.Value, m.Best.Match, m.Streak.Match, m.Upset.Match)
}

// describe formats what a player did against or with another one for operators.
func (k PairKey) describe(p *Pair) string {
	what := fmt.Sprintf("against player %d", k.Other)
	if k.Together {
		what = fmt.Sprintf("with player %d", k.Other)
	}
	if !k.Month.IsZero() {
		what += " in " + k.Month.Format("2006-01")
	}
	if p == nil {
		return "nothing " + what
	}
	return fmt.Sprintf("%s %s, points %d:%d, %+d, surplus %d", p.Results, what, p.PointsFor, p.PointsAgainst, p.Gained, p.Surplus)
}

// String formats the results for operators, as won–drawn–lost.
func (r Results) String() string { return fmt.Sprintf("%d–%d–%d", r.Won, r.Drawn, r.Lost) }
