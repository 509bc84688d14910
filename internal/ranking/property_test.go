package ranking_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/plainladder"
	"elobot/internal/ranking"
)

// model is the expected state of a few people and their groups.
type model struct {
	sent int // how many commands were sent
	*game
	t          *testing.T
	rt         *rapid.T
	id         int64
	people     []command.Person // without usernames (see username), and then the guests
	accounts   int              // number of people who are not guests
	named      map[int]bool     // people whose account shows its username
	unclaimed  map[int]*entity
	known      map[int]*entity
	nameless   []*entity // unclaimed players who lost their usernames to accounts
	groups     []*modelGroup
	entryCount int           // entries into seasons so far
	waited     time.Duration // extra time that has passed between commands
}

func newSociety(t *testing.T, rt *rapid.T, g *game, id int64) *model {
	s := &model{
		game: g, t: t, rt: rt, id: id,
		named: make(map[int]bool), known: make(map[int]*entity), unclaimed: make(map[int]*entity),
	}
	for i := range rapid.IntRange(3, 7).Draw(rt, "people") {
		s.people = append(s.people, command.Person{ID: ladder.UserID(id*10 + int64(i)), Name: fmt.Sprintf("Person %d", i)})
	}
	s.accounts = len(s.people)
	guests := []command.Person{command.NewGuest("Grandma"), command.NewGuest("Tom")}
	s.people = append(s.people, guests[:rapid.IntRange(0, 2).Draw(rt, "guests")]...)
	return s
}

// defaultRules are the rules of a new ladder.
var defaultRules = ranking.Rules{
	Start: 1500, PlaceMatches: 3, HideDays: 60, DrawsAllowed: true, RatingRules: ladder.RatingRules{K: 32},
}

// newGroup creates a group that the first person has joined. Its ladder allows uneven teams.
func (s *model) newGroup() *modelGroup {
	only := newModelLadder("")
	c := &modelGroup{
		model: s, chat: ranking.ExternalChatID(-1000*s.id - int64(len(s.groups))),
		ladders: []*modelLadder{only}, standard: only, topics: make(map[int64]*modelLadder),
		zone: time.UTC, counts: make(map[*entity]*entity),
		keys: make(map[string]*modelMatch),
		left: make(map[*entity]time.Time), isOut: make(map[*entity]bool), mixed: make(map[*entity]bool),
	}
	s.groups = append(s.groups, c)
	c.command(c.people[0], func(o ranking.Origin) error { return c.Do(c.t.Context(), o, ranking.Join{}) })
	c.addEntry(only, only.season(), c.seen(0))
	c.readLadders()
	c.choose("uneven", ranking.On, 0)
	c.compare()
	return c
}

// modelGroup is the expected state of a group.
type modelGroup struct {
	*model
	chat     ranking.ExternalChatID
	matches  []*modelMatch  // of all ladders, by number
	order    []*modelMatch  // in the order in which they are replayed
	ladders  []*modelLadder // oldest first
	standard *modelLadder   // the ladder that applies if no other does
	topics   map[int64]*modelLadder
	left     map[*entity]time.Time // players who left, with the time
	isOut    map[*entity]bool      // players who are out of the rankings
	mixed    map[*entity]bool      // players who may have left only some ladders, after a merge or a split
	counts   map[*entity]*entity   // the player for whom each merged player counts
	imports  []*modelImport
	files    []string               // the texts of imported files
	keys     map[string]*modelMatch // imported matches, by what identifies them
	commands int
	place    place // of the next commands
	zone     *time.Location
}

// modelLadder is the expected state of a ladder.
type modelLadder struct {
	id       int64
	name     string
	archived bool
	rules    ranking.Rules
	seasons  []*modelSeason // the last is the current season
}

// entry is how a player entered a season: position in the order of entries, start rating, and
// whether by an import.
type entry struct {
	order, start int
	imported     bool
}

// entity is a player in the model: a person who was seen, an unclaimed username, or a guest.
type entity struct {
	id        ladder.PlayerID // 0 until playerOf reads it
	who       int
	unclaimed bool // the player is a username or a guest
	nameless  bool // an account has taken over the username
}

