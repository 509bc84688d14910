package ranking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"elobot/internal/ladder"
)

// AuditStore provides consistent snapshots of all stored data.
type AuditStore interface {
	// Audit calls fn with a reader of one snapshot, and returns the error of fn. It changes
	// nothing.
	Audit(ctx context.Context, fn func(context.Context, AuditReader) error) error
}

// AuditReader reads from one snapshot of the stored data.
type AuditReader interface {
	// Groups returns all groups if chat is 0, otherwise the current group of the chat and the
	// groups detached from it. It fails with ErrNoSuchGroup if a given chat has none.
	Groups(ctx context.Context, chat ExternalChatID) ([]AuditedGroup, error)
	// MatchHistory is like Store.MatchHistory, but reads from the snapshot.
	MatchHistory(
		ctx context.Context, season ladder.SeasonID, from ladder.Position, others ...ladder.PlayerID,
	) (ladder.History, error)
	// IntegrityIssues returns the problems with the numbers, keys, players and parts of a group's
	// matches, at most 100 of each kind.
	IntegrityIssues(ctx context.Context, group GroupID) (IntegrityIssues, error)
}

// ErrNoSuchGroup means that a chat has no group.
var ErrNoSuchGroup = errors.New("no such group")

// AuditedGroup identifies a group to verify, and its seasons.
type AuditedGroup struct {
	Chat  ExternalChatID
	Title string
	Group GroupID
	// Detached is set if the group is a DetachedGroup. Chat is then its former chat.
	Detached bool
	Seasons  []ladder.SeasonID // all seasons of its ladders
	// Names has the name of each of the Seasons, in the same order, as in "padel, season 2". If
	// there is only one season, its name is empty.
	Names []string
}

// IntegrityIssues lists the numbers of matches with integrity issues.
type IntegrityIssues struct {
	Missing     []int // assigned numbers that have no match
	NotAssigned []int // matches with numbers that the group has not assigned
	// WithoutKey are matches of the last day whose message is not stored with OutcomeRecorded.
	WithoutKey   []int
	DuplicateKey []int // matches that share their key with another one
	Empty        []int // matches that count but have no players
	WrongParts   []int // matches with parts that contradict the mapping
}

// Problem is a kind of problem that Verify finds.
type Problem string

const (
	MissingNumber     Problem = "missing_number"      // an assigned number has no match
	NumberNotAssigned Problem = "number_not_assigned" // a match has an unassigned number
	MissingKey        Problem = "missing_key"         // a recent match lacks its stored outcome
	DuplicateKey      Problem = "duplicate_key"       // two matches have the same key

	WrongSides      Problem = "wrong_sides"       // a side is empty, or a player has no standing
	WrongParts      Problem = "wrong_parts"       // the parts contradict the mapping
	WrongSets       Problem = "wrong_sets"        // the score does not match the sets
	MergedPlayer    Problem = "merged_player"     // a player who was merged still has a standing
	ForeignPlayer   Problem = "foreign_player"    // another group's unclaimed player has a standing
	WrongStart      Problem = "wrong_start"       // the start rating contradicts the history
	MissingEntry    Problem = "missing_entry"     // a match that counts lacks a history entry
	EntryOfUndone   Problem = "entry_of_undone"   // an undone match has a history entry
	WrongEntry      Problem = "wrong_entry"       // the history entry differs from the replay
	WrongElo        Problem = "wrong_elo"         // the rating differs from the replay
	WrongBest       Problem = "wrong_best"        // the best rating differs from the replay
	WrongStreak     Problem = "wrong_streak"      // the streak differs from the replay
	WrongLongest    Problem = "wrong_longest"     // the longest streak differs from the replay
	WrongUpset      Problem = "wrong_upset"       // the upset of a match differs from the replay
	WrongLastPlayed Problem = "wrong_last_played" // LastPlayed differs from the replay
	WrongCounters   Problem = "wrong_counters"    // the counters differ from the replay
)

