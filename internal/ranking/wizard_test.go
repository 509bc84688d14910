package ranking_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// startWizard has a person start a wizard, and returns the command's origin and the answer.
func (g *game) startWizard(
	t *testing.T, sender *command.Person, opponent *command.Person,
) (ranking.Origin, ranking.Notice) {
	t.Helper()
	o := g.origin(sender)
	must(t, g.Do(t.Context(), o, ranking.StartWizard{Opponent: opponent, Otherwise: ranking.Refusal{Code: "nobody"}}))
	return o, g.notice(t, o.Key)
}

// pressWizard has a person press a button of the newest prompt in message 77, and returns the key
// of the press.
func (g *game) pressWizard(t *testing.T, sender *command.Person, option ranking.PromptOption) (key string) {
	t.Helper()
	return g.pressPrompt(t, sender, g.newestPrompt(t), option)
}

// pressPrompt has a person press a button of a prompt in message 77, and returns the key of the
// press.
func (g *game) pressPrompt(
	t *testing.T, sender *command.Person, prompt ranking.PromptRef, option ranking.PromptOption,
) (key string) {
	t.Helper()
	o := g.press(sender)
	must(t, g.Do(t.Context(), o, answerBy(prompt, option)))
	return o.Key
}

func against(opponent ranking.Choice, a, b int) ranking.ScoreAgainst {
	return ranking.ScoreAgainst{Opponent: opponent, Score: ladder.Score{A: a, B: b}}
}

const toast, page = "action = 'callback_answer'", "action = 'page' AND edited_message_id = 77"

// TestWizard checks that an empty /match leads to a recorded match in two presses: of the opponent
// and of the score. Unknown buttons and presses by other people are refused. A canceled wizard
// records nothing.
func TestWizard(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	for _, r := range []command.Match{
		singles(alice, carol, 3, 0), singles(bob, alice, 1, 3), singles(alice, bob, 3, 1),
		singles(alice, zoe, 0, 0), singles(bob, carol, 5, 0),
	} {
		must(t, g.RecordMatch(t.Context(), g.origin(&alice), r))
	}
	// Zoe joins, so that the undo of her only match does not remove her.
	must(t, g.Do(t.Context(), g.origin(&zoe), ranking.Join{}))
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{Amendment: matchNumber(4)}))
	o, asked := g.startWizard(t, &alice, nil)
	checkNotice(t, asked,
		ranking.OpponentPrompt{Opponents: []ranking.Name{{Name: "Bob"}, {Name: "Carol"}, {Name: "Zoe"}}, Total: 3})
	id := g.newestPrompt(t)
	scores := [][2]int{{3, 0}, {3, 1}, {3, 2}, {2, 3}, {1, 3}, {0, 3}, {0, -1}, {-1, 0}, {-1, -1}, {-1, 1}}
	checkNotice(t, g.answer(t, g.pressWizard(t, &alice, ranking.Choice(0)), page),
		ranking.ScorePrompt{Prompt: id.ID, Opponent: ranking.Name{Name: "Bob"}, Scores: scores})
	checkNotice(t, g.answer(t, g.pressWizard(t, &bob, against(0, 3, 0)), toast),
		ranking.Refusal{Code: ranking.NotYourPrompt})
	for _, unknown := range []ranking.PromptOption{
		nil, ranking.Choice(3), ranking.Choice(-1), ranking.OpponentPage(2),
		ranking.OpponentPage(0), ranking.OpponentPage(math.MaxInt),
		against(0, 3, 1000), against(0, -3, 1), against(0, 3, -1), against(3, 3, 1), against(-1, 3, 1), against(3, -1, 1),
	} {
		checkNotice(t, g.answer(t, g.pressWizard(t, &alice, unknown), toast), ranking.Refusal{Code: ranking.UnknownButton})
	}
	key := g.pressWizard(t, &alice, against(0, 1, 3))
	checkNotice(t, g.answer(t, key, page),
		ranking.ReportChosen{Results: []ranking.NamedResult{result([2]int{1, 3}, "Alice", "Bob")}, By: by("Alice")})
	got := texts(t, g, `
		SELECT concat_ws(' ', m.number, m.idempotency_key = $1, p.username,
			m.played_at = $2, m.score_a, m.score_b, o.reply_to)
		FROM matches m JOIN players p ON p.id = m.reported_by JOIN outbox o ON o.match_id = m.id
		WHERE m.number = 6`, o.Key, o.SentAt)
	equal(t, "the match", []string{"6 t alice t 1 3 7"}, got)
	checkNotice(t, g.answer(t, g.pressWizard(t, &alice, against(0, 1, 3)), toast),
		ranking.Refusal{Code: ranking.PromptOver})
	g.startWizard(t, &alice, nil)
	checkNotice(t, g.answer(t, g.pressWizard(t, &alice, ranking.Cancel{}), page),
		ranking.ReportDropped{By: new(by("Alice"))})
	g.mustEnd(t, "after all", false, "answered", "cancelled")
}

