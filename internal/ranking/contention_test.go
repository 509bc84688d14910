package ranking_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"elobot/internal/ladder"
	"elobot/internal/plainladder"
	"elobot/internal/ranking"
)

// TestContention checks that no result is lost when three instances record matches of the same four
// players at once, while a client of one instance amends matches. A request needs at most four
// attempts, because it has at most three conflicts. After the first conflict, it locks the group.
// From then on, it conflicts only with requests that add one of the four players, of whom at least
// two exist by then.
func TestContention(t *testing.T) {
	t.Parallel()
	const clients, each = 2, 20 // clients per instance, requests per client
	g := newGame(t)
	var all [instances]*instance
	outputs := make([]bytes.Buffer, instances)
	var work errgroup.Group
	for n := range all {
		i := &instance{
			assignment: assignment{Seed: 1, First: 1 + 1_000_000*int64(n), Each: each, Amends: n == 0},
			service:    g.newInstance(), store: g.store, out: &outputs[n],
		}
		for c := range clients {
			work.Go(func() error { return i.client(t.Context(), c) })
		}
	}
	must(t, work.Wait())
	requests := make(map[int64]request)
	for n := range outputs {
		for events := json.NewDecoder(&outputs[n]); events.More(); {
			var e event
			must(t, events.Decode(&e))
			if e.Begin != nil {
				requests[e.Begin.Message] = *e.Begin
			}
		}
	}
	if want := instances * clients * each; len(requests) != want {
		t.Errorf("%d requests were sent, want %d", len(requests), want)
	}
	l := contentionCheck{t, g, requests}.check()
	if want := (instances*clients - 1) * each; len(l.claims) != want { // one client only amends
		t.Errorf("%d results were accepted, want all %d", len(l.claims), want)
	}
}

// storedAnswer is a notice in the outbox that answers a request.
type storedAnswer struct {
	Message int64 // id of the message with the command
	Kind    string
	Payload payload
}

// payload has the fields that the tests need from answers of any kind.
type payload struct {
	Code   ranking.RefusalCode
	Number int
	Undone any // true on cards of undone matches; a match number in undo prompts
	Sides  [2]struct {
		Score   int
		Players []struct {
			Name struct{ Player ladder.PlayerID }
		}
	}
	Was *struct{ Score [2]int }
}

// stored is a match in the database, actual or expected.
type stored struct {
	Number         int
	Key            string
	A, B           []string
	ScoreA, ScoreB int
	Undone         bool
}

// claim is a match according to the answers.
type claim struct {
	stored
	request request // the report
	was     *[2]int // the score before the last fix, nil for none
	// turned is set if the card shows side B first, because side B won, or had won before the score
	// was fixed to a draw.
	turned bool
	card   payload
	names  map[ladder.PlayerID]string
}

// answerLog accumulates the answers, in the order of their rows in the outbox.
type answerLog struct {
	names   map[ladder.PlayerID]string
	claims  map[int]*claim // by number
	asked   map[int]bool   // whether the bot has asked about a match, by number; no request answers the question
	refused map[ranking.RefusalCode]int
	undone  int
	fixed   int
}

// refusals lists the allowed refusals for each kind of request.
var refusals = map[string][]ranking.RefusalCode{
	recordRequest: {ranking.TooManyAtOnce},
	undoRequest:   {ranking.TooManyAtOnce, ranking.NoSuchMatch, ranking.NothingOfYours, ranking.UndoneAlready, ranking.AskedAlready},
	fixRequest:    {ranking.TooManyAtOnce, ranking.NoSuchMatch, ranking.NothingOfYours, ranking.UndoneAlready, ranking.SameScore},
}

