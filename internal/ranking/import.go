package ranking

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sethvargo/go-retry"

	"elobot/internal/ladder"
	"elobot/internal/transfer"
)

// ImportKey begins the idempotency key of each imported match.
const ImportKey = "i:"

// The errors of an Importer that callers handle, besides ErrNoSuchGroup.
var (
	ErrNoSuchLadder = errors.New("no such ladder")
	ErrSeasonOver   = errors.New("the current season is over, and the next has not begun")
	ErrNoSuchImport = errors.New("no such import")
)

// importer has the methods of a Locked that only imports use.
type importer interface {
	// BeforeImport returns what an import into the ladder depends on.
	BeforeImport(ctx context.Context, in ladder.ID) (BeforeImport, error)
	// KnownKeys returns those of the idempotency keys that recorded matches have.
	KnownKeys(ctx context.Context, keys []string) ([]string, error)
	// MakeRoom moves matches of the ladder to other positions, and returns ids for count new ones.
	MakeRoom(ctx context.Context, in ladder.ID, moved []ladder.MovedPosition, count int) ([]ladder.MatchID, error)
	// Divide ends the ladder's current season at the first of the given times, the next season at
	// the second, and so on. The last season that begins has the end of the current one. Nobody is
	// told.
	Divide(ctx context.Context, chat ChatID, in Ladder, ends []time.Time) error
	// Reserve gives an import its number and the numbers of its matches, and commits. Until the
	// import is written, it counts as taken back.
	Reserve(ctx context.Context, n *NewImport) error
	// PlayedBetween returns the matches of the ladder that were played in the given time, both ends
	// included, also those that are undone.
	PlayedBetween(ctx context.Context, in ladder.ID, first, last time.Time) ([]PlayedMatch, error)
	// FindImport returns what of a group's import still exists: its matches, ordered by number, or
	// its start ratings. It fails with ErrNoSuchImport if there is none, or it is taken back.
	FindImport(ctx context.Context, group GroupID, number int) ([]FoundMatch, []FoundStart, error)
}

// BeforeImport is what an import depends on.
type BeforeImport struct {
	Import  int      // its number
	Last    int      // the number of the group's last match
	Secret  [16]byte // of the group, for keys; a new one if the group has none
	Seasons []Season
	Ordered []ladder.Placed // all matches of the ladder
}

// ImportChanges are the changes that an import and its undo have in common. Only a Locked can apply
// them. They correct the messages that tell how seasons ended, but send no others.
type ImportChanges struct {
	Group    GroupID
	Number   int // of the import
	Rewrites []ladder.Rewrite
	// Corrected are the finished seasons whose final tables may change.
	Corrected []ladder.SeasonID
	Later     int // number of other matches that were calculated again
}

// Import returns c, which is the common part of an import and its undo.
func (c *ImportChanges) Import() *ImportChanges { return c }

// NewImport is an import to be written. The history entries of its matches are in the Rewrites.
type NewImport struct {
	ImportChanges
	Ladder  ladder.ID
	Secret  [16]byte
	People  []PlayerChange // the new players
	Matches []ImportedMatch
	Starts  []StartRating // whose standings are those of the only rewrite
	Divided bool          // the import has divided its ladder into seasons
}

// ImportedMatch is a match to be written. Matches have consecutive numbers.
type ImportedMatch struct {
	ladder.Match
	Key    string
	Season ladder.SeasonID
	line   int
	// live is the key under which the bot has recorded the match if it has read the message, empty
	// if the file does not say.
	live  string
	isDay bool // the file gives no time, and PlayedAt is the end of the day
	// isBasic is set if the message with the match may have other ids in other files.
	isBasic bool
	// isVague is set if another match of the same day can have the same row.
	isVague bool
	again   string // the key if a match with Key is recorded, empty if this is then the same match
}

// UndoneImport is an import to be taken back. Its matches are deleted, and so are standings that
// imports have made of people without matches and who have never sent a command.
type UndoneImport struct {
	ImportChanges
	Matches []FoundMatch
	Starts  []FoundStart
}

// FoundMatch is a match of an import.
type FoundMatch struct {
	ID       ladder.MatchID
	Season   ladder.SeasonID
	Position ladder.Position
	Key      string
	PlayedAt time.Time
}

func (*NewImport) outcome() CommandOutcome    { return OutcomeRecorded }
func (*UndoneImport) outcome() CommandOutcome { return OutcomeUndone }

