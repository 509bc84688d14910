package ranking_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

func (g *game) newestPrompt(t *testing.T) ranking.PromptRef {
	t.Helper()
	return rows[ranking.PromptRef](t, g, `SELECT p.id, payload ->> 'tag' FROM prompts p
		JOIN outbox o USING (id) ORDER BY id DESC LIMIT 1`)[0]
}

func answerBy(id ranking.PromptRef, option ranking.PromptOption) ranking.PromptAnswer {
	return ranking.PromptAnswer{Prompt: id, Option: option}
}

// respond has an admin answer a prompt, in message 77, and returns the new content of the message.
func (g *game) respond(
	t *testing.T, o ranking.Origin, id ranking.PromptRef, option ranking.PromptOption,
) ranking.Notice {
	t.Helper()
	must(t, g.Do(asAdmin(t), below(77, o), answerBy(id, option)))
	return g.answer(t, o.Key, "action = 'page' AND edited_message_id = 77")
}

// ask has Zoe, an admin, try to undo match 1, which others played, and returns the prompt.
func (g *game) ask(t *testing.T) ranking.PromptRef {
	t.Helper()
	g.askBy(t, &zoe)
	return g.newestPrompt(t)
}

func (g *game) askBy(t *testing.T, sender *command.Person) {
	t.Helper()
	o := g.origin(sender)
	o.SentAt = time.Now()
	must(t, g.Do(asAdmin(t), o, ranking.UndoMatch{Amendment: ranking.Amendment{Match: ranking.MatchRef{Number: 1}}}))
	var asked ranking.Reporter
	if sender != nil {
		asked.Name = &ranking.Name{Name: sender.Name}
	}
	checkNotice(t, g.notice(t, o.Key), ranking.UndoPrompt{
		Number: 1, Sides: [2]ranking.Side{side(3, "Alice", 0, 0), side(1, "Bob", 0, 0)}, Asked: asked,
		Played: time.Unix(1_700_000_000, 0).UTC(),
	})
}

// TestPromptOfYoungMatch checks that the prompt gives the date of a match only if the match is at
// least 24 hours old.
func TestPromptOfYoungMatch(t *testing.T) {
	t.Parallel()
	for age, wantsDate := range map[time.Duration]bool{0: false, 24*time.Hour - time.Second: false, 24 * time.Hour: true} {
		g := newGame(t)
		g.record(t, &alice, alice, bob, 3, 1)
		o := g.origin(&zoe)
		o.SentAt = o.SentAt.Add(age)
		must(t, g.Do(asAdmin(t), o, ranking.UndoMatch{Amendment: ranking.Amendment{Match: ranking.MatchRef{Number: 1}}}))
		prompt, ok := g.notice(t, o.Key).(ranking.UndoPrompt)
		if !ok || prompt.Played.IsZero() == wantsDate {
			t.Errorf("after %v the prompt is %+v", age, prompt)
		}
	}
}

// mustEnd checks how the prompts were closed, that exactly the open ones have a timer, and whether
// match 1 is undone.
func (g *game) mustEnd(t *testing.T, what string, undone bool, want ...string) {
	t.Helper()
	if got := texts(t, g, `SELECT coalesce(closed_as, 'open') FROM prompts ORDER BY id`); fmt.Sprint(got) !=
		fmt.Sprint(want) {
		t.Errorf("%s the prompts are %v, want %v", what, got, want)
	}
	wrong := g.count(t, `prompts p WHERE (closed_at IS NULL) <>
		EXISTS (SELECT FROM timers t WHERE t.key = 't:prompt:' || p.id)`)
	if wrong != 0 || g.count(t, "timers") > g.count(t, "prompts") {
		t.Errorf("%s %d prompts have a wrong timer", what, wrong)
	}
	if got := g.count(t, "matches WHERE number = 1 AND undone_at IS NOT NULL") == 1; got != undone {
		t.Errorf("%s match 1 is undone: %v", what, got)
	}
}

func (g *game) due(t *testing.T) {
	t.Helper()
	g.exec(t, `UPDATE timers SET due_at = now()`)
}

// fire fires all due timers, as the leader does.
func (g *game) fire(ctx context.Context, s *ranking.Service) error {
	due, err := s.DueTimers(ctx, ranking.Timer{}, 100)
	if err != nil {
		return err
	}
	for _, timer := range due {
		if err := s.FireTimer(ctx, timer); err != nil {
			return err
		}
	}
	return nil
}

