package pgoutbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/postgres/dbtest"
)

// results adds n results to the group's lane, each of a different match.
func (m mail) results(t *testing.T, n int) {
	t.Helper()
	dbtest.Exec(t, m.Pool, `INSERT INTO groups (chat_id) VALUES (1) ON CONFLICT DO NOTHING;`+dbtest.DefaultLadders)
	dbtest.Exec(t, m.Pool, `
		WITH new AS (
		    INSERT INTO matches
		        (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
		    SELECT l.group_id, l.id, l.id, n, 3, 1, 32, now(), 'm:' || n
		    FROM ladders l, (SELECT count(*) FROM matches) AS old, generate_series(old.count + 1, old.count + $1) AS n
		    RETURNING id, number)
		INSERT INTO outbox (chat_id, kind, payload, match_id, reply_to)
		SELECT 1, 'match_recorded', jsonb_build_object('number', number), id, 7 FROM new ORDER BY number`, n)
}

// others adds n notices that are not results to the group's lane.
func (m mail) others(t *testing.T, n int, purpose notice.Purpose) {
	t.Helper()
	dbtest.Exec(t, m.Pool, `INSERT INTO outbox (chat_id, kind, payload, purpose)
		SELECT 1, 'k', '{}', $2 FROM generate_series(1, $1::integer) n`, n, purpose)
}

// waiting returns a description of the waiting rows, in order: the length and kind of each run of
// rows of the same kind, and the id and content of each summary.
func (m mail) waiting(t *testing.T) string {
	t.Helper()
	var runs []string
	n := 0
	for _, row := range dbtest.Values[string](t, m.Pool, `
		SELECT CASE kind WHEN 'results_summary' THEN concat(id, ': ', payload ->> 'count', ' results, ',
		    jsonb_path_query_array(payload, '$.results.number'), ', ', payload ->> 'answers', ' answers') ELSE kind END
		FROM outbox WHERE finished_at IS NULL ORDER BY id`) {
		n++
		last := len(runs) - 1
		switch {
		case strings.Contains(row, ":"):
			runs, n = append(runs, row), 0
		case last >= 0 && strings.HasSuffix(runs[last], " "+row):
			runs[last] = fmt.Sprint(n, " ", row)
		default:
			runs, n = append(runs, "1 "+row), 1
		}
	}
	return strings.Join(runs, ", ")
}

