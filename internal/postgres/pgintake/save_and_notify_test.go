package pgintake_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/intake"
	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgintake"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// letterAndNotice selects a line for each queued notice, with its lifetime in hours instead of
// times.
const letterAndNotice = `
	SELECT concat_ws(' ', c.telegram_chat_id, c.kind, c.title, o.key, o.kind, o.purpose, o.payload, o.addressee, o.action,
	    o.callback_query_id, 'reply', o.reply_to, o.thread_id,
	    'hours', round(extract(epoch FROM o.expires_at - o.created_at) / 3600))
	FROM outbox o JOIN chats c ON c.id = o.chat_id ORDER BY o.id`

func TestSaveAndNotify(t *testing.T) {
	t.Parallel()
	w := dbtest.NewWorld(t)
	dbtest.Exec(t, w.Pool, `INSERT INTO chat_aliases SELECT -50, id FROM chats`)
	var woken []outbox.Lane
	letters := pgintake.NewDeadLetters(w.Pool)
	letters.Committed = func(l outbox.Lane) { woken = append(woken, l) }
	sent := time.Unix(1_700_000_000, 0)
	letters.Now = func() time.Time { return sent.Add(time.Hour) }
	letter := func(update int64) intake.DeadLetter {
		return intake.DeadLetter{
			Update: intake.Update{ID: update, Raw: []byte("\x00raw")}, LastError: "why", Attempts: 3, FirstSeen: sent,
		}
	}
	refusal := ranking.Refusal{Code: "x"}
	private := ranking.Chat{ID: 5, Kind: ranking.Private}
	unknown := ranking.Chat{ID: -300, Kind: ranking.Supergroup, Title: "New"}
	retitled := ranking.Chat{ID: dbtest.Club.ID, Kind: ranking.Group}
	for i, o := range []ranking.Origin{
		{Key: "m:1", Chat: retitled, Sender: &dbtest.Alice, SentAt: sent, Place: ranking.Place{ReplyTo: 7, Thread: 8}},
		// The update fails again.
		{Key: "m:1", Chat: retitled, Sender: &dbtest.Alice, SentAt: sent, Place: ranking.Place{ReplyTo: 7, Thread: 8}},
		{Key: "m:2", Chat: private, SentAt: sent},
		{Key: "m:3", Chat: unknown, SentAt: sent, Place: ranking.Place{ReplyTo: 9}},
		// -50 is an earlier id of a chat.
		{Key: "m:4", Chat: ranking.Chat{ID: -50, Kind: ranking.Group}, SentAt: sent, Place: ranking.Place{ReplyTo: 9, Thread: 1}},
		{Key: "c:5", Chat: dbtest.Club, Sender: &dbtest.Bob, SentAt: sent, Press: ranking.Press{Button: "5"}, Place: ranking.Place{ReplyTo: 9}},
	} {
		dbtest.Must(t, letters.SaveAndNotify(t.Context(), letter(int64(70+max(1, i))), o, refusal))
	}
	const refusalRow = ` refusal outcome {"code": "x"} `
	want := []string{
		`-100 group Club m:1` + refusalRow + `Alice send reply 7 8 hours 23`,
		`5 private  m:2` + refusalRow + ` send reply hours 23`,
		`-300 supergroup New m:3` + refusalRow + ` send reply 9 hours 23`,
		`-100 group Club m:4` + refusalRow + ` send reply hours 23`,
		`-100 group Club c:5` + refusalRow + `Bob callback_answer 5 reply hours -1`,
	}
	if diff := cmp.Diff(want, dbtest.Values[string](t, w.Pool, letterAndNotice)); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]outbox.Lane{
		dbtest.Chat(1), dbtest.Chat(2), dbtest.Chat(3), dbtest.Chat(1), dbtest.Answers(1),
	}, relabeled(t, w, woken)); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
	got := dbtest.Values[string](t, w.Pool, `
		SELECT concat_ws(' ', update_id, last_error, attempts, encode(payload, 'hex')) FROM dead_letters ORDER BY id`)
	if len(got) != 5 || got[0] != "71 why 6 00726177" {
		t.Errorf("the letters are %q", got)
	}
	if n := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM handled_commands`) +
		dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM players`); n != 0 {
		t.Errorf("there are %d commands and players", n)
	}
	if n := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM ladders WHERE is_default`); n != 2 {
		t.Errorf("%d groups have a ladder, want 2", n)
	}
	// An update whose letter was saved without a notice gets no notice later.
	dbtest.Must(t, letters.Save(t.Context(), letter(90)))
	dbtest.Must(t, letters.SaveAndNotify(t.Context(), letter(90),
		ranking.Origin{Key: "m:9", Chat: dbtest.Club, SentAt: sent}, refusal))
	// If the notice cannot be stored, the letter is not stored either.
	dbtest.Exec(t, w.Pool, `ALTER TABLE outbox ADD CONSTRAINT broken CHECK (key <> 'm:10')`)
	if err := letters.SaveAndNotify(t.Context(), letter(91),
		ranking.Origin{Key: "m:10", Chat: dbtest.Club, SentAt: sent}, refusal); err == nil {
		t.Error("no error for a notice that cannot be inserted")
	}
	if n := dbtest.Value[int](t, w.Pool, `SELECT count(*) FROM dead_letters`); n != 6 || len(woken) != 5 {
		t.Errorf("there are %d letters, and %d lanes were woken", n, len(woken))
	}
}

// relabeled replaces the ids of the chats in lanes with their numbers 1, 2, … in the order of the
// ids.
func relabeled(t *testing.T, w *dbtest.World, lanes []outbox.Lane) []outbox.Lane {
	t.Helper()
	order := dbtest.Values[outbox.ChatID](t, w.Pool, `SELECT id FROM chats ORDER BY id`)
	for i, l := range lanes {
		for n, id := range order {
			if l.Chat == id {
				lanes[i].Chat = outbox.ChatID(n + 1)
			}
		}
	}
	return lanes
}

// TestNotifiedOnce checks that, if several instances save the same dead letter at the same time,
// the chat gets one notice.
func TestNotifiedOnce(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	letters := pgintake.NewDeadLetters(pool)
	for update := range int64(20) {
		var work sync.WaitGroup
		for range 4 {
			work.Go(func() {
				l := intake.DeadLetter{Update: intake.Update{ID: update + 1}, LastError: "why", Attempts: 1, FirstSeen: time.Now()}
				l.Update.Raw = []byte("x")
				if err := letters.SaveAndNotify(t.Context(), l,
					ranking.Origin{Key: "k", Chat: dbtest.Club, SentAt: time.Now()}, ranking.Refusal{}); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
	}
	if n := dbtest.Value[int](t, pool, `SELECT count(*) FROM outbox`); n != 20 {
		t.Errorf("20 updates have %d notices", n)
	}
}

// TestDeadLetterWhenUnlocked checks that, while the chat of a dead letter is locked, saving fails
// with an error that asks for a retry. Once the chat is unlocked, the retry saves the letter and
// its notice.
func TestDeadLetterWhenUnlocked(t *testing.T) {
	t.Parallel()
	pool := dbtest.ShortWait(t, pgtest.Borrow(t)).Pool
	store, letters := pgranking.NewStore(pool, dbtest.Ignore), pgintake.NewDeadLetters(pool)
	dbtest.Must(t, dbtest.Upsert(t.Context(), store, dbtest.Club, nil))
	letter := intake.DeadLetter{
		Update: intake.Update{ID: 7, Raw: []byte("x")}, LastError: "why", Attempts: 1, FirstSeen: time.Now(),
	}
	keep := func(maxWait time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), maxWait)
		defer cancel()
		return letters.SaveAndNotify(ctx, letter,
			ranking.Origin{Key: "k", Chat: dbtest.Club, SentAt: time.Now()}, ranking.Refusal{})
	}
	holder := dbtest.Begin(t, pool)
	dbtest.Exec(t, holder, `SELECT FROM chats FOR UPDATE`)
	for name, maxWait := range map[string]time.Duration{"lock": dbtest.MaxWait, "deadline": 30 * time.Millisecond} {
		if err := keep(maxWait); err == nil || !store.RetryLater(err) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	dbtest.Must(t, holder.Rollback(t.Context()))
	dbtest.Must(t, keep(dbtest.MaxWait))
	if n := dbtest.Value[int](t, pool, `
		SELECT (SELECT count(*) FROM dead_letters) * 10 + (SELECT count(*) FROM outbox)`); n != 11 {
		t.Errorf("%d letters and notices, want one of each", n)
	}
}