// TestPromptIsAnswered checks that if an admin undoes a match of other people, the bot asks first.
// The answer takes effect once.
func TestPromptIsAnswered(t *testing.T) {
	t.Parallel()
	by := func(name string) ranking.Reporter { return ranking.Reporter{Name: &ranking.Name{Name: name}} }
	zoes := by("Zoe")
	for name, tc := range map[string]struct {
		option ranking.PromptOption
		end    string
		want   ranking.Notice
	}{
		"undo": {ranking.Choice(0), "answered", ranking.MatchUndone{
			Number: 1, Sides: [2]ranking.Side{side(3, "Alice", 1500, 1516), side(1, "Bob", 1500, 1484)}, By: zoes,
			Moved: ranking.Moved{Ratings: []ranking.RatingChange{change("Alice", 1516, 1500), change("Bob", 1484, 1500)}},
		}},
		"cancel": {ranking.Cancel{}, "cancelled", ranking.UndoDropped{Number: 1, By: &zoes}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			g.record(t, &alice, alice, bob, 3, 1)
			id := g.ask(t)
			g.mustEnd(t, "at first", false, "open")
			pressed := g.press(&zoe)
			checkNotice(t, g.respond(t, pressed, id, tc.option), tc.want)
			g.mustEnd(t, "answered,", name == "undo", tc.end)
			notices := g.count(t, "outbox")
			must(t, g.Do(asAdmin(t), pressed, answerBy(id, tc.option))) // redelivery
			g.has(t, notices, "outbox")
			again := g.press(&zoe)
			must(t, g.Do(asAdmin(t), again, answerBy(id, ranking.Choice(0))))
			checkNotice(t, g.callbackAnswer(t, again), ranking.Refusal{Code: ranking.PromptOver})
			g.due(t)
			must(t, g.fire(t.Context(), g.Service))
			g.mustEnd(t, "later", name == "undo", tc.end)
			if name == "undo" {
				if cards := g.cards(t, 1); !cards[len(cards)-1].Undone {
					t.Error("the card does not show the undo")
				}
			}
		})
	}
}

// TestPromptRefuses checks that a forged or unauthorized answer changes nothing and gets only a
// toast. If the match has changed since the prompt was made, an answer replaces the prompt with a
// refusal.
func TestPromptRefuses(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	elsewhere := ranking.Chat{ID: -200, Kind: ranking.Group, Title: "Other"}
	id := g.ask(t)
	g.askBy(t, nil)
	anyAdmins := g.newestPrompt(t)
	unknown := func(context.Context) (bool, error) { return false, fmt.Errorf("nobody answers") }
	stranger := command.Person{ID: 99, Name: "Stranger"}
	refusedAs := func(
		isAdmin dbtest.IsAdmin, name string, by *command.Person, chat ranking.Chat,
		a ranking.PromptAnswer, want ranking.Refusal,
	) {
		t.Helper()
		o := g.press(by)
		o.Chat = chat
		must(t, g.Do(dbtest.WithAdmin(t.Context(), isAdmin), o, a))
		if got := g.callbackAnswer(t, o); got != ranking.Notice(want) {
			t.Errorf("%s: answer is %+v, want %+v", name, got, want)
		}
	}
	refused := func(name string, by *command.Person, chat ranking.Chat, a ranking.PromptAnswer, want ranking.Refusal) {
		t.Helper()
		refusedAs(admin, name, by, chat, a, want)
	}
	noButton := ranking.Refusal{Code: ranking.UnknownButton}
	refused("another chat", &zoe, elsewhere, answerBy(id, ranking.Choice(0)), noButton)
	refused("an unknown prompt", &zoe, club,
		answerBy(ranking.PromptRef{ID: id.ID + 1_000_000, Tag: id.Tag}, ranking.Choice(0)), noButton)
	refused("an unknown option", &zoe, club, answerBy(id, ranking.Choice(1)), noButton)
	for option, instead := range map[ranking.PromptOption]string{ranking.Choice(0): "/undo 1", ranking.Cancel{}: ""} {
		// Not even Alice, who is a player of the match, may answer.
		for _, who := range []command.Person{carol, stranger, alice} {
			refused("another admin", &who, club, answerBy(id, option), ranking.Refusal{Code: ranking.NotYourPrompt})
			refusedAs(nobodyIsAdmin, "no admin", &who, club, answerBy(anyAdmins, option),
				ranking.Refusal{Code: ranking.AdminsOnlyPrompt, Instead: instead})
		}
		refusedAs(unknown, "admins unknown", &zoe, club, answerBy(anyAdmins, option),
			ranking.Refusal{Code: ranking.AdminsUnknown})
	}
	refusedAs(nobodyIsAdmin, "no longer an admin", &zoe, club, answerBy(id, ranking.Choice(0)),
		ranking.Refusal{Code: ranking.NotYours, Number: 1})
	g.mustEnd(t, "nobody may answer,", false, "open", "open")
	g.has(t, 0, "outbox WHERE action = 'page'")
	g.has(t, 0, "players WHERE telegram_user_id = 99")

	canceled := g.press(&zoe) // may cancel without admin rights
	must(t, g.Do(t.Context(), canceled, answerBy(id, ranking.Cancel{})))
	g.fix(t, &alice, matchNumber(1), ladder.Score{A: 0, B: 3})
	checkNotice(t, g.respond(t, g.press(&carol), anyAdmins, ranking.Choice(0)),
		ranking.Refusal{Code: ranking.ChangedSince, Number: 1})
	g.mustEnd(t, "in the end", false, "cancelled", "answered")
}

