package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/app"
	"elobot/internal/catalog"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
	"elobot/internal/transfer"
)

type importCommand struct {
	app.DatabaseConfig
	File          string            `arg:"" optional:"" help:"The file of results or start ratings, in CSV, a tournament in TRF or of Kickertool, or the zip file of an export, to restore the group."`
	Group         int64             `placeholder:"ID" help:"The group's Telegram id, such as --group=-1001234567890."`
	Ladder        string            `placeholder:"NAME" help:"The name of the ranking, if it is not the group's default one."`
	DryRun        bool              `help:"Say what would be imported, and write nothing."`
	Columns       map[string]string `mapsep:"," placeholder:"ROLE=COLUMN,…" help:"The names of the file's columns, such as --columns=winner=WINNER,loser=LOSER."`
	Dates         string            `enum:",dmy,mdy" default:"" placeholder:"dmy|mdy" help:"Whether the day or the month comes first in dates such as 03/04/2024."`
	OrderByRow    bool              `help:"Matches of the same time were played in the order of their rows."`
	People        string            `placeholder:"FILE" help:"Who the names are: the people.csv that an earlier run wrote and you edited."`
	SkipRefused   bool              `help:"Import the other rows although some are refused."`
	Seasons       string            `enum:",yearly,monthly" default:"" placeholder:"yearly|monthly" help:"Divide a ranking without matches into seasons, in which the results are played."`
	ClosedSeasons bool              `help:"Let the final tables of finished seasons change."`
	Chat          string            `placeholder:"ID|NAME" help:"The chat in Telegram's export of an account."`
	Bot           []string          `placeholder:"NAME" help:"Also read the commands of Telegram's export that name this bot, as in /match@NAME."`
	Zone          string            `placeholder:"ZONE" help:"The time zone of the computer that made Telegram's export, such as Europe/Berlin, if it is asked for."`
	Results       bool              `help:"Also take lines such as “Bob 3:1 Carol” in Telegram's export for results."`
	Again         []int             `placeholder:"ROW" help:"Import this row although an equal one is recorded: it is another match."`
	Undo          int               `placeholder:"N" help:"Take back import N of the group, instead of importing a file."`
	Template      bool              `help:"Print an example of a file, and do nothing else."`

	unit string // what the lines of faults are
}

// Validate returns what is wrong with the arguments.
func (c *importCommand) Validate() error {
	switch {
	case c.Template:
		return nil
	case c.Group == 0:
		return errors.New("--group is missing")
	case (c.File == "") == (c.Undo == 0):
		return errors.New("either a file or --undo is needed")
	}
	return nil
}

// shownFaults limits the faults of an import that are printed.
const shownFaults = 50

// longFile is how many results a file has if its import takes more than a moment.
const longFile = 5000

// Run imports a file or takes an import back.
func (c *importCommand) Run(ctx context.Context) error {
	if c.Template {
		_, err := os.Stdout.Write(transfer.Template)
		return err
	}
	err := c.With(ctx, func(pool *pgxpool.Pool) error {
		store := pgranking.NewStore(pool, func(outbox.Lane) {})
		if c.Undo != 0 {
			return c.undo(ctx, store)
		}
		owner, err := postgres.BotOwner(ctx, pool)
		if err != nil {
			return err
		}
		return c.do(ctx, store, owner)
	})
	var fault transfer.Fault
	switch {
	case errors.Is(err, ranking.ErrNoSuchGroup):
		return fmt.Errorf("there is no group with the Telegram id %d in this database", c.Group)
	case errors.Is(err, ranking.ErrNoSuchLadder):
		return fmt.Errorf("the group has no ranking %q in use", c.Ladder)
	case errors.Is(err, ranking.ErrNotEmpty) && c.Seasons != "":
		return errors.New("the ranking has matches or seasons already, so --seasons cannot divide it. Nothing was imported")
	case errors.Is(err, ranking.ErrNotEmpty):
		return errors.New("the group has matches, and an export is only restored into a group without any")
	case errors.As(err, &fault):
		return fmt.Errorf("%s. Nothing was imported", sentence(fault))
	case errors.Is(err, ranking.ErrSeasonOver):
		return errors.New("the season is over, and the bot has not begun the next: start the bot, or try again in a minute")
	case errors.Is(err, ranking.ErrConflict), errors.Is(err, ranking.ErrLocked):
		return errors.New("the group is busy right now: try again")
	}
	return err
}

func (c *importCommand) undo(ctx context.Context, store ranking.Store) error {
	done, err := ranking.UndoImport(ctx, store, ranking.ExternalChatID(c.Group), c.Undo)
	if errors.Is(err, ranking.ErrNoSuchImport) {
		return fmt.Errorf("the group has no import %d that could be taken back", c.Undo)
	}
	if err != nil {
		return err
	}
	gone := counted(len(done.Matches), "match is gone", "matches are gone")
	if len(done.Matches) == 0 {
		gone = counted(len(done.Starts), "start rating is", "start ratings are") + " as before"
	}
	fmt.Printf("Import %d is taken back: %s, and later matches were calculated again.\n", c.Undo, gone)
	return nil
}

