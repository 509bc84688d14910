package ranking_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// countChanges makes the database refuse a change of a match that leaves matches.changes as it was,
// because amendments rely on that count alone.
func countChanges(t *testing.T, g *game) {
	t.Helper()
	dbtest.Exec(t, g.pool, `
		CREATE FUNCTION not_counted() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN RAISE EXCEPTION 'match % has changed without counting it', NEW.id; END $$`)
	const columns = `(%[1]s.score_a, %[1]s.score_b, %[1]s.sets, %[1]s.winner,
		%[1]s.ladder_id, %[1]s.season_id, %[1]s.undone_at)`
	dbtest.Exec(t, g.pool, `
		CREATE TRIGGER not_counted BEFORE UPDATE ON matches FOR EACH ROW
		WHEN (OLD.changes = NEW.changes AND `+fmt.Sprintf(columns, "OLD")+` IS DISTINCT FROM `+fmt.Sprintf(columns, "NEW")+`)
		EXECUTE FUNCTION not_counted()`)
}

// place is where a command is sent, and how it refers to its ladder.
type place struct {
	thread  int64        // 0 for none
	named   *modelLadder // named by the first words, nil for none
	replied *modelMatch  // match whose report is replied to, nil for none
}

func (p place) words() string { return strings.ToUpper(p.named.name) }

func (p place) in(o *ranking.Origin) {
	o.Thread = p.thread
	if p.named != nil {
		o.Said = command.Command{MayNameLadder: true, Args: p.words() + " and more"}
	}
	if p.replied != nil {
		o.Replied = ranking.MatchRef{Key: p.replied.key}
	}
}

// applies returns the ladder to which a command from the current place applies, unless it amends a
// match.
func (c *modelGroup) applies() *modelLadder {
	switch p := c.place; {
	case p.named != nil:
		return p.named
	case p.replied != nil:
		return p.replied.ladder
	case c.topics[p.thread] != nil:
		return c.topics[p.thread]
	}
	return c.standard
}

// goAnywhere draws the place of the next commands, if the group has several ladders.
func (c *modelGroup) goAnywhere(rt *rapid.T) {
	if len(c.ladders) == 1 {
		return
	}
	c.place.thread = rapid.SampledFrom([]int64{0, 8, 9}).Draw(rt, "topic")
	switch how := rapid.SampledFrom([]string{"here", "here", "named", "reply"}).Draw(rt, "ladder by"); {
	case how == "named":
		c.place.named = c.anyLadder(rt, "named")
	case how == "reply" && len(c.there()) > 0:
		c.place.replied = rapid.SampledFrom(c.there()).Draw(rt, "replied")
	}
}

func (c *modelGroup) goHome() { c.place = place{} }

func (c *modelGroup) anyLadder(rt *rapid.T, label string) *modelLadder {
	return c.ladders[rapid.IntRange(0, len(c.ladders)-1).Draw(rt, label)]
}

// readLadders reads the ids of the model's ladders from the database.
func (c *modelGroup) readLadders() {
	for i, id := range rows1[int64](c.t, c.game, `
		SELECT l.id FROM ladders l JOIN groups g ON g.id = l.group_id JOIN chats ch ON ch.id = g.chat_id
		WHERE `+laddersOf+` ORDER BY l.id`, c.chat) {
		c.ladders[i].id = id
	}
}