type modelMatch struct {
	key        string
	message    string // key of the message that reported it
	ladder     *modelLadder
	season     *modelSeason
	sides      [2][]*entity // as they were named
	standIns   [2]int       // number of stand-ins on each side, who count only toward its size
	sender     int          // the person who reported it
	reporter   *entity      // the player for whom the sender counted
	scores     []ladder.Score
	playedAt   time.Time
	reportedAt time.Time
	rules      ladder.RatingRules
	undone     bool      // by a person
	undoneBy   *entity   // the player for whom that person counted; meaningless unless undone is set
	undoneAt   time.Time // when the undo was sent
	// turned is set if the card shows side B first, because side B won, or had won before the score
	// was fixed to a draw.
	turned bool
	// imported is set if the match is of an import, gone if the import was taken back.
	imported, gone bool
}

func (s *model) username(i int) string { return fmt.Sprintf("u%d_%d", s.id, i) }

// account returns the person as messages show them.
func (s *model) account(i int) command.Person {
	p := s.people[i]
	if s.named[i] {
		p.Username = s.username(i)
	}
	return p
}

// showAccount updates the model for an account that a command shows. The account claims the
// unclaimed player with its username. If there is no such player, showAccount changes nothing.
func (s *model) showAccount(i int) {
	ghost := s.unclaimed[i]
	if ghost == nil || !s.named[i] {
		return
	}
	s.playerOf(ghost)
	delete(s.unclaimed, i)
	ghost.unclaimed = false
	if e := s.known[i]; e != nil {
		ghost.nameless, s.nameless = true, append(s.nameless, ghost)
		for _, c := range s.groups {
			c.claim(ghost, e)
		}
		return
	}
	s.known[i] = ghost
	for _, c := range s.groups {
		c.turn(ghost)
	}
}

// seen returns the entity of a person whose account a command shows and needs as a player.
func (s *model) seen(i int) *entity {
	s.showAccount(i)
	if s.known[i] == nil {
		s.known[i] = &entity{who: i}
	}
	return s.known[i]
}

// isEven reports whether the sides have the same size, including the stand-ins.
func (m *modelMatch) isEven() bool {
	return len(m.sides[0])+m.standIns[0] == len(m.sides[1])+m.standIns[1]
}

func (m *modelMatch) players() []*entity { return slices.Concat(m.sides[0], m.sides[1]) }

// mentioned returns the entity meant by a username or a guest's name. If there is no such entity,
// mentioned adds an unclaimed player.
func (s *model) mentioned(i int) *entity {
	if e := s.known[i]; e != nil && s.named[i] {
		return e
	}
	if s.unclaimed[i] == nil {
		s.unclaimed[i] = &entity{who: i, unclaimed: true}
	}
	return s.unclaimed[i]
}

// addEntry enters a player in a season: the player for whom e counts.
func (c *modelGroup) addEntry(l *modelLadder, s *modelSeason, e *entity) {
	if _, there := c.standings(s)[c.as(e)]; !there {
		c.entryCount++
		s.entries[c.as(e)] = entry{order: c.entryCount, start: l.rules.Start}
	}
}

// isThere records that the player for whom e counts was in the group at an instant.
func (c *modelGroup) isThere(e *entity, at time.Time) {
	if left, gone := c.left[c.as(e)]; gone && !left.After(at) && !c.isOut[c.as(e)] {
		delete(c.left, c.as(e))
	}
}

// command sends a command and returns the answer.
func (c *modelGroup) command(sender command.Person, send func(ranking.Origin) error) ranking.Notice {
	o := c.origin(sender)
	c.send(o, send)
	return c.answer(c.t, o.Key, "reply_to = 7")
}

// send sends a command. If the first words name a ladder, send first checks that the service finds
// the ladder and keeps the other words.
func (c *modelGroup) send(o ranking.Origin, send func(ranking.Origin) error) {
	if l := c.place.named; l != nil {
		first := o
		first.Key, first.Message, first.Retried = "words of "+o.Key, "", true // so no limit applies
		if a := c.asked(c.t, first); a.Ladder.ID != ladder.ID(l.id) || a.Origin.Said.Ladder != c.place.words() ||
			a.Origin.Said.Args != "and more" {
			c.rt.Fatalf("command %d says %+v in ladder %d, want that it names ladder %d",
				c.commands, a.Origin.Said, a.Ladder.ID, l.id)
		}
	}
	if err := send(o); err != nil {
		c.rt.Fatalf("command %d: %v", c.commands, err)
	}
}

func (c *modelGroup) origin(sender command.Person) ranking.Origin {
	o := from(&sender, fmt.Sprintf("m:%d:%d", c.chat, c.commands+1))
	o.SentAt = c.now()
	c.commands++
	c.sent++
	o.Chat = ranking.Chat{ID: c.chat, Kind: ranking.Supergroup, Title: "Any"}
	c.place.in(&o)
	return o
}

