package ranking_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/ranking"
)

// newFlood is a game in which as many results count as the settings say by default, and another instance of it.
func newLimitedGame(t *testing.T) (g *game, other *ranking.Service) {
	t.Helper()
	g = newGame(t)
	g.Service = ranking.NewService(g.store, slog.New(slog.DiscardHandler), ranking.Settings{})
	return g, ranking.NewService(newStore(g.pool), slog.New(slog.DiscardHandler), ranking.Settings{})
}

// at is the origin of a command that was sent so many seconds after the first one.
func (g *game) at(sender *ranking.Person, seconds int) ranking.Origin {
	o := g.origin(sender)
	o.SentAt = o.SentAt.Add(time.Duration(seconds) * time.Second)
	return o
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sorts counts the keys by sort, as "question=20 slowed=1".
func (g *game) rateClasses(t *testing.T) string {
	t.Helper()
	return texts(t, g, `
		SELECT coalesce(string_agg(rate_class || '=' || n, ' ' ORDER BY rate_class), '')
		FROM (SELECT rate_class, count(*) AS n FROM handled_commands WHERE rate_class IS NOT NULL GROUP BY rate_class) s`)[0]
}

func (g *game) checkRateClasses(t *testing.T, what, want string) {
	t.Helper()
	if got := g.rateClasses(t); got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// asked sends a question and says what came of it: answered, slowed or nothing.
func (g *game) askRanking(t *testing.T, s *ranking.Service, o ranking.Origin) string {
	t.Helper()
	must(t, g.questions(s).ShowRanking(t.Context(), o))
	class := texts(t, g, `SELECT rate_class FROM handled_commands WHERE key = $1`, o.Key)
	notices := g.count(t, fmt.Sprintf("outbox WHERE key = '%s'", o.Key))
	switch {
	case len(class) == 0 && notices == 0:
		return "nothing"
	case len(class) == 1 && notices == 1 && class[0] == "question":
		return "answered"
	case len(class) == 1 && notices == 1 && class[0] == "slowed":
		checkNotice(t, g.notice(t, o.Key), ranking.Refusal{Code: ranking.TooManyQuestions})
		return "slowed"
	}
	t.Fatalf("sorts %v, told %d", class, notices)
	return ""
}

// TestQuestionsInAMinute: whoever asks too much is asked for patience once, and then not answered until it is less.
func TestQuestionLimit(t *testing.T) {
	t.Parallel()
	g, other := newLimitedGame(t)
	services := []*ranking.Service{g.Service, other}
	var last ranking.Origin
	for i := range 25 { // at the seconds 0 to 48, by both instances in turn
		want := "answered"
		switch {
		case i == 20:
			want = "slowed"
		case i > 20:
			want = "nothing"
		}
		last = g.at(&alice, 2*i)
		if got := g.askRanking(t, services[i%2], last); got != want {
			t.Errorf("question %d: %s, want %s", i+1, got, want)
		}
	}
	must(t, g.ShowRanking(t.Context(), last)) // delivered again
	g.checkRateClasses(t, "after 25 questions", "question=20 slowed=1")
	if got := g.askRanking(t, g.Service, g.at(&bob, 48)); got != "answered" {
		t.Errorf("somebody else: %s", got)
	}
	if got := g.askRanking(t, g.Service, g.at(nil, 48)); got != "answered" {
		t.Errorf("an anonymous admin: %s", got)
	}
	elsewhere := g.at(&alice, 48)
	elsewhere.Chat = ranking.Chat{ID: 1, Kind: ranking.Private}
	if got := g.askRanking(t, g.Service, elsewhere); got != "nothing" {
		t.Errorf("in another chat: %s", got)
	}
	g.record(t, &alice, alice, bob, 3, 1) // results are still recorded, whenever they were sent
	redelivered := g.at(&alice, 48)
	redelivered.Redelivered = true
	if got := g.askRanking(t, g.Service, redelivered); got != "answered" {
		t.Errorf("one that somebody retries: %s", got)
	}
	// the window slides: the first question, of second 0, has left it at second 60, but there is the retried one
	for _, step := range []struct {
		second int
		want   string
	}{
		{59, "nothing"}, {60, "nothing"}, {62, "answered"}, {63, "nothing"}, {64, "answered"}, {65, "nothing"},
		{99, "answered"}, {200, "answered"},
	} {
		if got := g.askRanking(t, other, g.at(&alice, step.second)); got != step.want {
			t.Errorf("at second %d: %s, want %s", step.second, got, step.want)
		}
	}
	// the next flood is told of again, but only once even if a message from before it comes late
	for i := range 19 {
		if got := g.askRanking(t, g.Service, g.at(&alice, 201)); got != "answered" {
			t.Errorf("question %d of the next minute: %s", i+2, got)
		}
	}
	for i, want := range []string{"slowed", "nothing", "nothing"} {
		if got := g.askRanking(t, g.Service, g.at(&alice, 203-i)); got != want {
			t.Errorf("one too many: %s, want %s", got, want)
		}
	}
}

// TestWhatIsAQuestion: all that is answered without a result.
func TestWhatIsAQuestion(t *testing.T) {
	t.Parallel()
	g, _ := newLimitedGame(t)
	for range 5 {
		must(t, g.ShowRanking(t.Context(), g.at(&alice, 0)))
		must(t, g.Join(t.Context(), g.at(&alice, 1)))
		must(t, g.Answer(t.Context(), g.at(&alice, 2), ranking.Refusal{Code: ranking.NoDraws}))
		must(t, g.ShowMe(t.Context(), g.at(&alice, 3)))
	}
	g.checkRateClasses(t, "after 20 questions", "question=20")
	must(t, g.Join(t.Context(), g.at(&alice, 4)))
	g.checkRateClasses(t, "after one more", "question=20 slowed=1")
	// whoever presses a button waits for a word
	for range 3 {
		press := g.at(&alice, 5)
		press.Button = press.Key
		must(t, g.Answer(t.Context(), press, ranking.Refusal{Code: ranking.UnknownButton}))
		if n := g.count(t, "outbox WHERE key = '"+press.Key+"' AND action = 'toast'"); n != 1 {
			t.Errorf("a press is answered %d times", n)
		}
	}
	g.checkRateClasses(t, "after three presses", "press=3 question=20 slowed=1")
	// joining does something
	elsewhere := g.at(&alice, 6)
	elsewhere.Chat = ranking.Chat{ID: -200, Kind: ranking.Group, Title: "Other"}
	must(t, g.Join(t.Context(), elsewhere))
	if n := g.count(t, "group_players"); n != 2 {
		t.Errorf("%d standings, want 2", n)
	}
	must(t, g.Answer(t.Context(), ranking.Origin{Key: "nobody", Chat: club}, ranking.Refusal{}))
	g.checkRateClasses(t, "after what was never sent", "press=3 question=21 slowed=1")
}

// TestBacklogIsNoFlood: what was sent over hours and comes at once is all handled.
func TestBacklogIsNotLimited(t *testing.T) {
	t.Parallel()
	g, _ := newLimitedGame(t)
	for i := range 25 {
		if got := g.askRanking(t, g.Service, g.at(&alice, 60*i)); got != "answered" {
			t.Fatalf("question %d: %s", i+1, got)
		}
	}
	for i := range 70 {
		must(t, g.RecordMatch(t.Context(), g.at(&alice, 2*i), singles(alice, bob, 3, i%3)))
	}
	g.checkRateClasses(t, "all", "question=25 result=70")
	if n := g.count(t, "matches"); n != 70 {
		t.Errorf("%d matches are recorded, want 70", n)
	}
}

// notRecorded returns what waits to be told of what was not recorded.
func (g *game) notRecorded(t *testing.T, where string) (all []ranking.NotRecorded) {
	t.Helper()
	for _, payload := range texts(t, g, `SELECT payload::text FROM outbox WHERE kind = 'not_recorded' AND `+where+` ORDER BY id`) {
		all = append(all, decode[ranking.NotRecorded](t, []byte(payload)).(ranking.NotRecorded))
	}
	return all
}

func name(s string) ranking.Name { return ranking.Name{Name: s} }

// TestResultsInAMinute: 60 count, and of the others it is told together which they were.
func TestResultLimit(t *testing.T) {
	t.Parallel()
	g, other := newLimitedGame(t)
	services := []*ranking.Service{g.Service, other}
	ghost := ranking.Person{Username: "ghost"}
	var refused ranking.Origin
	for i := range 70 {
		o, r := g.at(&alice, i/2), singles(alice, bob, 3, i%3)
		if i >= 60 {
			r, refused = singles(ghost, alice, i, 1), o
		}
		must(t, services[i%2].RecordMatch(t.Context(), o, r))
	}
	must(t, g.RecordMatch(t.Context(), refused, singles(ghost, alice, 69, 1))) // delivered again
	g.checkRateClasses(t, "after 70 results", "refused=10 result=60")
	if n := g.count(t, "matches"); n != 60 {
		t.Errorf("%d matches are recorded, want 60", n)
	}
	if n := g.count(t, "players"); n != 2 {
		t.Errorf("%d players are known, want 2", n)
	}
	want := ranking.NotRecorded{Limit: 60}
	for i := 60; i < 70; i++ {
		want.Items = append(want.Items, ranking.RejectedResult{
			Command: "match", Sides: [2][]ranking.Name{{name("@ghost")}, {name("Alice")}}, Score: [2]int{i, 1},
		})
	}
	all := g.notRecorded(t, `reply_to = 7 AND thread_id = 8 AND addressee = 'Alice' AND supersede_key = 'refused:1:8' AND not_before > now()`)
	if len(all) != 1 {
		t.Fatalf("%d messages tell of it, want 1", len(all))
	}
	checkNotice(t, all[0], want)
	verifyClean(t, g.store)

	g.record(t, &bob, bob, alice, 3, 1) // of somebody else
	// it is on its way: what comes now is told by the next one
	g.exec(t, `UPDATE outbox SET state = 'sending', attempts = 1, supersede_key = NULL WHERE kind = 'not_recorded'`)
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 59), singles(alice, bob, 7, 1)))
	if all := g.notRecorded(t, `state = 'planned'`); len(all) != 1 || len(all[0].Items) != 1 || all[0].Items[0].Score[0] != 7 {
		t.Errorf("the next message tells %+v", all)
	}
	redelivered := g.at(&alice, 59)
	redelivered.Redelivered = true
	must(t, g.RecordMatch(t.Context(), redelivered, singles(alice, bob, 3, 1)))
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 61), singles(alice, bob, 3, 1)))
	if n := g.count(t, "matches"); n != 63 {
		t.Errorf("%d matches are recorded, want 63", n)
	}
}