func (c *modelGroup) moveAny(rt *rapid.T) {
	to := c.anyLadder(rt, "to")
	notice, m, number := c.amendAny(rt, func(o ranking.Origin, a ranking.Amendment) error {
		return c.Do(asAdmin(c.t), o,
			ranking.MoveMatch{Amendment: a, Name: strings.ToUpper(to.name), Otherwise: ranking.Refusal{Code: "no_ladder"}})
	})
	if m == nil {
		return
	}
	a, b := total(m.scores)
	refusal := to.refusal(a, b, false, m.isEven())
	if m.ladder == to {
		refusal = ranking.Refusal{Code: ranking.SameLadder, Number: number, Name: to.name}
	}
	if refusal.Code != "" {
		c.checkRefusal(notice, refusal)
		return
	}
	if n, ok := notice.(ranking.MatchMoved); !ok || n.Number != number || n.From != m.ladder.name || n.To != to.name {
		rt.Fatalf("moving match %d is answered with %+v", number, notice)
	}
	c.reach(to, m.playedAt)
	m.ladder, m.season, m.rules = to, to.seasonAt(m.playedAt), to.rules.RatingRules
	if m.isOfOtherDay() {
		c.order = slices.DeleteFunc(c.order, func(o *modelMatch) bool { return o == m })
		c.insert(m, false)
	}
	for _, e := range m.players() {
		c.addEntry(to, m.season, e)
	}
}