// Importer imports files of results into a ladder.
type Importer struct {
	store Store
	query Query
	snap  *Snapshot // with the players of the group
	named bool      // the ladder was named

	Zone *time.Location // of the group
}

// NewImporter returns an importer into the ladder with the given name of the chat's group, or into
// its default ladder if the name is empty. It fails with ErrNoSuchGroup or ErrNoSuchLadder.
func NewImporter(ctx context.Context, store Store, chat ExternalChatID, name string) (*Importer, error) {
	needs := Needs{Everybody: true, Topics: true}
	i := &Importer{store: store, query: Query{Chat: Chat{ID: chat}, KnownChat: true, Needs: needs}}
	snap, err := store.Read(ctx, i.query)
	switch {
	case err != nil:
		return nil, err
	case snap.Group == 0:
		return nil, ErrNoSuchGroup
	}
	l := ladderThat(snap.Ladders, func(l GroupLadder) bool { return l.Default })
	if name != "" {
		l = findLadder(snap.Ladders, name)
	}
	if l == nil || l.Archived {
		return nil, ErrNoSuchLadder
	}
	i.query.Ladder, i.Zone, i.snap, i.named = l.ID, snap.Display.Zone(), snap, name != ""
	return i, nil
}

// ImportFile is a file to be imported.
type ImportFile struct {
	transfer.File
	Hash string // identifies the content of the file
	// People says who names are, as transfer.ReadPeople returns it. It is nil if nobody has
	// decided.
	People map[string]string
	Guests bool // names that are not settled otherwise are guests
	// Again has the lines of matches to record although they seem to be recorded already.
	Again []int
	At    time.Time // when matches without a date count as played

	// SeasonMonths divides a ladder without matches into seasons of so many months, unless it is 0.
	// A month without a match belongs to the same season as the month after it.
	SeasonMonths int

	SkipRefused   bool // record the other matches
	ClosedSeasons bool // the final tables of finished seasons may change
	DryRun        bool // write nothing
}

// ImportReport says what an import did, or why it wrote nothing.
type ImportReport struct {
	Number  int              // of the import, 0 if nothing was written
	Refused []transfer.Fault // rows that cannot be recorded
	// Unknown is set if it is not settled who all names are. It has all names of the file.
	Unknown []transfer.Person
	Faults  []PersonFault // names whose players cannot take part as the file of people says
	// Away are the lines of matches with somebody who is to be left out.
	Away []int
	// Known are the lines of matches that are recorded already. Equal are those of them that may be
	// other matches of the same day, because the file gives neither an id nor a time.
	// Lines of start ratings that players have already are Known, too.
	Known, Equal []int
	// NotAgain are the lines in ImportFile.Again that are not in Equal. If there are any, nothing
	// is written.
	NotAgain []int
	// Same are the lines of new matches that have the time, the people and the result of recorded
	// ones. If the file gives no time, the day counts.
	Same []int
	New  int // number of new matches
	// Seasons is the number of seasons into which the ladder is divided, without the present one.
	Seasons int
	// AreStarts is set if the file has start ratings, not matches. Starts is then how many change.
	AreStarts bool
	Starts    int
	Players   int // number of new players
	Closed    []Season
	Later     int // number of matches that were calculated again
}

// PersonFault says why a player cannot take part. Code is empty if Who is unreadable.
type PersonFault struct {
	Name, Who string
	Code      RefusalCode
	Free      string // a name that a guest can have
}

// Import records the matches of a file that are not recorded yet, or sets the start ratings of a
// file, or returns why it did neither. Nothing is written unless the report has the Number of the
// import.
func (i *Importer) Import(ctx context.Context, f ImportFile) (r ImportReport, err error) {
	r.Refused, r.AreStarts = slices.Clip(f.Refused), len(f.Starts) > 0
	named := i.identify(f, &r)
	if len(r.Unknown) > 0 || len(r.Faults) > 0 {
		return r, nil
	}
	q := i.query
	q.People, q.New = named.people, len(named.people)
	locked, snap, err := lockPatiently(ctx, i.store, q)
	if err != nil {
		return r, err
	}
	defer locked.Release(ctx)
	named.refuse(snap, &r)
	p := planned{file: f, report: &r, store: locked, snap: snap, named: named}
	n, err := p.newImport(ctx)
	if err != nil || n == nil || f.DryRun || f.IsOpen(r) {
		return r, err
	}
	changes := snap.imported(n)
	changes.Seen = Seen{Group: snap.Group, Ladder: snap.Ladder, People: n.People}
	if len(n.Matches) == 0 || r.Seasons > 0 { // a season ends under the lock, so all is written under it
		err = locked.Apply(ctx, changes)
	} else {
		err = p.stage(ctx, i.store, q, changes)
	}
	if err != nil {
		return r, err
	}
	r.Number = n.Number
	return r, nil
}

