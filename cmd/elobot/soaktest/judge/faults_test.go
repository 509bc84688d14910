package judge_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"elobot/cmd/elobot/soaktest/judge"
)

// during returns a fault that begins and ends at these times after noon.
func during(of judge.Part, from, to time.Duration) judge.Fault {
	return judge.Fault{Kind: "of " + string(of), Of: of, Span: judge.Span{From: noon.Add(from), To: noon.Add(to)}}
}

// refuse also refuses the first n plain results.
func refuse(h *judge.History, n int) {
	for i := range n {
		h.Messages[4+i].Text = "This was not done."
	}
	h.Matches = slices.Delete(h.Matches, 3, 3+n)
	for i := range h.Matches[3:] {
		h.Matches[3+i].Number = i + 1
		h.Messages[4+n+i].Text = "Match #" + string(rune('1'+i))
	}
	for i := range h.Standings[4:] {
		h.Standings[4+i].Drawn = plain - n
	}
}

// failedStart returns a failed start that ended 3 s after noon with this error.
func failedStart(words string) judge.FailedStart {
	return judge.FailedStart{Span: judge.Span{From: noon.Add(time.Second), To: noon.Add(3 * time.Second)}, Words: words}
}

const (
	noAnswer = "connect to the database: dial tcp 127.0.0.1:5432: connect: connection refused\nIs PostgreSQL running?"
	readOnly = "claim the database: ERROR: cannot execute INSERT in a read-only transaction (SQLSTATE 25006)"
)

// TestFaultsExcuse: the judge accepts problems that a fault explains, and finds all others.
func TestFaultsExcuse(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*judge.History)
		want   []judge.Rule
	}{
		"a refusal after a fault": {func(h *judge.History) { h.Faults[0] = during(judge.Bot, -40*time.Second, -30*time.Second) }, nil},
		"a refusal until the bot works again": {func(h *judge.History) {
			h.Faults[0] = during(judge.Database, -time.Hour, -time.Minute)
			h.Faults[0].Recovered = noon
		}, nil},
		"a refusal of a command that was sent before a fault": {func(h *judge.History) {
			h.Faults[0] = during(judge.Database, time.Minute, time.Hour)
			h.Notices[2].At = noon.Add(time.Minute)
		}, nil},
		"a refusal long after a fault": {func(h *judge.History) {
			h.Faults[0] = during(judge.Bot, -40*time.Second, -31*time.Second)
		}, []judge.Rule{judge.Excused}},
		"a refusal after the bot worked again": {func(h *judge.History) {
			h.Faults[0] = during(judge.Database, -time.Hour, -time.Minute)
			h.Faults[0].Recovered = noon.Add(-time.Second)
		}, []judge.Rule{judge.Excused}},
		"a refusal before a fault":           {func(h *judge.History) { h.Faults[0] = during(judge.Database, time.Second, time.Hour) }, []judge.Rule{judge.Excused}},
		"a refusal while Telegram fails":     {func(h *judge.History) { h.Faults[0].Of = judge.Telegram }, []judge.Rule{judge.Excused}},
		"many refusals":                      {func(h *judge.History) { refuse(h, 1) }, []judge.Rule{judge.FewRefused}},
		"most refused, and too few recorded": {func(h *judge.History) { refuse(h, 2) }, []judge.Rule{judge.FewRefused, judge.FewRefused}},

		"a refusal that was delivered later": {func(h *judge.History) {
			h.Messages[2], h.Messages[3] = h.Messages[3], h.Messages[2]
			h.Notices[2].ID = 6
		}, []judge.Rule{judge.InOrder}},

		"a copy a quarter of an hour later": {func(h *judge.History) {
			copyOf(h, 10)
			h.Notices[0].PossibleCopies = 1
			h.Messages[len(h.Messages)-1].At = noon.Add(15 * time.Minute)
		}, nil},
		"a copy because of Telegram": {func(h *judge.History) {
			copyOf(h, 13)
			h.Notices[3].PossibleCopies, h.Notices[4].PossibleCopies = 1, 1
			h.Faults = []judge.Fault{during(judge.Bot, -time.Second, 0), during(judge.Telegram, 62*time.Second, 63*time.Second)}
		}, nil},
		"a counted copy without a fault": {func(h *judge.History) {
			copyOf(h, 13)
			h.Notices[3].PossibleCopies, h.Notices[4].PossibleCopies = 1, 1
			h.Faults = []judge.Fault{during(judge.Bot, -time.Second, 0), during(judge.Telegram, 2*time.Minute, 3*time.Minute)}
		}, []judge.Rule{judge.Caused, judge.Caused}},

		"a counted copy by a clean stop": {func(h *judge.History) {
			copyOf(h, 10)
			h.Notices[0].PossibleCopies = 1
			h.CleanStops = []judge.Span{{From: noon.Add(-time.Second), To: noon.Add(time.Second)}}
		}, []judge.Rule{judge.CleanStop}},

		"a command without a key":  {func(h *judge.History) { h.Handled = h.Handled[1:] }, []judge.Rule{judge.Keyed}},
		"a refusal without a key":  {func(h *judge.History) { h.Handled = slices.Delete(h.Handled, 2, 3) }, []judge.Rule{judge.Keyed}},
		"a command with two keys":  {func(h *judge.History) { h.Handled = append(h.Handled, h.Handled[0]) }, []judge.Rule{judge.Keyed}},
		"keys of what came before": {func(h *judge.History) { h.Handled = append(h.Handled, "m:-100:0") }, nil},

		"a start without a database": {func(h *judge.History) {
			h.FailedStarts = []judge.FailedStart{failedStart(noAnswer), failedStart(readOnly)}
		}, nil},
		"a start that fails for another reason": {func(h *judge.History) {
			h.FailedStarts = []judge.FailedStart{failedStart("panic: assignment to entry in nil map")}
		}, []judge.Rule{judge.Started}},
		"a start that fails while the database works": {func(h *judge.History) {
			h.Faults[0].Of = judge.Bot
			h.FailedStarts = []judge.FailedStart{failedStart(readOnly)}
		}, []judge.Rule{judge.Started}},
		"a start that fails after a fault of the database": {func(h *judge.History) {
			h.Faults[0].To = noon
			h.FailedStarts = []judge.FailedStart{failedStart(noAnswer)}
		}, []judge.Rule{judge.Started}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := history()
			tc.change(h)
			wantBroken(t, *h, tc.want...)
		})
	}
}

