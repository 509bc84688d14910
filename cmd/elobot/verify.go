package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/app"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

const (
	// shownFindings limits the differences shown per group: one wrong match can make many later
	// matches differ.
	shownFindings = 50
	// progressInterval is how often a long verification prints its progress.
	progressInterval = 5 * time.Second
)

type verifyCommand struct {
	app.DatabaseConfig
	Group  int64 `placeholder:"ID" help:"Verify only the group with this Telegram id, such as --group=-1001234567890."`
	Repair bool  `help:"After listing the differences, overwrite the stored ratings with the replayed ones."`
}

// The errors of a verification that has found and printed differences, or was stopped.
var (
	errRepairable = errors.New("differences found: " +
		"run again with --repair to correct everything that can be calculated from the matches")
	errDiffers = errors.New("differences found that cannot be corrected, " +
		"because they cannot be calculated from the matches")
	errStopped = errors.New("stopped before the end: not everything was verified")
)

// Run verifies the database, and with --repair repairs it. It returns an error if differences
// remain or the verification was interrupted.
func (v *verifyCommand) Run(ctx context.Context) error {
	err := v.With(ctx, func(pool *pgxpool.Pool) error { return v.with(ctx, pool) })
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errStopped // the exit code must not report success
	}
	return err
}

func (v *verifyCommand) with(ctx context.Context, pool *pgxpool.Pool) error {
	store := pgranking.NewStore(pool, func(outbox.Lane) {})
	differences, seasons, err := v.verify(ctx, store)
	switch {
	case err != nil || differences == 0:
		return err
	case len(seasons) == 0:
		return errDiffers
	case !v.Repair:
		return errRepairable
	}
	switch repaired, err := repairAll(ctx, store, seasons); {
	case err != nil:
		return err
	case repaired == 0:
		return errDiffers
	}
	fmt.Println("Verifying again:")
	if differences, _, err = v.verify(ctx, store); err == nil && differences > 0 {
		return errDiffers
	}
	return err
}

// season is a season of a ladder with differences that can be repaired.
type season struct {
	chat  ranking.ExternalChatID
	id    ladder.SeasonID
	label string
}

// verify prints up to shownFindings differences per group, and a summary. It returns how many
// differences there are, and the seasons in which some can be repaired.
func (v *verifyCommand) verify(ctx context.Context, store *pgranking.Store) (int, []season, error) {
	var differences int
	var seasons []season
	var last ranking.Progress
	groups := make(map[string]int) // how many differences each group has
	due := time.Now().Add(progressInterval)
	found := func(f ranking.Finding) {
		differences++
		groups[label(f)]++
		switch n := groups[label(f)]; {
		case n <= shownFindings:
			fmt.Println(describe(f))
		case n == shownFindings+1:
			fmt.Printf("%s: … and more differences that are not shown\n", label(f))
		}
		if s := (season{f.Chat, f.Season, label(f)}); f.Problem.Repairable() && !slices.Contains(seasons, s) {
			seasons = append(seasons, s)
		}
	}
	err := ranking.Verify(ctx, store, ranking.ExternalChatID(v.Group), found, func(p ranking.Progress) {
		if last = p; time.Now().After(due) {
			due = time.Now().Add(progressInterval)
			fmt.Fprintf(os.Stderr, "%d of %s so far, %s\n", p.Groups, counted(p.OfGroups, "group", "groups"),
				counted(p.Matches, "match", "matches"))
		}
	})
	if errors.Is(err, ranking.ErrNoSuchGroup) {
		return 0, nil, fmt.Errorf("there is no group with the Telegram id %d in this database", v.Group)
	}
	var detached []ranking.DetachedGroup
	if err == nil {
		detached, err = store.DetachedGroups(ctx, ranking.ExternalChatID(v.Group))
	}
	if err != nil {
		return 0, nil, err
	}
	outcome := "no differences"
	if differences > 0 {
		outcome = fmt.Sprintf("%s in %s", counted(differences, "difference", "differences"),
			counted(len(groups), "group", "groups"))
	}
	fmt.Printf("Verified %s with %s: %s.\n", counted(last.Groups, "group", "groups"),
		counted(last.Matches, "match", "matches"), outcome)
	for _, d := range detached {
		fmt.Printf("Without a chat: %s, with %s. Another group has the chat.\n", d, counted(d.Matches, "match", "matches"))
	}
	return differences, seasons, nil
}