// stage writes changes whose effect is the planned import of matches, mostly without the group's
// lock, so that others can report while many rows are written. It calculates the import again if
// other results have been recorded since. It fails with ErrConflict if the group has changed in
// other ways that matter. p holds the lock.
func (p *planned) stage(ctx context.Context, store Store, q Query, c Changes) error {
	n := c.Effect.(*NewImport)
	if err := p.store.Reserve(ctx, n); err != nil {
		return err
	}
	p.store.Release(ctx)
	staged, err := store.Stage(ctx, n, c.Seen)
	if err != nil {
		return err
	}
	defer staged.Release(ctx)
	snap, err := staged.LockGroup(ctx, q)
	if err != nil {
		return err
	}
	isSame := snap.Group == p.snap.Group && snap.Ladder.Season.ID == p.snap.Ladder.Season.ID &&
		slices.EqualFunc(snap.People, p.snap.People, func(now, before Known) bool {
			if now.Player == nil || before.Player == nil || now.New && before.New {
				return (now.Player == nil) == (before.Player == nil) // somebody new in no new match is not stored
			}
			return now.Player.ID == before.Player.ID
		})
	if !isSame {
		return fmt.Errorf("%w: who plays or what season it is has changed during an import", ErrConflict)
	}
	p.store, p.snap, n.Matches = staged, snap, nil
	for i := range p.parts {
		part := &p.parts[i]
		part.matches = nil
		players := part.players
		for _, s := range part.standings {
			players = append(players, s.Player)
		}
		now, err := staged.MatchHistory(ctx, part.season, ladder.LastPosition, players...)
		if err != nil {
			return err
		}
		isSame := slices.EqualFunc(now.Standings, part.standings, func(a, b ladder.RankedPlayer) bool {
			return a.ID == b.ID && a.Version == b.Version
		})
		if isSame { // every match and every amendment changes the versions of its players' standings
			continue
		}
		if n.Rewrites[i], _, err = p.replay(ctx, part); err != nil {
			return err
		}
	}
	return staged.Apply(ctx, c)
}

// IsOpen reports whether the file must not be imported as long as nothing more is settled.
func (f ImportFile) IsOpen(r ImportReport) bool {
	return len(r.Unknown) > 0 || len(r.Faults) > 0 || len(r.NotAgain) > 0 ||
		len(r.Refused) > 0 && !f.SkipRefused || len(r.Closed) > 0 && !f.ClosedSeasons
}

// imported returns what to write for an import or its undo, if no command of the chat asks for it.
func (s *Snapshot) imported(effect interface {
	Effect
	Import() *ImportChanges
}) Changes {
	i := effect.Import()
	c := Changes{
		Decision: Decision{Effect: effect, Presence: NoChange}, Corrected: i.Corrected, Chat: s.ChatID,
		Key: fmt.Sprintf("import:%d:%d", i.Group, i.Number), Keyless: true,
	}
	if s.Web {
		c.ShownOnWeb = s.Group
	}
	return c
}

// lockPatiently is like Store.Lock, but tries again for a while if the group is busy.
func lockPatiently(ctx context.Context, store Store, q Query) (l Locked, snap *Snapshot, err error) {
	err = patiently(ctx, func(ctx context.Context) error {
		l, snap, err = store.Lock(ctx, q)
		return err
	})
	return l, snap, err
}

// patiently calls try, and calls it again for a while if it fails because the group is busy.
func patiently(ctx context.Context, try func(context.Context) error) error {
	return retry.Do(ctx, retry.WithMaxRetries(10, retry.NewConstant(lockRetryDelay)), func(ctx context.Context) error {
		err := try(ctx)
		if errors.Is(err, ErrLocked) || errors.Is(err, ErrConflict) {
			return retry.RetryableError(err)
		}
		return err
	})
}