// replaceAny edits the message of a random match to name another player, and accepts the offer. The
// match must count and must be the only one of its message, and its sender must not have been split
// from the player who reported it. If there is no such match or player, replaceAny does nothing.
func (c *modelGroup) replaceAny(rt *rapid.T) {
	var all []int
	for i, m := range c.matches {
		ofMessage := func(o *modelMatch) bool { return o.message == m.message }
		if !c.isUndone(m) && !m.ladder.archived && c.is(m.sender, m.reporter) &&
			len(m.who()) > 0 && len(m.who()) < len(c.people) &&
			slices.Index(c.matches, m) == slices.IndexFunc(c.matches, ofMessage) &&
			(i+1 == len(c.matches) || !ofMessage(c.matches[i+1])) {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return
	}
	number := rapid.SampledFrom(all).Draw(rt, "match") + 1
	m := c.matches[number-1]
	who, byAccount := m.who(), make(map[int]bool)
	for _, e := range m.players() {
		byAccount[e.who] = !e.unclaimed
	}
	var free []int
	for one := range c.people {
		if !slices.Contains(who, one) {
			free = append(free, one)
		}
	}
	scores := c.anyScores()
	if len(free) == 0 {
		return
	}
	by := rapid.SampledFrom(free).Draw(rt, "by")
	replaced := rapid.IntRange(0, len(who)-1).Draw(rt, "replaced")
	byAccount[by] = c.anyShown(by, m.sender)
	who[replaced] = by
	a, b := total(scores)
	named := c.resolve(who, byAccount)
	for i, e := range m.players() {
		// A username may have passed to an account that counts for another player.
		if (i != replaced) != (named[i] != nil && c.as(named[i]) == c.as(e)) {
			return
		}
	}
	if m.ladder.refusal(a, b, c.isDoubled(named), m.isEven()).Code != "" || c.areOut(named) {
		return
	}
	sides := [2][]int{who[:len(m.sides[0])], who[len(m.sides[0]):]}
	var report command.Match
	report.Scores, report.StandIns = scores, m.standIns
	c.showAccount(m.sender)
	for side, to := range []*[]command.Person{&report.A, &report.B} {
		for _, p := range sides[side] {
			if byAccount[p] {
				c.showAccount(p)
			}
			*to = append(*to, c.person(p, byAccount[p]))
		}
	}
	c.place.thread = rapid.SampledFrom([]int64{0, 8, 9}).Draw(rt, "topic")
	defer c.goHome()
	edit := c.origin(c.account(m.sender))
	edit.Message, edit.Trigger = m.message, ranking.ByEdit
	c.send(edit, func(o ranking.Origin) error { return c.RecordMatch(c.t.Context(), o, report) })
	if n, ok := c.answer(c.t, edit.Key, "reply_to = 7").(ranking.ReportPrompt); !ok || n.Doubt != ranking.DoubtPlayers {
		rt.Fatalf("an edit of match %d is answered with %+v", number, n)
	}
	presser := c.anyPerson("presser")
	c.showAccount(presser)
	notice := c.respond(c.t, c.press(c.account(presser)), c.newestPrompt(c.t), ranking.Choice(0))
	if n, ok := notice.(ranking.MatchFixed); !ok || n.Number != number {
		rt.Fatalf("replacing the players of match %d is answered with %+v", number, notice)
	}
	c.seen(presser)
	// An outcome without points does not replace a score with that outcome.
	if oldA, oldB := total(m.scores); scores[0].HasPoints() || cmp.Compare(a, b) != cmp.Compare(oldA, oldB) {
		m.scores = scores
	}
	if a != b {
		m.turned = b > a
	}
	c.setPlayers(m, [2][]*entity{c.entitiesOf(sides[0], byAccount), c.entitiesOf(sides[1], byAccount)})
}

// setPlayers gives a match new players, who were in the group when it was played. Players who
// already played in it are still named as before, and keep their places if they stay on their side.
// The change says nothing new about where they were.
func (c *modelGroup) setPlayers(m *modelMatch, named [2][]*entity) {
	before := m.players()
	for i, side := range m.sides {
		added := slices.DeleteFunc(slices.Clone(named[i]), func(e *entity) bool { return c.contains(side, e) })
		for at, e := range side {
			if !c.contains(named[i], e) {
				m.sides[i][at], added = added[0], added[1:]
			}
		}
		for at, e := range m.sides[i] {
			if was := slices.IndexFunc(before, func(o *entity) bool { return c.as(o) == c.as(e) }); was >= 0 {
				m.sides[i][at] = before[was]
			}
		}
	}
	for _, e := range m.players() {
		c.addEntry(m.ladder, m.season, e)
		if !c.contains(before, e) {
			c.isThere(e, m.playedAt)
		}
	}
}

// who returns the people who were named in a match. It returns nil if one of them was named both as
// an account and by a username that was not the account's.
func (m *modelMatch) who() (people []int) {
	for _, e := range m.players() {
		if slices.Contains(people, e.who) {
			return nil
		}
		people = append(people, e.who)
	}
	return people
}

// fixPlayersAny has an admin fix the players of a random match. A fix with a result may rearrange
// the players and bring in others. A fix without a result replaces at most one player.
func (c *modelGroup) fixPlayersAny(rt *rapid.T) {
	if len(c.matches) == 0 {
		return
	}
	number := rapid.IntRange(1, len(c.matches)).Draw(rt, "number")
	m, sender := c.matches[number-1], c.anyPerson("sender")
	who := m.who()
	if len(who) == 0 || m.gone {
		return
	}
	sides := [2][]int{who[:len(m.sides[0])], who[len(m.sides[0]):]}
	var free []int
	for one := range c.people {
		isNewGuest := c.isGuest(one) && c.unclaimed[one] == nil // the bot would ask about such a name
		if !slices.Contains(who, one) && !isNewGuest {
			free = append(free, one)
		}
	}
	if len(free) > 0 {
		free = rapid.Permutation(free).Draw(rt, "free")
	}
	written := ""
	score := ladder.Score{A: rapid.IntRange(0, 9).Draw(rt, "a"), B: rapid.IntRange(0, 9).Draw(rt, "b")}
	if rapid.Bool().Draw(rt, "with a result") {
		all := append(slices.Clone(who), free[:min(len(free), rapid.IntRange(0, 2).Draw(rt, "added"))]...)
		copy(who, rapid.Permutation(all).Draw(rt, "players"))
		written = " " + score.String()
	} else if len(free) > 0 {
		who[rapid.IntRange(0, len(who)-1).Draw(rt, "replaced")] = free[0]
	}
	standIns := rapid.SampledFrom([][2]int{{}, m.standIns, m.standIns, c.anyStandIns()}).Draw(rt, "typed stand-ins")
	if rapid.Bool().Draw(rt, "other order") {
		slices.Reverse(sides[:])
		slices.Reverse(standIns[:])
	}
	byAccount := make(map[int]bool)
	c.showAccount(sender)
	for _, p := range slices.Concat(sides[0], sides[1]) {
		if byAccount[p] = c.anyShown(p, sender); byAccount[p] {
			c.showAccount(p) // may claim a player of the match, so it must precede resolve
		}
	}
	named := [2][]*entity{c.resolve(sides[0], byAccount), c.resolve(sides[1], byAccount)}
	stay := func(a, b []*entity) (n int) {
		for i, side := range [2][]*entity{a, b} {
			for _, e := range side {
				if c.contains(m.sides[i], e) {
					n++
				}
			}
		}
		return n
	}
	here, exchanged := stay(named[0], named[1]), stay(named[1], named[0])
	fits := func(first []*entity) bool { return len(first) == len(m.sides[0]) }
	if (exchanged > 0 || !fits(named[0])) && (here > 0 || !fits(named[1])) { // without a result, the bot might ask
		written = " " + score.String()
	}
	lineup := command.Command{Name: command.NameMatch, Written: command.NameMatch}
	for i, players := range sides {
		if i == 1 {
			lineup.Args += "vs "
		}
		for _, p := range players {
			if c.isGuest(p) {
				lineup.Args += c.people[p].Name + " "
				continue
			}
			lineup.Args += "\uFFFC "
			lineup.Mentions = append(lineup.Mentions, c.person(p, byAccount[p]))
		}
		lineup.Args += strings.Repeat("guest ", standIns[i])
	}
	lineup.Args += written
	notice := c.command(c.account(sender), func(o ranking.Origin) error {
		o.Said = lineup
		o.Said.Sender = c.account(sender)
		lineup.Sender = o.Said.Sender
		return c.Do(asAdmin(c.t), o, ranking.FixPlayers{
			Amendment: ranking.Amendment{Match: ranking.MatchRef{Number: number}}, Lineup: lineup,
		})
	})
	if c.isUndone(m) {
		refusal, _ := notice.(ranking.Refusal)
		refusal.Minutes = 0
		c.checkRefusal(refusal, ranking.Refusal{Code: ranking.UndoneAlready, Number: number})
		return
	}
	if c.isDoubled(slices.Concat(named[0], named[1])) {
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.SamePlayer})
		return
	}
	isMore := exchanged > here
	if written == "" && exchanged+here == 0 {
		isMore = m.turned // the first side on the card comes first
	}
	if fits(named[1]) && (isMore || !fits(named[0])) {
		slices.Reverse(sides[:])
		slices.Reverse(named[:])
		slices.Reverse(standIns[:])
		score.A, score.B = score.B, score.A
	}
	if standIns != [2]int{} && standIns != m.standIns {
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.WrongLineup, Number: number})
		return
	}
	if c.areOut(slices.Concat(named[0], named[1])) {
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.PlayerOut})
		return
	}
	if m.ladder.archived {
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.LadderArchived, Name: m.ladder.name})
		return
	}
	scores := m.scores
	if written != "" {
		scores = []ladder.Score{score}
	}
	isSame := slices.Equal(scores, m.scores)
	for i := range named {
		isSame = isSame && !slices.ContainsFunc(named[i], func(e *entity) bool { return !c.contains(m.sides[i], e) })
	}
	if isSame {
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.SameLineup, Number: number})
		return
	}
	if written != "" && score.A == score.B && !m.ladder.rules.DrawsAllowed {
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.NoDraws})
		return
	}
	if n, ok := notice.(ranking.MatchFixed); !ok || n.Number != number {
		rt.Fatalf("fixing the players of match %d is answered with %+v", number, notice)
	}
	c.seen(sender)
	if a, b := total(scores); a != b && written != "" {
		m.turned = b > a
	}
	m.scores = scores
	c.setPlayers(m, [2][]*entity{c.entitiesOf(sides[0], byAccount), c.entitiesOf(sides[1], byAccount)})
}

