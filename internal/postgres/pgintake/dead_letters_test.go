package pgintake_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/intake"
	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgintake"
)

// deadLetters is an outbox together with its dead letters.
type deadLetters struct {
	dbtest.Mail
	*pgintake.DeadLetters
}

// newDeadLetters returns an outbox with three dead letters: letter 1 is notice 1 to the club,
// letter 2 is update 70, and letter 3 is notice 2 to a private chat.
func newDeadLetters(t *testing.T) deadLetters {
	t.Helper()
	m := dbtest.NewMail(t)
	d := deadLetters{m, pgintake.NewDeadLetters(m.Pool)}
	dbtest.Exec(t, m.Pool, `UPDATE chats SET title = 'Club' WHERE id = 1`)
	d.die(t, 1)
	d.keep(t, 70)
	d.die(t, 2)
	return d
}

// die makes the messenger reject the first notice of a chat.
func (d deadLetters) die(t *testing.T, chat outbox.ChatID) {
	t.Helper()
	r := dbtest.Failed(*d.Take(t, chat), outbox.Rejected)
	r.Failure.Err = errors.New("refused")
	d.Finish(t, r)
}

func (d deadLetters) keep(t *testing.T, update int64) {
	t.Helper()
	err := d.Save(t.Context(), intake.DeadLetter{
		Update:    intake.Update{ID: update, Raw: fmt.Appendf(nil, "\x00%d\xff", update)},
		LastError: "broken", Attempts: 9, FirstSeen: time.Unix(1_700_000_000, 0),
	})
	dbtest.Must(t, err)
}

func (d deadLetters) contents(t *testing.T) []string {
	t.Helper()
	return dbtest.Values[string](t, d.Pool, `
		SELECT o::text FROM outbox o UNION ALL SELECT d::text FROM dead_letters d ORDER BY 1`)
}

// The letters of newDeadLetters, without their times.
var (
	letterToClub = pgintake.DeadLetter{
		ID: 1, Notice: 1, State: "dead", Kind: "a", Chat: -100, Title: "Club",
		LastError: "refused", Attempts: 1,
	}
	letterOfUpdate = pgintake.DeadLetter{ID: 2, Update: 70, LastError: "broken", Attempts: 9}
	letterToOne    = pgintake.DeadLetter{
		ID: 3, Notice: 2, State: "dead", Kind: "b", Chat: 5, LastError: "refused", Attempts: 1,
	}
)

var timeless = cmp.Options{
	cmpopts.IgnoreFields(pgintake.DeadLetter{}, "FirstSeen", "LastSeen", "Payload"), cmpopts.EquateEmpty(),
}

func TestListDeadLetters(t *testing.T) {
	t.Parallel()
	d := newDeadLetters(t)
	for limit, want := range map[int][]pgintake.DeadLetter{
		50: {letterToOne, letterOfUpdate, letterToClub},
		2:  {letterToOne, letterOfUpdate},
	} {
		got, total, err := d.List(t.Context(), limit)
		if err != nil || total != 3 {
			t.Errorf("%d in total: %v", total, err)
		}
		if diff := cmp.Diff(want, got, timeless); diff != "" {
			t.Errorf("at most %d (-want +got):\n%s", limit, diff)
		}
	}
	d.keep(t, 70) // fails once more
	again := letterOfUpdate
	again.Attempts = 18
	got, _, err := d.List(t.Context(), 1)
	if diff := cmp.Diff([]pgintake.DeadLetter{again}, got, timeless); diff != "" || err != nil {
		t.Errorf("the newest: %v (-want +got):\n%s", err, diff)
	}
	if got[0].FirstSeen.Unix() != 1_700_000_000 || time.Since(got[0].LastSeen).Abs() > time.Minute {
		t.Errorf("seen first %v, last %v", got[0].FirstSeen, got[0].LastSeen)
	}
	dbtest.Exec(t, d.Pool, `DELETE FROM dead_letters`)
	if got, total, err := d.List(t.Context(), 50); len(got) != 0 || total != 0 || err != nil {
		t.Errorf("without any: %v, %d in total: %v", got, total, err)
	}
}

func TestFindDeadLetters(t *testing.T) {
	t.Parallel()
	d := newDeadLetters(t)
	dbtest.Exec(t, d.Pool, `DELETE FROM outbox WHERE id = 2`)
	withoutRow := letterToOne
	withoutRow.State, withoutRow.Kind, withoutRow.Chat = "", "", 0
	for name, tc := range map[string]struct {
		ids  []postgres.DeadLetterID
		want []pgintake.DeadLetter
	}{
		"none":    {nil, nil},
		"some":    {[]postgres.DeadLetterID{3, 99, 2}, []pgintake.DeadLetter{letterOfUpdate, withoutRow}},
		"unknown": {[]postgres.DeadLetterID{99}, nil},
	} {
		got, err := d.Find(t.Context(), tc.ids)
		if diff := cmp.Diff(tc.want, got, timeless); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		for _, l := range got {
			if want := map[postgres.DeadLetterID]string{
				1: `{"n": 1}`, 2: "\x0070\xff", 3: `{"n": 2}`,
			}[l.ID]; string(l.Payload) != want {
				t.Errorf("%s: the payload of %d is %q", name, l.ID, l.Payload)
			}
		}
	}
}

