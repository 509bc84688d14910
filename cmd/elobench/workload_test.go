package main

import (
	"bytes"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// TestWorkload checks that results are numbered per group in the order of their reports. Each
// counts as answered with the first message of the bot that names or counts it. An edit of a
// message does not count.
func TestWorkload(t *testing.T) {
	t.Parallel()
	w, err := newWorkload(2, 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	w.play(7)
	first, second := w.groups[0].ID(), w.groups[1].ID()
	winners := map[int64]map[int64]bool{first: {}, second: {}}
	for range 7 {
		m := <-w.messages
		winners[m.ChatID][m.From.ID] = true
		w.add(m)
	}
	if w.numbers[first] != 4 || w.numbers[second] != 3 {
		t.Errorf("results by group: %v, want 4 and 3", w.numbers)
	}
	if len(winners[first]) != 3 || len(winners[second]) != 3 {
		t.Errorf("winners: %v, want everybody", winners)
	}
	at := time.Now()
	bot := botsim.User{IsBot: true}
	for i, m := range []botsim.Message{
		{ChatID: first, From: bot, Text: "Alice beat Bob\nMatch #2", Date: at},
		{ChatID: second, From: bot, Text: "#1, #2 and #3\n…and 1,200 more. All results count.", Date: at.Add(1)},
		{ChatID: first, From: bot, Text: "Match #2 again", Date: at.Add(2)},
		{ChatID: first, From: bot, Text: "an edited #3", Edits: 1, Date: at.Add(3)},
	} {
		w.add(m)
		if want := []int{1, 1204, 1204, 1204}[i]; len(w.coverage)+w.unnamed != want {
			t.Errorf("after message %d, %d results are answered, want %d", i, len(w.coverage)+w.unnamed, want)
		}
	}
	if !w.coverage[matchRef{first, 2}].Equal(at) || !w.lastAt.Equal(at.Add(1)) {
		t.Errorf("match 2 answered at %v, the last one at %v", w.coverage[matchRef{first, 2}], w.lastAt)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	b := &bench{results: &out}
	if err := b.report("Cost/elobot", 5000,
		metric{4567.89, "WAL-B/result"}, metric{0.08941, "commits/result"}, metric{0, "conflicts"}); err != nil {
		t.Fatal(err)
	}
	if want := "BenchmarkCost/elobot\t    5000\t4568 WAL-B/result\t" +
		"0.08941 commits/result\t0 conflicts\n"; out.String() != want {
		t.Errorf("report prints %q, want %q", out.String(), want)
	}
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		p    float64
		want time.Duration
	}{{0, 1}, {50, 2}, {75, 3}, {76, 4}, {99, 4}, {100, 4}} {
		if got := percentile([]time.Duration{3, 1, 4, 2}, test.p); got != test.want {
			t.Errorf("percentile %g = %d, want %d", test.p, got, test.want)
		}
	}
}
