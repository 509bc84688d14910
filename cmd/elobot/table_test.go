package main_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

// table is a group in which results are reported, undone and corrected, by commands and buttons. It
// keeps the matches and answers that the bot should have.
type table struct {
	t               *testing.T
	sim             *botsim.Server
	pool            *pgxpool.Pool
	group           *botsim.Chat
	matches         []*reported
	answers         []wantedAnswer    // in the expected order
	callbackAnswers map[string]string // expected beginnings, by callback query id
	keys            []string          // of all commands except /join, in update order
	undone          int
	fixed           int
}

// reported is the expected state of a match.
type reported struct {
	posted botsim.Message
	a, b   botsim.User
	score  [2]int
	was    [2]int // score before the last correction
	fixed  bool
	// turned means that the card names b first: b has won, or had won before a fix made it a draw.
	turned   bool
	undoneBy string
	changes  int // how many undos, restores and fixes
}

// wantedAnswer is an expected answer: the message that it replies to, and the start of its text.
type wantedAnswer struct {
	replyTo int
	text    string
}

func newTable(t *testing.T, sim *botsim.Server, pool *pgxpool.Pool, group *botsim.Chat) *table {
	t.Helper()
	return &table{t: t, sim: sim, pool: pool, group: group, callbackAnswers: make(map[string]string)}
}

func (b *table) say(sender botsim.User, text string) botsim.Message {
	m := b.group.Say(sender, text)
	b.keys = append(b.keys, key(m))
	return m
}

func (b *table) match(sender, opponent botsim.User, own, other int) {
	m := &reported{a: sender, b: opponent, score: [2]int{own, other}, turned: other > own}
	m.posted = b.say(sender, fmt.Sprintf("/match %s %d:%d", mention(opponent), own, other))
	b.matches = append(b.matches, m)
	b.expect(m.posted.ID, "") // its text depends on the time of sending
}

func (b *table) undo(sender botsim.User, number int) {
	b.expect(b.say(sender, fmt.Sprintf("/undo %d", number)).ID, b.amend(number, sender))
}

// fix corrects the score of match number. The new score is in the order in which the card names the
// players.
func (b *table) fix(sender botsim.User, number int, score [2]int) {
	b.expect(b.say(sender, fmt.Sprintf("/fix %d %d:%d", number, score[0], score[1])).ID, b.correct(number, sender, score))
}

// press presses the undo button of a match's card, even if the card has lost it. It reports whether
// the card had been sent.
func (b *table) press(sender botsim.User, number int) bool {
	card, ok := b.card(number)
	if !ok {
		return false
	}
	id := b.sim.Press(sender, card, b.undoData(number))
	b.keys = append(b.keys, "c:"+id)
	undone := b.undone
	b.callbackAnswers[id] = b.amend(number, sender)
	if b.undone > undone {
		b.expect(card.ID, b.callbackAnswers[id])
	}
	return true
}

// undoData returns the data of the button that undoes match number in its current state.
func (b *table) undoData(number int) string {
	m := b.matches[number-1]
	hash := sha256.Sum256(fmt.Appendf(nil, "m:%d:%d", m.posted.ChatID, m.posted.ID))
	return fmt.Sprintf("1u:%d:%d:%s", number, m.changes, base64.RawURLEncoding.EncodeToString(hash[:6]))
}

// card returns the card of match number. Of several copies, it returns the last, whose message id
// the bot has stored. It returns false if there is no card yet.
func (b *table) card(number int) (botsim.Message, bool) {
	all := b.group.BotMessages()
	slices.Reverse(all)
	posted := b.matches[number-1].posted.ID
	i := slices.IndexFunc(all, func(card botsim.Message) bool { return card.ReplyTo == posted })
	if i < 0 {
		return botsim.Message{}, false
	}
	return all[i], true
}

func (b *table) expect(replyTo int, text string) {
	b.answers = append(b.answers, wantedAnswer{replyTo, text})
}

