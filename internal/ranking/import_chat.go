package ranking

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sethvargo/go-retry"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/transfer"
)

// PromptImport asks what an import of a file leaves open. Any admin may answer, by button or with a
// file that says who the people are.
const PromptImport PromptKind = "import"

// The limits of a file that is imported in a chat.
const (
	MaxImportMegabytes = 5
	MaxImportRows      = 5000
	MaxImportPeople    = 1000 // people with different names

	maxImportFile = MaxImportMegabytes << 20
	// maxRestored is the maximum length of an export in bytes. The restore of a longer one may take
	// too long for a command.
	maxRestored = 16 << 20
	// shownOfImport limits each list in an ImportPrompt.
	shownOfImport = 10
)

// SentFile is a file that a person has sent.
type SentFile struct {
	ID   string `json:"id"` // for Files
	Name string `json:"name,omitempty"`
	Size int64  `json:"size,omitempty"` // in bytes, 0 if unknown
}

// Files has the files that people have sent.
type Files interface {
	// Download returns the content of a file. It fails with ErrFileTooLarge if the file has more
	// than limit bytes or is too large for the messenger, and with ErrFileNotServed.
	Download(ctx context.Context, id string, limit int64) ([]byte, error)
}

// The errors of Files after which trying again is pointless.
var (
	ErrFileTooLarge = errors.New("the file is too large")
	// ErrFileNotServed means that the messenger's server keeps its files on its own disk, as a Bot
	// API server does with --local.
	ErrFileNotServed = errors.New("the messenger's server does not serve files")
)

// WithFiles makes the service import files, and returns the service. chats says how to read exports
// of chats: which bot it is, and the names of its commands.
func (s *Service) WithFiles(files Files, chats transfer.ChatOptions) *Service {
	s.files, s.chats = files, chats
	return s
}

// ImportRequest is what a PromptImport asks about: a file, and what is settled about it so far.
type ImportRequest struct {
	Key    string    `json:"key"` // of the message with the file
	Ladder ladder.ID `json:"ladder"`
	File   SentFile  `json:"file"`
	People SentFile  `json:"people,omitzero"` // says who the people are; zero for none

	Guests        bool               `json:"guests,omitempty"` // people whom nobody knows are new guests
	Dates         transfer.DateOrder `json:"dates,omitempty"`
	OrderByRow    bool               `json:"order_by_row,omitempty"`
	Zone          bool               `json:"zone,omitempty"` // times without a zone are in the group's
	SkipRefused   bool               `json:"skip_refused,omitempty"`
	ClosedSeasons bool               `json:"closed_seasons,omitempty"`
	Long          bool               `json:"long,omitempty"` // many later matches may be calculated again

	// Begun is when a long import was begun, zero if the prompt waits for an answer. Nobody can
	// answer any more then.
	Begun time.Time `json:"begun,omitzero"`
}

func (r ImportRequest) tag() MatchTag { return TagOf(r.Key) }

// files returns the files to be read.
func (r ImportRequest) files() []SentFile {
	if r.People == (SentFile{}) {
		return []SentFile{r.File}
	}
	return []SentFile{r.File, r.People}
}

// ImportChoice is an option of a PromptImport.
type ImportChoice string

// The options of a PromptImport, besides Cancel.
const (
	ImportGuests     ImportChoice = "guests" // people whom nobody knows are new guests
	ImportPeople     ImportChoice = "people" // send the file in which to say who people are
	ImportDayFirst   ImportChoice = "dmy"
	ImportMonthFirst ImportChoice = "mdy"
	ImportByRow      ImportChoice = "rows"   // rows of the same time are in the order of play
	ImportZone       ImportChoice = "zone"   // times without a zone are in the group's
	ImportSkip       ImportChoice = "skip"   // leave out the refused rows
	ImportClosed     ImportChoice = "closed" // let final tables change
	ImportLong       ImportChoice = "long"   // calculate many later matches again
	ImportRestore    ImportChoice = "restore"
)

// ImportChoices returns all values of ImportChoice.
func ImportChoices() []ImportChoice {
	return []ImportChoice{
		ImportGuests, ImportPeople, ImportDayFirst, ImportMonthFirst, ImportByRow, ImportZone, ImportSkip, ImportClosed,
		ImportLong, ImportRestore,
	}
}