// counted returns n with its noun: one if n is 1, otherwise many.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// repairAll repairs seasons, each in a transaction of its own, and returns how many it changed. It
// skips the seasons that cannot be repaired, and prints which they are.
func repairAll(ctx context.Context, store ranking.Store, seasons []season) (n int, err error) {
	for _, l := range seasons {
		switch repaired, err := ranking.Repair(ctx, store, l.chat, l.id); {
		case errors.Is(err, ladder.ErrInconsistent):
			fmt.Printf("%s: cannot be repaired: a match has a side without players, or a player without a standing\n", l.label)
		case errors.Is(err, ranking.ErrConflict), errors.Is(err, ranking.ErrLocked):
			return n, fmt.Errorf("%s is busy right now, try again: %w", l.label, err)
		case err != nil:
			return n, err
		case repaired:
			fmt.Printf("%s: repaired\n", l.label)
			n++
		}
	}
	return n, nil
}

func label(f ranking.Finding) string {
	if f.Detached != 0 {
		return ranking.DetachedGroup{Group: f.Detached, Chat: f.Chat, Title: f.Title}.String()
	}
	return fmt.Sprintf("%d %q", f.Chat, f.Title)
}

// describe returns a line about a finding: where it is and what is wrong.
func describe(f ranking.Finding) string {
	where := label(f)
	if f.SeasonName != "" {
		where += ", " + f.SeasonName
	}
	if f.Number != 0 {
		where += fmt.Sprintf(", match %d", f.Number)
	}
	if f.Player != "" {
		where += fmt.Sprintf(", %q", f.Player) // quoted: a name can contain anything
	}
	return where + ": " + strings.NewReplacer("{stored}", f.Stored, "{want}", f.Want).Replace(problems[f.Problem])
}

// problems maps each problem to its description, in which {stored} and {want} stand for the stored
// value and the expected one.
var problems = map[ranking.Problem]string{
	ranking.MissingNumber: "no match has this number, although it was assigned",
	ranking.NumberNotAssigned: "the group's counter has not reached this number yet; " +
		"when it does, no match can be recorded",
	ranking.MissingKey:      "the command that recorded it is not marked as handled",
	ranking.DuplicateKey:    "another match has the same idempotency key",
	ranking.WrongSides:      "a side has no player, or a player without a standing in the ladder",
	ranking.WrongParts:      "its players do not count as the merges and splits of the group say",
	ranking.WrongSets:       "the score does not match the sets: it is {stored}, but should be {want}",
	ranking.MissingEntry:    "the history has no entry, but should say {want}",
	ranking.EntryOfUndone:   "it is undone, but the history still says {stored}",
	ranking.WrongEntry:      "the history says {stored}, but should say {want}",
	ranking.MergedPlayer:    "still ranked, although this player was merged into another one",
	ranking.ForeignPlayer:   "ranked, although this player belongs to another group",
	ranking.WrongStart:      "the start rating is {stored}, but should be {want}",
	ranking.WrongElo:        "the rating is {stored}, but should be {want}",
	ranking.WrongBest:       "the best rating is {stored}, but should be {want}",
	ranking.WrongStreak:     "the streak is {stored}, but should be {want}",
	ranking.WrongLastPlayed: "the time of the last match is {stored}, but should be {want}",
	ranking.WrongCounters:   "the number of matches (won–drawn–lost) is {stored}, but should be {want}",
	ranking.WrongLongest:    "the longest streak is {stored}, but should be {want}",
	ranking.WrongUpset:      "the rating difference of its upset is {stored}, but should be {want}",
}