// add processes the next answer. It fails if the answer contradicts the request or an earlier
// answer.
func (l *answerLog) add(o request, kind string, n payload) error {
	switch {
	case kind == "match_recorded" && o.Kind == recordRequest:
		if l.claims[n.Number] != nil {
			return fmt.Errorf("two matches have the number %d", n.Number)
		}
		l.claims[n.Number] = &claim{request: o, card: n, names: l.names, turned: o.Score.B > o.Score.A, stored: stored{
			Number: n.Number, Key: o.key(), A: namesOf(o.A), B: namesOf(o.B), ScoreA: o.Score.A, ScoreB: o.Score.B,
		}}
		return nil
	case kind == "match_undone" && o.Kind == undoRequest:
		l.undone++
		return l.undo(o, n)
	case kind == "undo_prompt" && o.Kind == undoRequest: // the bot asks before it undoes the match
		l.asked[n.Number] = true
		return nil
	case kind == "match_fixed" && o.Kind == fixRequest:
		l.fixed++
		return l.fix(o, n)
	case kind == "refusal":
		l.refused[n.Code]++
		if n.Code == ranking.AskedAlready && !l.asked[n.Number] {
			return fmt.Errorf("nobody was asked about match %d", n.Number)
		}
		if slices.Contains(refusals[o.Kind], n.Code) {
			return nil
		}
	}
	return fmt.Errorf("unexpected answer %s %s", kind, n.Code)
}

// find returns the match that an answer says was amended. It fails if no such match counts, or if
// the request meant another match.
func (l *answerLog) find(o request, n payload) (*claim, error) {
	c := l.claims[n.Number]
	switch {
	case c == nil || c.Undone:
		return nil, fmt.Errorf("match %d was amended, but no such match counts", n.Number)
	case o.Match.Number != 0 && o.Match.Number != n.Number, o.Match.Message != 0 && o.Match.Message != c.request.Message:
		return nil, fmt.Errorf("wrong match %d was amended", n.Number)
	}
	return c, nil
}

func (l *answerLog) undo(o request, n payload) error {
	c, err := l.find(o, n)
	if err != nil {
		return err
	}
	c.Undone = true
	return c.checkNotice(n)
}

func (l *answerLog) fix(o request, n payload) error {
	c, err := l.find(o, n)
	if err != nil {
		return err
	}
	was, score := [2]int{c.ScoreA, c.ScoreB}, [2]int{o.Score.A, o.Score.B}
	turned := c.turned
	switch {
	case o.Match.Message != 0: // in the order of the command
		turned = false
	case o.Match.Number == 0: // the sender's own score first, if the sender played
		turned = slices.Contains(c.B, fourPlayers[o.Sender].Name)
	}
	if turned {
		slices.Reverse(score[:])
	}
	c.was, c.ScoreA, c.ScoreB = &was, score[0], score[1]
	if score[0] != score[1] {
		c.turned = score[1] > score[0]
	}
	if n.Was == nil {
		return fmt.Errorf("the notice lacks the old score")
	}
	return c.checkNotice(n)
}

// checkNotice checks the sides and scores of a notice, and its old score, if any. The sides must be
// in the order of the card.
func (c *claim) checkNotice(n payload) error {
	sides, scores, was := [2][]string{c.A, c.B}, [2]int{c.ScoreA, c.ScoreB}, c.was
	if c.turned {
		slices.Reverse(sides[:])
		slices.Reverse(scores[:])
		if was != nil {
			was = &[2]int{was[1], was[0]}
		}
	}
	if n.Was != nil && (was == nil || n.Was.Score != *was) {
		return fmt.Errorf("match %d: old score is %v, want %v", c.Number, n.Was.Score, was)
	}
	for side := range sides {
		var names []string
		for _, p := range n.Sides[side].Players {
			names = append(names, c.names[p.Name.Player])
		}
		slices.Sort(names)
		if !slices.Equal(names, sides[side]) || n.Sides[side].Score != scores[side] {
			return fmt.Errorf("match %d: %v %d, want %v %d", c.Number, names, n.Sides[side].Score, sides[side], scores[side])
		}
	}
	return nil
}

// namesOf returns the sorted names of players.
func namesOf(players []int) []string {
	var names []string
	for _, i := range players {
		names = append(names, fourPlayers[i].Name)
	}
	slices.Sort(names)
	return names
}

// contentionCheck checks the data of a game against the requests that were sent.
type contentionCheck struct {
	*testing.T
	g        *game
	requests map[int64]request // by message id
}

// check compares the stored data with the requests and the answers.
func (t contentionCheck) check() *answerLog {
	t.Helper()
	l := t.readAnswers()
	t.checkKeys()
	t.checkMatches(l)
	t.checkTable(l)
	t.g.verifyClean(t.T)
	t.Logf("%d requests: %d results accepted, %d undone, %d fixed, refused: %v",
		len(t.requests), len(l.claims), l.undone, l.fixed, l.refused)
	if len(l.claims) == 0 {
		t.Error("nothing was recorded")
	}
	return l
}