// TestWhatIsAResult: undoing and correcting too, well-formed or not, and by a button.
func TestWhatIsAResult(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.Service = ranking.NewService(g.store, slog.New(slog.DiscardHandler), ranking.Settings{ResultsPerMinute: 6})
	malformed := func(name string) ranking.Origin {
		o := g.origin(&alice)
		o.Malformed = name
		return o
	}
	sets := []ranking.Score{{A: 11, B: 7}, {A: 9, B: 11}, {A: 11, B: 5}}
	everything := func() {
		must(t, g.RecordMatch(t.Context(), g.origin(&alice), ranking.Report{
			A: []ranking.Person{alice, bob}, B: []ranking.Person{zoe, {Username: "dave"}}, Scores: sets,
		}))
		must(t, g.RecordMatch(t.Context(), g.origin(&alice), singles(alice, alice, 3, 1)))
		must(t, g.UndoMatch(t.Context(), g.origin(&alice), matchNumber(42)))
		must(t, g.UndoMatch(t.Context(), g.origin(&alice), ranking.Amendment{IsAdmin: nobodyIsAdmin}))
		must(t, g.FixMatch(t.Context(), g.origin(&alice),
			ranking.Amendment{Match: ranking.MatchRef{Message: 5, Key: "m:1"}, IsAdmin: nobodyIsAdmin}, sets[:1]))
		must(t, g.Answer(t.Context(), malformed("fix"), ranking.Refusal{Code: ranking.NoDraws}))
	}
	everything()
	g.checkRateClasses(t, "all", "result=6")
	everything()
	g.checkRateClasses(t, "all again", "refused=6 result=6")
	all := g.notRecorded(t, `true`)
	if len(all) != 1 {
		t.Fatalf("%d messages tell of it, want 1", len(all))
	}
	checkNotice(t, all[0], ranking.NotRecorded{Limit: 6, Items: []ranking.RejectedResult{
		{
			Command: "match", Sides: [2][]ranking.Name{{name("Alice"), name("Bob")}, {name("Zoe"), name("dave")}},
			Score: [2]int{2, 1}, Sets: []ranking.SetScore{{11, 7}, {9, 11}, {11, 5}},
		},
		{Command: "match", Malformed: true},
		{Command: "undo", Number: 42},
		{Command: "undo", Last: true},
		{Command: "fix", Number: 1, Score: [2]int{11, 7}},
		{Command: "fix", Malformed: true},
	}})

	press := g.origin(&alice)
	press.Button = press.Key
	must(t, g.UndoMatch(t.Context(), press, matchNumber(1)))
	checkNotice(t, g.callbackAnswer(t, press), ranking.Refusal{Code: ranking.TooManyResults})
	if n := g.count(t, "handled_commands WHERE key = '"+press.Key+"'"); n != 1 {
		t.Error("the key of a press that was refused is not kept: it could be done when it comes again")
	}
	g.checkRateClasses(t, "after a press", "refused=7 result=6")
	if got := g.notRecorded(t, `true`); len(got) != 1 || len(got[0].Items) != 6 {
		t.Errorf("what a press did not do is told to the chat: %+v", got)
	}
	for range 40 {
		must(t, g.UndoMatch(t.Context(), g.origin(&alice), matchNumber(1)))
	}
	if got := g.notRecorded(t, `true`); len(got) != 1 || len(got[0].Items) != 30 || got[0].More != 16 {
		t.Errorf("after 46 it tells %d and %d more", len(got[0].Items), got[0].More)
	}
	// in another chat it is another message; and an anonymous admin is not everybody else
	elsewhere := g.origin(&alice)
	elsewhere.Chat.ID = -200
	must(t, g.RecordMatch(t.Context(), elsewhere, singles(alice, bob, 3, 1)))
	if got := g.notRecorded(t, `true`); len(got) != 2 || len(got[1].Items) != 1 {
		t.Errorf("the messages are %+v", got)
	}
	for range 7 {
		must(t, g.UndoMatch(t.Context(), g.origin(nil), matchNumber(42)))
	}
	if n := g.count(t, "handled_commands WHERE sender = -100 AND rate_class = 'refused'"); n != 1 {
		t.Errorf("%d commands of the group itself are refused, want 1", n)
	}
	g.record(t, &bob, bob, alice, 3, 1)
	verifyClean(t, g.store)
}

