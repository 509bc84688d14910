package ranking_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"elobot/internal/ranking"
)

// TestAnyMatches sends random results, undos, restores, fixes, claims and changes of rules. After each it compares the standings with the
// reference calculation for the counting matches.
func TestAnyMatches(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	var groups atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		c := newSociety(t, rt, g, groups.Add(1)).newGroup()
		rt.Repeat(map[string]func(*rapid.T){
			"":       func(*rapid.T) { c.compare() },
			"record": c.recordAny, "undo": c.undoAny, "restore": c.restoreAny, "fix": c.fixAny, "show up": c.showUsername, "rules": c.changeRules,
		})
		c.compareHistory()
	})
}

// model is the expected state of people who play in groups.
type model struct {
	sent int // commands
	*game
	t          *testing.T
	rt         *rapid.T
	id         int64
	people     []ranking.Person // without usernames; see username
	named      map[int]bool     // whose account shows its username
	unclaimed  map[int]*entity
	known      map[int]*entity
	groups     []*modelGroup
	entryCount int // number of entries into ladders so far
}

func newSociety(t *testing.T, rt *rapid.T, g *game, id int64) *model {
	s := &model{
		game: g, t: t, rt: rt, id: id,
		named: make(map[int]bool), known: make(map[int]*entity), unclaimed: make(map[int]*entity),
	}
	for i := range rapid.IntRange(2, 6).Draw(rt, "people") {
		s.people = append(s.people, ranking.Person{ID: ranking.UserID(id*10 + int64(i)), Name: fmt.Sprintf("Person %d", i)})
	}
	return s
}

// defaultRules are the rules of a new ladder.
var defaultRules = ranking.Rules{Start: 1500, PlaceMatches: 3, DrawsAllowed: true, RatingRules: ranking.RatingRules{K: 32}}

// newGroup creates a group, which the first person has joined.
func (s *model) newGroup() *modelGroup {
	c := &modelGroup{
		model: s, entries: make(map[*entity]entry), rules: defaultRules,
		chat: ranking.ExternalChatID(-1000*s.id - int64(len(s.groups))),
	}
	s.groups = append(s.groups, c)
	c.command(c.people[0], func(o ranking.Origin) error { return c.Do(c.t.Context(), o, ranking.Join{}) })
	c.addEntry(c.seen(0))
	c.choose("uneven", ranking.On, 0)
	c.compare()
	return c
}

// modelGroup is the expected state of a group.
type modelGroup struct {
	*model
	chat     ranking.ExternalChatID
	matches  []*modelMatch
	entries  map[*entity]entry // who is in the ladder
	rules    ranking.Rules
	commands int
}

// entry is how a player entered a ladder: their position in the order of entries, and their start rating.
type entry struct{ order, start int }

// entity is a player in the model: a person who was seen, or an unclaimed username.
type entity struct {
	who       int
	unclaimed bool
}

type modelMatch struct {
	sides      [2][]*entity
	reporter   *entity
	scores     []ranking.Score
	playedAt   time.Time
	rules      ranking.RatingRules
	undone     bool
	undoneBy   int  // who undid it; meaningless if merged
	undoneAt   int  // how many commands had been sent then
	merged     bool // a merge undid it
	samePerson bool // two of its players became one
	turned     bool // the card shows side B first: the winner, or the last one if the match is a draw
}

func (s *model) username(i int) string { return fmt.Sprintf("u%d_%d", s.id, i) }

// account returns the person as messages show them.
func (s *model) account(i int) ranking.Person {
	p := s.people[i]
	if s.named[i] {
		p.Username = s.username(i)
	}
	return p
}

// showAccount updates the model for an account that a command shows: it claims the unclaimed player with its username. Without one it adds
// no player.
func (s *model) showAccount(i int) {
	ghost := s.unclaimed[i]
	if ghost == nil || !s.named[i] {
		return
	}
	delete(s.unclaimed, i)
	if e := s.known[i]; e != nil {
		for _, c := range s.groups {
			c.merge(ghost, e)
		}
		return
	}
	ghost.unclaimed = false
	s.known[i] = ghost
}

// seen returns the entity of a person whose account a command shows and who is needed for the command.
func (s *model) seen(i int) *entity {
	s.showAccount(i)
	if s.known[i] == nil {
		s.known[i] = &entity{who: i}
	}
	return s.known[i]
}