// TestSummarize checks that, if more notices wait than the bound allows, one summary for each topic
// replaces the results and counts the answers. In a topic without results, the answers just end.
// Results and answers that may have arrived stay, and so do other notices, unless they are late.
// Late results are summarized even if few notices wait.
func TestSummarize(t *testing.T) {
	t.Parallel()
	type lane func(t *testing.T, m mail)
	results := func(n int) lane { return func(t *testing.T, m mail) { t.Helper(); m.results(t, n) } }
	others := func(n int) lane { return func(t *testing.T, m mail) { t.Helper(); m.others(t, n, notice.Outcome) } }
	questions := func(n int) lane { return func(t *testing.T, m mail) { t.Helper(); m.others(t, n, notice.Answer) } }
	sql := func(sql string) lane { return func(t *testing.T, m mail) { t.Helper(); dbtest.Exec(t, m.Pool, sql) } }
	summarize := func(t *testing.T, m mail) {
		t.Helper()
		m.MustSummarize(t, outbox.Bounds{MaxWaiting: 20}, dbtest.Chat(1))
	}
	const late = `UPDATE outbox SET expires_at = now() WHERE id IN `
	for name, tc := range map[string]struct {
		fill []lane
		want string
		outbox.Summarized
	}{
		"as many as may wait":   {[]lane{results(18), questions(2)}, "18 match_recorded, 2 k", outbox.Summarized{}},
		"too many":              {[]lane{results(21)}, "1: 21 results, [1, 2, 3, 4, 5], 0 answers", outbox.Summarized{Dropped: 21}},
		"a few among others":    {[]lane{others(18), results(2), others(1)}, "18 k, 19: 2 results, [1, 2], 0 answers, 1 k", outbox.Summarized{Dropped: 2}},
		"after something else":  {[]lane{others(1), results(30)}, "1 k, 2: 30 results, [1, 2, 3, 4, 5], 0 answers", outbox.Summarized{Dropped: 30}},
		"of other kinds":        {[]lane{others(50)}, "50 k", outbox.Summarized{}},
		"questions":             {[]lane{results(4), questions(30), results(4)}, "1: 8 results, [1, 2, 3, 4, 5], 30 answers", outbox.Summarized{Dropped: 38}},
		"nothing but questions": {[]lane{questions(30)}, "", outbox.Summarized{Dropped: 30}},
		"those that may have arrived": {
			[]lane{results(30), questions(2), sql(`UPDATE outbox SET attempts = 2, possible_duplicates = 1 WHERE id IN (9, 31)`),
				sql(`UPDATE outbox SET state = 'sending', attempts = 1 WHERE id = 1`)},
			"1 match_recorded, 2: 28 results, [2, 3, 4, 5, 6], 1 answers, 1 match_recorded, 1 k", outbox.Summarized{Dropped: 29},
		},
		"in two topics": {
			[]lane{results(30), questions(3), sql(`UPDATE outbox SET thread_id = 8 WHERE id IN (2, 4, 31)`)},
			"1: 28 results, [1, 3, 5, 6, 7], 2 answers, 2: 2 results, [2, 4], 1 answers", outbox.Summarized{Dropped: 33},
		},
		"edits": {
			[]lane{results(30), sql(`UPDATE outbox SET action = 'edit' WHERE id = 30`)},
			"1: 29 results, [1, 2, 3, 4, 5], 0 answers, 1 match_recorded", outbox.Summarized{Dropped: 29},
		},
		"late ones": {
			[]lane{others(2), results(3), questions(2), results(1), sql(late + `(1, 3, 5, 6)`)},
			"1 k, 3: 2 results, [1, 3], 1 answers, 1 match_recorded, 1 k, 1 match_recorded", outbox.Summarized{Expired: 4},
		},
		"late ones that were tried": {
			[]lane{results(4), sql(`UPDATE outbox SET state = 'sending', attempts = 1, batch = 1`), sql(late + `(1, 3)`)},
			"1: 2 results, [1, 3], 0 answers, 2 match_recorded", outbox.Summarized{Expired: 2},
		},
		"late and too many": {
			[]lane{results(30), questions(1), sql(late + `(2, 31)`)},
			"1: 30 results, [1, 2, 3, 4, 5], 1 answers", outbox.Summarized{Expired: 2, Dropped: 29},
		},
		"late edits": {
			[]lane{results(2), sql(`UPDATE outbox SET action = 'edit', expires_at = now() WHERE id = 1`)},
			"1 match_recorded", outbox.Summarized{Expired: 1},
		},
		"a summary": {
			[]lane{results(23), questions(1), summarize, results(1), sql(late + `(25)`), questions(1), sql(late + `(26)`)},
			"1: 24 results, [1, 2, 3, 4, 5], 2 answers", outbox.Summarized{Expired: 2},
		},
		"a short summary": {
			[]lane{results(2), sql(late + `(1, 2)`), summarize, results(30)},
			"1: 32 results, [1, 2, 3, 4, 5], 0 answers", outbox.Summarized{Dropped: 30},
		},
		"refused ones": {
			[]lane{results(30), questions(2), sql(`UPDATE outbox SET attempts = 1, failures = 1 WHERE id IN (1, 9, 31)`)},
			"1: 30 results, [1, 2, 3, 4, 5], 2 answers", outbox.Summarized{Dropped: 32},
		},
		"a refused summary": {
			[]lane{results(22), summarize, sql(`UPDATE outbox SET attempts = 1 WHERE id = 1`), results(30)},
			"1: 52 results, [1, 2, 3, 4, 5], 0 answers", outbox.Summarized{Dropped: 30},
		},
		"a summary that may have arrived": {
			[]lane{results(22), summarize,
				sql(`UPDATE outbox SET attempts = 2, possible_duplicates = 1 WHERE id = 1`), results(30)},
			"1: 22 results, [1, 2, 3, 4, 5], 0 answers, 23: 30 results, [23, 24, 25, 26, 27], 0 answers", outbox.Summarized{Dropped: 30},
		},
		"a summary after a late one": {
			[]lane{results(30),
				sql(`UPDATE outbox SET attempts = 2, possible_duplicates = 1 WHERE id = 1`), summarize, sql(late + `(1)`)},
			"1: 30 results, [1, 2, 3, 4, 5], 0 answers", outbox.Summarized{Expired: 1},
		},
		"very many": {
			[]lane{results(2500), summarize, summarize},
			"1: 2500 results, [1, 2, 3, 4, 5], 0 answers", outbox.Summarized{Dropped: 501},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newEmptyMail(t)
			for _, fill := range tc.fill {
				fill(t, m)
			}
			got := m.MustSummarize(t, outbox.Bounds{MaxWaiting: 20}, dbtest.Chat(1))
			dbtest.Equal(t, "summarized", tc.Summarized, got)
			for range 2 { // a lane within its bound stays as it is
				if got := m.waiting(t); got != tc.want {
					t.Errorf("then there wait\n%s, want\n%s", got, tc.want)
				}
				m.MustSummarize(t, outbox.Bounds{MaxWaiting: 10_000}, dbtest.Chat(1))
			}
			lost := dbtest.Value[int](t, m.Pool, `
				SELECT count(*) FROM outbox o WHERE kind = 'match_recorded' AND action = 'send' AND finished_at IS NOT NULL
				AND NOT EXISTS (SELECT FROM outbox s WHERE s.id = o.batch
				    AND s.kind = 'results_summary' AND s.finished_at IS NULL)`)
			if lost > 0 {
				t.Errorf("%d results belong to no summary", lost)
			}
		})
	}
}

