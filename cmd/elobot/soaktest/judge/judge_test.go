package judge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"elobot/cmd/elobot/soaktest/judge"
)

const chat = -100

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func result(message int, a, b string, x, y int) judge.Command {
	return judge.Command{Chat: chat, Message: message, Game: judge.Game{Players: [2]string{a, b}, Score: [2]int{x, y}}}
}

func undo(message, number int) judge.Command {
	return judge.Command{Chat: chat, Message: message, Undo: number}
}

// plain is how many results the other chat of a history has. All of them are recorded and answered
// normally.
const plain = 6

// history returns a history without violations: three results, of which the second is undone later
// and the third is refused, then the undo, and one more result. The undo and the last result are
// answered in one message. Another chat has plain results. A fault of the database lasts the whole
// time.
func history() *judge.History {
	commands := []judge.Command{
		result(1, "Ann", "Ben", 3, 1), result(2, "Ben", "Cid", 0, 2), result(3, "Cid", "Ann", 1, 0),
		undo(4, 2), result(5, "Ann", "Cid", 2, 2),
	}
	h := &judge.History{
		Commands: commands,
		Messages: []judge.Message{
			{Chat: chat, ID: 10, ReplyTo: 1, Text: "Ann beat Ben 3:1\nAnn +16 → 1516\nBen −16 → 1484\nMatch #1", At: noon},
			{Chat: chat, ID: 11, ReplyTo: 2, Text: "\u2068Cid\u2069 beat Ben 2:0\nMatch #2 · undone by Ben", At: noon.Add(time.Second)},
			{Chat: chat, ID: 12, ReplyTo: 3, Text: "Too much came in at once, so this was not done. Please try again.", At: noon.Add(2 * time.Second)},
			{Chat: chat, ID: 13, At: noon.Add(time.Minute), Text: "Match #2 undone by Ben: Cid 2:0 Ben no longer counts. Cid −16 → 1500, Ben +16 → 1484\n" +
				"#3 · Ann (−1 → 1515) and Cid (+1 → 1501) drew, 2:2\n\nUndo a match: /undo 3"},
		},
		Matches: []judge.Match{
			{Chat: chat, Number: 1, Key: commands[0].Key(), Game: commands[0].Game},
			{Chat: chat, Number: 2, Key: commands[1].Key(), Undone: true, Game: judge.Game{Players: [2]string{"Cid", "Ben"}, Score: [2]int{2, 0}}},
			{Chat: chat, Number: 3, Key: commands[4].Key(), Game: commands[4].Game},
		},
		Standings: []judge.Standing{
			{Chat: chat, Name: "Ann", Elo: 1515, Won: 1, Drawn: 1},
			{Chat: chat, Name: "Ben", Elo: 1484, Lost: 1},
			{Chat: chat, Name: "Cid", Elo: 1501, Drawn: 1},
			{Chat: chat, Name: "Dot", Elo: 1500},
		},
	}
	for i, message := range []int{10, 11, 12, 13, 13} {
		h.Notices = append(h.Notices, judge.Notice{
			Chat: chat, ID: int64(i + 1), Key: commands[i].Key(), Kind: "match_recorded", State: "sent", Message: message,
		})
	}
	h.Notices[2].Kind = "refusal"
	addPlain(h)
	for i := range h.Commands {
		h.Commands[i].At, h.Notices[i].At = noon, noon
		h.Handled = append(h.Handled, judge.Handling{Key: h.Commands[i].Key(), At: noon})
	}
	h.Faults = []judge.Fault{{
		Kind: "row locks", Of: judge.Database,
		Span: judge.Span{From: noon.Add(-time.Second), To: noon.Add(2 * time.Minute)},
	}}
	return h
}

// addPlain adds plain results: draws between two players, whose ratings stay the same.
func addPlain(h *judge.History) {
	const other = chat - 1
	for i := range plain {
		c := result(i+1, "Eva", "Fay", 1, 1)
		c.Chat = other
		h.Commands = append(h.Commands, c)
		h.Matches = append(h.Matches, judge.Match{Chat: other, Number: i + 1, Key: c.Key(), Game: c.Game})
		h.Messages = append(h.Messages, judge.Message{
			Chat: other, ID: 10 + i, ReplyTo: i + 1, At: noon,
			Text: fmt.Sprintf("Eva drew with Fay 1:1\nEva ±0 → 1500\nFay ±0 → 1500\nMatch #%d", i+1),
		})
		h.Notices = append(h.Notices, judge.Notice{
			Chat: other, ID: int64(10 + i), Key: c.Key(), Kind: "match_recorded", State: "sent", Message: 10 + i, At: noon,
		})
	}
	h.Standings = append(h.Standings,
		judge.Standing{Chat: other, Name: "Eva", Elo: 1500, Drawn: plain},
		judge.Standing{Chat: other, Name: "Fay", Elo: 1500, Drawn: plain})
}

