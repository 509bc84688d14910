package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
)

const (
	takeBackKills    = 15
	takeBackCommands = 150
	takeBackGroups   = 3
)

// takeBackCrash is a bot that is killed while results come in, are undone and corrected.
type takeBackCrash struct {
	*crash
	tables   []*table
	commands int
}

// table is one of its groups, with what must become of all that was asked there.
type table struct {
	group   *botsim.Chat
	matches []*reported
	answers []wantedAnswer // in this order
	toasts  map[string]string
	undone  int
	fixed   int
}

// reported is a match as it must be. It lists what counts; nothing here is reckoned backwards.
type reported struct {
	said     botsim.Message
	a, b     botsim.User
	score    [2]int
	was      [2]int // before it was corrected, if it was
	fixed    bool
	turned   bool // the card has b first, who had won at first
	undoneBy string
}

// wantedAnswer is an answer that must come: what it replies to, and what it begins with.
type wantedAnswer struct {
	replyTo int
	text    string
}

// TestKilledWhileTakingBack kills the bot at random moments while results are undone and corrected, by commands and by
// buttons. Everything must take effect once, in order, be told, and leave the ratings of the matches that count.
func TestKilledWhileTakingBack(t *testing.T) {
	t.Parallel()
	c := &takeBackCrash{crash: startCrash(t, takeBackGroups)}
	for _, group := range c.groups {
		c.tables = append(c.tables, &table{group: group, toasts: make(map[string]string)})
	}
	c.dealCards()
	for kill := range takeBackKills {
		c.liveAndDie(func() {
			for ; c.commands < takeBackCommands*(kill+1)/takeBackKills; c.commands++ {
				c.command(c.tables[c.random.IntN(takeBackGroups)])
			}
		})
	}
	launch(t, crashEnvironment(environment(c.sim, c.url)), "run")
	eventually(t, "everything is taken and sent", func() bool {
		const waiting = `SELECT count(*) FROM outbox WHERE state IN ('planned', 'sending')`
		return c.sim.Pending() == 0 && count(t, c.pool, waiting) == 0
	})
	if n := count(t, c.pool, `SELECT count(*) FROM dead_letters`); n != 0 {
		t.Errorf("there are %d dead letters", n)
	}
	var matches, undone, fixed, presses int
	for _, b := range c.tables {
		c.checkTable(b)
		matches, undone, fixed, presses = matches+len(b.matches), undone+b.undone, fixed+b.fixed, presses+len(b.toasts)
	}
	t.Logf("%d kills during %d commands, of %d matches %d undone, %d corrections, %d presses: "+
		"%d before a commit, %d between commit and acknowledgement, %d between send and mark",
		takeBackKills, takeBackCommands, matches, undone, fixed, presses,
		c.beforeCommit, c.beforeAcknowledgement, c.beforeMark)
	if undone == 0 || fixed == 0 || presses == 0 {
		t.Error("the test has tried nothing")
	}
	verifyClean(t, c.url)
	checkNoComplaints(t, c.sim)
}

// dealCards plays a match at each table and waits for its card, so that there are buttons to press from the beginning,
// however slowly all that follows is answered.
func (c *takeBackCrash) dealCards() {
	bot := launch(c.t, crashEnvironment(environment(c.sim, c.url)), "run")
	for _, b := range c.tables {
		before := len(b.group.BotMessages())
		c.match(b, c.people[0], c.people[1])
		awaitAnswers(c.t, b.group, before+1)
	}
	bot.kill()
	c.awaitSilence()
	c.handled = handledKeys(c.t, c.pool)
}

// command lets somebody do something at random.
func (c *takeBackCrash) command(b *table) {
	order := c.random.Perm(len(c.people))
	sender, opponent := c.people[order[0]], c.people[order[1]]
	number := 1 + c.random.IntN(len(b.matches)+1) // at times one more than there are
	switch kind := c.random.IntN(20); {
	case len(b.matches) == 0, kind < 8:
		c.match(b, sender, opponent)
	case kind < 10:
		c.undo(b, sender, number)
	case kind < 17:
		score := [2]int{c.random.IntN(4), c.random.IntN(4)}
		m := b.group.Say(sender, fmt.Sprintf("/fix %d %d:%d", number, score[0], score[1]))
		c.post(m)
		b.expect(m.ID, b.fix(number, sender, score))
	default:
		c.press(b, sender)
	}
}

func (c *takeBackCrash) match(b *table, sender, opponent botsim.User) {
	m := &reported{a: sender, b: opponent, score: [2]int{c.random.IntN(4), c.random.IntN(4)}}
	m.turned = m.score[1] > m.score[0]
	m.said = b.group.Say(sender, fmt.Sprintf("/match %s %d:%d", mention(opponent), m.score[0], m.score[1]))
	c.post(m.said)
	b.matches = append(b.matches, m)
	b.expect(m.said.ID, "") // how the card reads depends on when it is sent
}