func (c *modelGroup) merge(from, into *entity) {
	merged, there := c.entries[from]
	if !there {
		return
	}
	delete(c.entries, from)
	kept, both := c.entries[into]
	if !both {
		kept = merged
	}
	if merged.order < kept.order {
		kept.start = merged.start
	}
	c.entries[into] = kept
	for _, m := range c.matches {
		all := slices.Concat(m.sides[0], m.sides[1])
		if slices.Contains(all, from) && slices.Contains(all, into) {
			m.merged, m.undone, m.samePerson = m.merged || !m.undone, true, true
			continue
		}
		for _, side := range m.sides {
			for i, e := range side {
				if e == from {
					side[i] = into
				}
			}
		}
	}
}

// mentioned returns the entity to which a username refers.
func (s *model) mentioned(i int) *entity {
	if e := s.known[i]; e != nil && s.named[i] {
		return e
	}
	if s.unclaimed[i] == nil {
		s.unclaimed[i] = &entity{who: i, unclaimed: true}
	}
	return s.unclaimed[i]
}

func (c *modelGroup) addEntry(e *entity) {
	if _, there := c.entries[e]; !there {
		c.entryCount++
		c.entries[e] = entry{c.entryCount, c.rules.Start}
	}
}

// command sends a command and returns the answer.
func (c *modelGroup) command(sender ranking.Person, send func(ranking.Origin) error) ranking.Notice {
	o := c.origin(sender)
	if err := send(o); err != nil {
		c.rt.Fatalf("command %d: %v", c.commands, err)
	}
	return c.notice(c.t, o.Key)
}

func (c *modelGroup) origin(sender ranking.Person) ranking.Origin {
	c.commands++
	c.sent++
	o := from(&sender, fmt.Sprintf("m:%d:%d", c.chat, c.commands))
	o.SentAt = o.SentAt.Add(time.Duration(c.sent) * 4 * time.Second) // slow enough to stay below the question limit
	o.Chat = ranking.Chat{ID: c.chat, Kind: ranking.Supergroup, Title: "Any"}
	return o
}

func (s *model) anyPerson(label string) int {
	return rapid.IntRange(0, len(s.people)-1).Draw(s.rt, label)
}

func (c *modelGroup) anyScores() []ranking.Score {
	score := rapid.Custom(func(rt *rapid.T) ranking.Score {
		return ranking.Score{A: rapid.IntRange(0, 4).Draw(rt, "a"), B: rapid.IntRange(0, 4).Draw(rt, "b")}
	})
	without := rapid.SampledFrom([][]ranking.Score{{ranking.Win}, {ranking.Loss}, {ranking.Draw}})
	return rapid.OneOf(rapid.SliceOfN(score, 1, 3), without).Draw(c.rt, "scores")
}

func (c *modelGroup) recordAny(rt *rapid.T) {
	sender := c.anyPerson("sender")
	order := rapid.Permutation(indexes(len(c.people))).Draw(rt, "players")
	first := rapid.IntRange(1, min(3, len(order)-1)).Draw(rt, "first side")
	second := rapid.IntRange(1, min(3, len(order)-first)).Draw(rt, "second side")
	report := ranking.Report{Scores: c.anyScores()}
	a, b := total(report.Scores)
	refusal := c.refusal(a, b, first == second)
	c.showAccount(sender)
	var reporter *entity
	if refusal == "" {
		reporter = c.seen(sender)
	}
	m := &modelMatch{reporter: reporter, scores: report.Scores, rules: c.rules.RatingRules, turned: b > a}
	for i, who := range order[:first+second] {
		person, entityOf := ranking.Person{Username: c.username(who)}, c.mentioned
		if rapid.Bool().Draw(rt, "by account") || who == sender {
			person, entityOf = c.account(who), c.seen
			c.showAccount(who)
		}
		if i < first {
			report.A = append(report.A, person)
		} else {
			report.B = append(report.B, person)
		}
		if side := min(1, i/first); refusal == "" { // a refused result adds no players
			m.sides[side] = append(m.sides[side], entityOf(who))
		}
	}
	notice := c.command(c.account(sender), func(o ranking.Origin) error {
		m.playedAt = o.SentAt
		return c.RecordMatch(c.t.Context(), o, report)
	})
	if refusal != "" {
		c.checkRefusal(notice, ranking.Refusal{Code: refusal})
		return
	}
	if card, ok := notice.(ranking.MatchRecorded); !ok || card.Number != len(c.matches)+1 {
		rt.Fatalf("match %d is answered with %+v", len(c.matches)+1, notice)
	}
	c.matches = append(c.matches, m)
	for _, e := range slices.Concat(m.sides[0], m.sides[1]) {
		c.addEntry(e)
	}
}

