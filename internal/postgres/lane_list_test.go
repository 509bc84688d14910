package postgres_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
)

func TestLaneLists(t *testing.T) {
	t.Parallel()
	lanes := []outbox.Lane{dbtest.Chat(12), dbtest.Chat(13), dbtest.Answers(14), dbtest.Answers(12), dbtest.Pages(14)}
	if diff := cmp.Diff([]string{"12,13,14t,12t,14p"}, postgres.LaneLists(lanes)); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
	if lists := postgres.LaneLists(nil); len(lists) != 0 {
		t.Errorf("of no lanes: %q", lists)
	}
	var many []outbox.Lane
	for i := range outbox.ChatID(3000) {
		many = append(many, dbtest.Chat(math.MaxInt64-i), dbtest.Answers(math.MaxInt64-i), dbtest.Chat(i+1))
	}
	var read []outbox.Lane
	lists := postgres.LaneLists(many)
	for i, list := range lists {
		if len(list) >= 8000 || i < len(lists)-1 && len(list) < 7900 {
			t.Errorf("list %d of %d has %d bytes", i, len(lists), len(list))
		}
		read = append(read, postgres.ReadLanes(list)...)
	}
	if diff := cmp.Diff(many, read); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
}

func TestReadLanes(t *testing.T) {
	t.Parallel()
	for list, want := range map[string][]outbox.Lane{
		"":                         nil,
		"7":                        {dbtest.Chat(7)},
		"7t":                       {dbtest.Answers(7)},
		"7p":                       {dbtest.Pages(7)},
		"7tp,7pt,p,7x":             nil,
		"7,,t,x,8tt,-1,0,0t,1.5,9": {dbtest.Chat(7), dbtest.Chat(9)},
		" 7, 8":                    nil,
		"9223372036854775807,9223372036854775808": {dbtest.Chat(math.MaxInt64)},
	} {
		if diff := cmp.Diff(want, postgres.ReadLanes(list)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", list, diff)
		}
	}
}

// FuzzReadLanes: lanes that were read can be written and read again, and there are no more of them than entries.
func FuzzReadLanes(f *testing.F) {
	for _, list := range []string{"", "12,13,14t", "t,-5,+6,007t", "99999999999999999999", ",,", "1t,1"} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		lanes := postgres.ReadLanes(list)
		if len(lanes) > strings.Count(list, ",")+1 {
			t.Errorf("%d lanes", len(lanes))
		}
		var again []outbox.Lane
		for _, l := range postgres.LaneLists(lanes) {
			again = append(again, postgres.ReadLanes(l)...)
		}
		for _, l := range lanes {
			if l.Chat <= 0 {
				t.Errorf("lane %+v", l)
			}
		}
		if diff := cmp.Diff(lanes, again); diff != "" {
			t.Errorf("(-read +read again):\n%s", diff)
		}
	})
}