// TestWizardPages checks that a person who has never played is offered the players of the group,
// page by page. No wizard starts for an anonymous admin, or if there is no one to offer.
func TestWizardPages(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	_, nobody := g.startWizard(t, &alice, nil)
	checkNotice(t, nobody, ranking.Refusal{Code: "nobody"})
	_, anonymous := g.startWizard(t, nil, nil)
	checkNotice(t, anonymous, ranking.Refusal{Code: "nobody"})
	for i := range 10 {
		g.record(t, &zoe, zoe, command.Person{Username: fmt.Sprint("guest_", i)}, 3, i%3)
	}
	if _, asked := g.startWizard(t, &alice, nil); len(asked.(ranking.OpponentPrompt).Opponents) !=
		ranking.OpponentsPerPage {
		t.Errorf("the first page is %+v", asked)
	}
	second := g.answer(t, g.pressWizard(t, &alice, ranking.OpponentPage(2)), page).(ranking.OpponentPrompt)
	if second.First != ranking.OpponentsPerPage || second.Total != 11 || len(second.Opponents) != 3 {
		t.Errorf("the second page is %+v", second)
	}
	g.pressWizard(t, &alice, against(10, 2, 0))
	g.has(t, 1, "matches m JOIN match_players mp ON mp.match_id = m.id JOIN players p ON p.id = mp.player_id "+
		"WHERE m.number = 11 AND p.username = 'guest_9'")
}

// TestWizardInReply checks that if the opponent is given, as in a reply to a person, the wizard
// starts with the score. The opponent need not be a player yet.
func TestWizardInReply(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	_, asked := g.startWizard(t, &alice, &bob)
	if n, ok := asked.(ranking.ScorePrompt); !ok || n.Opponent.Name != "Bob" || len(n.Scores) != 10 {
		t.Errorf("the question is %+v", asked)
	}
	g.has(t, 0, "players WHERE username = 'bob'")
	g.pressWizard(t, &alice, against(0, 1, 0))
	g.has(t, 1, "matches")
}

