package outbox

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// logPage holds what docs/logs.md and docs/dev/outbox.md document about the log lines of an attempt
// to send.
type logPage struct {
	levels   map[logLine]string
	fields   map[string]string // by field: which lines have it, in the words of the page
	actions  []string
	outcomes map[string]bool
}

// logLine identifies a kind of log line.
type logLine struct{ Message, Result string }

var codeSpan = regexp.MustCompile("`([^`]+)`")

// codes returns the contents of the code spans in a Markdown text.
func codes(text string) (all []string) {
	for _, m := range codeSpan.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// table returns the cells of each row of the first table after the given text, except the header.
func table(t *testing.T, page, after string) (rows [][]string) {
	t.Helper()
	_, page, found := strings.Cut(page, after)
	if !found {
		t.Fatalf("docs/logs.md does not have %q", after)
	}
	_, page, _ = strings.Cut(page, "\n| --- |")
	page, _, _ = strings.Cut(page, "\n\n")
	for _, line := range strings.Split(page, "\n")[1:] {
		rows = append(rows, strings.Split(strings.Trim(line, "| "), " | "))
	}
	return rows
}

func readLogPage(t *testing.T) logPage {
	t.Helper()
	var raw []byte
	for _, page := range []string{"../../docs/logs.md", "../../docs/dev/outbox.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw, text...)
	}
	p := logPage{levels: make(map[logLine]string), fields: make(map[string]string), outcomes: make(map[string]bool)}
	for _, row := range table(t, string(raw), "## Sending\n") {
		for _, result := range codes(row[2]) {
			p.levels[logLine{codes(row[0])[0], result}] = row[1]
		}
	}
	for _, row := range table(t, string(raw), "These are their fields:") {
		p.fields[codes(row[0])[0]] = row[1]
		if row[0] == "`action`" {
			p.actions = codes(row[2])
		}
	}
	for _, row := range table(t, string(raw), "## Outcomes of a request\n") {
		p.outcomes[codes(row[0])[0]] = true
	}
	return p
}

// fieldsOf returns the documented fields of the lines with the given result, sorted. The argument
// repetition tells whether the attempt repeats a request.
func (p logPage) fieldsOf(result string, repetition bool) []string {
	var fields []string
	for field, in := range p.fields {
		named := slices.Contains(codes(in), result)
		has := named
		switch {
		case in == "all lines":
			has = true
		case in == "all lines of a repetition":
			has = repetition
		case strings.HasPrefix(in, "all outcomes"): // the named results are exceptions
			has = !named && result != "sending"
		}
		if has {
			fields = append(fields, field)
		}
	}
	return slices.Sorted(slices.Values(fields))
}

// TestDocumentedLog checks that, for every outcome of an attempt to send, the log lines have the
// documented message, level, result and fields. All documented lines are tried.
func TestDocumentedLog(t *testing.T) {
	t.Parallel()
	page := readLogPage(t)
	same := Message{Items: []Item{{Kind: "test"}}}
	const retrying = "failed to send notice, retrying"
	cases := map[string]struct {
		row     row
		unknown int  // earlier requests with an unknown outcome
		lost    bool // the lease ends before the request
		receipt Receipt
		err     error
		silent  bool // no request is made
		want    logLine
		values  map[string]string
	}{
		"sent": {
			receipt: Receipt{MessageID: 77}, want: logLine{"notice sent", "sent"},
			values: map[string]string{"message_id": "77", "covered": "1"},
		},
		"sent again": {
			unknown: 1, want: logLine{"notice sent", "sent"},
			values: map[string]string{"attempt": "2", "possible_duplicates": "1"},
		},
		"edit": {row: row{action: Edit, target: 5}, want: logLine{"notice sent", "sent"}, values: map[string]string{"action": "edit"}},
		"page": {row: row{action: Page, target: 5}, want: logLine{"notice sent", "sent"}, values: map[string]string{"action": "page"}},
		"press": {
			row: row{action: CallbackAnswer}, want: logLine{"notice sent", "sent"},
			values: map[string]string{"action": "callback_answer"},
		},
		"unnecessary edit": {
			row: row{action: Edit, target: 5, known: same.fingerprint(1)}, silent: true,
			want:   logLine{"content already shown, nothing to send", "skipped"},
			values: map[string]string{"fingerprint": same.fingerprint(1)},
		},
		"unnecessary update of a board": {
			row: row{action: Ensure, target: 5}, receipt: Receipt{MessageID: 5, Fingerprint: "f", Skipped: true},
			want:   logLine{"content already shown, nothing to send", "skipped"},
			values: map[string]string{"action": "ensure", "fingerprint": "f"},
		},
		"obsolete":    {err: failure(Obsolete), want: logLine{"notice is obsolete", "obsolete"}},
		"unsupported": {err: failure(Unsupported), want: logLine{"notice set aside", "unsupported"}},
		"migrated": {
			err: &Failure{Kind: Migrated, NewID: -9, Err: errUnavailable}, want: logLine{"chat has a new id", "migrated"},
			values: map[string]string{"new_chat_id": "-9"},
		},
		"unreachable": {err: failure(Unreachable), want: logLine{retrying, "unreachable"}, values: map[string]string{"error": "scripted failure"}},
		"lease lost":  {lost: true, silent: true, want: logLine{retrying, "unreachable"}, values: map[string]string{"error": errLeaseEnds.Error()}},
		"ambiguous":   {err: failure(Ambiguous), want: logLine{retrying, "ambiguous"}},
		"failed":      {err: errors.New("something else"), want: logLine{retrying, "failed"}, values: map[string]string{"error": "something else"}},
		"failed for the last time": {
			row: row{Item: Item{Failures: 7}}, err: errors.New("something else"),
			want:   logLine{"notice failed too often, moved to dead letters", "failed"},
			values: map[string]string{"error": "something else"},
		},
		"rate limited": {
			err: rateLimited(10 * time.Minute), want: logLine{"rate limited by the messenger", "rate_limited"},
			values: map[string]string{"retry_after_ms": "600000"},
		},
		"forbidden": {err: failure(Forbidden), want: logLine{"bot may not write to the chat, chat parked", "forbidden"}},
		"rejected":  {err: failure(Rejected), want: logLine{"notice rejected, moved to dead letters", "rejected"}},
		"uncertain": {
			unknown: MaxPossibleDuplicates, silent: true,
			want:   logLine{"too many possible duplicates, notice given up", "uncertain"},
			values: map[string]string{"possible_duplicates": "5"},
		},
		"unauthorized": {err: failure(Unauthorized), want: logLine{"bot token is invalid, nothing can be sent", "unauthorized"}},
	}
	tried := map[logLine]bool{{"sending notice", "sending"}: true}
	for name, c := range cases {
		tried[c.want] = true
		inBubble(t, name, func(t *testing.T) {
			store, book, lease := newMemory(), newLogbook(), newLease(1)
			if c.row.chat = 1; c.unknown > 0 {
				store.addOrphan(1, c.unknown)
			} else {
				store.put(c.row)
			}
			store.rows[0].Key = "m:-1:7"
			store.afterAdvance = func(turns []Turn) error {
				if c.lost && len(turns) > 0 {
					close(lease.lost)
				}
				return nil
			}
			sender := senderFunc(func(context.Context, Message) (Receipt, error) { return c.receipt, c.err })
			run(t, NewDispatcher(store, sender, slog.New(book), Settings{PollEvery: noPolls.PollEvery}), lease)
			synctest.Wait()
			want := []logLine{{"sending notice", "sending"}, c.want}
			if c.silent {
				want = want[1:]
			}
			var got []logLine
			for _, l := range book.all() {
				if _, ok := l.attrs["operation_id"]; ok {
					page.check(t, l, c.unknown > 0)
					got = append(got, l.line())
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("lines (-want +got):\n%s", diff)
			}
			equal(t, book.lines(c.want.Message)[0].values(c.values), c.values, "values")
		})
	}
	results := map[string]bool{}
	for line := range page.levels {
		if !tried[line] {
			t.Errorf("%+v is documented, but not tried", line)
		}
		results[line.Result] = true
	}
	delete(results, "sending")
	equal(t, results, page.outcomes, "results in the log")
}

func (l logged) line() logLine { return logLine{l.message, l.attrs["result"].String()} }

// values returns the record's values of the given fields, which are the keys of the map. It returns
// nil for a nil map.
func (l logged) values(fields map[string]string) map[string]string {
	if fields == nil {
		return nil
	}
	values := make(map[string]string)
	for field := range fields {
		values[field] = l.attrs[field].String()
	}
	return values
}

// check fails the test unless the level, the fields and the action of a line are documented. The
// argument repetition tells whether the attempt repeats a request.
func (p logPage) check(t *testing.T, l logged, repetition bool) {
	t.Helper()
	equal(t, strings.ToLower(l.level.String()), p.levels[l.line()], "level of %+v", l.line())
	equal(t, slices.Sorted(maps.Keys(l.attrs)), p.fieldsOf(l.line().Result, repetition), "fields of %+v", l.line())
	if action := l.attrs["action"].String(); !slices.Contains(p.actions, action) {
		t.Errorf("the action %q is not documented", action)
	}
	always := map[string]string{"operation_id": "1", "chat_id": "-1", "kind": "test", "key": "m:-1:7", "items": "1"}
	equal(t, l.values(always), always, "%+v", l.line())
}
