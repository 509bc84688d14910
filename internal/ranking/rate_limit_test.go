package ranking_test

import (
	"fmt"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// newLimitedGame returns a game with the default limit on results, and another instance of its
// service.
func newLimitedGame(t *testing.T) (g *game, other *ranking.Service) {
	t.Helper()
	g = newGame(t)
	g.Service = g.newServiceOn(g.store, ranking.Settings{})
	return g, g.newServiceOn(newStore(g.pool), ranking.Settings{})
}

// at returns the origin of a command that is sent the given number of seconds after the start of
// the test's clock.
func (g *game) at(sender *command.Person, seconds int) ranking.Origin {
	o := g.origin(sender)
	o.SentAt = o.SentAt.Add(time.Duration(seconds) * time.Second)
	return o
}

// buckets counts the stored keys by rate class, such as "question=20 slowed=1".
func (g *game) buckets(t *testing.T) string {
	t.Helper()
	return texts(t, g, `
		SELECT coalesce(string_agg(rate_class || '=' || n, ' ' ORDER BY rate_class), '')
		FROM (SELECT rate_class, count(*) AS n FROM handled_commands WHERE rate_class IS NOT NULL GROUP BY rate_class) s`)[0]
}

func (g *game) checkBuckets(t *testing.T, what, want string) {
	t.Helper()
	if got := g.buckets(t); got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// askRanking sends a question and returns its outcome: "answered", "slowed" or "nothing".
func (g *game) askRanking(t *testing.T, s *ranking.Service, o ranking.Origin) string {
	t.Helper()
	must(t, s.Do(t.Context(), o, ranking.Ask{Question: stats.RankingQuestion{Page: 1}}))
	bucket := texts(t, g, `SELECT rate_class FROM handled_commands WHERE key = $1`, o.Key)
	notices := g.count(t, fmt.Sprintf("outbox WHERE key = '%s'", o.Key))
	switch {
	case len(bucket) == 0 && notices == 0:
		return "nothing"
	case len(bucket) == 1 && notices == 1 && bucket[0] == "question":
		return "answered"
	case len(bucket) == 1 && notices == 1 && bucket[0] == "slowed":
		checkNotice(t, g.notice(t, o.Key), ranking.Refusal{Code: ranking.TooManyQuestions})
		return "slowed"
	}
	t.Fatalf("buckets %v, %d notices", bucket, notices)
	return ""
}

// TestQuestionLimit checks that a sender over the limit is asked once to slow down, and then gets
// no answers to questions until the rate is below the limit again.
func TestQuestionLimit(t *testing.T) {
	t.Parallel()
	g, other := newLimitedGame(t)
	services := []*ranking.Service{g.Service, other}
	var last ranking.Origin
	for i := range 25 { // at seconds 0 to 48, on alternating instances
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
	must(t, g.ShowRanking(t.Context(), last)) // redelivered
	g.checkBuckets(t, "after 25 questions", "question=20 slowed=1")
	if got := g.askRanking(t, g.Service, g.at(&bob, 48)); got != "answered" {
		t.Errorf("another sender: %s", got)
	}
	if got := g.askRanking(t, g.Service, g.at(nil, 48)); got != "answered" {
		t.Errorf("an anonymous admin: %s", got)
	}
	elsewhere := g.at(&alice, 48)
	elsewhere.Chat = ranking.Chat{ID: 1, Kind: ranking.Private}
	if got := g.askRanking(t, g.Service, elsewhere); got != "nothing" {
		t.Errorf("in another chat: %s", got)
	}
	g.record(t, &alice, alice, bob, 3, 1) // results are still recorded
	redelivered := g.at(&alice, 48)
	redelivered.Retried = true
	if got := g.askRanking(t, g.Service, redelivered); got != "answered" {
		t.Errorf("one that an operator retries: %s", got)
	}
	// The window slides: the first question leaves it at second 60, but the retried question is
	// still inside.
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
	// Over the limit again, the sender is warned again, but only once, even if messages are
	// delivered out of order.
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

// TestWhatIsAQuestion checks that questions, /join and unreadable commands count as questions, but
// button presses and commands without a time do not.
func TestWhatIsAQuestion(t *testing.T) {
	t.Parallel()
	g, _ := newLimitedGame(t)
	for range 5 {
		must(t, g.ShowRanking(t.Context(), g.at(&alice, 0)))
		must(t, g.Do(t.Context(), g.at(&alice, 1), ranking.Join{}))
		must(t, g.Do(t.Context(), g.at(&alice, 2), ranking.Say{Notice: ranking.Refusal{Code: ranking.NoDraws}}))
		must(t, g.ShowMe(t.Context(), g.at(&alice, 3)))
	}
	g.checkBuckets(t, "after 20 questions", "question=20")
	must(t, g.Do(t.Context(), g.at(&alice, 4), ranking.Join{}))
	g.checkBuckets(t, "after one more", "question=20 slowed=1")
	// Button presses have a separate limit.
	for range 3 {
		press := g.at(&alice, 5)
		press.Button = press.Key
		must(t, g.Do(t.Context(), press, ranking.Say{Notice: ranking.Refusal{Code: ranking.UnknownButton}}))
		g.has(t, 1, "outbox WHERE key = '"+press.Key+"' AND action = 'callback_answer'")
	}
	g.checkBuckets(t, "after three presses", "press=3 question=20 slowed=1")
	// Joining another group changes something, so the limit does not apply.
	elsewhere := g.at(&alice, 6)
	elsewhere.Chat = ranking.Chat{ID: -200, Kind: ranking.Group, Title: "Other"}
	must(t, g.Do(t.Context(), elsewhere, ranking.Join{}))
	g.has(t, 2, "group_players")
	must(t, g.Do(t.Context(), ranking.Origin{Key: "nobody", Chat: club}, ranking.Say{Notice: ranking.Refusal{}}))
	g.checkBuckets(t, "after a command without a sender", "press=3 question=21 slowed=1")
}

// TestBacklogIsNotLimited checks that the limits apply to the times at which commands were sent.
// Commands that were sent slowly are all handled, even if they arrive together after an outage.
// Here, 25 questions are a minute apart, and 70 results are two seconds apart.
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
	g.checkBuckets(t, "all", "question=25 result=70")
	g.has(t, 70, "matches")
}

// notRecorded returns the NotRecorded notices in the outbox that an SQL condition selects.
func (g *game) notRecorded(t *testing.T, where string) []ranking.NotRecorded {
	t.Helper()
	return notices[ranking.NotRecorded](t, g, `kind = 'not_recorded' AND `+where)
}

func name(s string) ranking.Name { return ranking.Name{Name: s} }

// TestResultLimit checks that the first 60 of a sender's results in one minute are recorded. One
// notice lists the rejected results. Once that notice is being sent, the next rejected result gets
// a new notice.
func TestResultLimit(t *testing.T) {
	t.Parallel()
	g, other := newLimitedGame(t)
	services := []*ranking.Service{g.Service, other}
	ghost := command.Person{Username: "ghost"}
	var refused ranking.Origin
	for i := range 70 {
		o, r := g.at(&alice, i/2), singles(alice, bob, 3, i%3)
		if i >= 60 {
			r, refused = singles(ghost, alice, i, 1), o
		}
		must(t, services[i%2].RecordMatch(t.Context(), o, r))
	}
	must(t, g.RecordMatch(t.Context(), refused, singles(ghost, alice, 69, 1))) // redelivered
	g.checkBuckets(t, "after 70 results", "refused=10 result=60")
	g.has(t, 60, "matches")
	g.has(t, 2, "players")
	want := ranking.NotRecorded{Limit: 60}
	for i := 60; i < 70; i++ {
		want.Items = append(want.Items, ranking.RejectedResult{
			Command:     "match",
			NamedResult: ranking.NamedResult{Sides: [2][]ranking.Name{{name("@ghost")}, {name("Alice")}}, Score: [2]int{i, 1}},
		})
	}
	all := g.notRecorded(t, `reply_to = 7 AND thread_id = 8
		AND addressee_id = (SELECT id FROM players WHERE username = 'alice')
		AND supersede_key = 'refused:1:8' AND not_before > now()`)
	if len(all) != 1 {
		t.Fatalf("%d notices of rejected results, want 1", len(all))
	}
	checkNotice(t, all[0], want)
	g.verifyClean(t)

	g.record(t, &bob, bob, alice, 3, 1) // another sender
	// The notice is being sent, so the next rejected result gets a new notice.
	g.exec(t, `UPDATE outbox SET state = 'sending', attempts = 1, supersede_key = NULL WHERE kind = 'not_recorded'`)
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 59), singles(alice, bob, 7, 1)))
	if all := g.notRecorded(t, `state = 'planned'`); len(all) != 1 ||
		len(all[0].Items) != 1 || all[0].Items[0].Score[0] != 7 {
		t.Errorf("the next notice is %+v", all)
	}
	redelivered := g.at(&alice, 59)
	redelivered.Retried = true
	must(t, g.RecordMatch(t.Context(), redelivered, singles(alice, bob, 3, 1)))
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 61), singles(alice, bob, 3, 1)))
	g.has(t, 63, "matches")
}