// TestWizardNames checks that after an unclear name, the wizard offers the people who may be meant,
// and the first page of opponents again. A score that was typed with the name is among the scores
// that the wizard offers next.
func TestWizardNames(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 0)
	g.record(t, &carol, carol, zoe, 3, 0)
	g.startWizard(t, &alice, nil)
	id := g.newestPrompt(t)
	typed := func(u ranking.UnclearOpponent) ranking.Notice {
		o := g.origin(&alice)
		must(t, g.Do(t.Context(), below(77, o), answerBy(id, u)))
		return g.answer(t, o.Key, page)
	}
	checkNotice(t, typed(ranking.UnclearOpponent{Doubt: command.DoubtUnknownName, Word: "xyz"}),
		ranking.NamePrompt{Prompt: id.ID, Doubt: command.DoubtUnknownName, Word: "xyz", First: 3, More: true})
	checkNotice(t, typed(ranking.UnclearOpponent{
		Doubt: command.DoubtName, Word: "c", People: []command.Person{carol, zoe}, Score: &ladder.Score{A: 7, B: 5},
	}), ranking.NamePrompt{
		Prompt: id.ID, Doubt: command.DoubtName, Word: "c",
		Opponents: []ranking.Name{{Name: "Carol"}, {Name: "Zoe"}}, First: 3, More: true,
	})
	asked, ok := g.answer(t, g.pressWizard(t, &alice, ranking.Choice(4)), page).(ranking.ScorePrompt)
	if !ok || asked.Opponent.Name != "Zoe" || asked.Scores[6] != [2]int{7, 5} || len(asked.Scores) != 11 {
		t.Errorf("the question for the score is %+v", asked)
	}
	if back, ok := g.answer(t, g.pressWizard(t, &alice, ranking.OpponentPage(1)), page).(ranking.OpponentPrompt); !ok ||
		back.Total != 5 {
		t.Errorf("the first page is %+v", back)
	}
	g.pressWizard(t, &alice, against(4, 7, 5))
	g.has(t, 1, "matches WHERE score_a = 7")
}

// TestWizardTyped checks that typed answers lead a wizard to a recorded match, like presses of its
// buttons. Only the person who started the wizard can reply to it.
func TestWizardTyped(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 0)
	o, _ := g.startWizard(t, &alice, nil)
	id := g.newestPrompt(t)
	answer := func(option ranking.PromptOption) string {
		typed := g.origin(&alice)
		must(t, g.Do(t.Context(), below(77, typed), answerBy(id, option)))
		return typed.Key
	}
	next := g.answer(t, answer(command.Person{Username: "dave"}), page)
	if n, ok := next.(ranking.ScorePrompt); !ok || n.At != 1 || n.Opponent.Name != "@dave" {
		t.Errorf("the next question is %+v", next)
	}
	snap, err := g.store.Read(t.Context(), ranking.Query{Key: "unknown", Chat: club, Needs: ranking.Needs{Prompt: id.ID}})
	must(t, err)
	w := snap.Prompt.Wizard
	if w == nil || len(w.Opponents) != 2 {
		t.Fatalf("the wizard is %+v", w)
	}
	if !g.isForWizard(t, &alice, id) || g.isForWizard(t, &bob, id) {
		t.Error("not only Alice can reply to the wizard")
	}
	key := answer(command.Reading{singles(alice, w.Opponents[1], 11, 9)})
	if n, ok := g.notice(t, key).(ranking.MatchRecorded); !ok || n.Number != 2 {
		t.Errorf("the answer is %+v", n)
	}
	keys := texts(t, g, `SELECT idempotency_key FROM matches ORDER BY number`)
	if keys[1] != o.Key {
		t.Errorf("the match has the key %s, want that of the message that began the wizard", keys[1])
	}
	if g.isForWizard(t, &alice, id) {
		t.Error("the wizard is open still")
	}
	g.mustEnd(t, "typed", false, "answered")
}