// readAnswers reads all answers into a log, and checks that each request has exactly one answer.
func (t contentionCheck) readAnswers() *answerLog {
	t.Helper()
	l := &answerLog{
		names: make(map[ladder.PlayerID]string), claims: make(map[int]*claim), asked: make(map[int]bool),
		refused: make(map[ranking.RefusalCode]int),
	}
	for _, p := range rows[struct {
		ID   ladder.PlayerID
		Name string
	}](t.T, t.g, `SELECT id, display_name FROM players`) {
		l.names[p.ID] = p.Name
	}
	seen := make(map[int64]bool)
	for _, a := range rows[storedAnswer](t.T, t.g, `
		SELECT coalesce(reply_to, 0), kind, payload FROM outbox WHERE action <> 'edit' ORDER BY id`) {
		o, begun := t.requests[a.Message]
		switch {
		case !begun:
			t.Errorf("%s answers unknown message %d", a.Kind, a.Message)
			continue
		case seen[a.Message]:
			t.Errorf("%s %s has a second answer: %s", o.Kind, o.key(), a.Kind)
			continue
		}
		seen[a.Message] = true
		if err := l.add(o, a.Kind, a.Payload); err != nil {
			t.Errorf("%s %s: %v", o.Kind, o.key(), err)
		}
	}
	for message, o := range t.requests {
		if !seen[message] {
			t.Errorf("%s %s has no answer", o.Kind, o.key())
		}
	}
	return l
}

// checkKeys checks that exactly the keys of all requests are stored.
func (t contentionCheck) checkKeys() {
	t.Helper()
	var want []string
	for _, o := range t.requests {
		want = append(want, o.key())
	}
	slices.Sort(want)
	got := texts(t.T, t.g, `SELECT key FROM handled_commands ORDER BY key COLLATE "C"`)
	if !slices.Equal(got, want) {
		t.Errorf("%d keys of handled commands, want %d", len(got), len(want))
	}
}

// checkMatches compares the stored matches and their current cards with the answers.
func (t contentionCheck) checkMatches(l *answerLog) {
	t.Helper()
	var want []stored
	for _, number := range slices.Sorted(maps.Keys(l.claims)) {
		c := l.claims[number]
		want = append(want, c.stored)
		err := c.checkNotice(c.card)
		if err != nil || (c.card.Undone == true) != c.Undone || (c.card.Was == nil) != (c.was == nil || c.Undone) {
			t.Errorf("the card of match %d is %+v: %v", number, c.card, err)
		}
		if number != len(want) {
			t.Errorf("the match after match %d has number %d", len(want)-1, number)
		}
	}
	const side = `ARRAY(SELECT p.display_name FROM match_players mp JOIN players p ON p.id = mp.player_id
		WHERE mp.match_id = m.id AND mp.side = %d ORDER BY 1)`
	got := rows[stored](t.T, t.g, fmt.Sprintf(`
		SELECT m.number, m.idempotency_key, `+side+`, `+side+`, m.score_a, m.score_b, m.undone_at IS NOT NULL
		FROM matches m ORDER BY m.number`, 1, 2))
	equal(t, "matches", want, got)
	if n := t.g.count(t.T, "match_fixes"); n != l.fixed {
		t.Errorf("%d fixes are stored, %d were answered", n, l.fixed)
	}
	if n := t.g.count(t.T, fmt.Sprintf("groups WHERE last_match_number = %d", len(want))); n != 1 {
		t.Errorf("the last assigned number is not %d", len(want))
	}
}

// checkTable compares the stored standings with a calculation from the matches that count.
func (t contentionCheck) checkTable(l *answerLog) {
	t.Helper()
	var bouts []plainladder.Match
	for _, number := range slices.Sorted(maps.Keys(l.claims)) {
		if c := l.claims[number]; !c.Undone {
			bouts = append(bouts, plainladder.Match{A: c.A, B: c.B, ScoreA: c.ScoreA, ScoreB: c.ScoreB})
		}
	}
	got, sum := t.g.standingTable(t.T, club.ID, byName), 0
	for _, p := range got {
		sum += p.Elo
	}
	want := plainladder.Play(nil, bouts).Standings
	equal(t, "standings", want, got)
	if start := 1500 * len(got); sum != start {
		t.Errorf("the sum of the ratings is %d, want %d", sum, start)
	}
}