func (s *model) now() time.Time {
	slow := time.Duration(s.sent+1) * 4 * time.Second // stays below the question limit
	return from(nil, "").SentAt.Add(s.waited + slow)
}

// press returns the origin of a button press.
func (c *modelGroup) press(sender command.Person) ranking.Origin {
	o := c.origin(sender)
	o.Key = strings.Replace(o.Key, "m:", "c:", 1)
	o.Button = o.Key
	return o
}

// anyPerson draws a person who is not a guest.
func (s *model) anyPerson(label string) int { return rapid.IntRange(0, s.accounts-1).Draw(s.rt, label) }

func (s *model) isGuest(who int) bool { return who >= s.accounts }

// anyShown draws whether a report shows the account of a person, as it always does for the sender.
func (s *model) anyShown(who, sender int) bool {
	return rapid.Bool().Draw(s.rt, "by account") && !s.isGuest(who) || who == sender
}

func (c *modelGroup) anyScores() []ladder.Score {
	score := rapid.Custom(func(rt *rapid.T) ladder.Score {
		return ladder.Score{A: rapid.IntRange(0, 4).Draw(rt, "a"), B: rapid.IntRange(0, 4).Draw(rt, "b")}
	})
	without := rapid.SampledFrom([][]ladder.Score{{ladder.Win}, {ladder.Loss}, {ladder.Draw}})
	return rapid.OneOf(rapid.SliceOfN(score, 1, 3), without).Draw(c.rt, "scores")
}

// anyStandIns draws the stand-ins of a match.
func (c *modelGroup) anyStandIns() [2]int {
	all := [][2]int{{}, {}, {}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {0, 2}}
	return rapid.SampledFrom(all).Draw(c.rt, "stand-ins")
}

// recordAny reports one to three random results in one message.
func (c *modelGroup) recordAny(rt *rapid.T) {
	c.goAnywhere(rt)
	defer c.goHome()
	ladder, sender := c.applies(), c.anyPerson("sender")
	at := c.anyDate(rt, ladder)
	c.reach(ladder, at)
	when, played, ctx := c.anyDay(rt, ladder, at)
	c.showAccount(sender)
	byAccount := make(map[int]bool)
	for who := range c.people {
		byAccount[who] = c.anyShown(who, sender)
	}
	type side struct{ players [2][]int }
	var reports []command.Match
	var sides []side
	refusal := ranking.Refusal{}
	for range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(rt, "matches") {
		order := rapid.Permutation(indexes(len(c.people))).Draw(rt, "players")
		if those := c.whoMayPlay(order, byAccount); len(those) > 1 && rapid.IntRange(0, 9).Draw(rt, "allowed") > 0 {
			order = those
		}
		first := rapid.IntRange(1, min(3, len(order)-1)).Draw(rt, "first side")
		second := rapid.IntRange(1, min(3, len(order)-first)).Draw(rt, "second side")
		report := command.Match{Scores: c.anyScores(), StandIns: c.anyStandIns(), When: when}
		players := side{[2][]int{order[:first], order[first : first+second]}}
		for i, to := range []*[]command.Person{&report.A, &report.B} {
			for _, who := range players.players[i] {
				if byAccount[who] {
					c.showAccount(who)
				}
				*to = append(*to, c.person(who, byAccount[who]))
			}
		}
		reports, sides = append(reports, report), append(sides, players)
		named := c.resolve(order[:first+second], byAccount)
		switch a, b := total(report.Scores); {
		case refusal.Code != "":
		case c.areOut(named):
			refusal.Code = ranking.PlayerOut
		default:
			refusal = ladder.refusal(a, b, c.isDoubled(named), first+report.StandIns[0] == second+report.StandIns[1])
		}
	}
	var key string
	notice := c.command(c.account(sender), func(o ranking.Origin) error {
		o.SentAt, key = at, o.Key
		return c.RecordMatch(ctx, o, reports...)
	})
	if refusal.Code != "" { // a refused result adds no players
		c.checkRefusal(notice, refusal)
		return
	}
	isNow := when != command.When{} && played.Equal(at)
	card, ok := notice.(ranking.MatchRecorded)
	if !ok || card.Number != len(c.matches)+len(reports) || card.Past != isNow {
		rt.Fatalf("%d matches after %d are answered with %+v", len(reports), len(c.matches), notice)
	}
	reporter, season := c.as(c.seen(sender)), ladder.seasonAt(played)
	at, reportedAt := played, at
	for i, report := range reports {
		a, b := total(report.Scores)
		m := &modelMatch{
			key: key, message: key, ladder: ladder, season: season, sender: sender, reporter: reporter,
			scores: report.Scores, playedAt: at, reportedAt: reportedAt, standIns: report.StandIns,
			rules: ladder.rules.RatingRules, turned: b > a,
		}
		if i > 0 {
			m.key += fmt.Sprint(ranking.ExtraMatch, i+1)
		}
		for side, players := range sides[i].players {
			for _, who := range players {
				m.sides[side] = append(m.sides[side], c.entityOf(who, byAccount[who]))
			}
		}
		c.matches = append(c.matches, m)
		c.insert(m, true)
		for _, e := range m.players() {
			c.addEntry(ladder, season, e)
			c.isThere(e, at)
		}
	}
}