// TestRejectedUndoNamesItsMatch checks that if only one match of a message counts, the notice about
// a rejected undo in reply to the message names that match.
func TestRejectedUndoNamesItsMatch(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.Service = g.newServiceOn(g.store, ranking.Settings{ResultsPerMinute: 3})
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, alice, bob, 3, 2)
	g.exec(t, `INSERT INTO match_messages (telegram_chat_id, telegram_message_id, match_id)
		SELECT -100, 7, id FROM matches`)
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{Amendment: matchNumber(1)}))
	below := ranking.Amendment{Match: ranking.MatchRef{Message: 7}}
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{Amendment: below}))
	all := g.notRecorded(t, `true`)
	if len(all) != 1 {
		t.Fatalf("%d notices of rejected results, want 1", len(all))
	}
	checkNotice(t, all[0], ranking.NotRecorded{Limit: 3, Items: []ranking.RejectedResult{{Command: "undo", Number: 2}}})
}

// TestWhatIsAResult checks that typed reports, undos, restores and fixes count as results, valid or
// not, and so does an undo by button. Once the notice lists 30 rejected results, it only counts
// further ones.
func TestWhatIsAResult(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.Service = g.newServiceOn(g.store, ranking.Settings{ResultsPerMinute: 7})
	sets := []ladder.Score{{A: 11, B: 7}, {A: 9, B: 11}, {A: 11, B: 5}}
	everything := func() {
		must(t, g.RecordMatch(t.Context(), g.origin(&alice), command.Match{
			A: []command.Person{alice, bob}, B: []command.Person{zoe, {Username: "dave"}}, Scores: sets,
		}))
		must(t, g.RecordMatch(t.Context(), g.origin(&alice), singles(alice, alice, 3, 1)))
		must(t, g.Do(t.Context(), g.origin(&alice), ranking.RestoreMatch{}))
		must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{Amendment: matchNumber(42)}))
		must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{}))
		must(t, g.Do(t.Context(), g.origin(&alice), ranking.FixMatch{
			Amendment: ranking.Amendment{Match: ranking.MatchRef{Message: 5, Key: "m:1"}}, Scores: sets[:1],
		}))
		must(t, g.Do(t.Context(), g.origin(&alice),
			ranking.Say{Notice: ranking.Refusal{Code: ranking.NoDraws}, Malformed: "fix"}))
	}
	everything()
	g.checkBuckets(t, "all", "result=7")
	everything()
	g.checkBuckets(t, "all again", "refused=7 result=7")
	all := g.notRecorded(t, `true`)
	if len(all) != 1 {
		t.Fatalf("%d notices of rejected results, want 1", len(all))
	}
	checkNotice(t, all[0], ranking.NotRecorded{Limit: 7, Items: []ranking.RejectedResult{
		{
			Command: "match",
			NamedResult: ranking.NamedResult{
				Sides: [2][]ranking.Name{{name("Alice"), name("Bob")}, {name("Zoe"), name("@dave")}},
				Score: [2]int{2, 1}, Sets: []ranking.SetScore{{11, 7}, {9, 11}, {11, 5}},
			},
		},
		{Command: "match", Malformed: true},
		{Command: "restore", Last: true},
		{Command: "undo", Number: 42},
		{Command: "undo", Last: true},
		{Command: "fix", Number: 1, NamedResult: ranking.NamedResult{Score: [2]int{11, 7}}},
		{Command: "fix", Malformed: true},
	}})

	press := g.origin(&alice)
	press.Button = press.Key
	must(t, g.Do(t.Context(), press, ranking.UndoMatch{Amendment: matchNumber(1)}))
	checkNotice(t, g.callbackAnswer(t, press), ranking.Refusal{Code: ranking.TooManyResults})
	g.has(t, 1, "handled_commands WHERE key = '"+press.Key+"'") // otherwise a redelivery could succeed
	g.checkBuckets(t, "after a press", "refused=8 result=7")
	if got := g.notRecorded(t, `true`); len(got) != 1 || len(got[0].Items) != 7 {
		t.Errorf("the chat is notified of a refused press: %+v", got)
	}
	for range 40 {
		must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{Amendment: matchNumber(1)}))
	}
	if got := g.notRecorded(t, `true`); len(got) != 1 || len(got[0].Items) != 30 || got[0].More != 17 {
		t.Errorf("after 47 rejected results it lists %d and %d more", len(got[0].Items), got[0].More)
	}
	// Another chat gets its own notice, and an anonymous admin counts as a separate sender.
	elsewhere := g.origin(&alice)
	elsewhere.Chat.ID = -200
	must(t, g.RecordMatch(t.Context(), elsewhere, singles(alice, bob, 3, 1)))
	if got := g.notRecorded(t, `true`); len(got) != 2 || len(got[1].Items) != 1 {
		t.Errorf("the notices are %+v", got)
	}
	for range 8 {
		must(t, g.Do(t.Context(), g.origin(nil), ranking.UndoMatch{Amendment: matchNumber(42)}))
	}
	g.has(t, 1, "handled_commands WHERE sender = -100 AND rate_class = 'refused'")
	g.record(t, &bob, bob, alice, 3, 1)
}