// with returns r with what an option settles. ok is false if r has no such option.
func (r ImportRequest) with(o PromptOption) (_ ImportRequest, ok bool) {
	switch o {
	case ImportGuests:
		r.Guests = true
	case ImportDayFirst:
		r.Dates = transfer.DayFirst
	case ImportMonthFirst:
		r.Dates = transfer.MonthFirst
	case ImportByRow:
		r.OrderByRow = true
	case ImportZone:
		r.Zone = true
	case ImportSkip:
		r.SkipRefused = true
	case ImportClosed:
		r.ClosedSeasons = true
	case ImportLong:
		r.Long = true
	case ImportPeople, ImportRestore, Cancel{}:
	default:
		return r, false
	}
	return r, true
}

// ShowImport is the press of a button with which an admin asks how to import a file into the
// ladder, or for an example of such a file.
type ShowImport struct{ Example bool }

func (i ShowImport) plan(_ *Service, c *call) *call {
	op := showImport{adminsOnly{people: senderOf(c.Origin)}, i, c.Origin}
	return c.with(job{name: "show import", bucket: RatePress, ofAdmins: true, operation: op})
}

type showImport struct {
	adminsOnly
	ShowImport
	origin Origin
}

func (o showImport) decide(snap *Snapshot) (Decision, need, error) {
	if o.Example {
		return o.origin.privately(snap, ImportExample{})
	}
	return Decision{Page: ImportPage{}}, nil, nil
}

// ImportExample is a notice whose document is an example of a file of results.
type ImportExample struct{}

var _ = notice.Register[ImportExample](notice.Kind{Name: "import_example", Purpose: notice.Answer, Alone: true})

// PeopleOfImport is a notice whose document asks who the people of a file are.
type PeopleOfImport struct {
	Title string            `json:"title"` // of the group
	All   []transfer.Person `json:"all"`
}

var _ = notice.Register[PeopleOfImport](notice.Kind{Name: "people_of_import", Purpose: notice.Answer, Alone: true})

// ImportPage asks for a file, which a reply brings.
type ImportPage struct{}

var _ = notice.Register[ImportPage](notice.Kind{Name: "import_page", Purpose: notice.Answer, Alone: true})

// ReplyWithFile imports a file that an admin has sent, or asks what the import leaves open. If the
// message replies to a PromptImport, the file says who the people of the prompt's file are, or it
// has results and replaces the prompt's file. Replies to other prompts are ignored.
type ReplyWithFile struct {
	File   SentFile
	Prompt PromptRef // zero if the message replies to an ImportPage
}

func (r ReplyWithFile) plan(s *Service, c *call) *call {
	switch {
	case r.Prompt.ID == 0:
		return s.importing(c, importOperation{request: ImportRequest{Key: c.Key, File: r.File}, file: r.File})
	case c.found == nil:
		return c.finding(findPrompt{ref: r.Prompt, accepts: func(p *Prompt) bool { return p.Import != nil }})
	}
	op := importOperation{prompt: c.found.prompt, ref: r.Prompt, request: *c.found.prompt.Import, file: r.File}
	op.request.People, op.request.Long = r.File, false
	var fault transfer.Fault
	_, err := transfer.ReadPeople(bytes.NewReader(c.importing.files[r.File.ID])) // empty at first
	if errors.As(err, &fault) && fault.Reason == transfer.NotPeople {
		op.request = ImportRequest{Key: c.Key, Ladder: op.request.Ladder, File: r.File}
	}
	return s.importing(c, op)
}

func (a PromptAnswer) planImport(s *Service, c *call) *call {
	op := importOperation{prompt: c.found.prompt, ref: a.Prompt, option: a.Option}
	request, ok := c.found.prompt.Import.with(a.Option)
	op.request, op.isMistaken = request, !ok
	return s.importing(c, op)
}

func (s *Service) importing(c *call, op importOperation) *call {
	if op.prompt != nil {
		c.Ladder = op.request.Ladder
	}
	op.adminsOnly, op.origin, op.importing = adminsOnly{people: senderOf(c.Origin)}, c.Origin, c.importing
	op.origin.SentAt = cmp.Or(op.origin.SentAt, op.request.Begun)
	op.longest, op.chats = s.longestImport(), s.chats
	j := job{name: "import", bucket: RateResult, ofAdmins: true, locks: true, knownChatOnly: true, operation: op}
	if c.Button != "" {
		j.bucket = RatePress
	}
	return c.perhapsLong(j)
}