// TestPromptEndsByItself checks that when a prompt expires, its message is edited once, if it was
// delivered.
func TestPromptEndsByItself(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	undelivered := g.ask(t)
	again := g.press(&zoe)
	must(t, g.Do(asAdmin(t), again, ranking.UndoMatch{Amendment: ranking.Amendment{Match: ranking.MatchRef{Number: 1}}}))
	checkNotice(t, g.callbackAnswer(t, again), ranking.Refusal{Code: ranking.AskedAlready, Number: 1})
	g.mustEnd(t, "asked already,", false, "open")
	g.exec(t, `UPDATE prompts SET asked_at = now() - interval '6 minutes'`) // so long ago that the bot asks again
	delivered := g.ask(t)
	g.exec(t, `UPDATE prompts SET delivered_at = now(), telegram_message_id = 66 WHERE id = $1`, delivered.ID)
	must(t, g.fire(t.Context(), g.Service))
	g.due(t)
	before := g.count(t, "outbox")
	due, err := g.DueTimers(t.Context(), ranking.Timer{}, 100)
	must(t, err)
	if len(due) != 2 || due[0].Key != undelivered.ID.Timer() || due[0].Chat != club.ID {
		t.Fatalf("due are %+v", due)
	}
	if next, err := g.DueTimers(t.Context(), due[0], 1); err != nil || len(next) != 1 ||
		next[0].Key != delivered.ID.Timer() {
		t.Errorf("after the first comes %+v: %v", next, err)
	}
	for range 2 {
		must(t, g.fire(t.Context(), g.Service))
		for _, timer := range due {
			must(t, g.FireTimer(t.Context(), timer)) // as if another leader had read the timers earlier
		}
	}
	g.mustEnd(t, "too late,", false, "expired", "expired")
	g.has(t, before+1, "outbox")
	checkNotice(t, g.answer(t, delivered.ID.Timer(), "action = 'page' AND edited_message_id = 66"),
		ranking.UndoDropped{Number: 1})
	late := g.press(&zoe)
	must(t, g.Do(asAdmin(t), late, answerBy(delivered, ranking.Choice(0))))
	checkNotice(t, g.callbackAnswer(t, late), ranking.Refusal{Code: ranking.PromptOver})
}

// TestUnansweredReports checks that when a PromptReport or a PromptWizard expires, its message says
// that nothing was recorded.
func TestUnansweredReports(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &alice, 0, singles(alice, bob, 3, 1))
	g.report(t, &bob, 1, singles(alice, bob, 3, 1))
	report := g.newestPrompt(t)
	g.startWizard(t, &alice, nil)
	wizard := g.newestPrompt(t)
	g.exec(t, `UPDATE prompts SET delivered_at = now(), telegram_message_id = id`)
	g.due(t)
	for range 2 {
		must(t, g.fire(t.Context(), g.Service))
	}
	for id, dropped := range map[ranking.PromptID]ranking.ReportDropped{
		report.ID: {Results: []ranking.NamedResult{result([2]int{3, 1}, "Alice", "Bob")}}, wizard.ID: {},
	} {
		checkNotice(t, g.answer(t, id.Timer(), fmt.Sprintf("action = 'page' AND edited_message_id = %d", id)), dropped)
	}
	late := g.press(&alice)
	must(t, g.Do(asAdmin(t), late, answerBy(report, ranking.Choice(0))))
	checkNotice(t, g.callbackAnswer(t, late), ranking.Refusal{Code: ranking.PromptOver})
	g.has(t, 1, "matches")
	g.mustEnd(t, "unanswered,", false, "expired", "expired")
}