// copyOf adds a copy of a message. The copy arrives a minute after the message.
func copyOf(h *judge.History, message int) {
	for _, s := range h.Messages {
		if s.ID == message {
			s.ID, s.At = 100+len(h.Messages), s.At.Add(time.Minute)
			h.Messages = append(h.Messages, s)
			return
		}
	}
}

// TestPromisesThatAreBroken checks that the judge finds each kind of broken promise, and no broken
// promise if all are kept.
func TestPromisesThatAreBroken(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*judge.History)
		want   judge.Rule // empty: none
	}{
		"nothing": {func(*judge.History) {}, ""},
		"counted copies": {func(h *judge.History) {
			copyOf(h, 10)
			copyOf(h, 13)
			h.Notices[0].PossibleCopies, h.Notices[3].PossibleCopies, h.Notices[4].PossibleCopies = 2, 1, 1
		}, ""},

		"lost without a word": {func(h *judge.History) {
			h.Messages, h.Notices = slices.Delete(h.Messages, 2, 3), slices.Delete(h.Notices, 2, 3)
		}, judge.Answered},
		"recorded and not answered": {func(h *judge.History) { h.Messages = h.Messages[1:] }, judge.Answered},
		"recorded and refused":      {func(h *judge.History) { h.Messages[0].Text = "This was not done." }, judge.Answered},
		"answered and not recorded": {func(h *judge.History) { h.Matches[0].Key = "m:-100:3"; h.Matches[0].Game = h.Commands[2].Game }, judge.Answered},
		"recorded twice":            {func(h *judge.History) { m := h.Matches[2]; m.Number = 4; h.Matches = append(h.Matches, m) }, judge.Answered},
		"answered and not undone":   {func(h *judge.History) { h.Matches[1].Undone = false }, judge.Answered},
		"an answer that is unknown": {func(h *judge.History) { h.Notices = h.Notices[1:] }, judge.Answered},

		"another score": {func(h *judge.History) { h.Matches[0].Score[0] = 4 }, judge.Faithful},
		"a match that nobody reported": {func(h *judge.History) {
			h.Matches = append(h.Matches, judge.Match{Chat: chat, Number: 4, Key: "m:-100:99", Game: h.Commands[0].Game})
		}, judge.Faithful},
		"an undo that became a match": {func(h *judge.History) { h.Matches[2].Key = h.Commands[3].Key() }, judge.Faithful},
		"an undo nobody asked for":    {func(h *judge.History) { h.Matches[0].Undone = true }, judge.Faithful},
		"the card of another match":   {func(h *judge.History) { h.Messages[0].Text = "Match #2" }, judge.Faithful},
		"a card of no match":          {func(h *judge.History) { h.Messages[3].Text += "\n#9 · Ann beat Ben, 1:0" }, judge.Faithful},

		"a rating":  {func(h *judge.History) { h.Standings[0].Elo++ }, judge.Rated},
		"a counter": {func(h *judge.History) { h.Standings[1].Lost++ }, judge.Rated},
		"a rating in a card": {func(h *judge.History) {
			h.Messages[0].Text = strings.Replace(h.Messages[0].Text, "1516", "1517", 1)
		}, judge.Rated},
		"a rating in a line": {func(h *judge.History) {
			h.Messages[3].Text = strings.Replace(h.Messages[3].Text, "1501", "1502", 1)
		}, judge.Rated},
		"a standing that is missing":  {func(h *judge.History) { h.Standings = h.Standings[1:] }, judge.Rated},
		"an undone match that counts": {func(h *judge.History) { h.Standings[1].Elo, h.Standings[1].Lost = 1469, 2 }, judge.Rated},

		"matches in another order":        {func(h *judge.History) { h.Matches[0].Number, h.Matches[1].Number = 2, 1 }, judge.InOrder},
		"answers not in the stored order": {func(h *judge.History) { h.Notices[0].ID, h.Notices[1].ID = 2, 1 }, judge.InOrder},
		"answers written down in another order": {func(h *judge.History) {
			h.Messages[0], h.Messages[1] = h.Messages[1], h.Messages[0]
			h.Notices[0].ID, h.Notices[1].ID = 2, 1
		}, judge.InOrder},

		"a copy that was not counted": {func(h *judge.History) { copyOf(h, 10) }, judge.Counted},
		"a copy, long before a crash": {func(h *judge.History) {
			copyOf(h, 10)
			crash := judge.Span{From: noon.Add(2 * time.Second), To: noon.Add(3 * time.Second)}
			h.Faults = append(h.Faults, judge.Fault{Kind: "crash", Of: judge.Database, Crash: true, Span: crash})
		}, judge.Counted},
		"copies without end": {func(h *judge.History) {
			h.Notices[0].PossibleCopies = 99
			for range judge.MaxCopies {
				copyOf(h, 10)
			}
		}, judge.FewCopies},
		"a copy by a clean stop": {func(h *judge.History) {
			copyOf(h, 10)
			h.Notices[0].PossibleCopies = 1
			h.CleanStops = []judge.Span{{From: noon.Add(-time.Second), To: noon.Add(time.Second)}}
		}, judge.CleanStop},
		"a possible copy by a clean stop": {func(h *judge.History) {
			h.Notices[0].PossibleCopies = 1
			h.CleanStops = []judge.Span{h.Faults[0].Span}
		}, judge.CleanStop},
		"a copy without a fault": {func(h *judge.History) {
			copyOf(h, 10)
			h.Notices[0].PossibleCopies = 1
			h.Faults = nil
		}, judge.Caused},

		"an answer that waits": {func(h *judge.History) { h.Notices[4].State = "planned" }, judge.Finished},
		"a dead answer":        {func(h *judge.History) { h.Notices[4].State = "dead" }, judge.Finished},
		"a dead letter":        {func(h *judge.History) { h.DeadLetters = []string{"update 7: database is locked"} }, judge.NoLetters},
		"an unknown answer":    {func(h *judge.History) { h.Messages[2].Text = "Hello!" }, judge.Understood},
		"an answer to nothing": {func(h *judge.History) { h.Messages[2].ReplyTo = 77 }, judge.Understood},
		"a refusal of nothing": {func(h *judge.History) { h.Messages[3].Text += "\nDot: this was not done." }, judge.Understood},
		"an unknown line":      {func(h *judge.History) { h.Messages[3].Text += "\nHello!" }, judge.Understood},

		"a refusal long after a fault": {func(h *judge.History) {
			h.Faults[0].Span = judge.Span{From: noon.Add(-40 * time.Second), To: noon.Add(-31 * time.Second)}
		}, judge.Excused},
		"a refusal while Telegram fails": {func(h *judge.History) { h.Faults[0].Of = judge.Telegram }, judge.Excused},
		"many refusals":                  {func(h *judge.History) { h.Commands = h.Commands[:len(h.Commands)-1] }, judge.FewRefused},
		"few recorded":                   {func(h *judge.History) { h.Messages, h.Matches = h.Messages[:4], h.Matches[:3] }, judge.FewRefused},
		"a command without a key":        {func(h *judge.History) { h.Handled = h.Handled[1:] }, judge.Keyed},
		"a command with two keys":        {func(h *judge.History) { h.Handled = append(h.Handled, h.Handled[0]) }, judge.Keyed},

		"a start that fails for another reason": {func(h *judge.History) {
			h.FailedStarts = []judge.FailedStart{{Span: h.Faults[0].Span, Words: "panic: assignment to entry in nil map"}}
		}, judge.Started},
		"a start that fails while the database works": {func(h *judge.History) {
			h.Faults[0].Of = judge.Bot
			h.FailedStarts = []judge.FailedStart{{Span: h.Faults[0].Span, Words: "connect: connection refused"}}
		}, judge.Started},

		"a kind of fault that never struck": {func(h *judge.History) {
			h.Lasting, h.Full, h.Kinds = time.Minute, time.Minute, []string{"row locks", "502"}
		}, judge.Hostile},
		"a fault that could not be caused": {func(h *judge.History) {
			h.Lasting, h.Full, h.Kinds = time.Minute, time.Minute, []string{"row locks"}
			h.Faults[0].Missed = true
		}, judge.Hostile},
		"few commands": {func(h *judge.History) { h.Lasting = time.Minute }, judge.Busy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := history()
			tc.change(h)
			found := judge.Judge(*h).Violations
			ofRule := func(v judge.Violation) bool { return v.Rule == tc.want }
			if tc.want == "" && len(found) > 0 || tc.want != "" && !slices.ContainsFunc(found, ofRule) {
				t.Errorf("the violated rule is %q, found: %v", tc.want, found)
			}
		})
	}
}