// anyDay draws what a report says about the day of its matches, if anything, and whether the sender
// is an admin. at is when the report is sent. anyDay also returns when the matches count.
func (c *modelGroup) anyDay(rt *rapid.T, l *modelLadder, at time.Time) (command.When, time.Time, context.Context) {
	ago := rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 31, 32}).Draw(rt, "days ago")
	ctx, isAdmin := c.t.Context(), rapid.Bool().Draw(rt, "by admin")
	if isAdmin {
		ctx = asAdmin(c.t)
	}
	year, month, day := at.In(c.zone).AddDate(0, 0, -ago).Date()
	when := command.When{Past: ago == 1}
	if ago > 1 {
		when.Day = &command.Day{Year: year % 100, Month: int(month), Day: day}
	}
	end := time.Date(year, month, day+1, 0, 0, 0, 0, c.zone).Add(-time.Microsecond)
	switch {
	case ago == 0:
		return command.When{}, at, ctx
	case isAdmin && ago <= 31, ago == 1 && !end.Before(l.season().starts):
		return when, end, ctx
	}
	return when, at, ctx
}

// insert puts a new or moved match into the order of replay. A match of another day precedes the
// first match of its ladder that was played later. If there is none, the match follows all matches
// of its ladder and, if it is new, all other matches too.
func (c *modelGroup) insert(m *modelMatch, isNew bool) {
	at, isLast := 0, isNew
	for i, o := range c.order {
		if o.ladder != m.ladder {
			continue
		}
		if o.playedAt.After(m.playedAt) && m.isOfOtherDay() {
			isLast = false
			break
		}
		at = i + 1
	}
	if isLast {
		at = len(c.order)
	}
	c.order = slices.Insert(c.order, at, m)
}

func (m *modelMatch) isOfOtherDay() bool { return m.imported || !m.playedAt.Equal(m.reportedAt) }

// person returns a person in a report: an account that the message shows, a username that the
// message mentions, or a guest, whom the report may name as if the guest were new.
func (s *model) person(who int, byAccount bool) command.Person {
	switch {
	case byAccount:
		return s.account(who)
	case s.isGuest(who):
		guest := s.people[who]
		if e := s.unclaimed[who]; e != nil && rapid.Bool().Draw(s.rt, "as known guest") {
			guest.Player = s.playerOf(e)
		}
		return guest
	}
	return command.Person{Username: s.username(who)}
}

// entityOf returns the player meant by a report that takes effect.
func (s *model) entityOf(who int, byAccount bool) *entity {
	if byAccount {
		return s.seen(who)
	}
	return s.mentioned(who)
}

// refusal returns why a result is refused, or the zero Refusal if it is recorded. isDoubled is set
// if one person plays twice.
func (l *modelLadder) refusal(a, b int, isDoubled, even bool) ranking.Refusal {
	switch {
	case l.archived:
		return ranking.Refusal{Code: ranking.LadderArchived, Name: l.name}
	case isDoubled:
		return ranking.Refusal{Code: ranking.SamePlayer}
	case a == b && !l.rules.DrawsAllowed:
		return ranking.Refusal{Code: ranking.NoDraws}
	case !even && !l.rules.UnevenTeamsAllowed:
		return ranking.Refusal{Code: ranking.UnevenTeams}
	}
	return ranking.Refusal{}
}

func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func admin(context.Context) (bool, error) { return true, nil }

