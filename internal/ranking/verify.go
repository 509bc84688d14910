package ranking

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Ledger gives sight of everything that is stored.
type AuditStore interface {
	// Audit runs fn on the books as they are at one moment. It changes nothing.
	Audit(ctx context.Context, fn func(context.Context, AuditReader) error) error
}

// Books are everything that is stored, as it is at one moment.
type AuditReader interface {
	// Groups returns all groups, or the one of a chat. ErrNoSuchGroup means that the chat has none.
	Groups(ctx context.Context, chat ExternalChatID) ([]Account, error)
	// Standings returns all standings of a ladder.
	Standings(ctx context.Context, ladder LadderID) ([]RankedPlayer, error)
	// Matches goes through the matches of a ladder in the order of their numbers.
	Matches(ctx context.Context, ladder LadderID, yield func(PlayedMatch) error) error
	// Loose returns what is wrong with the numbers and keys of a group's matches.
	Loose(ctx context.Context, group GroupID) (IntegrityIssues, error)
}

// ErrNoSuchGroup means that there is no group in a chat.
var ErrNoSuchGroup = errors.New("no such group")

// Account is a group in the books.
type Account struct {
	Chat    ExternalChatID
	Title   string
	Group   GroupID
	Ladders []LadderID
}

// LooseEnds are what is wrong with a group's numbers and keys.
type IntegrityIssues struct {
	Missing      []int // numbers that no match has, of those that have been drawn
	NeverDrawn   []int // numbers of matches that the group has not drawn
	WithoutKey   []int // numbers of matches of the last day whose command does not count as handled
	DuplicateKey []int // numbers of matches that share their key with another one
	Empty        []int // numbers of matches that count, and nobody has played them
}

// Problem is a kind of difference that verifying finds.
type Problem string

// The problems.
const (
	MissingNumber  Problem = "missing_number"
	NumberNotDrawn Problem = "number_not_drawn"
	MissingKey     Problem = "missing_key"
	DuplicateKey   Problem = "duplicate_key"

	WrongSides      Problem = "wrong_sides"       // a side is empty, or somebody plays on it who has no standing
	WrongSets       Problem = "wrong_sets"        // the score does not count the sets
	MergedPlayer    Problem = "merged_player"     // somebody who has become another player is ranked still
	WrongStart      Problem = "wrong_start"       // the start rating is not what everything after it began with
	MissingEntry    Problem = "missing_entry"     // a match counts, and the history does not tell of it
	EntryOfUndone   Problem = "entry_of_undone"   // a match does not count, and the history tells of it
	WrongEntry      Problem = "wrong_entry"       // the history tells something else than the replay
	BrokenChain     Problem = "broken_chain"      // a rating before is not the rating after the match before
	WrongElo        Problem = "wrong_elo"         // the rating is not that of the replay
	WrongSum        Problem = "wrong_sum"         // the rating is not the start rating and the sum of its changes
	WrongBest       Problem = "wrong_best"        // the best rating is not that of the replay
	WrongStreak     Problem = "wrong_streak"      // the streak is not that of the replay
	WrongCounters   Problem = "wrong_counters"    // won, drawn and lost are not those of the replay
	CountersDontAdd Problem = "counters_dont_add" // played is not the sum of won, drawn and lost
)

// Finding is one difference between what is stored and what must be.
type Finding struct {
	Chat         ExternalChatID
	Title        string // of the group
	Ladder       LadderID
	Problem      Problem
	Number       int    // the match, 0 if it is about none
	Player       string // empty if it is about nobody
	Stored, Want string // empty where the problem says it all
}

// Progress is how far a verification has come.
type Progress struct {
	Groups, OfGroups int
	Matches          int
}

// Verify replays every ladder from its first match, of all groups or of the one of a chat (0: all), and tells what
// differs from what is stored. progress is called after each group and now and then within a long one.
func Verify(ctx context.Context, l AuditStore, chat ExternalChatID, found func(Finding), progress func(Progress)) error {
	return l.Audit(ctx, func(ctx context.Context, books AuditReader) error {
		groups, err := books.Groups(ctx, chat)
		if err != nil {
			return fmt.Errorf("verify: %w", err)
		}
		p := Progress{OfGroups: len(groups)}
		for _, g := range groups {
			a := audit{books: books, progress: func() { progress(p) }, matches: &p.Matches}
			a.found = func(f Finding) {
				f.Chat, f.Title = g.Chat, g.Title
				found(f)
			}
			if err := a.group(ctx, g); err != nil {
				return fmt.Errorf("verify group %d: %w", g.Chat, err)
			}
			p.Groups++
			progress(p)
		}
		return nil
	})
}