// TestTimersFireOnce checks that a due timer fires once, even if several instances believe that
// they lead and the clock jumps. A timer that is not due stays. A timer of an unknown kind, which a
// newer release may have stored, fails and stays.
func TestTimersFireOnce(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	id := g.ask(t)
	// Moving due_at has the effect of a jump of the clock.
	for _, jump := range []struct{ due, end string }{
		{"50 hours", "open"}, {"-25 hours", "expired"}, {"50 hours", "expired"}, {"-50 hours", "expired"},
	} {
		g.exec(t, `UPDATE timers SET due_at = now() + $1::interval WHERE key = $2`, jump.due, id.ID.Timer())
		var firing errgroup.Group
		for range 3 {
			firing.Go(func() error { return g.fire(t.Context(), g.newInstance()) })
		}
		must(t, firing.Wait())
		g.mustEnd(t, jump.due, false, jump.end)
	}
	g.has(t, 1, "handled_commands WHERE key LIKE 't:%' AND trigger = 'timer'")
	open := g.ask(t)
	stale := ranking.Timer{Key: open.ID.Timer(), Chat: club.ID}
	// After a leader read the timer, the prompt was delivered, which postponed the timer.
	g.exec(t, `UPDATE timers SET due_at = now() + interval '4 minutes'`)
	must(t, g.FireTimer(t.Context(), stale))
	g.mustEnd(t, "delivered,", false, "expired", "open")
	g.exec(t, `INSERT INTO timers VALUES ('t:season:1', (SELECT id FROM chats LIMIT 1), now())`)
	if err := g.FireTimer(t.Context(), ranking.Timer{Key: "t:season:1", Chat: club.ID}); err == nil {
		t.Error("an unknown timer fires")
	}
	g.has(t, 2, "timers")
}

// TestPromptAnsweredAtOnce checks that only one action takes effect if two people press buttons of
// a prompt on two instances at once, and sometimes the timer fires too. A person whose press has no
// effect learns that it is too late.
func TestPromptAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	services := []*ranking.Service{g.Service, g.newInstance()}
	admins := []*command.Person{&zoe, &carol}
	answers := [][2]ranking.PromptOption{
		{ranking.Choice(0), ranking.Choice(0)}, {ranking.Choice(0), ranking.Cancel{}}, {ranking.Cancel{}, ranking.Choice(0)},
	}
	ends := make(map[string]int)
	for round := 1; round <= 60; round++ {
		g.record(t, &alice, alice, bob, 3, 1)
		asked := g.origin(nil) // any admin may answer
		must(t, g.Do(asAdmin(t), asked, ranking.UndoMatch{Amendment: matchNumber(round)}))
		id, options := g.newestPrompt(t), answers[round%len(answers)]
		g.due(t)
		timed, start := round%2 == 0, make(chan struct{})
		var work errgroup.Group
		for i, s := range services {
			pressed, a := below(int64(1000+round), g.press(admins[i])), answerBy(id, options[i])
			work.Go(func() error {
				<-start
				return s.Do(asAdmin(t), pressed, a)
			})
		}
		if timed {
			work.Go(func() error {
				<-start
				return services[round/2%2].FireTimer(t.Context(), ranking.Timer{Key: id.ID.Timer(), Chat: club.ID})
			})
		}
		close(start)
		must(t, work.Wait())
		var end string
		var undone, pages, tooLate, timers int
		err := g.pool.QueryRow(t.Context(), `
			SELECT (SELECT closed_as FROM prompts WHERE id = $1),
			    (SELECT count(*) FROM matches WHERE number = $2 AND undone_at IS NOT NULL),
			    count(*) FILTER (WHERE action = 'page'), count(*) FILTER (WHERE payload ->> 'code' = 'prompt_over'),
			    (SELECT count(*) FROM timers)
			FROM outbox WHERE id > $1`, id.ID, round).Scan(&end, &undone, &pages, &tooLate, &timers)
		must(t, err)
		ends[end]++
		want := [...]int{0, 1, 1, 0}
		switch end {
		case "answered":
			want[0] = 1
		case "expired":
			want = [...]int{0, 0, 2, 0} // no edit, because the prompt was not delivered
		}
		if got := [...]int{undone, pages, tooLate, timers}; got != want || !timed && end == "expired" {
			t.Fatalf("round %d: %s; undone, edits, toasts and timers are %v, want %v", round, end, got, want)
		}
		must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{Amendment: matchNumber(round)}))
	}
	t.Logf("how the prompts ended: %v", ends)
}
