//go:build soak

package main_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

// refusedTown is a set of groups in which, according to Telegram, the bot lacks the right to send.
// A few of them have a board. In each group, two results were answered before the fault, and three
// have not been answered since.
type refusedTown struct {
	t      *testing.T
	sim    *botsim.Server
	url    string
	pool   *pgxpool.Pool
	alice  botsim.User
	groups []*botsim.Chat
	before int // requests before the fault
	heal   func()
}

const townSize, townBoards = 200, 20

func newRefusedTown(t *testing.T) *refusedTown {
	t.Helper()
	w := &refusedTown{t: t, sim: startTelegram(t)}
	w.url, w.pool = database(t)
	w.alice, w.groups = newGroups(w.sim, townSize)
	launch(t, plainEnvironment(w.sim, w.url), "run")
	w.say(w.groups...)
	awaitAllSent(t, w.sim, w.pool)
	w.exec(`INSERT INTO boards (chat_id, ladder_id, pin)
		SELECT g.chat_id, l.id, 'pinned' FROM groups g JOIN ladders l ON l.group_id = g.id ORDER BY 1 LIMIT $1`, townBoards)
	w.say(w.groups...)
	awaitAllSent(t, w.sim, w.pool)
	eventually(t, "the boards are there",
		func() bool { return count(t, w.pool, `SELECT count(*) FROM ensured_messages`) == townBoards })
	awaitAllSent(t, w.sim, w.pool)
	w.before = len(w.sim.Calls())
	writes := []string{"sendMessage", "sendRichMessage", "editMessageText", "pinChatMessage"}
	w.heal = w.sim.Fault(botsim.Fault{
		Kind: botsim.Reject, Description: "Bad Request: not enough rights to send text messages to the chat",
		Match: func(c botsim.Call) bool { return c.ChatID < 0 && slices.Contains(writes, c.Method) },
	})
	for range 3 {
		w.say(w.groups...)
	}
	w.awaitRefused()
	return w
}

func (w *refusedTown) say(groups ...*botsim.Chat) {
	for _, g := range groups {
		g.Say(w.alice, "/match @bob 3:1")
	}
}

func (w *refusedTown) exec(sql string, args ...any) {
	w.t.Helper()
	_, err := w.pool.Exec(testContext(w.t), sql, args...)
	must(w.t, err)
}

// later moves the clock forward by making the stored times of notices and parked chats older.
func (w *refusedTown) later(d time.Duration) {
	w.t.Helper()
	tx, err := w.pool.Begin(testContext(w.t))
	must(w.t, err)
	_, err = tx.Exec(w.t.Context(), `UPDATE outbox SET created_at = created_at - $1::interval,
		tried_at = tried_at - $1::interval, not_before = not_before - $1::interval,
		expires_at = expires_at - $1::interval, finished_at = finished_at - $1::interval`, d)
	must(w.t, err)
	_, err = tx.Exec(w.t.Context(),
		`UPDATE chats SET parked_at = parked_at - $1::interval, parked_until = parked_until - $1::interval`, d)
	must(w.t, err)
	must(w.t, tx.Commit(w.t.Context()))
}

// awaitRefused waits until all results are recorded, and each group was tried and refused.
func (w *refusedTown) awaitRefused() {
	w.t.Helper()
	eventually(w.t, "all groups are parked", func() bool {
		return w.sim.Pending() == 0 &&
			count(w.t, w.pool, `SELECT count(*) FROM chats WHERE parked_until > now() + interval '9 minutes'`) == townSize
	})
}

// requests returns the number of requests to groups since the fault began, and the maximum for one
// group.
func (w *refusedTown) requests() (all, most int) {
	in := make(map[int64]int)
	for _, c := range w.sim.Calls()[w.before:] {
		if c.ChatID < 0 { // a group
			in[c.ChatID]++
			all, most = all+1, max(most, in[c.ChatID])
		}
	}
	return all, most
}

// mustBeQuiet checks that no request is made to the groups while the dispatcher polls the outbox a
// few times: it holds back an answer in a private chat for 3 s, and waits for that answer.
func (w *refusedTown) mustBeQuiet() {
	w.t.Helper()
	before, _ := w.requests()
	private := w.sim.Private(w.alice)
	for _, frozen := range []string{"0 s", "3 s"} { // the first answer makes the chat known
		w.exec(`UPDATE chats SET frozen_until = now() + $2::interval WHERE telegram_chat_id = $1`, w.alice.ID, frozen)
		answered := len(private.BotMessages())
		private.Say(w.alice, "/help")
		awaitAnswers(w.t, private, answered+1)
	}
	if after, _ := w.requests(); after != before {
		w.t.Errorf("%d requests to chats that are parked", after-before)
	}
}

