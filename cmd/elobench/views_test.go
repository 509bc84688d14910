package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlanCounter: rows count per loop, with those that a filter removes, blocks only at the top of a plan.
func TestPlanCounter(t *testing.T) {
	t.Parallel()
	var c planCounter
	if _, err := c.take(); err == nil {
		t.Error("no plan is no error")
	}
	const plan = `duration: 0.012 ms  plan:
{"Query Text": "SELECT 1", "Plan": {"Node Type": "Nested Loop", "Actual Rows": 6, "Actual Loops": 1, "Shared Hit Blocks": 9, "Shared Read Blocks": 2,
 "Plans": [
  {"Node Type": "Index Scan", "Relation Name": "matches", "Actual Rows": 3, "Rows Removed by Filter": 1, "Actual Loops": 1, "Shared Hit Blocks": 4},
  {"Node Type": "Seq Scan", "Relation Name": "players", "Actual Rows": 2, "Actual Loops": 3, "Shared Hit Blocks": 5},
  {"Node Type": "Seq Scan", "Relation Name": "chats", "Actual Rows": 0, "Actual Loops": 0}]}}`
	c.add("another notice")
	c.add(plan)
	c.add(plan)
	got, err := c.take()
	want := reads{queries: 2, rows: 2 * (4 + 6), blocks: 2 * 11, scanned: []string{"players", "players"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(reads{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	c.add("plan:\n{")
	if _, err := c.take(); err == nil {
		t.Error("a broken plan is no error")
	}
}

func TestViewsTable(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	writeViews(&b, []figure{{Name: "growth.match.1e3", Unit: "µs"}})
	if b.Len() > 0 {
		t.Errorf("a table of nothing: %s", b.String())
	}
	writeViews(&b, []figure{
		{Name: "views.ranking.1e3", Value: 0.5, Unit: "ms"}, {Name: "views.me.1e3", Value: 1.25, Unit: "ms"},
		{Name: "views.ranking.1e6", Value: 12, Unit: "ms"}, {Name: "views.ranking.rows", Value: 1234, Unit: "rows"},
	})
	for _, want := range []string{
		"| p99 in ms, by the number of matches | 1e3 | 1e6 | queries | rows | blocks |\n| --- | --- | --- | --- | --- | --- |\n",
		"| `/ranking` | 0.50 | 12 |  | 1234 |  |\n", "| `/me`, `/stats` | 1.25 |  |  |  |  |\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, b.String())
		}
	}
}

// TestViewQuestions: questions are about the busiest player, the one who has never played, and others, never about a player and
// themselves.
func TestViewQuestions(t *testing.T) {
	t.Parallel()
	c := club{players: 30, matches: 100}
	r := newViewReader(c, nil, nil)
	asked := make(map[bool]int)
	for n := range 500 {
		q := r.question(n)
		if q.who == q.other || q.who < 1 || int(q.who) > c.players || q.other < 1 || int(q.other) >= c.players || q.match < 1 || q.match > c.matches {
			t.Fatalf("question %d is %+v", n, q)
		}
		asked[q.who == 1 || int(q.who) == c.players]++
	}
	if asked[true] != 300 {
		t.Errorf("%d of 500 questions are about the busiest and the idle player", asked[true])
	}
}