// planned is an import that is being calculated, in a transaction that holds the group's lock.
type planned struct {
	file   ImportFile
	report *ImportReport
	store  Locked
	before BeforeImport
	snap   *Snapshot
	named  namedPeople
	parts  []importedPart
	// starts are the ratings with which the players of earlier seasons begin the next part, if the
	// import divides the ladder.
	starts map[ladder.PlayerID]int
}

// importedPart is the part of an import that is in one season.
type importedPart struct {
	season  ladder.SeasonID
	numbers [2]int          // of its first and its last match
	from    ladder.Position // of its first match
	players []ladder.PlayerID
	matches []ImportedMatch // nil once they are staged
	// standings are those on which the calculation of this part depends.
	standings []ladder.RankedPlayer
}

// newImport returns the import, nil if there are no new matches. It may move other matches to make
// room.
func (p *planned) newImport(ctx context.Context) (_ *NewImport, err error) {
	if p.before, err = p.store.BeforeImport(ctx, p.snap.Ladder.ID); err != nil {
		return nil, err
	}
	if p.report.AreStarts {
		return p.newStarts()
	}
	matches, err := p.newMatches(ctx)
	if err != nil || len(matches) == 0 {
		return nil, err
	}
	n := &NewImport{
		ImportChanges: ImportChanges{Group: p.snap.Group, Number: p.before.Import},
		Ladder:        p.snap.Ladder.ID, Secret: p.before.Secret, Matches: matches,
		Divided: p.report.Seasons > 0,
	}
	n.People = p.newPlayers(n)
	p.report.New, p.report.Players = len(matches), len(n.People)
	for _, s := range p.before.Seasons {
		// Matches are in the order of their times, and so of their seasons.
		first := slices.IndexFunc(matches, func(m ImportedMatch) bool { return m.Season == s.ID })
		if first < 0 && p.starts == nil {
			continue
		}
		first = max(first, 0)
		last := first
		for last < len(matches) && matches[last].Season == s.ID {
			last++
		}
		if s.ID != p.snap.Ladder.Season.ID && p.starts == nil {
			p.report.Closed = append(p.report.Closed, s)
			n.Corrected = append(n.Corrected, s.ID)
		}
		part := partOf(s.ID, matches[first:last])
		w, later, err := p.replay(ctx, &part)
		if err != nil {
			return nil, err
		}
		p.parts, n.Rewrites, p.report.Later = append(p.parts, part), append(n.Rewrites, w), p.report.Later+later
	}
	n.Later = p.report.Later
	return n, nil
}

// newMatches returns the matches that are not recorded yet, with their ids and places.
func (p *planned) newMatches(ctx context.Context) ([]ImportedMatch, error) {
	all := make([]ImportedMatch, 0, len(p.file.Rows))
	keys := make([]string, 0, len(p.file.Rows))
	for i := range p.file.Rows {
		if m, ok := p.match(&p.file.Rows[i]); ok {
			all, keys = append(all, m), append(keys, m.Key)
			if m.again != "" {
				keys = append(keys, m.again)
			}
			if m.live != "" {
				keys = append(keys, m.live)
			}
		}
	}
	slices.SortStableFunc(p.report.Refused, byLine)
	recorded, err := p.store.KnownKeys(ctx, keys)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(recorded))
	for _, key := range recorded {
		known[key] = true
	}
	p.report.NotAgain = slices.Sorted(slices.Values(p.file.Again))
	for i, m := range all {
		if m.again != "" && known[m.Key] {
			all[i].Key = m.again
			p.report.NotAgain = slices.DeleteFunc(p.report.NotAgain, func(line int) bool { return line == m.line })
		}
	}
	all = slices.DeleteFunc(all, func(m ImportedMatch) bool {
		isKnown := known[m.Key] || known[m.live]
		if isKnown {
			p.report.Known = append(p.report.Known, m.line)
			if m.isVague {
				p.report.Equal = append(p.report.Equal, m.line)
			}
		}
		return isKnown
	})
	slices.Sort(p.report.Equal)
	p.file.Rows = nil // a long file needs much memory
	slices.SortStableFunc(all, func(a, b ImportedMatch) int { return a.PlayedAt.Compare(b.PlayedAt) })
	if len(all) > 0 && p.snap.Ladder.Season.endsBefore(all[len(all)-1].PlayedAt) {
		return nil, ErrSeasonOver
	}
	if err := p.findSame(ctx, all, known); err != nil {
		return nil, err
	}
	// Two members see other ids of messages in a basic group, but the same times.
	all = slices.DeleteFunc(all, func(m ImportedMatch) bool {
		at, isSame := slices.BinarySearch(p.report.Same, m.line)
		if isSame = isSame && m.isBasic; isSame {
			p.report.Same, p.report.Known = slices.Delete(p.report.Same, at, at+1), append(p.report.Known, m.line)
		}
		return isSame
	})
	slices.Sort(p.report.Known)
	times := make([]time.Time, len(all))
	for i, m := range all {
		times[i] = m.PlayedAt
	}
	if err := p.divide(ctx, times); err != nil {
		return nil, err
	}
	places, moved := ladder.Place(p.before.Ordered, times)
	ids, err := p.store.MakeRoom(ctx, p.snap.Ladder.ID, moved, len(all))
	if err != nil {
		return nil, err
	}
	for i := range all {
		m := &all[i]
		m.ID, m.Number = ids[i], p.before.Last+1+i
		m.Position = cmp.Or(places[i], ladder.PositionOf(m.Number))
		m.Season = seasonOf(p.before.Seasons, m.PlayedAt)
	}
	return all, nil
}

