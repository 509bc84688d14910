package ranking_test

import (
	"testing"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// callbackAnswer returns the refusal with which a button press was answered.
func (g *game) callbackAnswer(t *testing.T, o ranking.Origin) ranking.Notice {
	t.Helper()
	all := notices[ranking.Refusal](t, g, `
		action = 'callback_answer' AND kind = 'refusal' AND callback_query_id = $1`, o.Button)
	if len(all) != 1 {
		t.Fatalf("button press %s is answered %d times", o.Button, len(all))
	}
	return all[0]
}

// TestPressLimit checks that each person may make 60 presses a minute, in all groups together.
// Further presses are refused, and their keys are not stored, unless an operator retries them. A
// press that undoes a match directly does not count. A service without a limit on results has no
// limit on presses either.
func TestPressLimit(t *testing.T) {
	t.Parallel()
	g, other := newLimitedGame(t)
	services := []*ranking.Service{g.Service, other}
	g.record(t, &alice, alice, bob, 3, 1)
	unknown, slowDown := ranking.Refusal{Code: ranking.UnknownButton}, ranking.Refusal{Code: "too_many_presses"}
	press := func(sender *command.Person, second int) ranking.Origin {
		o := g.at(sender, second)
		if o.Button = o.Key; g.keys%2 == 0 {
			o.Chat = ranking.Chat{ID: -200, Kind: ranking.Group, Title: "Other"}
		}
		return o
	}
	pressed := func(o ranking.Origin, want ranking.Refusal) {
		t.Helper()
		must(t, services[g.keys%2].Do(t.Context(), o, ranking.Say{Notice: unknown}))
		checkNotice(t, g.callbackAnswer(t, o), want)
	}
	for i := range 60 {
		pressed(press(&alice, i/2), unknown)
	}
	for range 10 {
		pressed(press(&alice, 30), slowDown)
	}
	g.checkBuckets(t, "after 70 presses", "press=60 result=1")
	g.has(t, 61, "handled_commands")
	pressed(press(&bob, 30), unknown)
	redelivered := press(&alice, 30)
	redelivered.Retried = true
	pressed(redelivered, unknown)
	undo := press(&alice, 30)
	undo.Chat = club
	must(t, g.Do(t.Context(), undo, ranking.UndoMatch{Amendment: matchNumber(1)}))
	g.has(t, 1, "matches WHERE undone_at IS NOT NULL")
	pressed(press(&alice, 59), slowDown)
	// Six of the first presses have left the window; the retried press is in the window.
	pressed(press(&alice, 62), unknown)

	g.Service = g.newService(g.store)
	services[0], services[1] = g.Service, g.Service
	for range 60 {
		pressed(press(&bob, 30), unknown)
	}
}
