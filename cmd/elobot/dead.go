package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf16"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/app"
	"elobot/internal/bot"
	"elobot/internal/intake"
	"elobot/internal/postgres"
	"elobot/internal/postgres/pgintake"
)

const (
	shownError    = 100              // maximum length of an error in a list, in characters
	handleTimeout = 10 * time.Second // limits each attempt to handle an update
	noDeadLetters = "There are no dead letters."
)

type deadCommand struct {
	List  deadListCommand  `cmd:"" help:"List dead letters, newest first."`
	Show  deadShowCommand  `cmd:"" help:"Show one dead letter in full."`
	Retry deadRetryCommand `cmd:"" help:"Send notices again, and handle updates as if they had just arrived."`
	Drop  deadDropCommand  `cmd:"" help:"Delete dead letters."`
}

var errDeadStopped = errors.New("stopped before the end: not everything was done")

// withDeadLetters calls do with the dead letters of the database. It returns errDeadStopped if the
// command was interrupted before do had finished.
func withDeadLetters(
	ctx context.Context, c app.DatabaseConfig, do func(*pgxpool.Pool, *pgintake.DeadLetters) error,
) (err error) {
	defer func() {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = errDeadStopped // the exit code must not report success
		}
	}()
	return c.With(ctx, func(pool *pgxpool.Pool) error { return do(pool, pgintake.NewDeadLetters(pool)) })
}

type deadListCommand struct {
	app.DatabaseConfig
	Limit int `default:"50" placeholder:"N" help:"Maximum number of dead letters to list (default: 50)."`
}

// Validate rejects a limit below 1. Kong calls it.
func (c *deadListCommand) Validate() error {
	if c.Limit < 1 {
		return errors.New("--limit must be at least 1")
	}
	return nil
}

func (c *deadListCommand) Run(ctx context.Context) error {
	return withDeadLetters(ctx, c.DatabaseConfig, func(_ *pgxpool.Pool, dead *pgintake.DeadLetters) error {
		letters, total, err := dead.List(ctx, c.Limit)
		if err != nil {
			return err
		}
		if total == 0 {
			fmt.Println(noDeadLetters)
			return nil
		}
		table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		for _, l := range letters {
			_, _ = fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s: %s\n", l.ID, kindOf(l), timestamp(l.LastSeen),
				// Flush returns the errors of these writes.
				counted(l.Attempts, "attempt", "attempts"), subject(l), shortened(l.LastError))
		}
		if err := table.Flush(); err != nil {
			return fmt.Errorf("write the list: %w", err)
		}
		if more := total - len(letters); more > 0 {
			fmt.Printf("… and %d more: use --limit=%d to list them\n", more, total)
		}
		return nil
	})
}

type deadShowCommand struct {
	app.DatabaseConfig
	ID postgres.DeadLetterID `arg:"" help:"Number of the dead letter, as listed."`
}

func (c *deadShowCommand) Run(ctx context.Context) error {
	return withDeadLetters(ctx, c.DatabaseConfig, func(_ *pgxpool.Pool, dead *pgintake.DeadLetters) error {
		l, err := dead.Open(ctx, c.ID)
		if err != nil {
			return deadLetterError(c.ID, err)
		}
		about := subject(l)
		if l.Notice != 0 {
			about = fmt.Sprintf("%s, notice %d, now %s", about, l.Notice, cmp.Or(l.State, "gone"))
		}
		fmt.Printf("dead letter  %d\nkind         %s\nabout        %s\nfirst seen   %s\nlast seen    %s\nattempts     %d\n",
			l.ID, kindOf(l), about, timestamp(l.FirstSeen), timestamp(l.LastSeen), l.Attempts)
		fmt.Printf("last error   %s\npayload\n%s\n", escapeInvisible(l.LastError), payload(l.Payload))
		return nil
	})
}

// selection selects the dead letters that a command applies to.
type selection struct {
	IDs   []string `arg:"" name:"id" help:"Numbers of dead letters, as listed, or the word all."`
	Since moment   `placeholder:"TIME" help:"Of all, only those last seen since then: a time of day such as 14:00, a date and time such as 2026-03-01T14:00, or a time as listed."`
	Error string   `placeholder:"TEXT" help:"Of all, only those whose last error contains the text, in capitals or not."`

	ids []postgres.DeadLetterID // ascending, which is oldest first; empty for all
}

