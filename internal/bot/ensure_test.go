package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// page returns a ranking with one player.
func page(elo int) stats.RankingPage {
	return stats.RankingPage{Title: "Table tennis", Total: 1,
		Rows: []stats.Row{{Position: 1, Name: called("Alice"), Elo: elo, Won: 1}}}
}

// fakeViews returns the content that a test has set.
type fakeViews struct {
	board stats.Board
	title string         // title of the group in charts
	given []stats.Rating // ratings of the first player in charts
	ended stats.SeasonEnd
	err   error
	wait  bool // Board waits until its context ends

	zone *time.Location // zone of the time last passed to Board
}

func (f *fakeViews) SeasonEnd(context.Context, string) (stats.SeasonEnd, error) {
	names := map[ladder.PlayerID]ranking.Name{1: {Name: "Alice"}, 2: {Name: "Bob"}, 3: {Name: "Carol"}}
	ranking.FillNames(&f.ended, func(player ladder.PlayerID) (ranking.Name, bool) {
		name, ok := names[player]
		return name, ok
	})
	return f.ended, f.err
}

func (f *fakeViews) Board(ctx context.Context, _ string, now time.Time) (stats.Board, error) {
	f.zone = now.Location()
	if f.wait {
		<-ctx.Done()
		return stats.Board{}, ctx.Err()
	}
	return f.board, f.err
}

func (f *fakeViews) Ratings(_ context.Context, n stats.Chart, _ time.Time) (stats.Ratings, error) {
	r := stats.Ratings{Title: cmp.Or(f.title, n.Title), Period: n.Period, Players: make([][]stats.Rating, len(n.Players))}
	r.Players[0] = f.given
	return r, f.err
}

// board returns an update of the group's board with this rating. target is the presumed id of the
// board's message.
func (p *post) board(t *testing.T, elo int, target int) outbox.Message {
	t.Helper()
	p.views.board = stats.Board{RankingPage: page(elo), On: true}
	m := messageOf(t, p.group.ID(), stats.Board{})
	m.Action, m.Object, m.Target = outbox.Ensure, "board", int64(target)
	return m
}

// newBoard is like newPost, with a board, in a group where the bot may pin.
func newBoard(t *testing.T) (*post, botsim.Message) {
	t.Helper()
	p := newPost(t)
	p.group.Promote(p.sim.Bot())
	return p, p.mustSend(t, p.board(t, 1500, 0))
}

// checkRequests checks that all requests so far, except for the first ones, called the methods in
// want. since is the number of requests to skip.
func (p *post) checkRequests(t *testing.T, since int, want ...string) {
	t.Helper()
	var got []string
	for _, c := range p.sim.Calls()[since:] {
		got = append(got, c.Method)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("requests %v, want %v", got, want)
	}
}

func TestEnsureMakesAndPins(t *testing.T) {
	t.Parallel()
	p, m := newBoard(t)
	p.checkRequests(t, 0, "getChat", "sendMessage", "pinChatMessage")
	if pinned, ok := p.group.Pinned(); !ok || pinned.ID != m.ID {
		t.Errorf("pinned is %+v", pinned)
	}
	if !m.Silent || !m.NoPreview || len(m.Buttons) > 0 || m.ReplyTo != 0 ||
		m.Text != plain(mustRender(t, page(1500)).html)+joiner {
		t.Errorf("message %+v", m)
	}
	equal(t, p.sim.CallsOf("pinChatMessage")[0].Params["disable_notification"], "true", "disable_notification")
	equal(t, p.logged.String(), "", "logged")
}

func TestEnsureEditsWhatIsThere(t *testing.T) {
	t.Parallel()
	p, m := newBoard(t)
	since := len(p.sim.Calls())
	edited := p.mustSend(t, p.board(t, 1516, m.ID))
	if edited.ID != m.ID || edited.Edits != 1 || !strings.Contains(edited.Text, "1516") {
		t.Errorf("message %+v", edited)
	}
	// Telegram answers that the message is not modified.
	if again := p.mustSend(t, p.board(t, 1516, m.ID)); again.ID != m.ID || again.Edits != 1 {
		t.Errorf("message %+v", again)
	}
	p.checkRequests(t, since, "editMessageText", "editMessageText")
}