// TestWizardScores checks that the wizard offers three wins, the clearest first, and the same
// scores as losses, the clearest last. It prefers scores of earlier matches between the two
// players. After these come the most frequent scores in the group, with one more occurrence added
// for each common score. The button for other scores adds three more wins and the same scores as
// losses.
func TestWizardScores(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	usual := [][2]int{{3, 0}, {3, 1}, {3, 2}, {2, 3}, {1, 3}, {0, 3}}
	end := [][2]int{{0, -1}, {-1, 0}, {-1, -1}}
	mustOffer := func(when string, opponent command.Person, want [][2]int) {
		t.Helper()
		_, asked := g.startWizard(t, &alice, &opponent)
		equal(t, when, slices.Concat(want, end, [][2]int{{-1, 1}}), asked.(ranking.ScorePrompt).Scores)
	}
	mustOffer("before the first match", bob, usual)
	more := g.answer(t, g.pressWizard(t, &alice, against(0, -1, 1)), page).(ranking.ScorePrompt)
	want := slices.Concat(usual, [][2]int{{2, 0}, {1, 0}, {2, 1}, {1, 2}, {0, 1}, {0, 2}}, end)
	if diff := cmp.Diff(want, more.Scores); diff != "" || more.Opponent.Name != "Bob" {
		t.Errorf("the others, against %s (-want +got):\n%s", more.Opponent.Name, diff)
	}
	g.pressWizard(t, &alice, against(0, 1, 2))
	g.has(t, 1, "matches WHERE (score_a, score_b) = (1, 2)")
	for range 3 {
		g.record(t, &zoe, zoe, carol, 1, 0)
		g.record(t, &zoe, carol, zoe, 11, 7)
	}
	g.record(t, &zoe, carol, zoe, 2, 2)
	mustOffer("in a group that plays so", carol, [][2]int{{11, 7}, {1, 0}, {2, 1}, {1, 2}, {0, 1}, {7, 11}})
	mustOffer("after a match of the two", bob, [][2]int{{11, 7}, {1, 0}, {2, 1}, {1, 2}, {0, 1}, {7, 11}})
	for range 2 {
		g.record(t, &zoe, alice, bob, 2, 0)
	}
	mustOffer("after three", bob, [][2]int{{2, 0}, {1, 0}, {2, 1}, {1, 2}, {0, 1}, {0, 2}})
	for range 2 {
		g.record(t, &zoe, alice, bob, 0, 5)
	}
	mustOffer("after five", bob, [][2]int{{5, 0}, {2, 0}, {2, 1}, {1, 2}, {0, 2}, {0, 5}})
	mustOffer("against another one", carol, [][2]int{{11, 7}, {2, 0}, {1, 0}, {0, 1}, {0, 2}, {7, 11}})
}

// pairs returns a match of two against two.
func pairs(a, b, c, d command.Person, scoreA, scoreB int) command.Match {
	return command.Match{
		A: []command.Person{a, b}, B: []command.Person{c, d}, Scores: []ladder.Score{{A: scoreA, B: scoreB}},
	}
}

// lineups describes each match with four players, ordered by number: the names of the players,
// then the score.
func (g *game) lineups(t *testing.T) []string {
	t.Helper()
	return texts(t, g, `
		SELECT string_agg(s.name, ' ' ORDER BY mp.side, mp.place) || concat_ws(':', '', m.score_a, m.score_b)
		FROM matches m JOIN match_players mp ON mp.match_id = m.id
		JOIN group_players s ON s.player_id = mp.player_id AND s.season_id = m.season_id
		GROUP BY m.id HAVING count(*) = 4 ORDER BY m.number`)
}