// Validate parses the numbers, and rejects them in combination with --since or --error. Kong calls
// it.
func (c *selection) Validate() error {
	if slices.Equal(c.IDs, []string{"all"}) {
		return nil
	}
	for _, s := range c.IDs {
		id, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not the number of a dead letter: "+
				"use numbers that `elobot dead list` shows, or only the word all", s)
		}
		c.ids = append(c.ids, postgres.DeadLetterID(id))
	}
	slices.Sort(c.ids)
	c.ids = slices.Compact(c.ids)
	if c.isNarrowed() {
		return errors.New("--since and --error choose among all dead letters: " +
			"use them with the word all, not with numbers")
	}
	return nil
}

func (c *selection) isNarrowed() bool { return !c.Since.IsZero() || c.Error != "" }

// moment is a point in time that the operator types.
type moment struct{ time.Time }

// UnmarshalText parses the formats that momentOf accepts. Kong calls it.
func (m *moment) UnmarshalText(text []byte) (err error) {
	m.Time, err = momentOf(string(text), time.Now())
	return err
}

// momentOf parses a point in time. Unless text includes a zone, the time is in the zone of now. A
// time of day alone means its most recent occurrence.
func momentOf(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	at, err := time.ParseInLocation("2006-01-02T15:04", now.Format("2006-01-02T")+text, now.Location())
	switch {
	case err != nil:
		return time.Time{}, fmt.Errorf("%q is no time: use a time of day such as 14:00, or a date and time such as %s",
			text, now.Format("2006-01-02T15:04"))
	case at.After(now):
		return at.AddDate(0, 0, -1), nil
	default:
		return at, nil
	}
}

// find returns the selected ids, and the dead letters with these ids that exist. If the word all,
// with or without --since and --error, selects no dead letter, find tells the operator.
func (c *selection) find(
	ctx context.Context, dead *pgintake.DeadLetters,
) ([]postgres.DeadLetterID, []pgintake.DeadLetter, error) {
	if len(c.ids) > 0 {
		letters, err := dead.Find(ctx, c.ids)
		return c.ids, letters, err
	}
	letters, err := dead.Since(ctx, c.Since.Time, c.Error)
	if err != nil {
		return nil, nil, err
	}
	ids := postgres.Column(letters, func(l pgintake.DeadLetter) postgres.DeadLetterID { return l.ID })
	switch {
	case len(ids) > 0:
	case c.isNarrowed():
		fmt.Println("No dead letter is that recent and has such an error.")
	default:
		fmt.Println(noDeadLetters)
	}
	return ids, letters, nil
}

type deadDropCommand struct {
	app.DatabaseConfig
	selection
}

func (c *deadDropCommand) Run(ctx context.Context) error {
	return withDeadLetters(ctx, c.DatabaseConfig, func(_ *pgxpool.Pool, dead *pgintake.DeadLetters) error {
		ids, _, err := c.find(ctx, dead)
		if err != nil {
			return err
		}
		dropped, err := dead.Drop(ctx, ids)
		if err != nil {
			return err
		}
		if len(dropped) > 0 {
			fmt.Printf("Dropped %s.\n", counted(len(dropped), "dead letter", "dead letters"))
		}
		return each(ids, func(id postgres.DeadLetterID) error {
			if slices.Contains(dropped, id) {
				return nil
			}
			return pgintake.ErrNoDeadLetter
		})
	})
}

type deadRetryCommand struct {
	app.Config
	selection
}

// Run queues the selected notices for sending again, and handles the selected updates again.
func (c *deadRetryCommand) Run(ctx context.Context) error {
	return withDeadLetters(ctx, c.DatabaseConfig, func(pool *pgxpool.Pool, dead *pgintake.DeadLetters) error {
		ids, letters, err := c.find(ctx, dead)
		if err != nil {
			return err
		}
		var handle intake.Handler
		if slices.ContainsFunc(letters, func(l pgintake.DeadLetter) bool { return l.Notice == 0 }) {
			client, router, err := c.RetryRouter(ctx, pool)
			if err != nil {
				return err
			}
			defer client.Close()
			handle = func(ctx context.Context, u intake.Update) error {
				read, _ := bot.ReadUpdate(u.Raw) // Handle returns an error for an update that cannot be read
				u.Content, u.SentAt = read.Content, client.Now()
				return router.Handle(ctx, u)
			}
		}
		return each(ids, func(id postgres.DeadLetterID) error { return retryLetter(ctx, dead, id, handle) })
	})
}