// refusal returns why the rules do not permit a result; empty if they do.
func (c *modelGroup) refusal(a, b int, even bool) ranking.RefusalCode {
	switch {
	case a == b && !c.rules.DrawsAllowed:
		return ranking.NoDraws
	case !even && !c.rules.UnevenTeamsAllowed:
		return ranking.UnevenTeams
	}
	return ""
}

func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func admin(context.Context) (bool, error) { return true, nil }

// amendAny has an admin amend a random match. It returns the match, or nil if it does not count or exist.
func (c *modelGroup) amendAny(rt *rapid.T, send func(ranking.Origin, ranking.Amendment) error) (ranking.Notice, *modelMatch, int) {
	number := rapid.IntRange(1, len(c.matches)+1).Draw(rt, "number")
	sender := c.anyPerson("sender")
	c.showAccount(sender)
	notice := c.command(c.account(sender), func(o ranking.Origin) error {
		return send(o, ranking.Amendment{Match: ranking.MatchRef{Number: number}, IsAdmin: admin})
	})
	switch {
	case number > len(c.matches):
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.NoSuchMatch, Number: number})
	case c.matches[number-1].undone:
		refusal, _ := notice.(ranking.Refusal)
		refusal.Minutes = 0 // whether it can be restored
		c.checkRefusal(refusal, ranking.Refusal{Code: ranking.UndoneAlready, Number: number})
	case notice == ranking.Notice(ranking.Refusal{Code: ranking.SameScore, Number: number}),
		notice == ranking.Notice(ranking.Refusal{Code: ranking.NoDraws}):
		return notice, c.matches[number-1], number
	default:
		c.seen(sender)
		c.matches[number-1].undoneBy = sender // if it is undone now
		return notice, c.matches[number-1], number
	}
	return nil, nil, 0
}

func (c *modelGroup) checkRefusal(got ranking.Notice, want ranking.Refusal) {
	if got != ranking.Notice(want) {
		c.rt.Fatalf("answer is %+v, want %+v", got, want)
	}
}

func (c *modelGroup) undoAny(rt *rapid.T) {
	var sender ranking.Person
	notice, m, number := c.amendAny(rt, func(o ranking.Origin, t ranking.Amendment) error {
		sender = *o.Sender
		return c.Do(c.t.Context(), o, ranking.UndoMatch{Amendment: t})
	})
	if m == nil {
		return
	}
	if _, asked := notice.(ranking.UndoPrompt); asked {
		o := from(&sender, fmt.Sprintf("c:%d:%d", c.chat, c.commands))
		o.Chat, o.Button, o.SentAt = ranking.Chat{ID: c.chat, Kind: ranking.Supergroup, Title: "Any"}, o.Key, time.Now()
		notice = c.respond(c.t, o, c.newestPrompt(c.t), ranking.Choice(0))
	}
	if n, ok := notice.(ranking.MatchUndone); !ok || n.Number != number {
		rt.Fatalf("undoing match %d is answered with %+v", number, notice)
	}
	m.undone, m.undoneAt = true, c.sent
}

// restoreAny has an admin or somebody else restore an undone match, or any other one.
func (c *modelGroup) restoreAny(rt *rapid.T) {
	numbers := []int{0, 1, len(c.matches) + 1} // 0 is the last one that the sender undid
	for i, m := range c.matches {
		if m.undone {
			numbers = append(numbers, i+1, i+1)
		}
	}
	number, sender := rapid.SampledFrom(numbers).Draw(rt, "number"), c.anyPerson("sender")
	restore := ranking.Amendment{Match: ranking.MatchRef{Number: number}, IsAdmin: nobodyIsAdmin}
	isAdmin := rapid.Bool().Draw(rt, "is admin")
	if isAdmin {
		restore.IsAdmin = admin
	}
	c.showAccount(sender)
	notice := c.command(c.account(sender), func(o ranking.Origin) error {
		return c.Do(c.t.Context(), o, ranking.RestoreMatch{Amendment: restore})
	})
	if number == 0 {
		for i, m := range c.matches {
			if m.undone && !m.merged && m.undoneBy == sender && (number == 0 || m.undoneAt > c.matches[number-1].undoneAt) {
				number = i + 1
			}
		}
		if number == 0 { // perhaps it is restored already: the last match that counts says so
			want := ranking.Refusal{Code: ranking.NothingToRestore, Minutes: 1440}
			for i, m := range c.matches {
				if e := c.known[sender]; !m.undone && e != nil && (m.reporter == e || slices.Contains(slices.Concat(m.sides[0], m.sides[1]), e)) {
					want = ranking.Refusal{Code: ranking.NotUndone, Number: i + 1}
				}
			}
			c.checkRefusal(notice, want)
			return
		}
	}
	if number > len(c.matches) {
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.NoSuchMatch, Number: number})
		return
	}
	switch m := c.matches[number-1]; {
	case !m.undone:
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.NotUndone, Number: number})
	case m.samePerson:
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.SamePersonTwice, Number: number})
	case m.undoneBy != sender && !isAdmin:
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.NotUndoneByYou, Number: number})
	default:
		c.seen(sender)
		if n, ok := notice.(ranking.MatchRestored); !ok || n.Number != number {
			rt.Fatalf("restoring match %d is answered with %+v", number, notice)
		}
		m.undone = false
	}
}