func byLine(a, b transfer.Fault) int { return cmp.Compare(a.Line, b.Line) }

// seasonOf returns the season of a match that was played at the given time. seasons are in order.
func seasonOf(seasons []Season, at time.Time) ladder.SeasonID {
	i := len(seasons) - 1
	for i > 0 && at.Before(seasons[i].Starts) {
		i--
	}
	return seasons[i].ID
}

// match returns the match in a row, without what depends on other rows. ok is false if the match
// cannot be recorded, or somebody in it is left out.
func (p *planned) match(r *transfer.Row) (m ImportedMatch, ok bool) {
	m = ImportedMatch{line: r.Line, isDay: r.IsDay, Match: ladder.Match{
		RatingRules: p.snap.Ladder.RatingRules, Result: r.Result, PlayedAt: p.playedAt(r),
		Parts: make([]ladder.Part, 0, len(r.Sides[0])+len(r.Sides[1])),
	}}
	if m.Key = p.key("row", r.Text, r.Count); r.ID != "" {
		m.Key = p.key("id", r.ID)
	}
	if m.isBasic = strings.HasPrefix(r.ID, transfer.BasicGroup); p.file.Chat.BotAPI() == int64(p.snap.Chat.ID) {
		m.live = r.ID
	}
	m.isVague = r.ID == "" && r.Count > 0 && (r.IsDay || r.When.IsZero())
	if m.isVague && slices.Contains(p.file.Again, r.Line) {
		m.again = p.key("again", p.file.Hash, r.Line)
	}
	for side, names := range r.Sides {
		for _, name := range names {
			person := p.named.index[name]
			if person < 0 {
				p.report.Away = append(p.report.Away, r.Line)
				return m, false
			}
			k := p.snap.People[person]
			if k.Player == nil {
				return m, false // refused
			}
			if slices.ContainsFunc(m.Parts, func(o ladder.Part) bool { return o.Player == k.Player.ID }) {
				p.report.Refused = append(p.report.Refused, transfer.Fault{
					Line: r.Line, Message: p.file.Accounts != nil, Reason: transfer.SamePerson, Value: name,
				})
				return m, false
			}
			m.Parts = append(m.Parts, ladder.Part{Player: k.Player.ID, Named: k.namedID(), Side: side + 1})
		}
	}
	return m, true
}

// playedAt returns when a match counts as played. A day without a time stands behind all matches of
// the day.
func (p *planned) playedAt(r *transfer.Row) time.Time {
	at := r.When
	if r.IsDay {
		at = OtherDay{Ends: LaterDay(at.Add(12*time.Hour), 1)}.last()
	}
	if at.IsZero() || at.After(p.file.At) {
		at = p.file.At
	}
	return at.Truncate(time.Microsecond)
}

// key returns an idempotency key for what identifies a match. It reveals nothing of that to
// somebody without the group's secret.
func (p *planned) key(identity ...any) string {
	h := hmac.New(sha256.New, p.before.Secret[:])
	_, _ = fmt.Fprintf(h, "%q", identity) // a hash takes everything
	return ImportKey + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:18])
}