// TestSummarySent checks that the message of a summary is recorded for all matches of the summary
// and for no others. No edit has that message as its target.
func TestSummarySent(t *testing.T) {
	t.Parallel()
	for name, fill := range map[string]func(t *testing.T, m mail){
		"too many": func(t *testing.T, m mail) {
			t.Helper()
			m.others(t, 1, notice.Answer)
			m.results(t, 25)
		},
		"one that is late": func(t *testing.T, m mail) {
			t.Helper()
			m.results(t, 1)
			dbtest.Exec(t, m.Pool, `UPDATE outbox SET expires_at = now()`)
		},
		"late ones of a message": func(t *testing.T, m mail) {
			t.Helper()
			m.results(t, 4)
			m.MustTake(t, 1, 1, 2, 3, 4)
			dbtest.Exec(t, m.Pool, `UPDATE outbox SET expires_at = now() WHERE id IN (1, 3)`)
		},
		"part of another one": func(t *testing.T, m mail) {
			t.Helper()
			m.results(t, 25)
			dbtest.Exec(t, m.Pool, `UPDATE outbox SET attempts = 2, possible_duplicates = 1 WHERE id = 1`)
			m.MustSummarize(t, outbox.Bounds{MaxWaiting: 20}, dbtest.Chat(1))
			dbtest.Exec(t, m.Pool, `UPDATE outbox SET expires_at = now() WHERE id = 1`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newEmptyMail(t)
			fill(t, m)
			m.MustSummarize(t, outbox.Bounds{MaxWaiting: 20}, dbtest.Chat(1))
			possible := 0 // possible duplicates: 1 if a request that covered late results may have arrived
			if name == "late ones of a message" {
				possible = 1
			}
			message := m.Take(t, 1)
			if message == nil || message.Row.Kind != "results_summary" || len(message.Items) != 1 || message.Row.ReplyTo != 0 ||
				message.Row.Attempts != 1 || message.Row.PossibleDuplicates != possible || message.Row.Repeated != (possible > 0) {
				t.Fatalf("took %+v", message)
			}
			again := m.Take(t, 1) // after a crash
			if diff := cmp.Diff(dbtest.Items(message), dbtest.Items(again)); diff != "" ||
				again.Row.PossibleDuplicates != possible+1 {
				t.Errorf("taken again: %+v (-want +got):\n%s", again, diff)
			}
			for range 2 {
				m.Finish(t, dbtest.SentAs(*again, 71))
			}
			want := dbtest.Value[int](t, m.Pool, `
				SELECT (payload ->> 'count')::integer FROM outbox WHERE kind = 'results_summary' AND state = 'sent'`)
			told := dbtest.Values[int](t, m.Pool, `
				SELECT match_id::integer FROM match_messages
				WHERE telegram_chat_id = -100 AND telegram_message_id = 71 AND covered > 1 ORDER BY 1`)
			expired := dbtest.Values[int](t, m.Pool, `
				SELECT match_id::integer FROM outbox
				WHERE match_id IS NOT NULL AND (state = 'expired' OR kind = 'results_summary') ORDER BY 1`)
			if diff := cmp.Diff(expired, told); diff != "" || len(told) != want {
				t.Fatalf("of %d results, the message tells of (-want +got):\n%s", want, diff)
			}
			dbtest.Exec(t, m.Pool, `UPDATE outbox SET state = 'expired', finished_at = now() WHERE finished_at IS NULL`)
			for _, purged := range []bool{false, true} {
				if purged {
					dbtest.Exec(t, m.Pool, `DELETE FROM outbox`)
				}
				for _, match := range told {
					m.edit(t, match)
					if edit := m.Take(t, 1); edit == nil || edit.Action != outbox.Edit || edit.Target != 0 {
						t.Errorf("match %d is edited in %+v", match, edit)
					} else {
						m.Finish(t, dbtest.Failed(*edit, outbox.Obsolete))
					}
				}
			}
		})
	}
}