// TestDeadLettersSince checks that time and text each narrow the list. The search for the text
// ignores case, and % in the text stands only for itself.
func TestDeadLettersSince(t *testing.T) {
	t.Parallel()
	d := newDeadLetters(t)
	at := time.Unix(1_800_000_000, 0)
	dbtest.Exec(t, d.Pool, `UPDATE dead_letters SET last_seen_at = $1::timestamptz + id * interval '1 second'`, at)
	for name, tc := range map[string]struct {
		after time.Duration
		text  string
		want  []postgres.DeadLetterID
	}{
		"all":            {0, "", []postgres.DeadLetterID{1, 2, 3}},
		"by time":        {2 * time.Second, "", []postgres.DeadLetterID{2, 3}},
		"by text":        {0, "EFUS", []postgres.DeadLetterID{1, 3}},
		"by both":        {2 * time.Second, "Refused", []postgres.DeadLetterID{3}},
		"no pattern":     {0, "ref%ed", nil},
		"not even UTF-8": {0, "\x00\xff", nil},
		"too late":       {4 * time.Second, "", nil},
	} {
		letters, err := d.Since(t.Context(), at.Add(tc.after), tc.text)
		ids := postgres.Column(letters, func(l pgintake.DeadLetter) postgres.DeadLetterID { return l.ID })
		if diff := cmp.Diff(tc.want, ids, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestOpenDeadLetter(t *testing.T) {
	t.Parallel()
	d := newDeadLetters(t)
	for _, want := range []pgintake.DeadLetter{letterToClub, letterOfUpdate} {
		got, err := d.Open(t.Context(), want.ID)
		if diff := cmp.Diff(want, got, timeless); diff != "" || err != nil {
			t.Errorf("letter %d: %v (-want +got):\n%s", want.ID, err, diff)
		}
	}
	if _, err := d.Open(t.Context(), 99); !errors.Is(err, pgintake.ErrNoDeadLetter) {
		t.Errorf("unknown: %v", err)
	}
}

func TestDropDeadLetters(t *testing.T) {
	t.Parallel()
	d := newDeadLetters(t)
	for _, tc := range []struct{ ids, want []postgres.DeadLetterID }{
		{nil, nil},
		{[]postgres.DeadLetterID{1, 2, 99}, []postgres.DeadLetterID{1, 2}},
		{[]postgres.DeadLetterID{1}, nil},
	} {
		got, err := d.Drop(t.Context(), tc.ids)
		slices.Sort(got)
		if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("drop %v: %v (-want +got):\n%s", tc.ids, err, diff)
		}
	}
	if left := dbtest.Values[int64](t, d.Pool, `SELECT id FROM dead_letters`); !slices.Equal(left, []int64{3}) {
		t.Errorf("the letters left are %v", left)
	}
	if got := d.Row(t, 1); got != "dead attempts 1 duplicates 0 message 0 error refused finished true" {
		t.Errorf("the notice is %s", got)
	}
}

// TestSendAgain checks that a rejected notice that is sent again keeps its position before newer
// notices of its chat, even if it is past its deadline. If it is rejected again, it becomes a new
// dead letter.
func TestSendAgain(t *testing.T) {
	t.Parallel()
	d := newDeadLetters(t)
	dbtest.Exec(t, d.Pool, `
		UPDATE outbox SET expires_at = now() - interval '1 hour', not_before = now() + interval '1 hour', failures = 8
		WHERE id = 1`)
	dbtest.Must(t, d.SendAgain(t.Context(), 1))
	if got := d.Row(t, 1); got != "planned attempts 1 duplicates 0 message 0 error refused finished false" {
		t.Errorf("the notice is %s", got)
	}
	if left := dbtest.Values[int64](t, d.Pool, `
		SELECT id FROM dead_letters ORDER BY id`); !slices.Equal(left, []int64{2, 3}) {
		t.Errorf("the letters left are %v", left)
	}
	if triedAt := dbtest.Value[*time.Time](t, d.Pool, `SELECT tried_at FROM outbox WHERE id = 1`); triedAt != nil {
		t.Errorf("the notice was tried at %v", triedAt)
	}
	if again := d.MustTake(t, 1, 1); again.Row.Attempts != 2 || again.Row.Failures != 0 {
		t.Fatalf("took %+v", again)
	}
	d.die(t, 1)
	letters, err := d.Since(t.Context(), time.Time{}, "")
	again := letterToClub
	again.ID, again.Attempts = 4, 2+1
	if diff := cmp.Diff([]pgintake.DeadLetter{letterOfUpdate, letterToOne, again},
		letters, timeless); diff != "" || err != nil {
		t.Errorf("rejected once more: %v (-want +got):\n%s", err, diff)
	}
}

// TestAttemptsOfDeadLettersAddUp checks that, if a notice fails for good several times, its letter
// counts all attempts. FirstSeen is when the notice was queued.
func TestAttemptsOfDeadLettersAddUp(t *testing.T) {
	t.Parallel()
	m := dbtest.NewMail(t)
	d := deadLetters{m, pgintake.NewDeadLetters(m.Pool)}
	dbtest.Exec(t, d.Pool, `UPDATE outbox SET created_at = to_timestamp(1700000000), attempts = 4 WHERE id = 1`)
	for _, want := range []int{5, 6, 7} {
		d.die(t, 1)
		letters, err := d.Since(t.Context(), time.Time{}, "")
		if err != nil || len(letters) != 1 {
			t.Fatalf("%d letters, error %v", len(letters), err)
		}
		if l := letters[0]; l.Attempts != want || l.FirstSeen.Unix() != 1_700_000_000 {
			t.Errorf("%d attempts since %v, want %d", l.Attempts, l.FirstSeen, want)
		}
		dbtest.Must(t, d.SendAgain(t.Context(), letters[0].ID))
	}
	if at := dbtest.Value[*time.Time](t, d.Pool, `SELECT expires_at FROM outbox WHERE id = 1`); at != nil {
		t.Errorf("its deadline is %v", at)
	}
}

// TestSendAgainNotDead checks that only a dead notice that has a dead letter can be sent again.
// Otherwise SendAgain changes nothing.
func TestSendAgainNotDead(t *testing.T) {
	t.Parallel()
	d := newDeadLetters(t)
	dbtest.Exec(t, d.Pool, `UPDATE outbox SET state = 'sent' WHERE id = 1`)
	dbtest.Exec(t, d.Pool, `DELETE FROM outbox WHERE id = 2`)
	before := d.contents(t)
	for id, want := range map[postgres.DeadLetterID]error{
		1: pgintake.ErrNotDead, 2: pgintake.ErrNoDeadLetter, 3: pgintake.ErrNotDead, 99: pgintake.ErrNoDeadLetter,
	} {
		if err := d.SendAgain(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("letter %d: %v, want %v", id, err, want)
		}
	}
	if diff := cmp.Diff(before, d.contents(t)); diff != "" {
		t.Errorf("something was changed:\n%s", diff)
	}
}

func TestFailedAgain(t *testing.T) {
	t.Parallel()
	d := newDeadLetters(t)
	dbtest.Exec(t, d.Pool, `UPDATE dead_letters SET last_seen_at = now() - interval '1 day'`)
	for _, id := range []postgres.DeadLetterID{1, 2, 99} { // only 2 is the letter of an update
		dbtest.Must(t, d.FailedAgain(t.Context(), id, errors.New("again\x00\xff")))
	}
	got := dbtest.Values[string](t, d.Pool, `
		SELECT id || ' ' || last_error || ' ' || attempts || ' ' || (last_seen_at > now() - interval '1 hour')
		FROM dead_letters ORDER BY id`)
	want := []string{"1 refused 1 false", "2 again\ufffd\ufffd 10 true", "3 refused 1 false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDeadLettersOfUpdates(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	letters := pgintake.NewDeadLetters(pool)
	letter := intake.DeadLetter{
		Update:    intake.Update{ID: 77, Raw: []byte("{\x00\xff broken")},
		LastError: "first", Attempts: 3, FirstSeen: time.Unix(1_700_000_000, 0),
	}
	again := letter
	again.LastError, again.Attempts, again.FirstSeen = "\x00second\xff", 2, time.Unix(1_700_009_999, 0)
	for _, l := range []intake.DeadLetter{letter, again} {
		dbtest.Must(t, letters.Save(t.Context(), l))
	}
	got := dbtest.Values[string](t, pool, `
		SELECT kind || ' ' || update_id || ' ' || encode(payload, 'hex') || ' ' || last_error || ' ' || attempts || ' '
		       || extract(epoch FROM first_seen_at)::bigint || ' ' || (last_seen_at > first_seen_at) FROM dead_letters`)
	want := []string{fmt.Sprintf("update 77 %x \ufffdsecond\ufffd 5 1700000000 true", letter.Update.Raw)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