// amendAny has an admin amend a random match. It returns the answer, the match and its number. If
// the match does not exist or is undone, amendAny checks the answer and returns no match.
func (c *modelGroup) amendAny(
	rt *rapid.T, send func(ranking.Origin, ranking.Amendment) error,
) (ranking.Notice, *modelMatch, int) {
	number := rapid.IntRange(1, len(c.matches)+1).Draw(rt, "number")
	sender := c.anyPerson("sender")
	c.showAccount(sender)
	notice := c.command(c.account(sender), func(o ranking.Origin) error {
		return send(o, ranking.Amendment{Match: ranking.MatchRef{Number: number}})
	})
	switch {
	case number > len(c.matches), c.matches[number-1].gone:
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.NoSuchMatch, Number: number})
	case c.isUndone(c.matches[number-1]):
		refusal, _ := notice.(ranking.Refusal)
		refusal.Minutes = 0 // depends on whether the match can be restored
		c.checkRefusal(refusal, ranking.Refusal{Code: ranking.UndoneAlready, Number: number})
	case isRefusal(notice):
		return notice, c.matches[number-1], number
	default:
		c.matches[number-1].undoneBy = c.as(c.seen(sender)) // in case this is an undo
		return notice, c.matches[number-1], number
	}
	return nil, nil, 0
}

func isRefusal(n ranking.Notice) bool {
	_, ok := n.(ranking.Refusal)
	return ok
}

// checkRefusal compares a refusal with the expected one. If the refusal says that a player is out
// of the rankings, it may be about any player.
func (c *modelGroup) checkRefusal(got ranking.Notice, want ranking.Refusal) {
	if r, _ := got.(ranking.Refusal); r.Who != nil {
		got = ranking.Refusal{Code: ranking.PlayerOut}
	}
	if got != ranking.Notice(want) {
		c.rt.Fatalf("answer is %+v, want %+v", got, want)
	}
}

func (c *modelGroup) undoAny(rt *rapid.T) {
	var sent ranking.Origin
	notice, m, number := c.amendAny(rt, func(o ranking.Origin, t ranking.Amendment) error {
		sent = o
		return c.Do(asAdmin(c.t), o, ranking.UndoMatch{Amendment: t})
	})
	if m == nil {
		return
	}
	if _, asked := notice.(ranking.UndoPrompt); asked {
		sent = c.press(*sent.Sender)
		notice = c.respond(c.t, sent, c.newestPrompt(c.t), ranking.Choice(0))
	}
	if n, ok := notice.(ranking.MatchUndone); !ok || n.Number != number {
		rt.Fatalf("undoing match %d is answered with %+v", number, notice)
	}
	m.undone, m.undoneAt = true, sent.SentAt
}

// undoWindow is how long the players and the reporter may amend a match, and how long an undo can
// be reversed.
const undoWindow = 24 * time.Hour

// restoreAny has an admin or another person try to restore an undone match, match 1, a match that
// does not exist, or the match that the person undid last.
func (c *modelGroup) restoreAny(rt *rapid.T) {
	numbers := []int{0, 1, len(c.matches) + 1} // 0 for the match that the sender undid last
	for i, m := range c.matches {
		if c.isUndone(m) {
			numbers = append(numbers, i+1, i+1)
		}
	}
	number, sender := rapid.SampledFrom(numbers).Draw(rt, "number"), c.anyPerson("sender")
	restore := ranking.Amendment{Match: ranking.MatchRef{Number: number}}
	isAdmin, ctx := rapid.Bool().Draw(rt, "is admin"), c.t.Context()
	if isAdmin {
		ctx = asAdmin(c.t)
	}
	c.showAccount(sender)
	since := c.now().Add(-undoWindow)
	notice := c.command(c.account(sender), func(o ranking.Origin) error {
		return c.Do(ctx, o, ranking.RestoreMatch{Amendment: restore})
	})
	const minutes = int(undoWindow / time.Minute)
	if number == 0 {
		want := ranking.Refusal{Code: ranking.NothingToRestore, Minutes: minutes}
		if number = c.lastUndoneBy(sender); number == 0 {
			if last := c.lastOf(sender, since); last > 0 { // the match that the sender means may already be restored
				want = ranking.Refusal{Code: ranking.NotUndone, Number: last}
			}
		}
		if number == 0 || c.matches[number-1].undoneAt.Before(since) {
			c.checkRefusal(notice, want)
			return
		}
	}
	if number > len(c.matches) || c.matches[number-1].gone {
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.NoSuchMatch, Number: number})
		return
	}
	switch m := c.matches[number-1]; {
	case !c.isUndone(m):
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.NotUndone, Number: number})
	case c.isDoubled(m.players()):
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.SamePersonTwice, Number: number})
	case m.undoneAt.Before(since):
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.UndoneLongAgo, Number: number, Minutes: minutes})
	case m.season != m.ladder.season() && !isAdmin:
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.SeasonClosed, Number: number})
	case !c.is(sender, m.undoneBy) && !isAdmin:
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.NotUndoneByYou, Number: number})
	default:
		c.seen(sender)
		if n, ok := notice.(ranking.MatchRestored); !ok || n.Number != number {
			rt.Fatalf("restoring match %d is answered with %+v", number, notice)
		}
		m.undone = false
	}
}

