package bot

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
	"elobot/internal/outbox"
)

func (p *post) update(t *testing.T, m outbox.Message) outbox.Receipt {
	t.Helper()
	receipt, err := p.sender.Send(testContext(t), m, atOnce)
	must(t, err)
	return receipt
}

// TestBoardOfAParkedChat checks that an update of a board in a parked chat makes a single request
// to find out whether the bot may write again. It does not check the pinned message first.
func TestBoardOfAParkedChat(t *testing.T) {
	t.Parallel()
	p, m := newBoard(t)
	p.sender.looked.Now = func() time.Time { return time.Now().Add(time.Hour) }
	p.sim.Fault(botsim.Fault{
		Method: "editMessageText", Kind: botsim.Reject,
		Description: "Bad Request: not enough rights to send text messages to the chat",
	})
	board, since := p.board(t, 1516, m.ID), len(p.sim.Calls())
	board.Parked = true
	_, err := p.sender.Send(testContext(t), board, atOnce)
	equal(t, failureOf(t, err).Kind, outbox.Forbidden, "failure %v", err)
	p.checkRequests(t, since, "editMessageText")
}

// TestBoardsThatShowTheirContentAreSkipped checks that a board is not edited if its fingerprint is
// unchanged. There are two exceptions. After a request with an unknown outcome, the fingerprint is
// not trusted. Once lookEvery has passed, an unpinned message is edited, because it may be gone.
func TestBoardsThatShowTheirContentAreSkipped(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	p.group.Promote(p.sim.Bot())
	now := time.Now()
	p.sender.looked.Now = func() time.Time { return now }
	made := p.update(t, p.board(t, 1500, 0))
	board := p.board(t, 1500, int(made.MessageID))
	board.KnownFingerprint = made.Fingerprint
	since := len(p.sim.Calls())
	if r := p.update(t, board); !r.Skipped || r.MessageID != made.MessageID || r.Fingerprint != made.Fingerprint {
		t.Errorf("%+v", r)
	}
	p.checkRequests(t, since)
	now = now.Add(time.Hour - time.Minute)
	if r := p.update(t, board); !r.Skipped {
		t.Errorf("%+v", r)
	}
	p.checkRequests(t, since, "getChat")
	m, _ := p.group.Message(int(made.MessageID))
	p.group.Unpin(m)
	now = now.Add(time.Hour - time.Minute)
	if r := p.update(t, board); r.Skipped || r.Pin != "" {
		t.Errorf("%+v", r)
	}
	p.checkRequests(t, since, "getChat", "getChat", "editMessageText")
	p.group.Delete(m)
	now = now.Add(time.Hour - time.Minute)
	if r := p.update(t, board); r.MessageID == made.MessageID || r.Pin != outbox.Pinned {
		t.Errorf("%+v", r)
	}
	board.Row.PossibleDuplicates = 1
	if r := p.update(t, board); r.Skipped {
		t.Errorf("%+v", r)
	}
}

// TestBoardsThatCannotBeRead checks that no request is made if the content of a board cannot be
// read, or takes longer than the time limit.
func TestBoardsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, views := range map[string]fakeViews{"a failure": {err: errors.New("no database")},
		"too slow": {wait: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			m := p.board(t, 1500, 0)
			p.views = views
			ctx, cancel := context.WithTimeout(testContext(t), 10*time.Millisecond)
			defer cancel()
			_, err := p.sender.Send(ctx, m, atOnce)
			if f := failureOf(t, err); f.Kind != outbox.Unreachable || len(p.sim.Calls()) > 0 {
				t.Errorf("%+v, requests %v", f, p.sim.Calls())
			}
		})
	}
}

// TestPinsOfBoards checks that the bot tries to pin a board when it is sent or when ToPin is set,
// but not again after a member has unpinned it.
func TestPinsOfBoards(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	made := p.update(t, p.board(t, 1500, 0))
	if _, pinned := p.group.Pinned(); pinned || made.Pin != outbox.PinRefused {
		t.Errorf("%+v, pinned %t", made, pinned)
	}
	m, _ := p.group.Message(int(made.MessageID))
	p.group.Promote(p.sim.Bot())
	if r := p.update(t, p.board(t, 1501, m.ID)); r.Pin != "" {
		t.Errorf("%+v", r)
	}
	for range 2 {
		board := p.board(t, 1502, m.ID)
		p.views.board.ToPin = true
		r := p.update(t, board)
		if pinned, _ := p.group.Pinned(); pinned.ID != m.ID || r.Pin != outbox.Pinned {
			t.Errorf("%+v, pinned %+v", r, pinned)
		}
	}
	equal(t, p.sim.CallCount("pinChatMessage"), 2, "requests to pin")
	p.group.Unpin(m)
	if r := p.update(t, p.board(t, 1503, m.ID)); r.Pin != "" || r.MessageID != made.MessageID {
		t.Errorf("%+v", r)
	}
}

// TestCopiesThatCannotBeUnpinned checks that the newer message of a board is updated even if the
// older copy cannot be unpinned.
func TestCopiesThatCannotBeUnpinned(t *testing.T) {
	t.Parallel()
	p, first := newBoard(t)
	p.group.Unpin(first)
	second := p.mustSend(t, p.board(t, 1500, 0))
	p.group.Unpin(second)
	p.group.Pin(p.sim.Bot(), first)
	p.group.Demote(p.sim.Bot())
	p.sender = p.restarted()
	since := len(p.sim.Calls())
	if r := p.update(t, p.board(t, 1516, second.ID)); r.MessageID != int64(second.ID) {
		t.Errorf("%+v", r)
	}
	p.checkRequests(t, since, "getChat", "unpinChatMessage", "editMessageText")
}