// audit is the verification of one group.
type audit struct {
	books    AuditReader
	found    func(Finding)
	progress func()
	matches  *int
}

func (a audit) group(ctx context.Context, g Account) error {
	loose, err := a.books.Loose(ctx, g.Group)
	if err != nil {
		return err
	}
	for _, l := range []struct {
		problem Problem
		numbers []int
	}{
		{MissingNumber, loose.Missing}, {NumberNotDrawn, loose.NeverDrawn}, {MissingKey, loose.WithoutKey},
		{DuplicateKey, loose.DuplicateKey}, {WrongSides, loose.Empty},
	} {
		for _, n := range l.numbers {
			a.found(Finding{Problem: l.problem, Number: n})
		}
	}
	for _, ladder := range g.Ladders {
		if err := a.ladder(ctx, ladder); err != nil {
			return fmt.Errorf("ladder %d: %w", ladder, err)
		}
	}
	return nil
}

// tally is a standing in the course of a verification.
type tally struct {
	stored RankedPlayer
	past   past
	last   int // the rating after the last entry of the history
}

// past is what the history says of a player.
type past struct {
	entries int
	first   int // the rating before the first of them
	changes int // the sum of all
}

// pasts is what the history says of all players of a ladder.
type pasts map[PlayerID]past

func (ps pasts) add(m *PlayedMatch) {
	for _, part := range m.Parts {
		if e := part.Entry; e != nil {
			p := ps[part.Player]
			if p.entries == 0 {
				p.first = e.Before
			}
			p.entries++
			p.changes += e.After - e.Before
			ps[part.Player] = p
		}
	}
}

// start returns the rating that a standing began with: the stored one, unless all that the history says since adds up
// to the rating only from another one.
func (p past) start(s Standing) int {
	if p.entries > 0 && p.first != s.StartElo && p.first+p.changes == s.Elo {
		return p.first
	}
	return s.StartElo
}