func (c *takeBackCrash) undo(b *table, sender botsim.User, number int) {
	m := b.group.Say(sender, fmt.Sprintf("/undo %d", number))
	c.post(m)
	b.expect(m.ID, b.undo(number, sender))
}

// press presses the button of a match's card, be it there still or not: that of any match whose card has come.
func (c *takeBackCrash) press(b *table, sender botsim.User) {
	cards := b.group.BotMessages()
	for _, at := range c.random.Perm(len(cards)) {
		said := func(m *reported) bool { return m.said.ID == cards[at].ReplyTo }
		number := 1 + slices.IndexFunc(b.matches, said)
		if number == 0 {
			continue
		}
		id := c.sim.Press(sender, cards[at], fmt.Sprintf("undo:%d", number))
		c.keys = append(c.keys, "c:"+id)
		c.posted.Add(1)
		undone := b.undone
		b.toasts[id] = b.undo(number, sender)
		if b.undone > undone {
			b.expect(cards[at].ID, b.toasts[id])
		}
		return
	}
}

func (b *table) expect(replyTo int, text string) {
	b.answers = append(b.answers, wantedAnswer{replyTo, text})
}

// refuse returns why somebody cannot take a match back, or nothing.
func (b *table) refuse(number int, sender botsim.User) string {
	if number > len(b.matches) {
		return fmt.Sprintf("There is no match #%d", number)
	}
	switch m := b.matches[number-1]; {
	case m.undoneBy != "":
		return fmt.Sprintf("Match #%d is undone already", number)
	case sender.ID != m.a.ID && sender.ID != m.b.ID && sender.Username != "alice": // who has created the groups
		return fmt.Sprintf("Only those who played or reported match #%d", number)
	}
	return ""
}

func (b *table) undo(number int, sender botsim.User) (answer string) {
	if no := b.refuse(number, sender); no != "" {
		return no
	}
	b.matches[number-1].undoneBy = sender.FirstName
	b.undone++
	return fmt.Sprintf("Match #%d is undone: ", number)
}

// fix corrects a score, which is in the order of the card.
func (b *table) fix(number int, sender botsim.User, score [2]int) (answer string) {
	no := b.refuse(number, sender)
	if number > len(b.matches) || b.matches[number-1].undoneBy != "" {
		return no
	}
	m := b.matches[number-1]
	if m.turned {
		score = [2]int{score[1], score[0]}
	}
	switch {
	case score == m.score:
		return fmt.Sprintf("Match #%d has this score already", number)
	case no != "":
		return no
	}
	m.was, m.score, m.fixed = m.score, score, true
	b.fixed++
	return fmt.Sprintf("Match #%d is corrected: %s (was ", number, m.head())
}

// head is the first line of the card.
func (m *reported) head() string {
	a, b, score := m.a.FirstName, m.b.FirstName, m.score
	if m.turned {
		a, b, score = b, a, [2]int{score[1], score[0]}
	}
	verb := "%s lost to %s %d:%d"
	switch {
	case score[0] > score[1]:
		verb = "%s beat %s %d:%d"
	case score[0] == score[1]:
		verb = "%s and %s drew %d:%d"
	}
	return fmt.Sprintf(verb, a, b, score[0], score[1])
}

// checkTable compares everything in a group, and everything that is stored of it, with what must be there.
func (c *takeBackCrash) checkTable(b *table) {
	c.checkAnswers(b)
	for id, want := range b.toasts {
		answer, err := c.sim.WaitAnswer(testContext(c.t), id)
		if got := visible(botsim.Message{Text: answer.Text}); err != nil || !strings.HasPrefix(got, want) {
			c.t.Errorf("whoever pressed was told %q (%v), want %q", got, err, want)
		}
	}
	truth := newOracle()
	for i, m := range b.matches {
		c.checkCard(b, i+1, m)
		if m.undoneBy == "" {
			truth.play(m.a.FirstName, m.b.FirstName, m.score[0], m.score[1], m.a.FirstName)
		}
	}
	c.checkStored(b, truth)
}