func TestEnsureMakesAnewWhatIsGone(t *testing.T) {
	t.Parallel()
	for what, target := range map[string]func(*post, botsim.Message) int{
		"deleted":                func(p *post, m botsim.Message) int { p.group.Delete(m); return m.ID },
		"somebody else's":        func(p *post, m botsim.Message) int { p.group.Delete(m); return p.group.Say(p.alice, "x").ID },
		"of the group before it": func(p *post, m botsim.Message) int { p.group.Delete(m); return 9999 },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p, m := newBoard(t)
			gone := target(p, m)
			since := len(p.sim.Calls())
			next := p.mustSend(t, p.board(t, 1516, gone))
			if pinned, ok := p.group.Pinned(); next.ID == m.ID || next.ID == gone || !ok || pinned.ID != next.ID {
				t.Errorf("message %+v, pinned is %+v", next, pinned)
			}
			p.checkRequests(t, since, "editMessageText", "getChat", "sendMessage", "pinChatMessage")
		})
	}
}

// TestEnsureAdoptsThePinnedMessage checks that the bot recognizes the pinned message by its mark if
// the id of the board's message is unknown or wrong, even if the bot has been renamed.
func TestEnsureAdoptsThePinnedMessage(t *testing.T) {
	t.Parallel()
	for what, target := range map[string]int{"not known": 0, "known wrongly": 9999} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p, m := newBoard(t)
			p.sender.self.Username = "renamed_bot"
			adopted := p.mustSend(t, p.board(t, 1516, target))
			if adopted.ID != m.ID || adopted.Edits != 1 || !strings.Contains(adopted.Text, "1516") {
				t.Errorf("message %+v", adopted)
			}
			if again := p.mustSend(t, p.board(t, 1532, 0)); again.ID != m.ID || again.Edits != 2 {
				t.Errorf("an edit lost the mark: %+v", again)
			}
			equal(t, len(p.group.BotMessages()), 1, "messages")
		})
	}
}

// TestThePinnedMessageIsGoneMeanwhile checks that a pinned message that can no longer be edited is
// replaced.
func TestThePinnedMessageIsGoneMeanwhile(t *testing.T) {
	t.Parallel()
	p, m := newBoard(t)
	p.sim.Fault(botsim.Fault{Kind: botsim.Reject, Method: "editMessageText",
		Description: "Bad Request: message to edit not found"})
	if next := p.mustSend(t, p.board(t, 1516, 0)); next.ID == m.ID {
		t.Errorf("message %+v", next)
	}
}

func TestAMessageWithoutAnIDIsNotPinned(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	p.sim.Fault(botsim.Fault{Kind: botsim.WrongAnswer, Method: "sendMessage", Body: `{"ok":true}`})
	if receipt, err := p.sender.Send(testContext(t), p.board(t, 1500, 0), atOnce); err != nil ||
		receipt != (outbox.Receipt{Fingerprint: receipt.Fingerprint}) {
		t.Errorf("%+v, %v", receipt, err)
	}
	p.checkRequests(t, 0, "getChat", "sendMessage")
}

// TestEnsureLeavesOtherPinnedMessages checks that a pinned message stays as it is unless the bot
// sent it and it has the mark of the same board.
func TestEnsureLeavesOtherPinnedMessages(t *testing.T) {
	t.Parallel()
	link := func(address string) botsim.Post {
		return botsim.Post{Text: "Ranking" + joiner,
			Entities: []botsim.Entity{{Type: "text_link", Offset: 7, Length: 1, URL: address}}}
	}
	for what, pinned := range map[string]func(*testing.T, *post) botsim.Message{
		"a person's": func(_ *testing.T, p *post) botsim.Message {
			forged := link("https://t.me/elo_bot?object=board")
			forged.From = p.alice
			return p.group.Post(forged)
		},
		"a card": func(t *testing.T, p *post) botsim.Message { return p.sendCard(t) },
		"an answer that says the same": func(t *testing.T, p *post) botsim.Message {
			return p.mustSend(t, messageOf(t, p.group.ID(), page(1500)))
		},
		"another object": func(t *testing.T, p *post) botsim.Message {
			other := p.board(t, 1500, 0)
			other.Object = "board2"
			return p.mustSend(t, other)
		},
		"a link elsewhere": func(_ *testing.T, p *post) botsim.Message {
			l := link("https://example.org/elo_bot?object=board")
			l.From = p.sim.Bot()
			return p.group.Post(l)
		},
		"no address": func(_ *testing.T, p *post) botsim.Message {
			l := link("https://t.me/%zz?object=board")
			l.From = p.sim.Bot()
			return p.group.Post(l)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			p.group.Promote(p.sim.Bot())
			other := pinned(t, p)
			p.group.Pin(p.alice, other)
			since := len(p.sim.Calls())
			m := p.mustSend(t, p.board(t, 1516, 0))
			p.checkRequests(t, since, "getChat", "sendMessage", "pinChatMessage")
			if after, _ := p.group.Message(other.ID); m.ID == other.ID || after.Edits != 0 {
				t.Errorf("message %+v, the other one %+v", m, after)
			}
		})
	}
}