// wantBroken compares the rules that a history violates with the expected ones.
func wantBroken(t *testing.T, h judge.History, want ...judge.Rule) {
	t.Helper()
	var got []judge.Rule
	found := judge.Judge(h).Violations
	for _, v := range found {
		got = append(got, v.Rule)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the violated rules are %q, want %q; found: %v", got, want, found)
	}
}

// TestCampaignsThatProveLittle: the judge finds campaigns without enough faults or commands.
func TestCampaignsThatProveLittle(t *testing.T) {
	t.Parallel()
	kinds := strings.Split("abcdefghij", "")
	campaign := func(lasting time.Duration, commands, struck int) judge.History {
		h := judge.History{Lasting: lasting, Kinds: kinds}
		var all []string
		for i := range commands {
			c := result(i+1, "Ann", "Ben", 1, 1)
			h.Commands, h.Handled = append(h.Commands, c), append(h.Handled, c.Key())
			h.Matches = append(h.Matches, judge.Match{Chat: chat, Number: i + 1, Key: c.Key(), Game: c.Game})
			all = append(all, strings.ReplaceAll("#N · Ann and Ben drew, 1:1", "N", strings.TrimPrefix(c.Key(), "m:-100:")))
			h.Notices = append(h.Notices, judge.Notice{Chat: chat, ID: int64(i + 1), Key: c.Key(), State: "sent", Message: 9})
		}
		h.Messages = []judge.Message{{Chat: chat, ID: 9, Text: strings.Join(all, "\n")}}
		h.Standings = []judge.Standing{{Chat: chat, Name: "Ann", Elo: 1500, Drawn: commands}, {Chat: chat, Name: "Ben", Elo: 1500, Drawn: commands}}
		for _, kind := range kinds[:struck] {
			h.Faults = append(h.Faults, judge.Fault{Kind: kind, Of: judge.Telegram})
		}
		return h
	}
	missed := campaign(20*time.Minute, 1800, 10)
	missed.Faults[3].Missed = true
	twice := campaign(20*time.Minute, 1800, 10)
	twice.Faults[3].Kind = "a"
	for name, tc := range map[string]struct {
		history judge.History
		want    []judge.Rule
	}{
		"20 min":                               {campaign(20*time.Minute, 1800, 10), nil},
		"an hour":                              {campaign(time.Hour, 5400, 10), nil},
		"3 min":                                {campaign(3*time.Minute, 270, 5), nil},
		"90 s":                                 {campaign(90*time.Second, 135, 2), nil},
		"20 min without one kind":              {campaign(20*time.Minute, 1800, 9), []judge.Rule{judge.Hostile}},
		"20 min, one kind could not be caused": {missed, []judge.Rule{judge.Hostile}},
		"20 min, one kind twice, another not":  {twice, []judge.Rule{judge.Hostile}},
		"3 min with few kinds":                 {campaign(3*time.Minute, 270, 4), []judge.Rule{judge.Hostile}},
		"90 s with few kinds":                  {campaign(90*time.Second, 135, 1), []judge.Rule{judge.Hostile}},
		"few commands":                         {campaign(20*time.Minute, 1799, 10), []judge.Rule{judge.Busy}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantBroken(t, tc.history, tc.want...)
		})
	}
}