func (c *importCommand) do(ctx context.Context, store ranking.Store, owner ladder.UserID) error {
	c.unit = "row"
	debug.SetMemoryLimit(64 << 20) // a long file needs little more at any time
	sent, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer sent.Close() //nolint:errcheck // it was only read
	info, err := sent.Stat()
	if err != nil {
		return err
	}
	text := bufio.NewReader(sent)
	if head, _ := text.Peek(text.Size()); transfer.IsChats(head) {
		return c.importChat(ctx, store, owner, text)
	}
	if c.Chat != "" || len(c.Bot) > 0 || c.Zone != "" || c.Results {
		return errors.New("--chat, --bot, --zone and --results are only for Telegram's export of chats")
	}
	var in io.ReaderAt = sent
	size := info.Size()
	if !info.Mode().IsRegular() { // a pipe, which can be read only once
		all, err := io.ReadAll(text)
		if err != nil {
			return err
		}
		in, size = bytes.NewReader(all), int64(len(all))
	}
	export, err := transfer.OpenExport(in, size, maxExport)
	if err == nil {
		return c.restore(ctx, store, export)
	}
	if fault := (transfer.Fault{}); !errors.As(err, &fault) || fault.Reason != transfer.NoExport {
		return err
	}
	if size > maxFile {
		return fmt.Errorf("%s is larger than %d MB, which is too long for a file of results", c.File, maxFile>>20)
	}
	data, err := io.ReadAll(io.NewSectionReader(in, 0, size))
	if err != nil {
		return err
	}
	importer, err := ranking.NewImporter(ctx, store, ranking.ExternalChatID(c.Group), c.Ladder)
	if err != nil {
		return err
	}
	now := time.Now()
	file, err := transfer.Read(bytes.NewReader(data), transfer.Options{
		Columns: c.Columns, Dates: transfer.DateOrder(c.Dates), OrderByRow: c.OrderByRow, Zone: importer.Zone, Now: now,
	})
	if err != nil {
		return readable(c.File, err)
	}
	f := ranking.ImportFile{
		File: file, Hash: fmt.Sprintf("%x", sha256.Sum256(data)), Again: c.Again, At: now,
		SkipRefused: c.SkipRefused, ClosedSeasons: c.ClosedSeasons, DryRun: c.DryRun || file.Ask != "",
		SeasonMonths: seasonMonths[c.Seasons],
	}
	if c.People != "" {
		if f.People, err = readPeople(c.People); err != nil {
			return err
		}
	}
	var r ranking.ImportReport
	ask := file.Ask
	if ask != transfer.AskDates { // the file is not read beyond its dates
		c.describe(file, importer.Zone)
		if len(file.Rows) > longFile {
			fmt.Fprintln(os.Stderr, "This is a long file: calculating all ratings takes a few seconds, up to a minute …")
		}
		if r, err = importer.Import(ctx, f); err != nil {
			return err
		}
	}
	return c.report(r, ask)
}

// seasonMonths has the months of the seasons that --seasons asks for.
var seasonMonths = map[string]int{"yearly": 12, "monthly": 1}

// maxFile is the maximum length of a file of results in bytes. It limits the memory.
const maxFile = 10 << 20

// maxExport is the maximum length of an export in bytes, several times that of the largest groups.
const maxExport = 1 << 30

// restore restores an export.
func (c *importCommand) restore(ctx context.Context, store ranking.Store, e *transfer.Export) error {
	const minute = "2 January 2006 15:04 MST"
	fmt.Printf("%s is an export of %q, made on %s.\n", c.File, e.Header.Chat.Title, e.Header.At.Format(minute))
	r, err := ranking.Restore(ctx, store, ranking.ExternalChatID(c.Group), e, c.DryRun)
	if err != nil {
		return err
	}
	fmt.Printf("It has %s of %s, and its ratings follow from them.\n",
		counted(r.Matches, "match", "matches"), counted(r.Players, "player", "players"))
	switch {
	case c.DryRun:
		fmt.Println("Nothing was written.")
	case r.Number == 0:
		fmt.Println("The group is restored.")
	default:
		fmt.Printf("The group is restored. To take its matches back: elobot import --group=%d --undo=%d\n", c.Group, r.Number)
	}
	return nil
}

func readPeople(name string) (map[string]string, error) {
	in, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // it was only read
	people, err := transfer.ReadPeople(in)
	return people, readable(name, err)
}