func (c *modelGroup) fixAny(rt *rapid.T) {
	scores := c.anyScores()
	notice, m, number := c.amendAny(rt, func(o ranking.Origin, t ranking.Amendment) error {
		return c.Do(c.t.Context(), o, ranking.FixMatch{Amendment: t, Scores: scores})
	})
	if m == nil {
		return
	}
	stored := slices.Clone(scores)
	if m.turned {
		for i, s := range stored {
			stored[i] = ranking.Score{A: s.B, B: s.A}
		}
	}
	if slices.Equal(stored, m.scores) {
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.SameScore, Number: number})
		return
	}
	a, b := total(stored)
	if c.refusal(a, b, true) != "" {
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

// changeRules has an admin choose a rule, or gives the ladder rules that no button offers.
func (c *modelGroup) changeRules(rt *rapid.T) {
	if rapid.Bool().Draw(rt, "by button") {
		var rules []ranking.Setting
		for _, s := range ranking.AllSettings() {
			if s.Table() == ranking.OfLadder {
				rules = append(rules, s)
			}
		}
		s := rapid.SampledFrom(rules).Draw(rt, "setting")
		c.choose(s.Name, rapid.SampledFrom(s.Choices).Draw(rt, "value"), c.anyPerson("admin"))
		return
	}
	rules := &c.rules
	for _, draw := range rapid.SliceOfN(rapid.SampledFrom([]func(){
		func() { rules.Start = rapid.SampledFrom([]int{5, 1200, 1500}).Draw(rt, "start") },
		func() { rules.PlaceMatches = rapid.IntRange(1, 6).Draw(rt, "matches for a place") },
		func() { rules.K = rapid.SampledFrom([]int{1, 31, 32, 64, 1000}).Draw(rt, "K") },
		func() { rules.Provisional = rapid.SampledFrom(provisionals).Draw(rt, "provisional") },
		func() { rules.Margin = !rules.Margin },
		func() { rules.DrawsAllowed = rapid.IntRange(0, 3).Draw(rt, "draws") > 0 },
		func() { rules.UnevenTeamsAllowed = rapid.IntRange(0, 3).Draw(rt, "uneven teams") > 0 },
	}), 1, 4).Draw(rt, "changes") {
		draw()
	}
	c.storeRules(c.t, c.chat, c.rules)
}

var provisionals = []ranking.Provisional{{}, {K: 64, Matches: 2}, {K: 15, Matches: 4}, {K: 1000, Matches: 1}, {K: 100, Matches: 100}}

// choose has a person choose the value of a rule.
func (c *modelGroup) choose(name, value string, sender int) {
	c.showAccount(sender)
	o := c.origin(c.account(sender))
	o.Button, o.Pressed = o.Key, 55
	set := choice(name, value)
	if err := c.Do(c.t.Context(), o, set); err != nil {
		c.rt.Fatalf("command %d: %v", c.commands, err)
	}
	notice := c.answer(c.t, o.Key, toast)
	now := ranking.GroupSettings{Rules: c.rules}
	before := set.Setting.Value(now)
	if value == before {
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.SameSetting})
		return
	}
	c.seen(sender)
	if n, ok := notice.(ranking.SettingChanged); !ok || n.Before != before || n.After != value {
		c.rt.Fatalf("%s for %s is answered with %+v", value, name, notice)
	}
	c.rules = set.Setting.With(now, value).Rules
}