// TestEnsureOfObjectsWithOddNames checks that the names of objects are escaped in the mark, for
// HTML and for the URL.
func TestEnsureOfObjectsWithOddNames(t *testing.T) {
	t.Parallel()
	for _, object := range []string{"", "board:7", `a"b<c>&d`, "a=b&object=c", "x y/z?#é", "100%"} {
		p := newPost(t)
		p.group.Promote(p.sim.Bot())
		board := p.board(t, 1500, 0)
		board.Object = object
		m := p.mustSend(t, board)
		board = p.board(t, 1516, 0)
		board.Object = object
		if again := p.mustSend(t, board); again.ID != m.ID || again.Edits != 1 {
			t.Errorf("%q is not recognized: %+v", object, again)
		}
	}
}

// TestEnsureWithoutTheRightToPin checks that the update succeeds even if pinning fails. The receipt
// asks for another try unless the bot lacks the right.
func TestEnsureWithoutTheRightToPin(t *testing.T) {
	t.Parallel()
	for what, f := range map[string]*botsim.Fault{
		"no admin":  nil,
		"429":       {Kind: botsim.TooManyRequests, Method: "pinChatMessage", RetryAfter: 5},
		"cut":       {Kind: botsim.CutAfter, Method: "pinChatMessage"},
		"HTML 502":  {Kind: botsim.ServerError, Method: "pinChatMessage"},
		"forbidden": {Kind: botsim.Reject, Method: "pinChatMessage", Status: 403, Description: "Forbidden: no"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			if f != nil {
				p.group.Promote(p.sim.Bot())
				p.sim.Fault(*f)
			}
			r, m, err := p.send(t, p.board(t, 1500, 0))
			want := outbox.PinWanted
			if f == nil || f.Kind == botsim.Reject {
				want = outbox.PinRefused
			}
			if err != nil || r.Pin != want {
				t.Errorf("%+v, %v", r, err)
			}
			if logged := p.logged.String(); !strings.Contains(logged, "level=INFO") ||
				!strings.Contains(logged, "kind=board operation_id=1") ||
				strings.Contains(logged, "Alice") || strings.Contains(logged, secretHalf) {
				t.Errorf("logged: %s", logged)
			}
			if edited := p.mustSend(t, p.board(t, 1516, m.ID)); edited.ID != m.ID {
				t.Errorf("message %+v", edited)
			}
			equal(t, p.sim.CallCount("pinChatMessage"), 1, "requests to pin")
		})
	}
}

// TestWhatIsPinnedCannotBeRead checks that unused fields of the pinned message may have any type.
// If a needed field is missing or unreadable, a new message is sent.
func TestWhatIsPinnedCannotBeRead(t *testing.T) {
	t.Parallel()
	for body, adopted := range map[string]bool{
		`{"ok":true,"result":{"id":"x","type":5,"permissions":[],"pinned_message":{"message_id":MESSAGE,"date":"now","paid_media":7,` +
			`"from":{"id":7000000001},"entities":[{"type":"smell","offset":"x"},{"type":"text_link","url":"https://t.me/elo_bot?object=board"}]}}}`: true,
		`{"ok":true,"result":{"pinned_message":{"message_id":MESSAGE}}}`:   false,
		`{"ok":true,"result":{"pinned_message":"MESSAGE"}}`:                false,
		`{"ok":true,"result":null}`:                                        false,
		`{"ok":true,"result":{"pinned_message":{"message_id":[],"x":[]}}}`: false,
	} {
		p, m := newBoard(t)
		p.sim.Fault(botsim.Fault{Kind: botsim.WrongAnswer, Method: "getChat",
			Body: strings.ReplaceAll(body, "MESSAGE", fmt.Sprint(m.ID))})
		if next := p.mustSend(t, p.board(t, 1516, 0)); (next.ID == m.ID) != adopted {
			t.Errorf("%s: message %d, the board is %d", body, next.ID, m.ID)
		}
	}
}

func TestEnsureInATopic(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	p.group = p.sim.Forum("Club", p.alice)
	p.group.Promote(p.sim.Bot())
	topic := p.group.Topic(p.alice, "Results")
	board := p.board(t, 1500, 0)
	board.Thread = int64(topic.ID)
	m := p.mustSend(t, board)
	if m.ThreadID != topic.ID {
		t.Errorf("message %+v", m)
	}
	p.group.Delete(m)
	board = p.board(t, 1516, m.ID)
	board.Thread = 9999
	if m := p.mustSend(t, board); m.ThreadID != 0 {
		t.Errorf("message %+v", m)
	}
}

