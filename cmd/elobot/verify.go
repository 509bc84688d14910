package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"elobot/internal/app"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

const (
	// shownFindings is how many differences are shown of a group: one wrong match makes all later ones differ.
	shownFindings = 50
	// progressEvery is how often a long verification says how far it is.
	progressEvery = 5 * time.Second
)

type verifyCommand struct {
	app.DatabaseConfig
	Group  int64 `placeholder:"ID" help:"Only the group with this Telegram id, as in --group=-1001234567890."`
	Repair bool  `help:"Write what the replay says over what is stored, after showing it."`
}

// How a verification ends that has found something, or that has not come to its end. What was found has been shown.
var (
	errRepairable = errors.New("not everything is right: run it again with --repair to set right all that follows from the matches")
	errDiffers    = errors.New("not everything is right, and what is left cannot be reckoned from the matches")
	errStopped    = errors.New("stopped before the end: not everything was verified")
)

// Run verifies, and repairs if it is told to.
func (v *verifyCommand) Run(ctx context.Context) error {
	err := v.run(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errStopped // whoever asks by the exit code must not take it for a success
	}
	return err
}

func (v *verifyCommand) run(ctx context.Context) error {
	pool, err := v.Open(ctx)
	if err != nil {
		return err
	}
	defer postgres.Close(pool)
	store := postgres.NewStore(pool, func(outbox.Lane) {})
	differences, ladders, err := v.verify(ctx, store)
	switch {
	case err != nil || differences == 0:
		return err
	case len(ladders) == 0:
		return errDiffers
	case !v.Repair:
		return errRepairable
	}
	switch repaired, err := repairAll(ctx, store, ladders); {
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

// ladder is a ladder in which something was found that can be repaired.
type ladder struct {
	chat  ranking.ExternalChatID
	id    ranking.LadderID
	label string
}

// verify shows what differs, and returns how much that is and in which ladders it can be repaired.
func (v *verifyCommand) verify(ctx context.Context, store *postgres.Store) (int, []ladder, error) {
	var differences int
	var ladders []ladder
	var last ranking.Progress
	groups := make(map[ranking.ExternalChatID]int) // how many differences there are in each
	due := time.Now().Add(progressEvery)
	err := ranking.Verify(ctx, store, ranking.ExternalChatID(v.Group), func(f ranking.Finding) {
		differences++
		groups[f.Chat]++
		switch n := groups[f.Chat]; {
		case n <= shownFindings:
			fmt.Println(sentence(f))
		case n == shownFindings+1:
			fmt.Printf("%s: … and more that is not shown\n", label(f))
		}
		if l := (ladder{f.Chat, f.Ladder, label(f)}); f.Problem.Repairable() && !slices.Contains(ladders, l) {
			ladders = append(ladders, l)
		}
	}, func(p ranking.Progress) {
		if last = p; time.Now().After(due) {
			due = time.Now().Add(progressEvery)
			fmt.Fprintf(os.Stderr, "%d of %s so far, %s\n", p.Groups, counted(p.OfGroups, "group", "groups"),
				counted(p.Matches, "match", "matches"))
		}
	})
	if errors.Is(err, ranking.ErrNoSuchGroup) {
		return 0, nil, fmt.Errorf("there is no group with the Telegram id %d in this database", v.Group)
	}
	if err != nil {
		return 0, nil, err
	}
	outcome := "everything is right"
	if differences > 0 {
		outcome = fmt.Sprintf("%s in %s", counted(differences, "difference", "differences"), counted(len(groups), "group", "groups"))
	}
	fmt.Printf("Verified %s with %s: %s.\n", counted(last.Groups, "group", "groups"),
		counted(last.Matches, "match", "matches"), outcome)
	return differences, ladders, nil
}

// counted returns a number with what it counts.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// repairAll repairs ladders, each in a transaction of its own, and returns how many had anything to be repaired.
func repairAll(ctx context.Context, store ranking.Store, ladders []ladder) (n int, err error) {
	for _, l := range ladders {
		switch repaired, err := ranking.Repair(ctx, store, l.chat, l.id); {
		case errors.Is(err, ranking.ErrInconsistent):
			fmt.Printf("%s: cannot be repaired: a match has nobody on one side, or somebody who has no standing\n", l.label)
		case errors.Is(err, ranking.ErrConflict), errors.Is(err, ranking.ErrLocked):
			return n, fmt.Errorf("%s is too busy just now, try again: %w", l.label, err)
		case err != nil:
			return n, err
		case repaired:
			fmt.Printf("%s: repaired\n", l.label)
			n++
		}
	}
	return n, nil
}

// label says which group a finding is about.
func label(f ranking.Finding) string { return fmt.Sprintf("%d %q", f.Chat, f.Title) }

// sentence puts a finding into words.
func sentence(f ranking.Finding) string {
	where := label(f)
	if f.Number != 0 {
		where += fmt.Sprintf(", match %d", f.Number)
	}
	if f.Player != "" {
		where += fmt.Sprintf(", %q", f.Player) // people call themselves what they like
	}
	return where + ": " + problem(f)
}

func problem(f ranking.Finding) string {
	differs := func(what string) string { return fmt.Sprintf("%s is %s, and must be %s", what, f.Stored, f.Want) }
	switch f.Problem {
	case ranking.MissingNumber:
		return "the number was drawn, and no match has it"
	case ranking.NumberNotDrawn:
		return "its group has not come to this number yet, so that no match can be recorded when it does"
	case ranking.MissingKey:
		return "the command that made it does not count as handled"
	case ranking.DuplicateKey:
		return "another match comes from the same command"
	case ranking.WrongSides:
		return "a side has no player, or one who has no standing in the ladder"
	case ranking.WrongSets:
		return differs("the score does not count the sets: it")
	case ranking.MissingEntry:
		return "the history does not tell of it, and must say " + f.Want
	case ranking.EntryOfUndone:
		return "it is undone, and the history still says " + f.Stored
	case ranking.WrongEntry:
		return fmt.Sprintf("the history says %s, and must say %s", f.Stored, f.Want)
	case ranking.BrokenChain:
		return fmt.Sprintf("the history has %s before it, and %s after the match before", f.Stored, f.Want)
	case ranking.MergedPlayer:
		return "ranked, although this player has become another one"
	case ranking.WrongStart:
		return differs("the start rating")
	case ranking.WrongElo:
		return differs("the rating")
	case ranking.WrongSum:
		return fmt.Sprintf("the rating is %s, and the start and all changes in the history add up to %s", f.Stored, f.Want)
	case ranking.WrongBest:
		return differs("the best rating")
	case ranking.WrongStreak:
		return differs("the streak")
	case ranking.WrongCounters:
		return differs("won–drawn–lost")
	case ranking.CountersDontAdd:
		return fmt.Sprintf("the number of matches is %s, and won, drawn and lost add up to %s", f.Stored, f.Want)
	default:
		return fmt.Sprintf("%s: %s, and must be %s", f.Problem, f.Stored, f.Want)
	}
}