// lastUndoneBy returns the number of the match that a person undid last, among those still undone,
// or 0 for none.
func (c *modelGroup) lastUndoneBy(who int) (number int) {
	for i, m := range c.matches {
		if m.undone && !m.gone && c.is(who, m.undoneBy) && (number == 0 || m.undoneAt.After(c.matches[number-1].undoneAt)) {
			number = i + 1
		}
	}
	return number
}

// lastOf returns the number of a person's last match that counts, or 0 if there is none or it was
// reported before since. A match that the person reported without playing in it is ignored if it
// was reported before since.
func (c *modelGroup) lastOf(who int, since time.Time) int {
	last := 0
	for i, m := range c.matches {
		reported := c.is(who, m.reporter) && !m.reportedAt.Before(since)
		plays := slices.ContainsFunc(m.players(), func(e *entity) bool { return c.is(who, e) })
		if !c.isUndone(m) && (reported || plays && !m.imported) {
			last = i + 1
		}
	}
	if last > 0 && c.matches[last-1].reportedAt.Before(since) {
		return 0
	}
	return last
}

func (c *modelGroup) fixAny(rt *rapid.T) {
	scores := c.anyScores()
	notice, m, number := c.amendAny(rt, func(o ranking.Origin, t ranking.Amendment) error {
		return c.Do(asAdmin(c.t), o, ranking.FixMatch{Amendment: t, Scores: scores})
	})
	if m == nil {
		return
	}
	stored := slices.Clone(scores)
	if m.turned {
		for i, s := range stored {
			stored[i] = ladder.Score{A: s.B, B: s.A}
		}
	}
	if slices.Equal(stored, m.scores) {
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.SameScore, Number: number})
		return
	}
	a, b := total(stored)
	if a == b && !m.ladder.rules.DrawsAllowed {
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.NoDraws})
		return
	}
	if n, ok := notice.(ranking.MatchFixed); !ok || n.Number != number {
		rt.Fatalf("fixing match %d is answered with %+v", number, notice)
	}
	m.scores = stored
	if a != b {
		m.turned = b > a
	}
}

// showUsername has a random account show its username, possibly for the first time.
func (c *modelGroup) showUsername(*rapid.T) {
	i := c.anyPerson("who")
	c.named[i] = true
	c.showAccount(i)
	c.command(c.account(i), func(o ranking.Origin) error { return c.ShowRanking(c.t.Context(), o) })
}

// changeRules has an admin choose a value for a rule, or stores random rules, perhaps with values
// that no button offers.
func (c *modelGroup) changeRules(rt *rapid.T) {
	if rapid.Bool().Draw(rt, "by button") {
		var rules []ranking.Setting
		for _, s := range ranking.AllSettings() {
			// The model lets anybody report anybody.
			if s.Table() == ranking.OfLadder && s.Name != ranking.SettingReporters && s.Name != ranking.SettingNamed {
				rules = append(rules, s)
			}
		}
		s := rapid.SampledFrom(rules).Draw(rt, "setting")
		c.goAnywhere(rt)
		defer c.goHome()
		c.choose(s.Name, rapid.SampledFrom(s.Choices).Draw(rt, "value"), c.anyPerson("admin"))
		return
	}
	ladder := c.anyLadder(rt, "ladder")
	rules := &ladder.rules
	for _, draw := range rapid.SliceOfN(rapid.SampledFrom([]func(){
		func() { rules.Start = rapid.SampledFrom([]int{5, 1200, 1500}).Draw(rt, "start") },
		func() { rules.PlaceMatches = rapid.IntRange(1, 6).Draw(rt, "matches for a place") },
		func() { rules.HideDays = rapid.IntRange(0, 2).Draw(rt, "days until hidden") },
		func() { rules.K = rapid.SampledFrom([]int{1, 31, 32, 64, 1000}).Draw(rt, "K") },
		func() { rules.Provisional = rapid.SampledFrom(provisionals).Draw(rt, "provisional") },
		func() { rules.Margin = !rules.Margin },
		func() { rules.DrawsAllowed = rapid.IntRange(0, 3).Draw(rt, "draws") > 0 },
		func() { rules.UnevenTeamsAllowed = rapid.IntRange(0, 3).Draw(rt, "uneven teams") > 0 },
	}), 1, 4).Draw(rt, "changes") {
		draw()
	}
	c.storeRules(c.t, ladderWithID, ladder.id, ladder.rules)
}