// TestFailuresOfEnsure checks that the update fails with the right kind of failure, and without a
// second request, if the request for an edit, for the pinned message or for a new message fails.
func TestFailuresOfEnsure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		known bool // whether the message id is known
		fault botsim.Fault
		kind  outbox.FailureKind
	}{
		"edit: 429":           {true, botsim.Fault{Method: "editMessageText", Kind: botsim.TooManyRequests, RetryAfter: 5}, outbox.RateLimited},
		"edit: cut":           {true, botsim.Fault{Method: "editMessageText", Kind: botsim.CutAfter}, outbox.Ambiguous},
		"edit: any other 400": {true, botsim.Fault{Method: "editMessageText", Kind: botsim.Reject, Description: "Bad Request: no"}, outbox.Failed},
		"look: 429":           {false, botsim.Fault{Method: "getChat", Kind: botsim.TooManyRequests, RetryAfter: 5}, outbox.RateLimited},
		"look: cut":           {false, botsim.Fault{Method: "getChat", Kind: botsim.CutAfter}, outbox.Unreachable},
		"look: HTML 502":      {false, botsim.Fault{Method: "getChat", Kind: botsim.ServerError}, outbox.Unreachable},
		"look: kicked":        {false, botsim.Fault{Method: "getChat", Kind: botsim.Reject, Status: 403, Description: "Forbidden: no"}, outbox.Forbidden},
		"send: cut":           {false, botsim.Fault{Method: "sendMessage", Kind: botsim.CutAfter}, outbox.Ambiguous},
		"send: 429":           {false, botsim.Fault{Method: "sendMessage", Kind: botsim.TooManyRequests, RetryAfter: 5}, outbox.RateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, m := newBoard(t)
			target := m.ID
			if !c.known {
				target = 0
				p.group.Delete(m)
			}
			p.sim.Fault(c.fault)
			before := p.sim.CallCount(c.fault.Method)
			receipt, err := p.sender.Send(testContext(t), p.board(t, 1516, target), atOnce)
			if failure := failureOf(t, err); failure.Kind != c.kind || receipt != (outbox.Receipt{}) {
				t.Errorf("%+v, kind %s: %v", receipt, failure.Kind, err)
			}
			equal(t, p.sim.CallCount(c.fault.Method)-before, 1, "requests")
		})
	}
}

// TestTheContextEndsWhileEnsuring checks that the outcome of an update is unknown if its context
// ends during an edit or while a new message is sent. If the context ends while the pinned message
// is read, the update fails as Unreachable, because nothing was sent. If it ends while the new
// message is pinned, the update succeeds.
func TestTheContextEndsWhileEnsuring(t *testing.T) {
	t.Parallel()
	for method, kind := range map[string]outbox.FailureKind{
		"editMessageText": outbox.Ambiguous, "getChat": outbox.Unreachable, "sendMessage": outbox.Ambiguous, "pinChatMessage": "",
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			p, m := newBoard(t)
			p.group.Delete(m)
			ctx, cancel := context.WithCancel(testContext(t))
			defer cancel()
			answered := make(chan struct{})
			p.sim.OnCall(func(c botsim.Call) {
				if c.Method == method {
					cancel()
					<-answered
				}
			})
			receipt, err := p.sender.Send(ctx, p.board(t, 1516, m.ID), atOnce)
			close(answered)
			if kind == "" {
				if err != nil || receipt.MessageID <= int64(m.ID) {
					t.Errorf("%+v, %v", receipt, err)
				}
				return
			}
			if failure := failureOf(t, err); failure.Kind != kind || !errors.Is(err, context.Canceled) {
				t.Errorf("kind %s: %v", failure.Kind, err)
			}
		})
	}
}

// TestEnsureFillsTheMessage checks that even the longest ranking leaves room for the mark.
func TestEnsureFillsTheMessage(t *testing.T) {
	t.Parallel()
	for _, worst := range longestNames {
		row := stats.Row{
			Position: 1_000_000, Name: ranking.Name{Name: worst, Mark: strings.Repeat("W", 32)}, Elo: 10000,
			Won: 99999, Drawn: 99999, Lost: 99999,
		}
		p := newPost(t)
		m := p.board(t, 1500, 0)
		n := &p.views.board
		n.Title, n.Total, n.Hidden, n.Since = strings.Repeat(worst, 9), 1_000_000, 1_000_000, time.Now()
		n.Rows = nil
		for range stats.BoardRows {
			n.Rows = append(n.Rows, row)
		}
		deliver(testContext(t), t, p.sim, p.sender, p.group, m) // checks the length
	}
}