func TestNoResultLimit(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.Service = newService(g.store)
	for range 61 {
		must(t, g.RecordMatch(t.Context(), g.origin(&alice), singles(alice, bob, 3, 1)))
	}
	g.checkRateClasses(t, "all", "result=61")
}

// TestRefusedInTopics: each topic is told of its own.
func TestRejectedResultsByTopic(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.Service = ranking.NewService(g.store, slog.New(slog.DiscardHandler), ranking.Settings{ResultsPerMinute: 1})
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 0), singles(alice, bob, 3, 1)))
	for _, thread := range []int64{8, 9, 0, 9} {
		o := g.at(&alice, 1)
		o.Thread = thread
		must(t, g.RecordMatch(t.Context(), o, singles(alice, bob, 3, 1)))
	}
	for where, want := range map[string]int{"thread_id = 8": 1, "thread_id = 9": 2, "thread_id IS NULL": 1} {
		if all := g.notRecorded(t, where); len(all) != 1 || len(all[0].Items) != want {
			t.Errorf("%s: %+v, want one message of %d", where, all, want)
		}
	}
}

// TestHandledAgain: a command that is handled again, long after it was sent, says nothing of how things are by now.
func TestRedeliveredCommand(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	champ := ranking.Person{ID: 31, Username: "champ", Name: "Old"}
	g.record(t, &alice, champ, bob, 3, 1)
	must(t, g.Join(t.Context(), g.origin(&champ)))
	renamed, heir := champ, ranking.Person{ID: 32, Username: "champ", Name: "New"}
	renamed.Username, renamed.Name = "was_champ", "Older"
	must(t, g.Join(t.Context(), g.origin(&renamed)))
	must(t, g.Join(t.Context(), g.origin(&heir)))
	must(t, g.BotRemoved(t.Context(), g.origin(nil)))

	old := g.origin(&champ)
	old.Redelivered, old.Chat.Title = true, "Once upon a time"
	third := ranking.Person{ID: 33, Username: "Champ", Name: "Third"}
	must(t, g.RecordMatch(t.Context(), old, ranking.Report{
		A: []ranking.Person{{ID: 31, Name: "Old"}}, B: []ranking.Person{third}, Scores: []ranking.Score{{A: 3, B: 1}},
	}))
	want := []string{"Older was_champ 31", "New champ 32", "Third 33"}
	if diff := cmp.Diff(want, texts(t, g, `
		SELECT concat_ws(' ', display_name, username, telegram_user_id) FROM players
		WHERE telegram_user_id > 30 ORDER BY telegram_user_id`)); diff != "" {
		t.Errorf("people (-want +got):\n%s", diff)
	}
	if got := texts(t, g, `SELECT concat_ws(' ', title, is_active, parked_at IS NOT NULL) FROM chats`); got[0] != club.Title+" f t" {
		t.Errorf("the chat is %v", got)
	}
	verifyClean(t, g.store)
}