// longestImport is the maximum number of later matches that an import or its undo replays at once.
// They may replay more matches than an amendment, because they are rare. All updates of the chat
// wait meanwhile, and later updates of other chats are delayed, so a timer does what takes longer.
func (s *Service) longestImport() int { return 2 * s.settings.LongestReplay }

// importing is what the rounds of an import have found out so far.
type importing struct {
	files map[string][]byte // the content of files, by id
	// read is the file as read, and named its people; read is nil if that is not known yet. As long
	// as it is not settled who all people are, those whom nobody knows are new guests in named.
	read   *ImportFile
	named  namedPeople
	names  []transfer.Person // all names, as far as it is settled who they are
	report ImportReport
	isOpen bool // the report says why the file cannot be imported

	export  *transfer.ExportHeader // nil unless the file is an export
	restore Restoring              // what its restore would do, if isOpen is set
	refusal Notice                 // why nothing can be done, nil for no reason
}

// Imports have these needs.
type (
	// sentFile is the need for the content of a file.
	sentFile struct{ SentFile }
	// importStep is the need to plan an import again, with more of what it depends on.
	importStep struct {
		step string
		importing
	}
	// importPlan is the need for Beside.Planned.
	importPlan struct{ importing }
	// restorePlan is the need for Beside.Restoring. The file has an export.
	restorePlan struct {
		file    SentFile
		content []byte
	}
	// undoPlan is the need for Beside.UndoneImport, of the import with this number.
	undoPlan struct{ number int }
)

func (n sentFile) what() string   { return "the file " + n.ID }
func (n importStep) what() string { return n.step }
func (importPlan) what() string   { return "an import" }
func (restorePlan) what() string  { return "a restore" }
func (undoPlan) what() string     { return "the undo of an import" }

const (
	downloadRetry = 500 * time.Millisecond
	// downloadRetries is how often a download is tried again, if there is time.
	downloadRetries = 8
)

// download adds the content of a file to the call. If the messenger does not have it for seconds,
// the call only says so, and ok is false. No transaction is open meanwhile.
func (s *Service) download(ctx context.Context, c *call, f SentFile) (ok bool) {
	var content []byte
	err := retry.Do(ctx, retry.WithMaxRetries(downloadRetries, retry.NewConstant(downloadRetry)),
		func(ctx context.Context) (err error) {
			content, err = s.files.Download(ctx, f.ID, maxImportFile)
			if errors.Is(err, ErrFileTooLarge) || errors.Is(err, ErrFileNotServed) {
				return err
			}
			return retry.RetryableError(err)
		})
	if err != nil {
		refusal := Refusal{Code: FileUnavailable}
		switch {
		case errors.Is(err, ErrFileTooLarge):
			refusal = Refusal{Code: FileTooLarge, Matches: MaxImportMegabytes}
		case errors.Is(err, ErrFileNotServed):
			refusal.Code = FileNotServed
		}
		s.log.WarnContext(ctx, "failed to download a file", "key", c.Key, "chat_id", c.Chat.ID, "error", err)
		*c = *c.onlySaying(refusal)
		return false
	}
	files := map[string][]byte{f.ID: content}
	for id, other := range c.importing.files {
		files[id] = other
	}
	c.importing.files = files
	return true
}

// PlannedImport is an import as it would be written.
type PlannedImport struct {
	*planned
	new    *NewImport // nil if there are no new matches
	report ImportReport
}

// plan calculates an import. It may move other matches to make room.
func (n importPlan) plan(ctx context.Context, store Locked, snap *Snapshot) (*PlannedImport, error) {
	made, here := PlannedImport{report: n.report}, *snap
	here.People = snap.People[:len(n.named.people)]
	if len(n.report.Unknown) == 0 {
		n.named.refuse(&here, &made.report)
	}
	made.planned = &planned{file: *n.read, report: &made.report, store: store, snap: &here, named: n.named}
	var err error
	made.new, err = made.newImport(ctx)
	return &made, err
}

// Restoring is a restore in a transaction that is still open, or a refusal.
type Restoring struct {
	group   *RestoredGroup
	first   string // the key of its first match, empty if it has none
	refusal Notice
}