// readable turns a Fault that refuses a whole file into a sentence. It returns other errors
// unchanged.
func readable(name string, err error) error {
	var fault transfer.Fault
	if errors.As(err, &fault) {
		return fmt.Errorf("%s: %s", name, sentence(fault))
	}
	return err
}

// describe prints what the file says, as it was understood.
func (c *importCommand) describe(f transfer.File, zone *time.Location) {
	has := counted(len(f.Rows), "result", "results")
	if len(f.Starts) > 0 {
		has = counted(len(f.Starts), "start rating", "start ratings")
	}
	fmt.Printf("%s has %s", c.File, has)
	const day = "2 January 2006"
	switch {
	case len(f.Rows) == 0:
	case f.Last.IsZero():
		fmt.Print(" without dates: they count as played now, in the order of the rows")
	default:
		fmt.Printf(", from %s to %s. The time zone is %s", f.First.Format(day), f.Last.Format(day), zone)
	}
	if f.Dates != "" {
		example := map[transfer.DateOrder]string{transfer.DayFirst: "3 April", transfer.MonthFirst: "4 March"}
		fmt.Printf(", and 03/04 is %s", example[f.Dates])
	}
	fmt.Println(".")
	if len(f.Unused) > 0 {
		fmt.Printf("These columns are not used: %s.\n", strings.Join(f.Unused, ", "))
	}
	reasons := make(map[transfer.Reason]int)
	for _, l := range f.LeftOut {
		reasons[l.Reason]++
	}
	for _, reason := range []transfer.Reason{transfer.NotPlayed, transfer.Walkover, transfer.SameRow, transfer.EmptyRow} {
		if n := reasons[reason]; n > 0 {
			fmt.Printf("%s left out: %s.\n", counted(n, "row is", "rows are"), sentences[reason])
		}
	}
}

// report prints what the import did. It returns an error if it wrote nothing, unless nothing was to
// be written.
func (c *importCommand) report(r ranking.ImportReport, ask transfer.Question) error {
	for i, fault := range r.Refused {
		if i == shownFaults {
			fmt.Printf("… and %s\n", counted(len(r.Refused)-i, "more fault", "more faults"))
			break
		}
		fmt.Println(sentence(fault))
	}
	for _, fault := range r.Faults {
		fmt.Println(personSentence(fault))
	}
	if r.Unknown == nil && r.Faults == nil && ask == "" {
		c.printCounts(r)
	}
	switch {
	case ask != "":
		return errors.New(questions[ask])
	case r.Unknown != nil:
		return c.askWho(r.Unknown)
	case len(r.Faults) > 0:
		return errors.New("not all of these people can take part, so nothing was imported")
	case len(r.NotAgain) > 0:
		return fmt.Errorf("--again is for rows that are known only by equal cells, but not for %s. Nothing was imported",
			c.listed(r.NotAgain))
	case len(r.Refused) > 0 && !c.SkipRefused:
		return errors.New("rows are refused, so nothing was imported: correct them, or leave them out with --skip-refused")
	case len(r.Closed) > 0 && !c.ClosedSeasons:
		return errors.New("final tables would change, so nothing was imported: allow it with --closed-seasons")
	case r.Number == 0:
		fmt.Println("Nothing was written.")
	default:
		if r.New > 0 {
			fmt.Println("Ratings that another program has calculated from these matches will differ.")
		}
		fmt.Printf("This is import %d of the group. To take it back: elobot import --group=%d --undo=%[1]d\n",
			r.Number, c.Group)
	}
	return nil
}

// printCounts prints how many matches are new, and what else changes.
func (c *importCommand) printCounts(r ranking.ImportReport) {
	fmt.Printf("New: %d\n", r.New+r.Starts)
	for _, fact := range []struct {
		what  string
		count int
		rows  []int
	}{
		{"New players", r.Players, nil},
		{"Seasons before the present one", r.Seasons, nil},
		{"Equal to recorded matches; if they are the same, remove them from the file", len(r.Same), r.Same},
		{"Left out, because a player is", len(r.Away), r.Away},
		{"Recorded already", len(r.Known), r.Known},
		{"Known only by equal cells; if one is another match of that day, add --again=ROW", len(r.Equal), r.Equal},
		{"Later matches that are calculated again", r.Later, nil},
	} {
		switch {
		case len(fact.rows) > 0:
			fmt.Printf("%s: %d, %s\n", fact.what, fact.count, c.listed(fact.rows))
		case fact.count > 0:
			fmt.Printf("%s: %d\n", fact.what, fact.count)
		}
	}
	for _, s := range r.Closed {
		fmt.Printf("The final table of season %d changes, but not the ratings with which the next season began.\n", s.Number)
	}
}

// listed returns rows as text, such as "rows 2–5, 7".
func (c *importCommand) listed(rows []int) string {
	unit := c.unit
	if rows = slices.Compact(slices.Clone(rows)); len(rows) > 1 { // a row may have several matches
		unit += "s"
	}
	return unit + " " + ranking.RowRanges(rows, len(rows))
}