// refuse returns how the answer begins if the sender cannot undo match number, or "" if the sender
// can.
func (b *table) refuse(number int, sender botsim.User) string {
	if number > len(b.matches) {
		return fmt.Sprintf("There is no match #%d", number)
	}
	switch m := b.matches[number-1]; {
	case m.undoneBy != "":
		return fmt.Sprintf("Match #%d is already undone", number)
	// Alice created the groups, so she is an admin.
	case sender.ID != m.a.ID && sender.ID != m.b.ID && sender.Username != "alice":
		return fmt.Sprintf("Only those who played or reported match #%d", number)
	}
	return ""
}

func (b *table) amend(number int, sender botsim.User) (answer string) {
	if no := b.refuse(number, sender); no != "" {
		return no
	}
	b.matches[number-1].undoneBy = sender.FirstName
	b.matches[number-1].changes++
	b.undone++
	return fmt.Sprintf("Match #%d undone: ", number)
}

func (b *table) correct(number int, sender botsim.User, score [2]int) (answer string) {
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
		return fmt.Sprintf("Match #%d already has this score", number)
	case no != "":
		return no
	}
	m.was, m.score, m.fixed = m.score, score, true
	if score[0] != score[1] {
		m.turned = score[1] > score[0]
	}
	m.changes++
	b.fixed++
	return fmt.Sprintf("Match #%d corrected by %s: %s (was ", number, sender.FirstName, m.head())
}

// head returns the first line of the card.
func (m *reported) head() string {
	a, b, score := m.a.FirstName, m.b.FirstName, m.score
	if m.turned {
		a, b, score = b, a, [2]int{score[1], score[0]}
	}
	verb := "%s beat %s %d:%d"
	if score[0] == score[1] {
		verb = "%s and %s drew %d:%d"
	}
	return fmt.Sprintf(verb, a, b, score[0], score[1])
}

// check compares the messages and the stored data of the group with the expected ones.
func (b *table) check() {
	b.t.Helper()
	b.checkAnswers()
	b.checkCallbackAnswers()
	truth := newOracle()
	for i, m := range b.matches {
		b.checkCard(i+1, m)
		if m.undoneBy == "" {
			truth.play(m.a.FirstName, m.b.FirstName, m.score[0], m.score[1], m.a.FirstName)
		}
	}
	b.checkStored(truth)
}

// checkCallbackAnswers checks that the answers to pressed buttons begin as expected, except expired
// answers, which are never sent.
func (b *table) checkCallbackAnswers() {
	b.t.Helper()
	late := collect(b.t, b.pool, pgx.RowTo[string],
		`SELECT callback_query_id FROM outbox WHERE action = 'callback_answer' AND state = 'expired'`)
	for id, want := range b.callbackAnswers {
		if slices.Contains(late, id) {
			continue
		}
		answer, err := b.sim.WaitAnswer(testContext(b.t), id)
		if got := visible(botsim.Message{Text: answer.Text}); err != nil || !strings.HasPrefix(got, want) {
			b.t.Errorf("a press was answered with %q (%v), want %q", got, err, want)
		}
	}
}

// checkAnswers compares the first copy of each answer, except answers to /join, with the expected
// answers, in order. Further copies must have been counted as possible duplicates.
func (b *table) checkAnswers() {
	b.t.Helper()
	type counted struct{ ReplyTo, Duplicates int }
	duplicates := make(map[int]int)
	for _, row := range collect(b.t, b.pool, pgx.RowToStructByPos[counted], `
		SELECT o.reply_to, o.possible_duplicates FROM outbox o JOIN chats c ON c.id = o.chat_id
		WHERE c.telegram_chat_id = $1 AND o.reply_to IS NOT NULL`, b.group.ID()) {
		duplicates[row.ReplyTo] = row.Duplicates
	}
	times := make(map[int]int)
	next := 0
	for _, m := range b.group.BotMessages() {
		if asked, _ := b.group.Message(m.ReplyTo); asked.Text == "/join" {
			continue
		}
		times[m.ReplyTo]++
		if n := times[m.ReplyTo]; n > 1 {
			if n > 1+duplicates[m.ReplyTo] {
				b.t.Errorf("message %d was answered %d times, but has only %d possible duplicates",
					m.ReplyTo, n, duplicates[m.ReplyTo])
			}
			continue
		}
		if next == len(b.answers) {
			b.t.Fatalf("%s has one answer too many:\n%s", b.group.Title(), visible(m))
		}
		if want := b.answers[next]; m.ReplyTo != want.replyTo || !strings.HasPrefix(visible(m), want.text) {
			b.t.Fatalf("%s, answer %d is to message %d:\n%s\nwant to %d:\n%s",
				b.group.Title(), next+1, m.ReplyTo, visible(m), want.replyTo, want.text)
		}
		next++
	}
	if next != len(b.answers) {
		b.t.Errorf("%s has %d answers, want %d", b.group.Title(), next, len(b.answers))
	}
}