var provisionals = []ladder.Provisional{
	{}, {K: 64, Matches: 2}, {K: 15, Matches: 4}, {K: 1000, Matches: 1}, {K: 100, Matches: 100},
}

// choose has a person, as an admin, choose a value of a rule.
func (c *modelGroup) choose(name, value string, sender int) {
	c.showAccount(sender)
	o := c.origin(c.account(sender))
	o.Button, o.Pressed = o.Key, 55
	if c.place.named == nil { // a button belongs to the ladder that it was made for
		o.Ladder = ladder.ID(c.applies().id)
	}
	set := choice(name, value)
	c.send(o, func(o ranking.Origin) error { return c.Do(asAdmin(c.t), o, set) })
	notice, ladder := c.answer(c.t, o.Key, toast), c.applies()
	now := ranking.GroupSettings{Rules: ladder.rules}
	before := set.Setting.Value(now)
	if value == before {
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.SameSetting})
		return
	}
	c.seen(sender)
	if n, ok := notice.(ranking.SettingChanged); !ok || n.Before != before || n.After != value {
		c.rt.Fatalf("%s for %s is answered with %+v", value, name, notice)
	}
	if name == ranking.SettingSeasons {
		c.reach(ladder, o.SentAt)
	}
	ladder.rules = set.Setting.With(now, value).Rules
	if name == ranking.SettingSeasons {
		s := ladder.season()
		s.ends = c.endOfSeason(ladder, o.SentAt.Add(48*time.Hour))
		s.waits = !s.ends.IsZero()
	}
}

// total returns the sets won by each side, or the score if there are no sets.
func total(scores []ladder.Score) (a, b int) {
	if len(scores) == 1 {
		return scores[0].A, scores[0].B
	}
	for _, s := range scores {
		switch {
		case s.A > s.B:
			a++
		case s.B > s.A:
			b++
		}
	}
	return a, b
}

// nameOf returns the entity's key in plainladder.Standings.
func (s *model) nameOf(e *entity) string {
	switch {
	case s.isGuest(e.who):
		return fmt.Sprintf("#%d", s.playerOf(e))
	case e.nameless:
		return fmt.Sprintf("#%d", e.id)
	case e.unclaimed:
		return s.username(e.who)
	}
	return fmt.Sprint(s.people[e.who].ID)
}

// namesOf returns the keys of the players for whom the entities count.
func (c *modelGroup) namesOf(entities []*entity) []string {
	names := make([]string, len(entities))
	for i, e := range entities {
		names[i] = c.nameOf(c.as(e))
	}
	return names
}

// compare compares the stored seasons with a plain calculation from the matches that count.
func (c *modelGroup) compare() {
	c.compareSeasons()
	for _, l := range c.ladders {
		for _, s := range l.seasons {
			want := c.play(s)
			differ := []struct{ what, diff string }{
				{"standings", cmp.Diff(want.Standings, c.storedStandings(c.t, seasonWithID, s.id, byIdentity))},
				{"times of last matches", cmp.Diff(want.LastPlayed, c.storedLastPlayed(s), cmpopts.EquateApproxTime(0))},
				{"entries", cmp.Diff(want.Entries, c.storedEntries(c.t, seasonWithID, s.id, byIdentity), cmpopts.EquateEmpty())},
				{"upsets", cmp.Diff(want.Upsets, c.storedUpsets(s))},
			}
			if s == l.season() {
				differ = append(differ, struct{ what, diff string }{"absent players",
					cmp.Diff(c.absent(s), c.storedLeft(s), cmpopts.EquateEmpty())})
			}
			for _, d := range differ {
				if d.diff != "" {
					c.rt.Fatalf("after %d commands the %s of season %d of ladder %q differ (-model +stored):\n%s",
						c.commands, d.what, s.number, l.name, d.diff)
				}
			}
		}
	}
}