// TestSummariesOfLateResults checks that, if the deadline of results has passed when their chat can
// be written to again, the chat gets a summary of them, at the position of the first result.
func TestSummariesOfLateResults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ pause, end string }{
		"frozen": {`UPDATE chats SET frozen_until = now() + interval '1 hour'`, `UPDATE chats SET frozen_until = NULL`},
		"parked": {`UPDATE chats SET parked_at = now(), parked_until = now() + interval '1 hour'`, `UPDATE chats SET parked_until = now()`},
		"slow":   {`SELECT`, `SELECT`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newEmptyMail(t)
			m.others(t, 1, notice.Answer)
			m.results(t, 2)
			m.others(t, 1, notice.Outcome)
			m.results(t, 1)
			dbtest.Exec(t, m.Pool, `
				UPDATE outbox SET expires_at = now(), not_before = now() - interval '1 hour', addressee = 'Alice'`)
			m.others(t, 1, notice.Outcome)
			dbtest.Exec(t, m.Pool, tc.pause)
			if name != "slow" {
				dbtest.Purge(t, m.Pool, map[string]int64{"parked": 2}[name])
				if turn := m.Turn(t, dbtest.Chat(1)); turn.Message != nil {
					t.Fatalf("took %v", dbtest.Items(turn.Message))
				}
			}
			dbtest.Exec(t, m.Pool, tc.end)
			for _, want := range []int64{2, 6} {
				message := m.MustTake(t, 1, want)
				if message.Row.Addressee != "" || message.Row.ReplyTo != 0 {
					t.Errorf("took %+v", message)
				}
				m.Finish(t, dbtest.SentAs(message, want))
			}
			if next := m.Take(t, 1); next != nil {
				t.Errorf("then %v is sent", dbtest.Items(next))
			}
		})
	}
}