// ladderNames are the possible names of ladders. Some of the names begin with another name.
var ladderNames = []string{"chess", "table tennis", "table", "padel", "Padel doubles"}

// changeLadders has an admin change the ladders of the group.
func (c *modelGroup) changeLadders(rt *rapid.T) {
	change := ranking.ChangeLadder{
		Change: rapid.SampledFrom([]ranking.LadderChange{
			ranking.AddLadder, ranking.UseLadder, ranking.UseLadder, ranking.RenameLadder,
			ranking.ArchiveLadder, ranking.ArchiveLadder,
		}).Draw(rt, "change"),
		Name: rapid.SampledFrom(ladderNames).Draw(rt, "name"),
	}
	thread := rapid.SampledFrom([]int64{0, 8, 9}).Draw(rt, "topic")
	if change.Change == ranking.AddLadder && len(c.ladders) == 3 {
		change.Change = ranking.UseLadder
	}
	was := ""
	if change.Change == ranking.RenameLadder && rapid.Bool().Draw(rt, "other") {
		was = c.anyLadder(rt, "renamed").name
	}
	c.mustChange(change, thread, was)
}

// mustChange has an admin change a ladder in a topic, or outside of topics if thread is 0. was
// names the ladder to rename; if it is empty, the command has only the new name.
func (c *modelGroup) mustChange(change ranking.ChangeLadder, thread int64, was string) {
	c.place.thread = thread
	defer c.goHome()
	find := func(name string) *modelLadder {
		i := slices.IndexFunc(c.ladders, func(l *modelLadder) bool { return strings.EqualFold(l.name, name) })
		if i < 0 {
			return nil
		}
		return c.ladders[i]
	}
	meant, same := find(change.Name), find(change.Name)
	name := change.Name
	if change.Change == ranking.RenameLadder {
		if meant = c.applies(); was != "" {
			meant, change.Name = find(was), was+" "+name
		} else if first, rest, two := strings.Cut(name, " "); two && find(first) != nil {
			meant, name, same = find(first), rest, find(rest)
		} else if len(c.ladders) > 1 {
			meant, same = nil, nil
		}
		change.Sure = true
	}
	sender := c.anyPerson("admin")
	c.showAccount(sender)
	notice := c.command(c.account(sender), func(o ranking.Origin) error { return c.Do(asAdmin(c.t), o, change) })
	var refusal ranking.Refusal
	switch {
	case change.Change == ranking.AddLadder && same != nil,
		change.Change == ranking.RenameLadder && same != nil && (same != meant || same.name == name):
		refusal = ranking.Refusal{Code: ranking.LadderExists, Name: name}
	case change.Change == ranking.RenameLadder && meant == nil:
		var names []string
		for _, l := range c.ladders {
			if !l.archived {
				names = append(names, l.name)
			}
		}
		refusal = ranking.Refusal{Code: ranking.RenameWhich, Name: strings.Join(names, ", ")}
	case change.Change != ranking.AddLadder && meant == nil:
		refusal = ranking.Refusal{Code: ranking.NoSuchLadder, Name: name}
	case change.Change == ranking.ArchiveLadder && meant == c.standard:
		refusal = ranking.Refusal{Code: ranking.DefaultLadder, Name: meant.name}
	}
	if refusal.Code != "" {
		c.checkRefusal(notice, refusal)
		return
	}
	if n, ok := notice.(ranking.LadderChanged); !ok || n.Change != change.Change {
		c.rt.Fatalf("%+v is answered with %+v", change, notice)
	}
	switch change.Change {
	case ranking.AddLadder:
		if c.ladders[0].name == "" {
			c.ladders[0].name = change.First
		}
		c.ladders = append(c.ladders, newModelLadder(name))
		c.readLadders()
	case ranking.RenameLadder:
		meant.name = name
	case ranking.ArchiveLadder:
		meant.archived = true
	case ranking.UseLadder:
		if meant.archived = false; thread == 0 {
			c.standard = meant
		} else {
			c.topics[thread] = meant
		}
	}
}