// restore restores the export in the transaction.
func (n restorePlan) restore(ctx context.Context, store Locked, snap *Snapshot) (r Restoring, err error) {
	export, err := n.open()
	if err == nil {
		r.group, err = restoreVerified(ctx, store, snap, export)
	}
	if err == nil && r.group.Number > 0 {
		var found []FoundMatch
		if found, _, err = store.FindImport(ctx, snap.Group, r.group.Number); err == nil {
			r.first = found[0].Key
		}
	}
	var fault transfer.Fault
	switch {
	case errors.Is(err, ErrNotEmpty):
		return Restoring{refusal: Refusal{Code: GroupNotEmpty}}, nil
	case errors.As(err, &fault):
		return Restoring{refusal: ImportRefused{File: n.file.Name, Fault: fault}}, nil
	}
	return r, err
}

func (n restorePlan) open() (*transfer.Export, error) {
	return transfer.OpenExport(bytes.NewReader(n.content), int64(len(n.content)), maxRestored)
}

// importOperation imports a file, or asks what the import leaves open. It takes several rounds: to
// download the file, to read it with the group's time zone, to read what is stored about its
// people, and then, if something is open, to ask without the plan.
type importOperation struct {
	adminsOnly // the people are the sender
	origin     Origin
	request    ImportRequest
	prompt     *Prompt // the prompt that is answered, nil for none
	ref        PromptRef
	option     PromptOption // the pressed button, nil for a message with the file
	file       SentFile
	isMistaken bool // the prompt has no such option
	longest    int  // the maximum number of later matches to replay at once
	chats      transfer.ChatOptions
	importing
}

func (o importOperation) byTimer() bool { return o.origin.Trigger == ByTimer }

func (o importOperation) needs() Needs {
	needs := o.adminsOnly.needs()
	needs.Timer = o.byTimer()
	if o.prompt != nil {
		needs.Prompt = o.prompt.ID
	}
	switch {
	case o.isOpen, o.export != nil:
	case o.read != nil:
		people := participants(slices.Clone(o.named.people))
		needs.New = len(people)
		for _, sender := range o.people {
			people.add(sender)
		}
		needs.People, needs.Everybody = people, true
	case len(o.files) > 0:
		needs.Everybody, needs.Topics = true, true
	}
	return needs
}

func (o importOperation) refuse(snap *Snapshot) Notice {
	isOf := o.prompt == nil || snap.Prompt.is(o.ref) && snap.Prompt.isOf(snap.Ladder)
	switch {
	case !isOf, o.isMistaken:
		return Refusal{Code: UnknownButton}
	case o.prompt != nil && (snap.Prompt.Closed || !snap.Prompt.Import.Begun.IsZero() && !o.byTimer()):
		return Refusal{Code: PromptOver}
	case o.file.Size > maxImportFile:
		return Refusal{Code: FileTooLarge, Matches: MaxImportMegabytes}
	case snap.Ladder.Archived:
		return Refusal{Code: LadderArchived, Name: snap.Ladder.Name}
	}
	return nil
}

func (o importOperation) decide(snap *Snapshot) (Decision, need, error) {
	switch {
	case snap.Group == 0:
		return Decision{ignored: true}, nil, nil
	case o.byTimer() && !snap.Due:
		return Decision{dropped: true}, nil, nil
	case o.prompt != nil && *snap.Prompt.Import != *o.prompt.Import:
		return Decision{}, nil, ErrConflict // another admin has answered
	case o.option == Cancel{}:
		return o.closing(Decision{Page: ImportDropped{}}, PromptCanceled), nil, nil
	case snap.Ladder.Season.endsBefore(o.origin.SentAt):
		return Decision{}, seasonEnd{snap.Ladder, o.origin.SentAt}, nil
	}
	for _, f := range o.request.files() {
		if o.files[f.ID] == nil {
			return Decision{}, sentFile{f}, nil
		}
	}
	switch {
	case o.refusal != nil:
		return Decision{Notice: o.refusal}, nil, nil
	case o.export != nil && !o.isOpen:
		return o.restoreGroup(snap)
	case o.read == nil && o.export == nil:
		return o.readFile(snap)
	case o.option == ImportPeople && len(o.report.Unknown)+len(o.report.Faults) > 0:
		d, lacks, err := o.origin.privately(snap, PeopleOfImport{Title: snap.Chat.Title, All: o.names})
		d.Unadded = true
		return d, lacks, err
	case o.isOpen:
		return o.ask(snap), nil, nil
	case snap.Planned == nil && o.read.Ask != transfer.AskDates && o.read.Ask != transfer.AskZone:
		return Decision{}, importPlan{o.importing}, nil
	}
	if snap.Planned != nil {
		o.report = snap.Planned.report
	}
	isLong := o.report.Later > o.longest
	if o.isOpen = o.read.Ask != "" || o.read.IsOpen(o.report) || isLong && !o.request.Long; o.isOpen {
		return Decision{}, importStep{"what an import leaves open", o.importing}, nil
	}
	if isLong && !o.byTimer() {
		o.request.Begun = o.origin.SentAt.UTC()
		return Decision{
			Asks: &NewPrompt{ID: o.prompt.ID, Kind: PromptImport, Import: &o.request},
			Page: Recalculating{Later: o.report.Later}, Fires: longImport{o.prompt.ID}.timer(),
		}, nil, nil
	}
	return o.done(snap), nil, nil
}