// TestDoublesWizard checks that once two people have played against two in a ladder, a wizard there
// also asks for the partner and both opponents. The data of a button has all the picks, so a stale
// press returns to them, and a second press changes nothing.
func TestDoublesWizard(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 0)
	g.record(t, &carol, carol, zoe, 3, 0)
	if _, asked := g.startWizard(t, &alice, nil); asked.(ranking.OpponentPrompt).Doubles {
		t.Error("two against two is offered where nobody played it")
	}
	checkNotice(t, g.answer(t, g.pressWizard(t, &alice, ranking.Doubles{Page: 1}), toast),
		ranking.Refusal{Code: ranking.UnknownButton})
	g.pressWizard(t, &alice, ranking.Cancel{})
	must(t, g.RecordMatch(t.Context(), g.origin(&zoe), pairs(zoe, bob, carol, command.Person{Username: "dave"}, 1, 3)))

	people := []ranking.Name{{Name: "Bob"}, {Name: "Carol"}, {Name: "Zoe"}, {Name: "dave"}}
	_, asked := g.startWizard(t, &alice, nil)
	checkNotice(t, asked, ranking.OpponentPrompt{Opponents: people, Total: 4, Doubles: true})
	id := g.newestPrompt(t)
	press := func(to ranking.OpponentPage, chosen ...int) ranking.Notice {
		t.Helper()
		o := ranking.Doubles{Page: to}
		copy(o.Picks[:], chosen)
		return g.answer(t, g.pressWizard(t, &alice, o), page)
	}
	question := func(l ranking.Picks, sides ...[]ranking.Name) ranking.Notice {
		n := ranking.OpponentPrompt{Prompt: id.ID, Opponents: people, Total: 4, Picks: &l}
		copy(n.Sides[:], sides)
		return n
	}
	me := ranking.Name{Name: "Alice"}
	partner := question(ranking.Picks{}, []ranking.Name{me})
	first := question(ranking.Picks{3}, []ranking.Name{me, {Name: "Zoe"}})
	second := question(ranking.Picks{3, 1}, []ranking.Name{me, {Name: "Zoe"}}, people[:1])
	checkNotice(t, press(1), partner)
	checkNotice(t, press(1, 3), first)
	checkNotice(t, press(1, 3), first)
	checkNotice(t, press(1, 3, 1), second)
	checkNotice(t, press(0, 3, 1), first)
	checkNotice(t, press(0, 3), partner)
	checkNotice(t, press(0), ranking.OpponentPrompt{Prompt: id.ID, Opponents: people, Total: 4, Doubles: true})
	picks := ranking.Picks{3, 1, 2}
	checkNotice(t, press(1, 3, 1, 2), ranking.ScorePrompt{
		Prompt: id.ID, Picks: picks, Teams: [2][]ranking.Name{{me, {Name: "Zoe"}}, people[:2]},
		Scores: [][2]int{{3, 0}, {3, 1}, {3, 2}, {2, 3}, {1, 3}, {0, 3}, {0, -1}, {-1, 0}, {-1, -1}},
	})
	checkNotice(t, press(0, 3, 1, 2), second)

	score := ranking.ScoreAgainst{Score: ladder.Score{A: 10, B: 8}, Picks: picks}
	checkNotice(t, g.answer(t, g.pressWizard(t, &bob, score), toast), ranking.Refusal{Code: ranking.NotYourPrompt})
	for _, unknown := range []ranking.PromptOption{
		ranking.Doubles{Picks: ranking.Picks{5}, Page: 1}, ranking.Doubles{Picks: ranking.Picks{-1}, Page: 1},
		ranking.Doubles{Page: 2}, ranking.Doubles{Page: -1}, ranking.Doubles{Page: math.MaxInt},
		ranking.ScoreAgainst{Score: score.Score, Picks: ranking.Picks{3, 1}},
		ranking.ScoreAgainst{Score: score.Score, Picks: ranking.Picks{3, 0, 1}},
		ranking.ScoreAgainst{Score: score.Score, Picks: ranking.Picks{3, 3, 1}},
		ranking.ScoreAgainst{Score: score.Score, Picks: ranking.Picks{3, 1, 5}},
		ranking.ScoreAgainst{Score: ranking.OtherScore, Picks: picks},
	} {
		checkNotice(t, g.answer(t, g.pressWizard(t, &alice, unknown), toast), ranking.Refusal{Code: ranking.UnknownButton})
	}
	g.pressWizard(t, &alice, score)
	checkNotice(t, g.answer(t, g.pressWizard(t, &alice, score), toast), ranking.Refusal{Code: ranking.PromptOver})
	equal(t, "recorded", []string{"Zoe Bob Carol dave:1:3", "Alice Zoe Bob Carol:10:8"}, g.lineups(t))
	g.mustEnd(t, "two against two", false, "cancelled", "answered")
	g.verifyClean(t)
}