// checkCard checks that the final text of a match's card agrees with m.
func (b *table) checkCard(number int, m *reported) {
	b.t.Helper()
	card, ok := b.card(number)
	if !ok {
		b.t.Errorf("%s: match %d has no card", b.group.Title(), number)
		return
	}
	head, rest, _ := strings.Cut(visible(card), "\n")
	if head != m.head() {
		b.t.Errorf("%s: the card of match %d says %q, want %q", b.group.Title(), number, head, m.head())
	}
	if m.undoneBy != "" {
		checkUndone(b.t, card, fmt.Sprintf("Match #%d · undone by %s", number, m.undoneBy))
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
		b.t.Errorf("%s: the card of match %d ends with %q, want %q", b.group.Title(), number, rest, want)
	}
	if data := undoButton(b.t, card); data != b.undoData(number) {
		b.t.Errorf("%s: the button of match %d says %q", b.group.Title(), number, data)
	}
}

// checkStored compares the stored matches and standings with the reported results.
func (b *table) checkStored(truth *oracle) {
	b.t.Helper()
	type stored struct {
		A, B   int
		Undone bool
		Fixes  int
	}
	matches := collect(b.t, b.pool, pgx.RowToStructByPos[stored], `
		SELECT m.score_a, m.score_b, m.undone_at IS NOT NULL, (SELECT count(*) FROM match_fixes f WHERE f.match_id = m.id)
		FROM matches m JOIN groups g ON g.id = m.group_id JOIN chats c ON c.id = g.chat_id
		WHERE c.telegram_chat_id = $1 ORDER BY m.number`, b.group.ID())
	if len(matches) != len(b.matches) {
		b.t.Fatalf("%s: %d matches are stored, want %d", b.group.Title(), len(matches), len(b.matches))
	}
	fixes := 0
	for i, m := range b.matches {
		got := matches[i]
		fixes += got.Fixes
		if got.A != m.score[0] || got.B != m.score[1] || got.Undone != (m.undoneBy != "") || (got.Fixes > 0) != m.fixed {
			b.t.Errorf("%s: match %d is stored as %+v, want %+v", b.group.Title(), i+1, got, m)
		}
	}
	if fixes != b.fixed {
		b.t.Errorf("%s: %d corrections are stored, want %d", b.group.Title(), fixes, b.fixed)
	}
	type standing struct {
		Name             string
		Elo              int
		Won, Drawn, Lost int
	}
	for _, got := range collect(b.t, b.pool, pgx.RowToStructByPos[standing], `
		SELECT s.name, s.elo, s.won, s.drawn, s.lost FROM group_players s
		JOIN ladders l ON l.season_id = s.season_id JOIN groups g ON g.id = l.group_id JOIN chats c ON c.id = g.chat_id
		WHERE c.telegram_chat_id = $1`, b.group.ID()) {
		p, played := truth.Standings[got.Name]
		if !played {
			p.Elo = 1500
		}
		if want := (standing{got.Name, p.Elo, p.Won, p.Drawn, p.Lost}); got != want {
			b.t.Errorf("%s: the standing is %+v, want %+v", b.group.Title(), got, want)
		}
	}
}