// readFile reads the file and finds out who its people are.
func (o importOperation) readFile(snap *Snapshot) (Decision, need, error) {
	refused := func(f SentFile, err error) (Decision, need, error) {
		n := ImportRefused{File: f.Name, OfPeople: f == o.request.People}
		_ = errors.As(err, &n.Fault) // the content is in memory, so there is no other error
		if n.Fault.Reason == transfer.TooManyRows {
			return Decision{Notice: Refusal{Code: FileTooLong, Matches: MaxImportRows}}, nil, nil
		}
		return Decision{Notice: n}, nil, nil
	}
	content := o.files[o.request.File.ID]
	var fault transfer.Fault
	switch export, err := (restorePlan{content: content}).open(); {
	case transfer.IsChats(content):
	case err == nil:
		o.export = &export.Header
		return Decision{}, importStep{"the export in a file", o.importing}, nil
	case errors.As(err, &fault) && fault.Reason != transfer.NoExport:
		return refused(o.request.File, err)
	}
	var people map[string]string
	if o.request.People != (SentFile{}) {
		var err error
		if people, err = transfer.ReadPeople(bytes.NewReader(o.files[o.request.People.ID])); err != nil {
			return refused(o.request.People, err)
		}
	}
	read, err := o.readResults(snap, content, people)
	if err != nil {
		return refused(o.request.File, err)
	}
	f := ImportFile{
		File: read, People: people, Hash: fmt.Sprintf("%x", sha256.Sum256(content)), At: o.origin.SentAt,
		Guests: o.request.Guests, SkipRefused: o.request.SkipRefused, ClosedSeasons: o.request.ClosedSeasons,
	}
	if len(read.Rows)+len(read.Starts)+len(read.LeftOut)+rowsOf(read.Refused) > MaxImportRows {
		return Decision{Notice: Refusal{Code: FileTooLong, Matches: MaxImportRows}}, nil, nil
	}
	o.read, o.report.Refused, o.report.AreStarts = &f, slices.Clip(read.Refused), len(read.Starts) > 0
	importer := Importer{snap: snap}
	if len(namesOf(read, make(map[string]int))) > MaxImportPeople {
		return Decision{Notice: Refusal{Code: TooManyNames, Matches: MaxImportPeople}}, nil, nil
	}
	o.named = importer.identify(f, &o.report)
	if o.names = o.named.all; len(o.report.Unknown) > 0 {
		f.Guests = true
		o.named = importer.identify(f, new(ImportReport))
	}
	return Decision{}, importStep{"who the people of a file are", o.importing}, nil
}

// restoreGroup restores the group if that was chosen. Otherwise, or if it is impossible, it ends
// the transaction without a restore.
func (o importOperation) restoreGroup(snap *Snapshot) (Decision, need, error) {
	if snap.Restoring == nil {
		return Decision{}, restorePlan{o.request.File, o.files[o.request.File.ID]}, nil
	}
	r := *snap.Restoring
	if r.refusal != nil || o.option != ImportRestore {
		o.restore, o.refusal, o.isOpen = r, r.refusal, true
		return Decision{}, importStep{"what a restore does", o.importing}, nil
	}
	n := Imported{Restored: true, Number: r.group.Number, Matches: r.group.Matches, Players: r.group.Players}
	n.Tag = importTag(n.Number, r.first)
	return o.closing(Decision{Effect: r.group, Page: n, Ladder: new(LadderLabel)}, PromptAnswered), nil, nil
}

// rowsOf returns how many rows have faults.
func rowsOf(faults []transfer.Fault) int {
	lines := make(map[int]bool)
	for _, f := range faults {
		lines[f.Line] = true
	}
	return len(lines)
}