// each calls do for each dead letter, even after one has failed. It prints each error immediately,
// and finally returns an error that says how many failed. If there is only one dead letter, each
// returns its error instead of printing it. If the command is interrupted, each stops and returns
// the error of the interrupted call.
func each(ids []postgres.DeadLetterID, do func(postgres.DeadLetterID) error) error {
	failed := 0
	for _, id := range ids {
		err := deadLetterError(id, do(id))
		if err == nil {
			continue
		}
		if len(ids) == 1 || errors.Is(err, context.Canceled) {
			return err
		}
		fmt.Fprintln(os.Stderr, "elobot:", err)
		failed++
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d failed", failed, len(ids))
	}
	return nil
}

// retryLetter queues a notice for sending again, or handles an update again. On success it removes
// the dead letter.
func retryLetter(
	ctx context.Context, dead *pgintake.DeadLetters, id postgres.DeadLetterID, handle intake.Handler,
) error {
	l, err := dead.Open(ctx, id)
	switch {
	case err != nil:
		return err
	case l.Notice != 0:
		if err := dead.SendAgain(ctx, id); err != nil {
			return err
		}
		fmt.Printf("%d: queued for sending\n", id)
		return nil
	case handle == nil:
		return pgintake.ErrNoDeadLetter // added after the command began
	}
	if err := handleOnce(ctx, handle, intake.Update{ID: l.Update, Raw: l.Payload, Retried: true}); err != nil {
		if ctx.Err() != nil {
			return context.Canceled // interrupted: the update has not failed again
		}
		return errors.Join(fmt.Errorf("handle update %d: %w", l.Update, err), dead.FailedAgain(ctx, id, err))
	}
	if _, err := dead.Drop(ctx, []postgres.DeadLetterID{id}); err != nil {
		return fmt.Errorf("handled, but not removed: %w", err)
	}
	fmt.Printf("%d: handled\n", id)
	return nil
}

// handleOnce handles an update within handleTimeout. It turns a panic of the handler into an error.
func handleOnce(ctx context.Context, handle intake.Handler, u intake.Update) (err error) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "%s\n", debug.Stack())
			err = fmt.Errorf("handler panicked: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	return handle(ctx, u)
}

// deadLetterError adds the dead letter's id to an error. For expected errors, it says what the
// operator can do.
func deadLetterError(id postgres.DeadLetterID, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgintake.ErrNoDeadLetter):
		return fmt.Errorf("there is no dead letter %d: run `elobot dead list` to see them all", id)
	case errors.Is(err, pgintake.ErrNotDead):
		return fmt.Errorf("dead letter %[1]d was not retried, because its notice is no longer dead: "+
			"`elobot dead show %[1]d` shows its state, `elobot dead drop %[1]d` deletes the dead letter", id)
	default:
		return fmt.Errorf("dead letter %d: %w", id, err)
	}
}

func kindOf(l pgintake.DeadLetter) string {
	if l.Notice != 0 {
		return "notice"
	}
	return "update"
}

func subject(l pgintake.DeadLetter) string {
	switch {
	case l.Notice == 0:
		return fmt.Sprintf("update %d", l.Update)
	case l.State == "":
		return fmt.Sprintf("notice %d, which is gone", l.Notice)
	case l.Title == "":
		return fmt.Sprintf("%s to %d", l.Kind, l.Chat)
	default:
		// Quoted: a title can contain anything.
		return fmt.Sprintf("%s to %d %q", l.Kind, l.Chat, l.Title)
	}
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// shortened returns text as one line of at most shownError characters.
func shortened(text string) string {
	line := []rune(escapeInvisible(strings.Join(strings.Fields(text), " ")))
	if len(line) <= shownError {
		return string(line)
	}
	return string(line[:shownError-1]) + "…"
}

// payload formats the payload of a dead letter for a terminal: indented if it is JSON, and
// otherwise quoted.
func payload(raw []byte) string {
	var indented bytes.Buffer
	if err := json.Indent(&indented, raw, "", "  "); err != nil {
		return strconv.Quote(string(raw))
	}
	return escapeInvisible(indented.String())
}

// escapeInvisible escapes invisible characters, except line feeds, as JSON does, so that they
// cannot control the terminal.
func escapeInvisible(text string) string {
	var b strings.Builder
	for _, r := range text { // invalid UTF-8 becomes U+FFFD, which is visible
		if r == '\n' || strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