// askWho asks who the names of the file are, by a file beside it.
func (c *importCommand) askWho(people []transfer.Person) error {
	var open []string
	for _, p := range people {
		if p.Open {
			open = append(open, fmt.Sprintf("%q", p.Name))
		}
	}
	names := strings.Join(open[:min(len(open), 10)], ", ")
	if len(open) > 10 {
		names += ", …"
	}
	path := filepath.Join(filepath.Dir(c.File), "people.csv")
	switch {
	case c.People != "":
		return fmt.Errorf("%s does not say who these are: %s. Nothing was imported", c.People, names)
	case c.DryRun:
		return fmt.Errorf("%s unknown: %s. Without --dry-run, the command writes %s, in which you say who they are",
			counted(len(open), "name is", "names are"), names, path)
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s unknown: %s. There is already a %s: give it by --people, or remove it to get a new one",
			counted(len(open), "name is", "names are"), names, path)
	}
	if err == nil {
		_, err = out.Write(transfer.WritePeople(people))
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%s unknown: %s. Say in the second column of %s who they are, "+
		"and run the command again with --people=%[3]s. Nothing was imported",
		counted(len(open), "name is", "names are"), names, path)
}

// personSentence says why a player cannot take part.
func personSentence(f ranking.PersonFault) string {
	visible := func(text string) string { return strings.Trim(strconv.Quote(text), `"`) } // no hidden characters
	text := catalog.For("en").Text("import.who_"+cmp.Or(string(f.Code), "unreadable"),
		catalog.Args{"Name": visible(f.Name), "Who": visible(f.Who), "Free": f.Free})
	return strings.NewReplacer("<code>", "", "</code>", "").Replace(text)
}

// sentence says what is wrong with a row or a file.
func sentence(f transfer.Fault) string {
	where := ""
	if f.Line != 0 {
		where = fmt.Sprintf("row %d", f.Line)
	}
	if f.Message {
		where = fmt.Sprintf("message %d", f.Line)
	}
	if f.Column != "" {
		where += fmt.Sprintf(", column %q", f.Column)
	}
	if where != "" {
		where += ": "
	}
	var likely []string
	for _, s := range f.Likely {
		likely = append(likely, s.String())
	}
	if text, ok := sentences[f.Reason]; ok {
		return where + replaced(text, f)
	}
	return where + catalog.For("en").Text("fault."+string(f.Reason), catalog.Args{
		"Value": f.Value, "Against": f.Against, "Other": f.Other, "Count": f.Value, "Likely": strings.Join(likely, " or "),
	})
}

func replaced(text string, f transfer.Fault) string {
	return strings.NewReplacer("{value}", f.Value, "{against}", f.Against).Replace(text)
}

var questions = map[transfer.Question]string{
	transfer.AskDates: "dates such as 03/04/2024 can be read in two ways, and no row settles it: " +
		"add --dates=dmy if the day comes first, or --dates=mdy if the month does. Nothing was imported",
	transfer.AskOrder: "the rows are not sorted by time, so the order of matches of the same time is not settled: " +
		"add --order-by-row if they were played in the order of their rows. Nothing was imported",
	transfer.AskZone: "the file has times without a time zone: say in which zone the computer that made it was, " +
		"by --zone. Nothing was imported",
}

// sentences has why rows are left out, and what the command does not say as in a chat.
var sentences = map[transfer.Reason]string{
	transfer.TooManyRows: "the file has more than {value} rows: split it",
	transfer.NoColumns: "the header “{value}” has no columns for two sides and a result: " +
		"name them with --columns, or see elobot import --template",
	transfer.NoSuchColumn: "there is no column “{value}” in the header “{against}”",
	transfer.NoSuchRole:   "--columns has “{value}”, which is no role: see docs/import.md",
	transfer.TwoColumns:   "the columns “{value}” and “{against}” can mean the same: name the right one with --columns",
	transfer.TwoRoles:     "--columns gives this column two roles, “{value}” and “{against}”",
	transfer.NotPeople:    "this is a file of results or ratings, and not one that says who people are",

	transfer.LargeExport:  "the export is too large",
	transfer.BadExportRow: "something in the export is impossible (in PostgreSQL's words: {value})",
	transfer.WrongRatings: "the export was changed: its ratings do not follow from its matches: “{value}”",

	transfer.NotPlayed: "not played",
	transfer.Walkover:  "won without playing",
	transfer.SameRow:   "equal to another row with the same id",
	transfer.EmptyRow:  "empty",

	transfer.Undone:      "undone later",
	transfer.OtherBot:    "for @{value}, unless --bot={value} is given",
	transfer.NewSeason:   "asks for a new season, which an import does not begin",
	transfer.OtherLadder: "of another ranking",
}
