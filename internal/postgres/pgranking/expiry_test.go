package pgranking_test

import (
	"testing"
	"time"

	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestDeadlines checks that the answer to a command expires silently if the command is too old.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		notice ranking.Notice
		button string
		age    time.Duration // of the command
		late   bool
	}{
		"a page of the ranking":           {notice: stats.RankingPage{}, age: 9 * time.Minute},
		"a page of the ranking, too late": {notice: stats.RankingPage{}, age: 11 * time.Minute, late: true},
		"a refusal":                       {notice: ranking.Refusal{}, age: 23 * time.Hour},
		"a refusal, too late":             {notice: ranking.Refusal{}, age: 25 * time.Hour, late: true},
		"an outcome":                      {notice: ranking.MatchUndone{}, age: 23 * time.Hour},
		"a callback answer":               {notice: ranking.Refusal{}, button: "q", age: 10 * time.Second},
		"a callback answer, too late":     {notice: ranking.Refusal{}, button: "q", age: 16 * time.Second, late: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCards(t)
			dbtest.Exec(t, c.world.Pool, `DELETE FROM outbox`)
			changes := ranking.Changes{
				Key: "old", Chat: 1, SentAt: time.Now().Add(-tc.age), Decision: ranking.Decision{Notice: tc.notice},
			}
			if tc.button != "" {
				changes.Button, changes.CallbackAnswer, changes.Notice = tc.button, tc.notice, nil
			}
			dbtest.Must(t, c.world.Store.Apply(t.Context(), changes))
			dbtest.Must(t, c.world.Store.Apply(t.Context(),
				ranking.Changes{Key: "new", Chat: 1, Decision: ranking.Decision{Notice: ranking.Joined{}}}))
			lane, states := dbtest.Chat(1), []string{"sending", "sending"}
			switch {
			case tc.button != "":
				lane = dbtest.Answers(1)
				states = []string{"sending", "planned"}
				if tc.late {
					states = []string{"expired", "planned"}
				}
			case tc.late:
				states = []string{"expired", "sending"}
			case notice.KindOf(tc.notice).Alone:
				states = []string{"sending", "planned"}
			}
			c.Turn(t, lane)
			dbtest.Equal(t, "states", states,
				dbtest.Values[string](t, c.world.Pool, `SELECT state FROM outbox ORDER BY id`))
		})
	}
}

// TestDeadlinesByAnotherClock checks that the time until a notice expires depends only on the age
// of the command by the messenger's clock, even if the database's clock differs.
func TestDeadlinesByAnotherClock(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"the same": 0, "behind": -2 * time.Hour, "ahead": 2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, alice, bob)
			theirs := func() time.Time { return time.Now().Add(ahead) }
			w.Store.Now = theirs
			sent := theirs().Add(-3 * time.Hour)
			won := dbtest.Match(w.Read(t, alice, bob), "won")
			won.SentAt = sent
			for _, c := range []ranking.Changes{
				won,
				{Key: "answer", Chat: 1, SentAt: sent, Decision: ranking.Decision{Notice: ranking.MatchUndone{}}},
				{Key: "callback_answer", Chat: 1, SentAt: sent, Button: "q", Decision: ranking.Decision{CallbackAnswer: ranking.MatchUndone{}}},
				{Key: "refused", Chat: 1, SentAt: sent, Decision: ranking.Decision{Notice: ranking.NotRecorded{}}},
				{Key: "future", Chat: 1, SentAt: theirs().Add(time.Hour), Decision: ranking.Decision{Notice: ranking.MatchUndone{}}},
			} {
				dbtest.Must(t, w.Store.Apply(t.Context(), c))
			}
			got := dbtest.Values[string](t, w.Pool, `
				SELECT key || ' ' || round(extract(epoch FROM expires_at - created_at) / 3600) FROM outbox ORDER BY id`)
			dbtest.Equal(t, "hours to live", []string{
				"won 21", "answer 21", "callback_answer -3", "refused 21", "future 24",
			}, got)
		})
	}
}

// TestEditsLiveForAWeek checks that the edit of a card expires a week after the card's last change,
// even if the command was sent long before.
func TestEditsLiveForAWeek(t *testing.T) {
	t.Parallel()
	const lives = `SELECT round(extract(epoch FROM expires_at - now()) / 3600)::integer FROM outbox WHERE action = 'edit'`
	c := newCards(t)
	c.send(t, 71)
	card := ranking.Amended{Match: 1, Card: ranking.MatchRecorded{Number: 22}}
	dbtest.Must(t, c.world.Store.Apply(t.Context(), ranking.Changes{
		Key: "2", Chat: 1, SentAt: time.Now().Add(-48 * time.Hour),
		Decision: ranking.Decision{Effect: &ranking.Undone{Amended: card}},
	}))
	for _, key := range []string{"3", "4"} {
		if hours := dbtest.Value[*int](t, c.world.Pool, lives); hours == nil || *hours != 7*24 {
			t.Fatalf("the edit lives for %v hours, want a week", hours)
		}
		dbtest.Exec(t, c.world.Pool, `UPDATE outbox SET expires_at = now() + interval '1 hour' WHERE action = 'edit'`)
		c.change(t, key, 33)
	}
	dbtest.Exec(t, c.world.Pool, `UPDATE outbox SET expires_at = now() WHERE action = 'edit'`)
	if s := c.MustSummarize(t, dbtest.Bounds, dbtest.Chat(1)); s.Expired != 1 {
		t.Errorf("too late: %+v", s)
	}
	c.MustWait(t)
}

// TestPossibleDuplicatesExpire checks that an expired card goes into a summary, and that the
// summary counts as a possible duplicate if the card may have been sent. Edits expire silently.
func TestPossibleDuplicatesExpire(t *testing.T) {
	t.Parallel()
	c := newCards(t)
	r := dbtest.Failed(c.MustTake(t, 1, 1), outbox.Ambiguous)
	r.Pause = 0
	c.Finish(t, r)
	c.change(t, "2", 22)
	dbtest.Exec(t, c.world.Pool, `UPDATE outbox SET expires_at = now()`)
	if s := c.MustSummarize(t, dbtest.Bounds, dbtest.Chat(1)); s.Expired != 2 {
		t.Errorf("%d have expired", s.Expired)
	}
	taken := c.MustTake(t, 1, 1)
	if i := taken.Row; i.Kind != "results_summary" || i.PossibleDuplicates != 1 || !i.Repeated {
		t.Errorf("the notice is %+v", i)
	}
}