// checkAnswers compares the first copies of all answers with those that had to come, in their order. Further copies
// must have been counted as perhaps sent.
func (c *takeBackCrash) checkAnswers(b *table) {
	type counted struct{ ReplyTo, Perhaps int }
	perhaps := make(map[int]int)
	for _, row := range collect(c.t, c.pool, pgx.RowToStructByPos[counted], `
		SELECT o.reply_to, o.perhaps_sent FROM outbox o JOIN chats c ON c.id = o.chat_id
		WHERE c.telegram_chat_id = $1 AND o.reply_to IS NOT NULL`, b.group.ID()) {
		perhaps[row.ReplyTo] = row.Perhaps
	}
	times := make(map[int]int)
	next := 0
	for _, m := range b.group.BotMessages() {
		if asked, _ := b.group.Message(m.ReplyTo); asked.Text == "/join" {
			continue
		}
		times[m.ReplyTo]++
		if n := times[m.ReplyTo]; n > 1 {
			if n > 1+perhaps[m.ReplyTo] {
				c.t.Errorf("message %d was answered %d times and counted as perhaps sent %d times",
					m.ReplyTo, n, perhaps[m.ReplyTo])
			}
			continue
		}
		if next == len(b.answers) {
			c.t.Fatalf("%s has an answer too many:\n%s", b.group.Title(), visible(m))
		}
		if want := b.answers[next]; m.ReplyTo != want.replyTo || !strings.HasPrefix(visible(m), want.text) {
			c.t.Fatalf("%s, answer %d is to message %d:\n%s\nwant to %d:\n%s",
				b.group.Title(), next+1, m.ReplyTo, visible(m), want.replyTo, want.text)
		}
		next++
	}
	if next != len(b.answers) {
		c.t.Errorf("%s has %d answers, want %d", b.group.Title(), next, len(b.answers))
	}
}

// checkCard checks how the card of a match reads in the end. Of several copies it is the last that the bot knows.
func (c *takeBackCrash) checkCard(b *table, number int, m *reported) {
	all := b.group.BotMessages()
	slices.Reverse(all)
	i := slices.IndexFunc(all, func(card botsim.Message) bool { return card.ReplyTo == m.said.ID })
	if i < 0 {
		c.t.Errorf("%s: match %d has no card", b.group.Title(), number)
		return
	}
	head, rest, _ := strings.Cut(visible(all[i]), "\n")
	if head != m.head() {
		c.t.Errorf("%s: the card of match %d says %q, want %q", b.group.Title(), number, head, m.head())
	}
	if m.undoneBy != "" {
		checkUndone(c.t, all[i], fmt.Sprintf("Match #%d · undone by %s", number, m.undoneBy))
		return
	}
	want := fmt.Sprintf("Match #%d", number)
	if m.fixed {
		was := m.was
		if m.turned {
			was = [2]int{was[1], was[0]}
		}
		want += fmt.Sprintf(" · corrected from %d:%d", was[0], was[1])
	}
	if !strings.HasSuffix(rest, want) {
		c.t.Errorf("%s: the card of match %d ends with %q, want %q", b.group.Title(), number, rest, want)
	}
	if data := undoButton(c.t, all[i]); data != fmt.Sprintf("undo:%d", number) {
		c.t.Errorf("%s: the button of match %d says %q", b.group.Title(), number, data)
	}
}

// checkStored compares the matches and the standings in the database with what was reported.
func (c *takeBackCrash) checkStored(b *table, truth *oracle) {
	type stored struct {
		A, B   int
		Undone bool
		Fixes  int
	}
	matches := collect(c.t, c.pool, pgx.RowToStructByPos[stored], `
		SELECT m.score_a, m.score_b, m.undone_at IS NOT NULL, (SELECT count(*) FROM match_fixes f WHERE f.match_id = m.id)
		FROM matches m JOIN groups g ON g.id = m.group_id JOIN chats c ON c.id = g.chat_id
		WHERE c.telegram_chat_id = $1 ORDER BY m.number`, b.group.ID())
	if len(matches) != len(b.matches) {
		c.t.Fatalf("%s: %d matches are stored, want %d", b.group.Title(), len(matches), len(b.matches))
	}
	fixes := 0
	for i, m := range b.matches {
		got := matches[i]
		fixes += got.Fixes
		if got.A != m.score[0] || got.B != m.score[1] || got.Undone != (m.undoneBy != "") || (got.Fixes > 0) != m.fixed {
			c.t.Errorf("%s: match %d is stored as %+v, want %+v", b.group.Title(), i+1, got, m)
		}
	}
	if fixes != b.fixed {
		c.t.Errorf("%s: %d corrections are stored, want %d", b.group.Title(), fixes, b.fixed)
	}
	type standing struct {
		Name             string
		Elo              int
		Won, Drawn, Lost int
	}
	for _, got := range collect(c.t, c.pool, pgx.RowToStructByPos[standing], `
		SELECT s.name, s.elo, s.won, s.drawn, s.lost FROM group_players s
		JOIN ladders l ON l.id = s.ladder_id JOIN groups g ON g.id = l.group_id JOIN chats c ON c.id = g.chat_id
		WHERE c.telegram_chat_id = $1`, b.group.ID()) {
		elo, played := truth.ratings[got.Name]
		if !played {
			elo = 1500
		}
		r := truth.record[got.Name]
		if want := (standing{got.Name, elo, r[0], r[1], r[2]}); got != want {
			c.t.Errorf("%s: the standing is %+v, want %+v", b.group.Title(), got, want)
		}
	}
}