// Finding is one problem in the stored data.
type Finding struct {
	Chat         ExternalChatID
	Title        string
	Detached     GroupID // the group if it is a DetachedGroup, otherwise 0
	Season       ladder.SeasonID
	SeasonName   string // as in AuditedGroup
	Problem      Problem
	Number       int    // the match's number, 0 for none
	Player       string // the player's name, empty for none
	Stored, Want string // the stored and the expected value, empty for none
}

// Progress counts the groups verified so far, out of OfGroups, and the matches verified so far.
type Progress struct {
	Groups, OfGroups int
	Matches          int
}

// Verify replays every season of every ladder from its first match, and calls found for each
// problem that it finds in the stored data. It verifies the groups of the chat, or all groups if
// chat is 0. It calls progress after each group and every 10,000 matches. It fails with
// ErrNoSuchGroup if the chat has no group.
func Verify(
	ctx context.Context, store AuditStore, chat ExternalChatID, found func(Finding), progress func(Progress),
) error {
	return store.Audit(ctx, func(ctx context.Context, reader AuditReader) error {
		groups, err := reader.Groups(ctx, chat)
		if err != nil {
			return fmt.Errorf("verify: %w", err)
		}
		p := Progress{OfGroups: len(groups)}
		for _, g := range groups {
			a := audit{reader: reader, found: found, progress: func() { progress(p) }, matches: &p.Matches}
			if a.about.Chat, a.about.Title = g.Chat, g.Title; g.Detached {
				a.about.Detached = g.Group
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
	reader   AuditReader
	about    Finding // the common part of all findings
	found    func(Finding)
	progress func()
	matches  *int
}

func (a audit) group(ctx context.Context, g AuditedGroup) error {
	issues, err := a.reader.IntegrityIssues(ctx, g.Group)
	if err != nil {
		return err
	}
	for _, l := range []struct {
		problem Problem
		numbers []int
	}{
		{MissingNumber, issues.Missing}, {NumberNotAssigned, issues.NotAssigned}, {MissingKey, issues.WithoutKey},
		{DuplicateKey, issues.DuplicateKey}, {WrongSides, issues.Empty}, {WrongParts, issues.WrongParts},
	} {
		for _, n := range l.numbers {
			f := a.about
			f.Problem, f.Number = l.problem, n
			a.found(f)
		}
	}
	for i, season := range g.Seasons {
		inSeason := a
		inSeason.about.Season, inSeason.about.SeasonName = season, g.Names[i]
		if err := inSeason.season(ctx, season); err != nil {
			return fmt.Errorf("season %d: %w", season, err)
		}
	}
	return nil
}

func (a audit) season(ctx context.Context, season ladder.SeasonID) error {
	stored, err := a.reader.MatchHistory(ctx, season, 0)
	if err != nil {
		return err
	}
	standings := stored.Standings
	l := seasonAudit{
		audit: a, table: stored.Start(),
		names: make(map[ladder.PlayerID]string, len(standings)), namesakes: make(map[string]int, len(standings)),
	}
	for _, s := range standings {
		l.names[s.Player] = s.Name
		l.namesakes[strings.ToLower(s.Name)]++
	}
	for _, s := range standings {
		if s.Merged {
			l.report(MergedPlayer, nil, s.Player, "", "")
		}
		if s.Elsewhere {
			l.report(ForeignPlayer, nil, s.Player, "", "")
		}
		if start := l.table[s.Player].StartElo; start != s.StartElo {
			l.report(WrongStart, nil, s.Player, fmt.Sprint(s.StartElo), fmt.Sprint(start))
		}
	}
	for i := range stored.Matches {
		l.match(&stored.Matches[i])
		if *a.matches++; *a.matches%10_000 == 0 {
			a.progress()
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	for _, s := range standings {
		l.standing(s.Standing)
	}
	return nil
}

// seasonAudit is the verification of one season.
type seasonAudit struct {
	audit
	table ladder.Table
	names map[ladder.PlayerID]string // the names of the players with a standing
	// namesakes counts the players with each name, in lower case.
	namesakes map[string]int
	// replayFailed is set if a match could not be replayed. That match, later ones and all
	// standings are then not compared with the replay.
	replayFailed bool
}

func (l *seasonAudit) report(p Problem, m *ladder.Match, player ladder.PlayerID, stored, want string) {
	f := l.about
	f.Problem, f.Stored, f.Want = p, stored, want
	if m != nil {
		f.Number = m.Number
	}
	if f.Player = l.names[player]; l.namesakes[strings.ToLower(f.Player)] > 1 {
		f.Player += fmt.Sprintf(" (player %d)", player)
	}
	l.found(f)
}

func (l *seasonAudit) match(m *ladder.Match) {
	if len(m.Sets) > 0 {
		if want := ladder.ResultOf(m.Sets).Score; m.Score != want {
			l.report(WrongSets, m, 0, m.Score.String(), want.String())
		}
	}
	entries, upset, err := l.table.Play(m)
	if err != nil {
		l.report(WrongSides, m, 0, "", "")
		l.replayFailed = true
	}
	if l.replayFailed {
		return
	}
	if m.Upset != upset {
		l.report(WrongUpset, m, 0, fmt.Sprint(m.Upset), fmt.Sprint(upset))
	}
	for i, p := range m.Parts {
		switch {
		case p.Entry == nil && entries != nil:
			l.report(MissingEntry, m, p.Player, "", entries[i].String())
		case p.Entry == nil:
		case entries == nil:
			l.report(EntryOfUndone, m, p.Player, p.Entry.String(), "")
		case p.Entry.Differs(entries[i]):
			l.report(WrongEntry, m, p.Player, p.Entry.String(), entries[i].String())
		}
	}
}

// standing compares a standing with the replay.
func (l *seasonAudit) standing(s ladder.Standing) {
	if l.replayFailed {
		return
	}
	want := *l.table[s.Player]
	differ := func(p Problem, stored, replayed any) {
		if stored != replayed {
			l.report(p, nil, s.Player, fmt.Sprint(stored), fmt.Sprint(replayed))
		}
	}
	differ(WrongElo, s.Elo, want.Elo)
	differ(WrongBest, s.BestElo, want.BestElo)
	differ(WrongStreak, s.Streak, want.Streak)
	differ(WrongLongest, s.Longest, want.Longest)
	differ(WrongLastPlayed, lastPlayed(s), lastPlayed(want))
	differ(WrongCounters, counters(s), counters(want))
}

// Repair replays a season and corrects its history, upsets and standings, in one transaction. Wrong
// history entries are kept, but superseded. repaired reports whether anything differed from the
// replay. Repair fails with ladder.ErrInconsistent if the season cannot be replayed.
func Repair(ctx context.Context, store Store, chat ExternalChatID, season ladder.SeasonID) (repaired bool, err error) {
	defer func() {
		if err != nil {
			repaired, err = false, fmt.Errorf("repair season %d of group %d: %w", season, chat, err)
		}
	}()
	locked, _, err := store.Lock(ctx, Query{Chat: Chat{ID: chat}, KnownChat: true})
	if err != nil {
		return false, err
	}
	defer locked.Release(ctx)
	stored, err := locked.MatchHistory(ctx, season, 0)
	if err != nil {
		return false, err
	}
	w, err := stored.ReplayFrom(stored.Start(), ladder.ByRepair, func(*ladder.Match) {})
	if err != nil {
		return false, err
	}
	return len(w.Superseded)+len(w.Entries)+len(w.Upsets)+len(w.Standings) > 0, locked.Rewrite(ctx, w)
}

// Repairable reports whether Repair can fix the problem.
func (p Problem) Repairable() bool {
	return !slices.Contains([]Problem{
		MissingNumber, NumberNotAssigned, MissingKey, DuplicateKey, WrongSides, WrongParts, WrongSets,
		MergedPlayer, ForeignPlayer,
	}, p)
}

func counters(s ladder.Standing) string {
	return fmt.Sprintf("%d (%d–%d–%d)", s.Played, s.Won, s.Drawn, s.Lost)
}

func lastPlayed(s ladder.Standing) string {
	if s.LastPlayed.IsZero() {
		return "never"
	}
	return s.LastPlayed.UTC().Format(time.RFC3339Nano)
}
