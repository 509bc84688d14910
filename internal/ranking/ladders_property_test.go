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

// countChanges makes the database refuse to change a match without counting the change, because
// amendments rely on the count alone.
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
	case how == "reply" && len(c.matches) > 0:
		c.place.replied = rapid.SampledFrom(c.matches).Draw(rt, "replied")
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
	refusal := to.refusal(a, b, m.isEven())
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
	for _, e := range m.players() {
		c.addEntry(to, m.season, e)
	}
}

// replaceAny edits the message of a random match that counts, and that no other match shares, to
// name another player, and accepts the offer. It does nothing if there is no such match or player.
func (c *modelGroup) replaceAny(rt *rapid.T) {
	var all []int
	for i, m := range c.matches {
		ofMessage := func(o *modelMatch) bool { return o.message == m.message }
		if !m.undone && !m.ladder.archived && len(m.players()) < len(c.people) &&
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
	sender := m.reporter.who
	type player struct {
		who       int
		byAccount bool
	}
	var sides [2][]player
	var free []int
	for who := range c.people {
		if !slices.ContainsFunc(m.players(), func(e *entity) bool { return e.who == who }) {
			free = append(free, who)
		}
	}
	if len(free) == 0 {
		return
	}
	replaced := rapid.IntRange(0, len(m.players())-1).Draw(rt, "replaced")
	for side, entities := range m.sides {
		for _, e := range entities {
			p := player{e.who, !e.unclaimed}
			if replaced == 0 {
				p.who = rapid.SampledFrom(free).Draw(rt, "by")
				p.byAccount = rapid.Bool().Draw(rt, "by account") || p.who == sender
			}
			replaced--
			sides[side] = append(sides[side], p)
		}
	}
	scores := c.anyScores()
	a, b := total(scores)
	if m.ladder.refusal(a, b, m.isEven()).Code != "" {
		return
	}
	c.showAccount(sender)
	var report command.Match
	report.Scores, report.StandIns = scores, m.standIns
	for side, to := range []*[]command.Person{&report.A, &report.B} {
		for _, p := range sides[side] {
			if p.byAccount {
				c.showAccount(p.who)
			}
			*to = append(*to, c.person(p.who, p.byAccount))
		}
	}
	if m.undone { // two players of the match were merged, because the edit shows an account
		return
	}
	c.place.thread = rapid.SampledFrom([]int64{0, 8, 9}).Draw(rt, "topic")
	defer c.goHome()
	edit := c.origin(c.account(sender))
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
	for side, players := range sides {
		for i, p := range players {
			m.sides[side][i] = c.entityOf(p.who, p.byAccount)
			c.addEntry(m.ladder, m.season, m.sides[side][i])
			c.isThere(m.sides[side][i], m.playedAt)
		}
	}
}

// fixPlayersAny has an admin fix the players of a random match: with a result, in any way; without
// one, by replacing one player.
func (c *modelGroup) fixPlayersAny(rt *rapid.T) {
	if len(c.matches) == 0 {
		return
	}
	number := rapid.IntRange(1, len(c.matches)).Draw(rt, "number")
	m, sender := c.matches[number-1], c.anyPerson("sender")
	var who []int
	for _, e := range m.players() {
		who = append(who, e.who)
	}
	sides := [2][]int{who[:len(m.sides[0])], who[len(m.sides[0]):]}
	var free []int
	for one := range c.people {
		if !slices.Contains(who, one) {
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
	c.showAccount(sender)
	lineup := command.Command{Name: command.NameMatch, Written: command.NameMatch}
	byAccount := make(map[int]bool)
	for i, players := range sides {
		if i == 1 {
			lineup.Args += "vs "
		}
		for _, p := range players {
			byAccount[p] = rapid.Bool().Draw(rt, "by account") || p == sender
			if byAccount[p] {
				c.showAccount(p)
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
	if !m.undone && m.ladder.archived {
		if n, ok := notice.(ranking.Refusal); !ok || n.Code != ranking.LadderArchived && n.Code != ranking.WrongLineup {
			rt.Fatalf("fixing the players of match %d of an archived ladder is answered with %+v", number, notice)
		}
		return
	}
	if m.undone { // perhaps because the command shows an account, so that two players were merged
		refusal, _ := notice.(ranking.Refusal)
		refusal.Minutes = 0
		c.checkRefusal(refusal, ranking.Refusal{Code: ranking.UndoneAlready, Number: number})
		return
	}
	var named [2][]*entity
	for i, players := range sides {
		for _, p := range players {
			named[i] = append(named[i], c.entityOf(p, byAccount[p]))
		}
	}
	stay := func(a, b []*entity) (n int) {
		for i, side := range [2][]*entity{a, b} {
			for _, e := range side {
				if slices.Contains(m.sides[i], e) {
					n++
				}
			}
		}
		return n
	}
	fits := func(first []*entity) bool { return len(first) == len(m.sides[0]) }
	isMore := stay(named[1], named[0]) > stay(named[0], named[1])
	if written == "" && stay(named[0], named[1])+stay(named[1], named[0]) == 0 {
		isMore = m.turned // the first side on the card comes first
	}
	if fits(named[1]) && (isMore || !fits(named[0])) {
		slices.Reverse(named[:])
		slices.Reverse(standIns[:])
		score.A, score.B = score.B, score.A
	}
	if standIns != [2]int{} && standIns != m.standIns {
		c.checkRefusal(notice, ranking.Refusal{Code: ranking.WrongLineup, Number: number})
		return
	}
	scores := m.scores
	if written != "" {
		scores = []ladder.Score{score}
	}
	isSame := slices.Equal(scores, m.scores)
	for i := range named {
		isSame = isSame && !slices.ContainsFunc(named[i], func(e *entity) bool { return !slices.Contains(m.sides[i], e) })
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
	for i, side := range m.sides {
		added := slices.DeleteFunc(slices.Clone(named[i]), func(e *entity) bool { return slices.Contains(side, e) })
		for at, e := range side {
			if !slices.Contains(named[i], e) {
				m.sides[i][at], added = added[0], added[1:]
			}
		}
	}
	for _, e := range m.players() {
		c.addEntry(m.ladder, m.season, e)
		c.isThere(e, m.playedAt)
	}
}

func (c *modelGroup) joinAny(rt *rapid.T) {
	c.goAnywhere(rt)
	c.place.named, c.place.replied = nil, nil
	defer c.goHome()
	who := c.anyPerson("who")
	c.showAccount(who)
	o := c.origin(c.account(who))
	c.send(o, func(o ranking.Origin) error { return c.Do(c.t.Context(), o, ranking.Join{}) })
	c.addEntry(c.standard, c.standard.season(), c.seen(who))
	c.isThere(c.seen(who), o.SentAt)
}

func (c *modelGroup) leaveAny(*rapid.T) {
	who := c.anyPerson("who")
	c.showAccount(who)
	o := c.origin(c.account(who))
	o.Sender, o.Key = nil, "s:"+o.Key
	c.send(o, func(o ranking.Origin) error { return c.MemberLeft(c.t.Context(), o, c.account(who)) })
	e := c.known[who]
	for _, l := range c.ladders {
		_, there := l.season().entries[e]
		if _, gone := c.left[e]; there && !gone {
			c.left[e] = o.SentAt
		}
	}
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