// TestCopiesOfBoards checks that, of two messages of a board, the older one is treated as the copy,
// whichever of them is known. The copy is unpinned and logged, unless it is gone.
func TestCopiesOfBoards(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		knowsFirst, deleted bool
		copies              int
	}{
		"the older one is known": {true, false, 1}, "the newer one is known": {false, false, 1}, "the known one is deleted": {true, true, 0},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p, first := newBoard(t)
			p.sender = p.restarted()
			p.group.Unpin(first) // so that the next update does not adopt it
			second := p.mustSend(t, p.board(t, 1500, 0))
			p.group.Pin(p.sim.Bot(), first)
			known := second
			if c.knowsFirst {
				known = first
			} else {
				p.group.Unpin(second) // so that getChat returns the older one
			}
			if c.deleted {
				p.group.Delete(first)
			}
			p.sender = p.restarted()
			r := p.update(t, p.board(t, 1516, known.ID))
			shown, _ := p.group.Message(second.ID)
			if r.MessageID != int64(second.ID) || !strings.Contains(shown.Text, "1516") {
				t.Errorf("%+v, the board is %+v", r, shown)
			}
			for _, m := range p.group.AllPinned() {
				equal(t, m.ID, second.ID, "pinned message")
			}
			if strings.Contains(p.logged.String(), "found a copy") != (c.copies > 0) {
				t.Errorf("logged: %s", p.logged.String())
			}
		})
	}
}

// restarted returns a sender without memory, as after a restart.
func (p *post) restarted() *Sender {
	return NewSender(p.sender.client, p.sender.self, p.sender.log).WithViews(&p.views)
}

// TestBoardsThatAreTooOld checks that a board too old to edit is sent again, and the old message is
// unpinned.
func TestBoardsThatAreTooOld(t *testing.T) {
	t.Parallel()
	p, old := newBoard(t)
	p.group.MakeTooOld(old)
	next := p.mustSend(t, p.board(t, 1516, old.ID))
	if pinned := p.group.AllPinned(); next.ID == old.ID || len(pinned) != 1 || pinned[0].ID != next.ID {
		t.Errorf("message %+v, pinned %+v", next, pinned)
	}
}

// TestEndsOfBoards checks that the message of an ended board says when it was last correct, loses
// its button, is unpinned if Telegram allows that, and can no longer be taken for a board. If there
// is no such message, none is sent.
func TestEndsOfBoards(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		known, tables bool
		fault         *botsim.Fault
	}{
		{known: true}, {}, {known: true, tables: true}, {tables: true},
		{known: true, fault: &botsim.Fault{Method: "unpinChatMessage", Kind: botsim.Reject, Description: "Bad Request: message to unpin not found"}},
	} {
		p := newPost(t)
		p.group.Promote(p.sim.Bot())
		board := p.board(t, 1500, 0)
		board.Tables, p.views.board.Total = c.tables, 31
		m := p.mustSend(t, board)
		if c.known {
			board.Target = int64(m.ID)
		}
		if c.fault != nil {
			p.sim.Fault(*c.fault)
		}
		p.views.board.On, p.views.board.AsOf = false, time.Date(2026, 3, 4, 15, 6, 7, 0, time.UTC)
		r := p.update(t, board)
		after, _ := p.group.Message(m.ID)
		if !r.Ended || !strings.Contains(after.Text, "4 March 2026, 15:06 UTC") ||
			strings.Contains(after.HTML, "object=board") || after.Rich != c.tables {
			t.Errorf("%+v, %+v", r, after)
		}
		if len(m.Buttons) != 1 || len(after.Buttons) != 0 {
			t.Errorf("buttons %+v, then %+v", m.Buttons, after.Buttons)
		}
		if n := len(p.group.AllPinned()); n != 0 && c.fault == nil {
			t.Errorf("%d messages are pinned", n)
		}
		p.views.board.On, board.Target = true, 0
		if next := p.mustSend(t, board); next.ID == m.ID {
			t.Error("the ended board came back to life")
		}
		if c := p.sim.Complaints(); len(c) > 0 {
			t.Errorf("complaints: %q", c)
		}
	}
	p := newPost(t)
	board := p.board(t, 1500, 0)
	p.views.board.On = false
	if r := p.update(t, board); !r.Ended || !r.Skipped || len(p.group.BotMessages()) > 0 {
		t.Errorf("%+v", r)
	}
}

// TestBoardsAsTables checks that a board in table form has the mark too, and can change between
// text and table.
func TestBoardsAsTables(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	p.group.Promote(p.sim.Bot())
	id := 0
	for i, tables := range []bool{true, false, true} {
		board := p.board(t, 1500+i, 0) // recognized by its mark
		board.Tables = tables
		m := p.mustSend(t, board)
		if m.Rich != tables || i > 0 && m.ID != id {
			t.Errorf("message %+v", m)
		}
		id = m.ID
	}
}

// TestRestOfBoard checks that the button below a board asks for the players who do not fit on it.
func TestRestOfBoard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sim.Press(w.bob, w.below(w.group, "1a:"), "1a:")
	w.expect("below a board", "post the rest")
	w.sim.Press(w.bob, w.card(w.group, 0), "1a:")
	w.expect("below a card", unknownButton)
	w.sim.Press(w.bob, w.below(w.group, "1a:2"), "1a:2")
	w.expect("with an argument", unknownButton)
}