func (a audit) ladder(ctx context.Context, ladder LadderID) error {
	standings, err := a.books.Standings(ctx, ladder)
	if err != nil {
		return err
	}
	history := make(pasts)
	err = a.books.Matches(ctx, ladder, func(m PlayedMatch) error {
		history.add(&m)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	l := ladderAudit{
		audit: a, ladder: ladder, replayer: replayer{beginnings(standings, history)},
		tallies: make(map[PlayerID]*tally, len(standings)),
	}
	for _, s := range standings {
		t := &tally{stored: s, past: history[s.Player]}
		l.tallies[s.Player] = t
		if s.Merged {
			l.report(MergedPlayer, nil, s.Player, "", "")
		}
		if t.last = t.past.start(s.Standing); t.last != s.StartElo {
			l.report(WrongStart, nil, s.Player, fmt.Sprint(s.StartElo), fmt.Sprint(t.last))
		}
	}
	err = a.books.Matches(ctx, ladder, func(m PlayedMatch) error {
		l.match(&m)
		if *a.matches++; *a.matches%10_000 == 0 {
			a.progress()
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	for _, s := range standings {
		l.standing(l.tallies[s.Player])
	}
	return nil
}

// beginnings returns what standings were before the first match.
func beginnings(standings []RankedPlayer, history pasts) map[PlayerID]*Standing {
	all := make(map[PlayerID]*Standing, len(standings))
	for _, s := range standings {
		s.StartElo = history[s.Player].start(s.Standing)
		b := s.beginning()
		all[s.Player] = &b
	}
	return all
}

// ladderAudit is the verification of one ladder.
type ladderAudit struct {
	audit
	ladder   LadderID
	replayer replayer
	tallies  map[PlayerID]*tally
	// astray says that there was a match that nothing can be reckoned from: the replay does not tell the truth any more.
	astray bool
}

func (l *ladderAudit) report(p Problem, m *PlayedMatch, player PlayerID, stored, want string) {
	f := Finding{Ladder: l.ladder, Problem: p, Stored: stored, Want: want}
	if m != nil {
		f.Number = m.Number
	}
	if t := l.tallies[player]; t != nil {
		f.Player = t.stored.Called().String()
	}
	l.found(f)
}

func (l *ladderAudit) match(m *PlayedMatch) {
	if len(m.Sets) > 0 {
		if want := resultOf(m.Sets).Score; m.Score != want {
			l.report(WrongSets, m, 0, m.Score.String(), want.String())
		}
	}
	entries, err := l.replayer.play(m)
	if err != nil {
		l.report(WrongSides, m, 0, "", "")
		l.astray = true
	}
	for i, p := range m.Parts {
		switch {
		case l.astray:
		case p.Entry == nil && entries != nil:
			l.report(MissingEntry, m, p.Player, "", entries[i].String())
		case p.Entry == nil:
		case entries == nil:
			l.report(EntryOfUndone, m, p.Player, p.Entry.String(), "")
		case p.Entry.differs(entries[i]):
			l.report(WrongEntry, m, p.Player, p.Entry.String(), entries[i].String())
		}
		l.link(m, p)
	}
}

// link follows what the history itself says of a player, wherever that leads.
func (l *ladderAudit) link(m *PlayedMatch, p Part) {
	t := l.tallies[p.Player]
	if t == nil || p.Entry == nil {
		return
	}
	if p.Entry.Before != t.last {
		l.report(BrokenChain, m, p.Player, fmt.Sprint(p.Entry.Before), fmt.Sprint(t.last))
	}
	t.last = p.Entry.After
}

func (l *ladderAudit) standing(t *tally) {
	s, want := t.stored.Standing, *l.replayer.standings[t.stored.Player]
	differ := func(p Problem, stored, right any) {
		if stored != right {
			l.report(p, nil, s.Player, fmt.Sprint(stored), fmt.Sprint(right))
		}
	}
	if !l.astray {
		differ(WrongElo, s.Elo, want.Elo)
		differ(WrongBest, s.BestElo, want.BestElo)
		differ(WrongStreak, s.Streak, want.Streak)
		differ(WrongCounters, s.counters(), want.counters())
	}
	differ(WrongSum, s.Elo, want.StartElo+t.past.changes)
	differ(CountersDontAdd, s.Played, s.Won+s.Drawn+s.Lost)
}

// Repair writes what the replay of a ladder says over what is stored, in one transaction, and returns whether anything
// was to be written. What the replay does not say, it cannot repair.
func Repair(ctx context.Context, store Store, chat ExternalChatID, ladder LadderID) (repaired bool, err error) {
	err = store.WithGroupLock(ctx, chat, func(ctx context.Context, store Store) error {
		snap, err := store.Read(ctx, Query{Chat: Chat{ID: chat}, MatchHistory: &HistoryFrom{Ladder: ladder}})
		if err != nil {
			return err
		}
		history := make(pasts)
		for i := range snap.MatchHistory.Matches {
			history.add(&snap.MatchHistory.Matches[i])
		}
		w, err := snap.MatchHistory.replayFrom(beginnings(snap.MatchHistory.Standings, history), ByRepair, func(*PlayedMatch) {})
		if err != nil {
			return err
		}
		repaired = len(w.Superseded)+len(w.Appended)+len(w.Standings) > 0
		return store.Rewrite(ctx, w)
	})
	if err != nil {
		return false, fmt.Errorf("repair ladder %d of group %d: %w", ladder, chat, err)
	}
	return repaired, nil
}

// Repairable tells whether Repair can set right what was found.
func (p Problem) Repairable() bool {
	return !slices.Contains([]Problem{
		MissingNumber, NumberNotDrawn, MissingKey, DuplicateKey, WrongSides, WrongSets, MergedPlayer,
	}, p)
}

// String returns the entry as operators read it.
func (e Entry) String() string {
	return fmt.Sprintf("%d → %d (best %d, streak %d before)", e.Before, e.After, e.BestBefore, e.StreakBefore)
}

// String returns the name as operators read it.
func (n Name) String() string {
	if n.Mark == "" {
		return n.Name
	}
	return fmt.Sprintf("%s (%s)", n.Name, n.Mark)
}

// String returns the score as it is written.
func (s Score) String() string { return fmt.Sprintf("%d:%d", s.A, s.B) }