// TestSummarizeBesideACommand checks that Summarize does not wait for a result that a command is
// changing. That result stays a separate notice.
func TestSummarizeBesideACommand(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	m.results(t, 25)
	undo := dbtest.Begin(t, m.Pool)
	dbtest.Exec(t, undo, `UPDATE outbox SET payload = '{"number": 1, "undone": true}' WHERE id = 1`)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := m.Summarize(ctx, 1, []outbox.Lane{dbtest.Chat(1)}, outbox.Bounds{MaxWaiting: 20})
	dbtest.Must(t, err)
	dbtest.Must(t, undo.Commit(t.Context()))
	if got, want := m.waiting(t), "1 match_recorded, 2: 24 results, [2, 3, 4, 5, 6], 0 answers"; got != want {
		t.Errorf("there wait %s, want %s", got, want)
	}
}

// TestSummarizeIsAllOrNothing checks that Summarize changes nothing if the lease is lost or the
// commit fails.
func TestSummarizeIsAllOrNothing(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	m.results(t, 25)
	if _, err := m.Summarize(t.Context(), 2, []outbox.Lane{dbtest.Chat(1)},
		outbox.Bounds{MaxWaiting: 20}); !errors.Is(err, outbox.ErrLeaseLost) {
		t.Errorf("without the lease: %v", err)
	}
	dbtest.Define(t, m.Pool, "fail", `
		CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''disk full''; END';
		CREATE CONSTRAINT TRIGGER fail AFTER UPDATE ON outbox DEFERRABLE INITIALLY DEFERRED
		    FOR EACH ROW EXECUTE FUNCTION fail()`)
	if _, err := m.Summarize(t.Context(), 1, []outbox.Lane{dbtest.Chat(1)}, outbox.Bounds{MaxWaiting: 20}); err == nil {
		t.Error("it does not fail")
	}
	if got := m.waiting(t); got != "25 match_recorded" {
		t.Errorf("there wait %s", got)
	}
}

// TestSummarizeInSteps checks that one call of Summarize reads at most 1,000 notices of a lane,
// including the summary.
func TestSummarizeInSteps(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	m.results(t, 3_000)
	for _, want := range []int{1000, 999, 999, 2} {
		if s := m.MustSummarize(t, outbox.Bounds{MaxWaiting: 1}, dbtest.Chat(1)); s.Dropped != want {
			t.Errorf("%d results were summarized, want %d", s.Dropped, want)
		}
	}
}

// TestWaitingOverfull checks that Waiting marks the lanes in which more notices wait than
// MaxWaiting.
func TestWaitingOverfull(t *testing.T) {
	t.Parallel()
	m := newMail(t)
	m.results(t, 8) // in the group, where two more wait
	for bound, want := range map[int]string{9: "1 true, 2 false", 10: "1 false, 2 false"} {
		backlogs, err := m.Waiting(t.Context(), outbox.Bounds{MaxWaiting: bound})
		dbtest.Must(t, err)
		var got []string
		for _, b := range backlogs {
			got = append(got, fmt.Sprint(b.Lane.Chat, " ", b.Overfull))
		}
		dbtest.Equal(t, fmt.Sprintf("%d may wait", bound), want, strings.Join(got, ", "))
	}
}

// TestRefusedSummaryIsGivenUp checks that a summary keeps its count of failures, even if its lane
// is summarized again between the requests.
func TestRefusedSummaryIsGivenUp(t *testing.T) {
	t.Parallel()
	m := newEmptyMail(t)
	m.results(t, 25)
	for failures := 1; failures <= 3; failures++ {
		m.MustSummarize(t, outbox.Bounds{MaxWaiting: 20}, dbtest.Chat(1))
		m.Finish(t, dbtest.Failed(*m.Take(t, 1), outbox.Failed))
		dbtest.Exec(t, m.Pool, `UPDATE outbox SET not_before = NULL`)
		const first = `SELECT kind || ' ' || failures FROM outbox WHERE finished_at IS NULL`
		if got := dbtest.Value[string](t, m.Pool, first); got != fmt.Sprint("results_summary ", failures) {
			t.Errorf("after %d failures there waits %s", failures, got)
		}
	}
}