// TestWizardWithWhoLeft checks that a wizard refuses the choice of a person who has left the
// ranking since it started. From a page for the next pick, the sender can go back.
func TestWizardWithWhoLeft(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	must(t, g.RecordMatch(t.Context(), g.origin(&alice), pairs(alice, zoe, carol, bob, 3, 1)))
	_, asked := g.startWizard(t, &alice, nil)
	people := asked.(ranking.OpponentPrompt).Opponents
	left := slices.IndexFunc(people, func(n ranking.Name) bool { return n.Name == "Carol" })
	g.leave(t, carol, ranking.HowLeft)
	picks := ranking.Picks{left + 1}
	for _, o := range []ranking.PromptOption{
		ranking.Choice(left), ranking.Doubles{Picks: picks, Page: 1}, against(ranking.Choice(left), 3, 0), carol,
	} {
		checkNotice(t, g.answer(t, g.pressWizard(t, &alice, o), toast), isOut(ranking.PlayerOut, "Carol"))
	}
	back := g.answer(t, g.pressWizard(t, &alice, ranking.Doubles{Picks: picks}), page)
	if n, ok := back.(ranking.OpponentPrompt); !ok || *n.Picks != (ranking.Picks{}) {
		t.Errorf("going back is answered with %+v", back)
	}
	g.has(t, 1, "matches")
}

// TestTogether checks that a /match with two people and nothing else starts a wizard. It asks
// whether they played together if two have played against two, the sender is neither of the people,
// and the command does not say that they played against each other.
func TestTogether(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	start := func(sender *command.Person, args string, mentions ...command.Person) ranking.Notice {
		t.Helper()
		o := saying(g.origin(sender), "match", args, mentions...)
		must(t, g.Do(t.Context(), o, ranking.ReadReport{}))
		return g.notice(t, o.Key)
	}
	isScore := func(when string, n ranking.Notice) {
		t.Helper()
		if _, ok := n.(ranking.ScorePrompt); !ok {
			t.Errorf("%s: the question is %+v", when, n)
		}
	}
	asAlice, asBob := command.Person{Username: "Alice"}, command.Person{Username: "bob"}
	g.record(t, &alice, alice, bob, 3, 0)
	g.record(t, &carol, carol, zoe, 3, 0)
	isScore("before the first of two against two", start(&carol, "@ @", asAlice, asBob))
	must(t, g.RecordMatch(t.Context(), g.origin(&zoe), pairs(zoe, bob, carol, alice, 1, 3)))
	isScore("of the sender", start(&alice, "@ @", asAlice, asBob))
	isScore("with a versus", start(&carol, "@ vs @", asAlice, asBob))

	asked := ranking.TogetherPrompt{Pair: [2]ranking.Name{{Name: "Alice"}, {Name: "Bob"}}}
	checkNotice(t, start(&carol, "Alice Bob"), asked)
	checkNotice(t, start(&carol, "@ and @", asAlice, asBob), asked)
	id := g.newestPrompt(t)
	press := func(o ranking.PromptOption) ranking.Notice {
		t.Helper()
		return g.answer(t, g.pressWizard(t, &carol, o), page)
	}
	apart := press(ranking.Choice(0)).(ranking.ScorePrompt)
	equal(t, "against each other", [2][]ranking.Name{{{Name: "Alice"}}, {{Name: "Bob"}}}, apart.Teams)
	question := ranking.OpponentPrompt{
		Prompt: id.ID, Total: 3, Opponents: []ranking.Name{{Name: "Bob"}, {Name: "Carol"}, {Name: "Zoe"}},
		Picks: &ranking.Picks{1}, Sides: [2][]ranking.Name{{{Name: "Alice"}, {Name: "Bob"}}},
	}
	checkNotice(t, press(ranking.Doubles{Picks: ranking.Picks{1}, Page: 1}), question)
	asked.Prompt = id.ID
	checkNotice(t, press(ranking.Doubles{Picks: ranking.Picks{1}}), asked)
	press(ranking.ScoreAgainst{Score: ladder.Win, Picks: ranking.Picks{1, 2, 3}})
	equal(t, "together", []string{"Zoe Bob Carol Alice:1:3", "Alice Bob Carol Zoe"}, g.lineups(t))

	start(&carol, "@ @", asAlice, asBob)
	g.pressWizard(t, &carol, against(0, 2, 0))
	g.has(t, 5, "matches")
	g.verifyClean(t)
}