// mustHaveTold checks that the messages to each group name or count the given number of results. In
// groups without a board, it also checks the number of messages.
func (w *refusedTown) mustHaveTold(groups []*botsim.Chat, results, messages int) {
	w.t.Helper()
	for _, g := range groups {
		named, counted := deliveredResults(w.t, g.BotMessages())
		if len(named)+counted != results {
			w.t.Errorf("%d results of %d were told", len(named)+counted, results)
		}
		if n := len(g.BotMessages()); n != messages && !w.hasBoard(g) {
			w.t.Errorf("%d messages, want %d: %+v", n, messages, g.BotMessages())
		}
	}
}

func (w *refusedTown) hasBoard(g *botsim.Chat) bool {
	return count(w.t, w.pool,
		`SELECT count(*) FROM boards b JOIN chats c ON c.id = b.chat_id WHERE c.telegram_chat_id = $1`, g.ID()) > 0
}

func (w *refusedTown) conclude() {
	w.t.Helper()
	if n := count(w.t, w.pool, `SELECT count(*) FROM chats WHERE parked_at IS NOT NULL OR parkings > 0`); n != 0 {
		w.t.Errorf("%d chats are parked in the end", n)
	}
	checkNoDeadLetters(w.t, w.pool)
	verifyClean(w.t, w.url)
}

// TestNoRightsForFiveMinutes checks that, if Telegram refuses messages to the groups for five
// minutes, all results are sent by the first retry, ten minutes after the refusals began.
func TestNoRightsForFiveMinutes(t *testing.T) {
	t.Parallel()
	w := newRefusedTown(t)
	w.later(5 * time.Minute)
	w.heal()
	w.mustBeQuiet()
	all, most := w.requests()
	if most > 1 {
		t.Errorf("%d requests to a chat", most)
	}
	w.later(5 * time.Minute)
	begun := time.Now()
	awaitAllSent(t, w.sim, w.pool)
	t.Logf("%d chats: %d requests, at most %d to a chat; everything was told %v after the first try",
		townSize, all, most, time.Since(begun).Round(time.Second))
	w.mustHaveTold(w.groups, 5, 3)
	w.conclude()
}

// TestNoRightsForADayAndAHalf checks that, while Telegram refuses messages to the groups, each
// group gets at most five requests in 36 hours. Afterward, a command or the next retry makes the
// bot send the recent results and a single summary of the others.
func TestNoRightsForADayAndAHalf(t *testing.T) {
	t.Parallel()
	w := newRefusedTown(t)
	for _, pause := range []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour} {
		w.later(pause)
		w.awaitRefused()
		w.mustBeQuiet()
	}
	w.later(4*time.Hour + 50*time.Minute)
	w.mustBeQuiet()
	all, most := w.requests()
	t.Logf("%d chats: %d requests in 36 hours, at most %d to a chat", townSize, all, most)
	if most > 5 {
		t.Errorf("%d requests to a chat", most)
	}
	w.heal()
	begun := time.Now()
	asked, quiet := w.groups[:townSize/2], w.groups[townSize/2:]
	w.say(asked...)
	eventually(t, "those who asked are told", func() bool {
		return w.sim.Pending() == 0 &&
			count(t, w.pool, `SELECT count(*) FROM chats WHERE parked_at IS NULL AND telegram_chat_id < 0`) == len(asked) &&
			count(t, w.pool, `SELECT count(*) FROM outbox o JOIN chats c ON c.id = o.chat_id
				WHERE o.finished_at IS NULL AND c.parked_at IS NULL`) == 0
	})
	t.Logf("those who asked were told after %v", time.Since(begun).Round(time.Second))
	w.mustHaveTold(asked, 6, 4)
	w.mustBeQuiet()
	w.later(19*time.Hour + 10*time.Minute)
	begun = time.Now()
	awaitAllSent(t, w.sim, w.pool)
	t.Logf("the others were told %v after their next try", time.Since(begun).Round(time.Second))
	w.mustHaveTold(quiet, 5, 3)
	w.conclude()
}