// newPlayers returns the changes that add those people of the import who are not stored yet.
func (p *planned) newPlayers(n *NewImport) (added []PlayerChange) {
	takesPart := make(map[ladder.PlayerID]bool)
	for _, m := range n.Matches {
		for _, part := range m.Parts {
			takesPart[part.Owner()] = true
		}
	}
	for _, s := range n.Starts {
		takesPart[s.Player] = true
	}
	o := Origin{Retried: true} // nobody is seen
	for i, k := range p.snap.People {
		if change, ok := k.profileChange(o, p.named.people[i]); ok && change.New && takesPart[change.Player.ID] {
			added = append(added, change)
		}
	}
	return added
}

// partOf returns the part of an import that consists of the given matches.
func partOf(season ladder.SeasonID, matches []ImportedMatch) importedPart {
	p := importedPart{season: season, from: ladder.LastPosition, matches: matches}
	if len(matches) > 0 {
		p.from, p.numbers = matches[0].Position, [2]int{matches[0].Number, matches[len(matches)-1].Number}
	}
	seen := make(map[ladder.PlayerID]bool)
	for _, m := range matches {
		for _, part := range m.Parts {
			if !seen[part.Player] {
				seen[part.Player] = true
				p.players = append(p.players, part.Player)
			}
		}
	}
	return p
}

// replay plays the matches of a part at their places, and the later ones after them. It sets the
// upsets of the matches that are not staged. It also returns how many later matches there are.
func (p *planned) replay(ctx context.Context, part *importedPart) (w ladder.Rewrite, later int, err error) {
	if p.starts != nil { // the players of the season before begin this one, too
		before := p.parts[len(p.parts)-1].players
		isBefore := func(player ladder.PlayerID) bool { return slices.Contains(before, player) }
		part.players = slices.Concat(before, slices.DeleteFunc(part.players, isBefore))
	}
	h, err := p.store.MatchHistory(ctx, part.season, part.from, part.players...)
	if err != nil {
		return w, 0, err
	}
	part.standings = h.Standings
	// The standings do not have the staged matches yet.
	recorded := h
	recorded.Matches = nil
	for _, m := range h.Matches {
		if m.Number > p.before.Last+p.report.New && m.Position != ladder.PositionOf(m.Number) {
			return w, 0, fmt.Errorf("%w: a match of another day was recorded during an import", ErrConflict)
		}
		if m.Number < part.numbers[0] || m.Number > part.numbers[1] {
			recorded.Matches = append(recorded.Matches, m)
		}
	}
	table, err := recorded.Initial()
	if err != nil {
		return w, 0, err
	}
	for _, player := range part.players {
		if table[player] != nil {
			continue
		}
		is := func(k Known) bool { return k.Player != nil && k.Player.ID == player }
		k := p.snap.People[slices.IndexFunc(p.snap.People, is)]
		k.Standing = nil // it may be in another season
		s := k.StandingIn(p.snap.Ladder)
		table[k.Player.ID] = &s
		was := s
		if p.starts != nil {
			was = ladder.Standing{Player: s.Player} // it is written without a match, too
		}
		h.Standings = append(h.Standings, ladder.RankedPlayer{Standing: was})
	}
	for player, start := range p.starts {
		s := table[player]
		s.Elo, s.StartElo, s.BestElo = start, start, start
	}
	added := make(map[ladder.MatchID]*ImportedMatch, len(part.matches))
	h.Matches = slices.Grow(h.Matches, len(part.matches))
	for i, m := range part.matches {
		h.Matches = append(h.Matches, m.Match)
		added[m.ID] = &part.matches[i]
	}
	slices.SortFunc(h.Matches, byPosition)
	w, err = h.ReplayFrom(table, ladder.ByMatch, func(*ladder.Match) {})
	w.Upsets = slices.DeleteFunc(w.Upsets, func(u ladder.ChangedUpset) bool {
		m := added[u.Match]
		if m != nil {
			m.Upset = u.Upset
		}
		return m != nil
	})
	if l := p.snap.Ladder; p.report.Seasons > 0 {
		p.starts = make(map[ladder.PlayerID]int, len(table))
		for player, s := range table {
			if p.starts[player] = l.Start; l.Halfway && s.Played > 0 {
				p.starts[player] += (s.Elo - l.Start) / 2
			}
		}
	}
	return w, len(recorded.Matches), err
}

func byPosition(a, b ladder.Match) int { return cmp.Compare(a.Position, b.Position) }