// closing adds to a decision that it closes the prompt, if there is one. After a reply, the message
// of the prompt says that the answer is elsewhere.
func (o importOperation) closing(d Decision, as PromptEnd) Decision {
	if o.prompt == nil {
		return d
	}
	d.Closes = &ClosedPrompt{ID: o.prompt.ID, As: as}
	if o.option == nil && o.prompt.Message != 0 {
		d.Page, d.PageMessageID = ImportDropped{Answered: true}, o.prompt.Message
	}
	return d
}

// ask asks what is open: in the message with the pressed button, or in a new message.
func (o importOperation) ask(snap *Snapshot) Decision {
	o.request.Ladder, o.request.Begun = snap.Ladder.ID, time.Time{}
	asks, n := &NewPrompt{Kind: PromptImport, Import: &o.request}, o.question(snap)
	if o.option == nil {
		return o.closing(Decision{Asks: asks, Notice: n}, PromptAnswered)
	}
	asks.ID, n.Prompt = o.prompt.ID, o.prompt.ID
	return Decision{Asks: asks, Page: n}
}

func (o importOperation) question(snap *Snapshot) ImportPrompt {
	if o.export != nil {
		return ImportPrompt{
			Tag: o.request.tag(), File: o.request.File.Name, Results: o.restore.group.Matches, Zone: snap.Display.TimeZone,
			Export:  &FoundExport{o.export.Chat.Title, o.export.At, o.restore.group.Players},
			Choices: []ImportChoice{ImportRestore},
		}
	}
	f, r := o.read, o.report
	n := ImportPrompt{
		Tag: o.request.tag(), File: o.request.File.Name, Results: len(f.Rows), Starts: len(f.Starts),
		Zone: snap.Display.TimeZone, First: f.First, Last: f.Last, Dates: f.Dates, Ask: f.Ask,
		Known: len(r.Known), LeftOut: len(f.LeftOut), Messages: f.Accounts != nil,
		Refused: len(r.Refused), Faults: r.Refused[:min(len(r.Refused), shownOfImport)],
		People: r.Faults[:min(len(r.Faults), shownOfImport)], MorePeople: max(0, len(r.Faults)-shownOfImport),
		Unused: f.Unused[:min(len(f.Unused), shownOfImport)],
	}
	for _, p := range r.Unknown {
		if !p.Open {
			continue
		}
		if n.Unknown++; len(n.Names) < shownOfImport {
			n.Names = append(n.Names, UnknownName{Name: p.Name, Similar: command.Excerpt(p.Similar)})
		}
	}
	if r.Later > o.longest && !o.request.Long {
		n.Later = r.Later
	}
	for _, s := range r.Closed {
		n.Closed = append(n.Closed, s.Number)
	}
	add := func(isOpen bool, choices ...ImportChoice) {
		if isOpen {
			n.Choices = append(n.Choices, choices...)
		}
	}
	add(n.Unknown > 0, ImportGuests)
	add(n.Unknown > 0 || len(n.People) > 0, ImportPeople)
	add(f.Ask == transfer.AskDates, ImportDayFirst, ImportMonthFirst)
	add(f.Ask == transfer.AskOrder, ImportByRow)
	add(f.Ask == transfer.AskZone, ImportZone)
	add(n.Refused > 0 && n.Results+n.Starts > 0 && !f.SkipRefused, ImportSkip)
	add(len(n.Closed) > 0 && !f.ClosedSeasons, ImportClosed)
	add(n.Later > 0, ImportLong)
	return n
}

// done imports the file.
func (o importOperation) done(snap *Snapshot) Decision {
	r, made := o.report, snap.Planned.new
	n := Imported{
		Matches: r.New, Starts: r.Starts, Players: r.Players, Known: len(r.Known),
		Equal: RowRanges(r.Equal, shownOfImport), Same: RowRanges(r.Same, shownOfImport), Later: r.Later,
		LeftOut: len(o.read.LeftOut) + rowsOf(r.Refused) + len(r.Away),
	}
	d := Decision{Unadded: made == nil}
	if made != nil {
		d.Effect = made
		n.Number, n.Tag = made.Number, importTag(made.Number, "")
		if len(made.Matches) > 0 {
			n.Tag = importTag(made.Number, made.Matches[0].Key)
			n.First, n.Last = made.Matches[0].PlayedAt, made.Matches[len(made.Matches)-1].PlayedAt
		}
	}
	if o.option == nil {
		d.Notice = n
	} else {
		d.Page = n
	}
	return o.closing(d, PromptAnswered)
}