// TestAnswersCount checks that an answer that records several results adds all but the first to the
// reporter's count, because the report itself counted as the first. If they would exceed the limit,
// the answer is refused, and the prompt stays open.
func TestAnswersCount(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.Service = g.newServiceOn(g.store, ranking.Settings{ResultsPerMinute: 6})
	var ids []ranking.PromptRef
	for i := range 3 {
		g.doubt(t, g.at(&alice, i), command.Report{Doubt: command.DoubtResults, Readings: []command.Reading{
			{singles(bob, carol, 2, 0)}, {singles(alice, bob, 3, i), singles(alice, carol, 3, i), singles(alice, zoe, 3, i)},
		}})
		ids = append(ids, g.newestPrompt(t))
	}
	g.checkBuckets(t, "after the questions", "result=3")
	answer := func(sender *command.Person, question, second int, option ranking.PromptOption) ranking.Origin {
		o := g.at(sender, second)
		o.Button = o.Key
		must(t, g.Do(t.Context(), below(77, o), answerBy(ids[question], option)))
		return o
	}
	answer(&bob, 2, 30, ranking.Choice(1)) // the last question is answered first
	g.checkBuckets(t, "after an answer", "press=1 result=5")
	checkNotice(t, g.callbackAnswer(t, answer(&carol, 1, 31, ranking.Choice(1))),
		ranking.Refusal{Code: ranking.TooManyResults})
	g.has(t, 3, "matches")
	answer(&bob, 0, 32, ranking.Choice(0)) // its single result was counted with the report
	answer(&alice, 1, 62, ranking.Choice(1))
	g.checkBuckets(t, "after all answers", "press=3 refused=1 result=7")
	g.has(t, 7, "matches")
	g.mustEnd(t, "all answered", false, "answered", "answered", "answered")
}