// play calculates a season from its matches that count.
func (c *modelGroup) play(s *modelSeason) plainladder.Ladder {
	starts := make(map[string]int)
	for e, entry := range c.standings(s) {
		starts[c.nameOf(e)] = entry.start
	}
	var counted []plainladder.Match
	for _, m := range c.order {
		if c.isUndone(m) || m.season != s {
			continue
		}
		a, b := total(m.scores)
		counted = append(counted, plainladder.Match{
			Number: slices.Index(c.matches, m) + 1, At: m.playedAt,
			A: c.namesOf(m.sides[0]), B: c.namesOf(m.sides[1]), ScoreA: a, ScoreB: b,
			Rules: plainladder.Rules{
				K: m.rules.K, ProvisionalK: m.rules.Provisional.K,
				ProvisionalMatches: m.rules.Provisional.Matches, Margin: m.rules.Margin,
			},
		})
	}
	return plainladder.Play(starts, counted)
}

// absent returns the players of a season who left the group, according to the model.
func (c *modelGroup) absent(s *modelSeason) (left []string) {
	stored := c.storedLeft(s)
	for e := range c.standings(s) {
		_, gone := c.left[e]
		if c.mixed[e] {
			gone = slices.Contains(stored, c.nameOf(e))
		}
		if gone || c.isOut[e] {
			left = append(left, c.nameOf(e))
		}
	}
	slices.Sort(left)
	return left
}

func (c *modelGroup) storedLastPlayed(s *modelSeason) map[string]time.Time {
	all := make(map[string]time.Time)
	for _, p := range rows[struct {
		Who string
		At  time.Time
	}](c.t, c.game, `
		SELECT `+byIdentity+`, s.last_played_at FROM group_players s JOIN players p ON p.id = s.player_id
		WHERE s.season_id = $1 AND s.last_played_at IS NOT NULL`+notKept, s.id) {
		all[p.Who] = p.At
	}
	return all
}

func (c *modelGroup) storedUpsets(s *modelSeason) map[int]int {
	all := make(map[int]int)
	for _, m := range rows[struct{ Number, Upset int }](c.t, c.game, `
		SELECT number, upset FROM matches WHERE season_id = $1 AND upset IS NOT NULL AND undone_at IS NULL`, s.id) {
		all[m.Number] = m.Upset
	}
	return all
}

// storedLeft returns the players of a season who left the group, as stored.
func (c *modelGroup) storedLeft(s *modelSeason) []string {
	all := texts(c.t, c.game, `
		SELECT `+byIdentity+` FROM group_players s JOIN players p ON p.id = s.player_id
		WHERE s.season_id = $1 AND s.left_at IS NOT NULL`+notKept, s.id)
	slices.Sort(all)
	return all
}

// compareMatches checks that each match is in its ladder and season. A match that counts must have
// exactly one current history entry for each of its players; any other match must have none.
func (c *modelGroup) compareMatches() {
	type match struct {
		Number         int
		Ladder, Season int64
		Parts, Current int
		A, B           int // the stand-ins
	}
	var want []match
	for i, m := range c.matches {
		if m.gone {
			continue
		}
		e := match{Number: i + 1, Ladder: m.ladder.id, Season: m.season.id, Parts: len(m.players())}
		e.A, e.B = m.standIns[0], m.standIns[1]
		if !c.isUndone(m) {
			e.Current = e.Parts
		}
		want = append(want, e)
	}
	stored := rows[match](c.t, c.game, `
		SELECT m.number, m.ladder_id, m.season_id, count(*), count(h.id),
		       coalesce(m.stand_ins_a, 0), coalesce(m.stand_ins_b, 0)
		FROM matches m
		JOIN match_players mp ON mp.match_id = m.id
		LEFT JOIN elo_history h ON h.match_id = m.id AND h.player_id = mp.player_id AND h.superseded_at = 'infinity'
		JOIN groups g ON g.id = m.group_id JOIN chats ch ON ch.id = g.chat_id
		WHERE ch.telegram_chat_id = $1 GROUP BY m.id ORDER BY m.number`, c.chat)
	if diff := cmp.Diff(want, stored, cmpopts.EquateEmpty()); diff != "" {
		c.rt.Fatalf("the matches differ (-model +stored):\n%s", diff)
	}
}