// importTag returns the tag of an import. first is the key of its first match, empty if it has
// none.
func importTag(number int, first string) MatchTag { return TagOf(ImportKey, fmt.Sprint(number), first) }

// RowRanges returns up to limit ranges of rows as text, as in 2–5, 7. The rows are sorted.
func RowRanges(rows []int, limit int) string {
	rows = slices.Compact(slices.Clone(rows)) // a row of a tournament has several matches
	var ranges []string
	for i := 0; i < len(rows) && len(ranges) < limit; i++ {
		text, first := strconv.Itoa(rows[i]), i
		for i+1 < len(rows) && rows[i+1] == rows[i]+1 {
			i++
		}
		if i > first {
			text += "–" + strconv.Itoa(rows[i])
		}
		ranges = append(ranges, text)
	}
	return strings.Join(ranges, ", ")
}

// TakeBackImport is the press of a button below an Imported or below the question that follows.
// Only admins may take an import back.
type TakeBackImport struct {
	Import int
	Tag    MatchTag
	Step   UndoStep
}

// UndoStep is a step of taking an import back.
type UndoStep string

// The steps.
const (
	UndoAsk  UndoStep = "ask"
	UndoKeep UndoStep = "keep" // keep the import
	UndoSure UndoStep = "sure"
)

func (t TakeBackImport) plan(s *Service, c *call) *call {
	op := takeBack{adminsOnly{people: senderOf(c.Origin)}, t, c.Origin, s.longestImport()}
	return c.perhapsLong(job{
		name: "take back import", bucket: RatePress, ofAdmins: true, ofGroup: true, locks: true, operation: op,
	})
}

type takeBack struct {
	adminsOnly
	TakeBackImport
	origin  Origin
	longest int // the maximum number of later matches to replay at once
}

func (t takeBack) byTimer() bool { return t.origin.Trigger == ByTimer }

func (t takeBack) needs() Needs {
	needs := t.adminsOnly.needs()
	needs.Timer = t.byTimer()
	return needs
}

func (t takeBack) decide(snap *Snapshot) (Decision, need, error) {
	switch {
	case t.byTimer() && !snap.Due:
		return Decision{dropped: true}, nil, nil
	case snap.UndoneImport == nil:
		return Decision{}, undoPlan{t.Import}, nil
	}
	u := snap.UndoneImport
	n, first := Imported{Number: t.Import, Tag: t.Tag, Matches: len(u.Matches), Starts: len(u.Starts)}, ""
	if len(u.Matches) > 0 {
		byTime := func(a, b FoundMatch) int { return a.PlayedAt.Compare(b.PlayedAt) }
		first = u.Matches[0].Key
		n.First, n.Last = slices.MinFunc(u.Matches, byTime).PlayedAt, slices.MaxFunc(u.Matches, byTime).PlayedAt
	}
	switch {
	case n.Matches+n.Starts == 0:
		return t.origin.answer(ImportTakenBack{n}), nil, nil
	case importTag(t.Import, first) != t.Tag:
		return Decision{Notice: Refusal{Code: UnknownButton}}, nil, nil
	}
	var d Decision
	if n.Later = u.Later; t.Step == UndoKeep {
		n.Kept, n.Later = true, 0
	}
	switch {
	case n.Kept:
		d.Page = n
	case t.Step == UndoAsk:
		d.Page = TakeBackPrompt{n}
	case u.Later > t.longest && !t.byTimer():
		d.Page = Recalculating{Later: u.Later}
		d.Fires = longUndo{t.Import, t.origin.Chat.ID, t.origin.Pressed, t.Tag}.timer()
	default:
		d = t.origin.answer(ImportTakenBack{n})
		d.Effect = u
	}
	d.Ladder = new(LadderLabel)
	return d, nil, nil
}

// TakeBackPrompt asks whether to take an import back. Later is the number of other matches that
// would be calculated again.
type TakeBackPrompt struct{ Imported }

var _ = notice.Register[TakeBackPrompt](notice.Kind{Name: "take_back_prompt", Purpose: notice.Answer, Alone: true})

// ImportTakenBack says that an import was taken back. Matches and Starts are 0 if that was earlier.
type ImportTakenBack struct{ Imported }

var _ = notice.Register[ImportTakenBack](notice.Kind{Name: "import_taken_back", Purpose: notice.Outcome})