// total returns the sets that each side won, or the score if there are no sets.
func total(scores []ranking.Score) (a, b int) {
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

// nameOf returns the entity's key in a standingTable.
func (s *model) nameOf(e *entity) string {
	if e.unclaimed {
		return s.username(e.who)
	}
	return fmt.Sprint(s.people[e.who].ID)
}

func (s *model) namesOf(entities []*entity) []string {
	names := make([]string, len(entities))
	for i, e := range entities {
		names[i] = s.nameOf(e)
	}
	return names
}

// compare compares the standings and the history with the reference calculation for the counting matches.
func (c *modelGroup) compare() {
	starts := make(map[string]int)
	for e, entry := range c.entries {
		starts[c.nameOf(e)] = entry.start
	}
	var bouts []countedMatch
	for i, m := range c.matches {
		if !m.undone {
			a, b := total(m.scores)
			bouts = append(bouts, countedMatch{
				Number: i + 1, A: c.namesOf(m.sides[0]), B: c.namesOf(m.sides[1]), ScoreA: a, ScoreB: b,
				plainRules: plainRules{m.rules.K, m.rules.Provisional.K, m.rules.Provisional.Matches, m.rules.Margin},
			})
		}
	}
	table, history := recalculate(starts, bouts)
	if diff := cmp.Diff(table, c.standingTable(c.t, c.chat, byIdentity)); diff != "" {
		c.rt.Fatalf("after %d commands the standings differ (-model +stored):\n%s", c.commands, diff)
	}
	if diff := cmp.Diff(c.lastPlayed(), c.storedLastPlayed(), cmpopts.EquateApproxTime(0)); diff != "" {
		c.rt.Fatalf("after %d commands it differs when players last played (-model +stored):\n%s", c.commands, diff)
	}
	if diff := cmp.Diff(history, c.currentHistory(c.t, c.chat, byIdentity), cmpopts.EquateEmpty()); diff != "" {
		c.rt.Fatalf("after %d commands the history differs (-model +stored):\n%s", c.commands, diff)
	}
}

// lastPlayed returns when the players in the ladder last played, by the matches that count.
func (c *modelGroup) lastPlayed() map[string]time.Time {
	last := make(map[string]time.Time)
	for e := range c.entries {
		last[c.nameOf(e)] = time.Time{}
	}
	for _, m := range c.matches {
		for _, who := range c.namesOf(slices.Concat(m.sides[0], m.sides[1])) {
			if !m.undone && m.playedAt.After(last[who]) {
				last[who] = m.playedAt
			}
		}
	}
	return last
}

func (c *modelGroup) storedLastPlayed() map[string]time.Time {
	all := make(map[string]time.Time)
	for _, p := range rows[struct {
		Who string
		At  *time.Time
	}](c.t, c.game, `
		SELECT `+byIdentity+`, s.last_played_at
		FROM group_players s JOIN players p ON p.id = s.player_id JOIN ladders l ON l.id = s.ladder_id
		JOIN groups g ON g.id = l.group_id JOIN chats ch ON ch.id = g.chat_id
		WHERE ch.telegram_chat_id = $1`, c.chat) {
		all[p.Who] = time.Time{}
		if p.At != nil {
			all[p.Who] = *p.At
		}
	}
	return all
}

// compareHistory checks that the history has one current entry for each player of each counting match, and no others.
func (c *modelGroup) compareHistory() {
	type entries struct{ Number, Parts, Current int }
	var want []entries
	for i, m := range c.matches {
		e := entries{Number: i + 1, Parts: len(m.sides[0]) + len(m.sides[1])}
		if !m.undone {
			e.Current = e.Parts
		}
		want = append(want, e)
	}
	stored := rows[entries](c.t, c.game, `
		SELECT m.number, count(*), count(h.id) FROM matches m JOIN match_players mp ON mp.match_id = m.id
		LEFT JOIN elo_history h ON h.match_id = m.id AND h.player_id = mp.player_id AND h.superseded_at = 'infinity'
		JOIN groups g ON g.id = m.group_id JOIN chats ch ON ch.id = g.chat_id
		WHERE ch.telegram_chat_id = $1 GROUP BY m.number ORDER BY m.number`, c.chat)
	if diff := cmp.Diff(want, stored, cmpopts.EquateEmpty()); diff != "" {
		c.rt.Fatalf("the history differs (-model +stored):\n%s", diff)
	}
}