// TestRejectedResultsByTopic checks that each topic gets a separate notice of the results rejected
// in it.
func TestRejectedResultsByTopic(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.Service = g.newServiceOn(g.store, ranking.Settings{ResultsPerMinute: 1})
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 0), singles(alice, bob, 3, 1)))
	for _, thread := range []int64{8, 9, 0, 9} {
		o := g.at(&alice, 1)
		o.Thread = thread
		must(t, g.RecordMatch(t.Context(), o, singles(alice, bob, 3, 1)))
	}
	for where, want := range map[string]int{"thread_id = 8": 1, "thread_id = 9": 2, "thread_id IS NULL": 1} {
		if all := g.notRecorded(t, where); len(all) != 1 || len(all[0].Items) != want {
			t.Errorf("%s: %+v, want one notice of %d", where, all, want)
		}
	}
}

// TestRedeliveredCommand checks that a command that an operator retries does not update the chat or
// existing players, because the command may be old.
func TestRedeliveredCommand(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	champ := command.Person{ID: 31, Username: "champ", Name: "Old"}
	g.record(t, &alice, champ, bob, 3, 1)
	must(t, g.Do(t.Context(), g.origin(&champ), ranking.Join{}))
	renamed, heir := champ, command.Person{ID: 32, Username: "champ", Name: "New"}
	renamed.Username, renamed.Name = "was_champ", "Older"
	must(t, g.Do(t.Context(), g.origin(&renamed), ranking.Join{}))
	must(t, g.Do(t.Context(), g.origin(&heir), ranking.Join{}))
	must(t, g.BotRemoved(t.Context(), g.origin(nil)))

	old := g.origin(&champ)
	old.Retried, old.Chat.Title = true, "Once upon a time"
	third := command.Person{ID: 33, Username: "Champ", Name: "Third"}
	must(t, g.RecordMatch(t.Context(), old, command.Match{
		A: []command.Person{{ID: 31, Name: "Old"}}, B: []command.Person{third}, Scores: []ladder.Score{{A: 3, B: 1}},
	}))
	want := []string{"Older was_champ 31", "New champ 32", "Third Champ 33"}
	equal(t, "people", want, texts(t, g, `
		SELECT concat_ws(' ', display_name, username, telegram_user_id) FROM players
		WHERE telegram_user_id > 30 ORDER BY telegram_user_id`))
	if got := texts(t, g, `SELECT concat_ws(' ', title, is_active, parked_at IS NOT NULL) FROM chats`); got[0] !=
		club.Title+" f t" {
		t.Errorf("the chat is %v", got)
	}
}
