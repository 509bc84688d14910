package bot

import (
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/botsim"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

func cardOf42() ranking.MatchRecorded {
	return ranking.MatchRecorded{Number: 42, Tag: "Aa0_-zZ9", Sides: aliceAndBob(3, 1, 16)}
}

func undoneCard() ranking.MatchRecorded {
	alice, card := called("Alice"), cardOf42()
	card.Undone, card.UndoneBy, card.Changes = true, &ranking.Reporter{Name: &alice}, 1
	return card
}

var restoreButtons = [][]botsim.Button{{{Text: "Restore", CallbackData: "1b:42:1:Aa0_-zZ9"}}}

var undoButtons = [][]botsim.Button{{{Text: "Undo", CallbackData: "1u:42:0:Aa0_-zZ9"}}}

func (p *post) sendCard(t *testing.T) botsim.Message {
	t.Helper()
	return p.mustSend(t, messageOf(t, p.group.ID(), cardOf42()))
}

// editOf returns an edit that replaces the content of a message in the group with these notices.
func (p *post) editOf(t *testing.T, message int, notices ...notice.Notice) outbox.Message {
	t.Helper()
	m := messageOf(t, p.group.ID(), notices...)
	m.Action, m.Target = outbox.Edit, int64(message)
	return m
}

func TestButtonsOfCards(t *testing.T) {
	t.Parallel()
	merged, restored := undoneCard(), cardOf42()
	merged.UndoneBy, restored.Changes = nil, 2
	fixed := cardOf42()
	fixed.Was = &ranking.OldScore{Score: [2]int{3, 2}}
	for what, c := range map[string]struct {
		notice notice.Notice
		want   [][]botsim.Button
	}{
		"a card":                {cardOf42(), undoButtons},
		"a corrected card":      {fixed, undoButtons},
		"a card that is undone": {undoneCard(), restoreButtons},
		"undone by a merge":     {merged, nil},
		"a restored card":       {restored, [][]botsim.Button{{{Text: "Undo", CallbackData: "1u:42:2:Aa0_-zZ9"}}}},
		"a restoring":           {ranking.MatchRestored{Number: 42, Sides: aliceAndBob(3, 1, 16)}, nil},
		"an undoing":            {ranking.MatchUndone{Number: 42, Sides: aliceAndBob(3, 1, 16)}, nil},
		"a correction":          {ranking.MatchFixed{Number: 42, Sides: aliceAndBob(3, 1, 16)}, nil},
		"a merging":             {ranking.PlayersMerged{Username: "bob", Name: called("Bobby")}, nil},
		"a refusal":             {ranking.Refusal{Code: ranking.NotYours, Number: 42}, nil},
		"a ranking":             {stats.RankingPage{}, nil},
	} {
		p := newPost(t)
		equal(t, p.mustSend(t, messageOf(t, p.group.ID(), c.notice)).Buttons, c.want, "buttons of %s", what)
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	card := p.sendCard(t)
	fixed := cardOf42()
	fixed.Sides, fixed.Was = aliceAndBob(3, 2, 16), &ranking.OldScore{Score: [2]int{3, 1}}
	m := p.mustSend(t, p.editOf(t, card.ID, fixed))
	if m.ID != card.ID || m.Edits != 1 || !strings.Contains(m.Text, "corrected from 3:1") || !m.NoPreview {
		t.Errorf("message %+v", m)
	}
	equal(t, m.Buttons, undoButtons, "buttons of a corrected card")
	m = p.mustSend(t, p.editOf(t, card.ID, undoneCard()))
	if m.Edits != 2 || !cmp.Equal(m.Buttons, restoreButtons) || !strings.Contains(m.Text, "undone by") {
		t.Errorf("message %+v", m)
	}
	calls := p.sim.CallsOf("editMessageText")
	want := map[string]string{
		"chat_id": chatText(p.group), "message_id": strconv.Itoa(card.ID), "parse_mode": "HTML",
		"link_preview_options": `{"is_disabled":true}`, "text": mustRender(t, undoneCard()).html,
		"reply_markup": `{"inline_keyboard":[[{"text":"Restore","callback_data":"1b:42:1:Aa0_-zZ9"}]]}`,
	}
	equal(t, calls[1].Params, want, "request")
	equal(t, len(p.group.BotMessages()), 1, "messages")
	equal(t, p.logged.String(), "", "logged")
}

// TestAnEditThatHasBeenMade checks that repeating an edit whose first response was lost succeeds.
func TestAnEditThatHasBeenMade(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	edit := p.editOf(t, p.sendCard(t).ID, undoneCard())
	p.sim.Fault(botsim.Fault{Kind: botsim.CutAfter, Method: "editMessageText", Times: 1})
	if _, err := p.sender.Send(testContext(t), edit, atOnce); failureOf(t, err).Kind != outbox.Ambiguous {
		t.Errorf("cut after: %v", err)
	}
	if m := p.mustSend(t, edit); m.Edits != 1 {
		t.Errorf("message %+v", m)
	}
	equal(t, p.sim.CallCount("editMessageText"), 2, "requests")
}

func TestAnEditOfNothingIsObsolete(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	_, err := p.sender.Send(testContext(t), p.editOf(t, 0, undoneCard()), atOnce)
	equal(t, failureOf(t, err).Kind, outbox.Obsolete, "failure %v", err)
	equal(t, len(p.sim.Calls()), 0, "requests")
}

// TestFailuresOfEditsAndCallbackAnswers checks that a failed edit or callback answer leads to the
// right kind of failure, without a second request.
func TestFailuresOfEditsAndCallbackAnswers(t *testing.T) {
	t.Parallel()
	reject := func(status int, description string) botsim.Fault {
		return botsim.Fault{Kind: botsim.Reject, Status: status, Description: description}
	}
	const (
		edit           = outbox.Edit
		callbackAnswer = outbox.CallbackAnswer
	)
	for name, c := range map[string]struct {
		action outbox.Action
		fault  botsim.Fault
		kind   outbox.FailureKind
	}{
		"edit: not found":       {edit, reject(400, "Bad Request: message to edit not found"), outbox.Obsolete},
		"edit: can't be edited": {edit, reject(400, "Bad Request: message can't be edited"), outbox.Obsolete},
		"edit: invalid id":      {edit, reject(400, "Bad Request: MESSAGE_ID_INVALID"), outbox.Obsolete},
		"edit: any other 400":   {edit, reject(400, "Bad Request: of tomorrow"), outbox.Failed},
		"edit: too long":        {edit, reject(400, "Bad Request: message is too long"), outbox.Rejected},
		"edit: 404 in words":    {edit, reject(404, "Not Found: message to edit not found"), outbox.Unauthorized},
		"edit: kicked":          {edit, reject(403, "Forbidden: bot was kicked from the supergroup chat"), outbox.Forbidden},
		"edit: chat not found":  {edit, reject(400, "Bad Request: chat not found"), outbox.Forbidden},
		"edit: 429":             {edit, botsim.Fault{Kind: botsim.TooManyRequests, RetryAfter: 35}, outbox.RateLimited},
		"edit: HTML 502":        {edit, botsim.Fault{Kind: botsim.ServerError}, outbox.Ambiguous},
		"edit: cut before":      {edit, botsim.Fault{Kind: botsim.CutBefore}, outbox.Ambiguous},
		"edit: wrong token":     {edit, reject(401, "Unauthorized"), outbox.Unauthorized},
		"edit: too large":       {edit, reject(413, "Request Entity Too Large"), outbox.Rejected},
		"edit: HTML 404":        {edit, botsim.Fault{Kind: botsim.ServerError, Status: 404}, outbox.Unreachable},
		"edit: migrated": {edit, botsim.Fault{
			Kind: botsim.Reject, Description: "Bad Request: group chat was upgraded to a supergroup chat",
			Parameters: map[string]any{"migrate_to_chat_id": -1001},
		}, outbox.Migrated},
		"toast: too old":       {callbackAnswer, reject(400, "Bad Request: query is too old and response timeout expired or query ID is invalid"), outbox.Obsolete},
		"toast: invalid id":    {callbackAnswer, reject(400, "Bad Request: query ID is invalid"), outbox.Obsolete},
		"toast: any other 400": {callbackAnswer, reject(400, "Bad Request: of tomorrow"), outbox.Failed},
		"toast: 429":           {callbackAnswer, botsim.Fault{Kind: botsim.TooManyRequests, RetryAfter: 35}, outbox.RateLimited},
		"toast: JSON 500":      {callbackAnswer, reject(500, "Internal Server Error"), outbox.Unreachable},
		"toast: cut after":     {callbackAnswer, botsim.Fault{Kind: botsim.CutAfter}, outbox.Ambiguous},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			card := p.sendCard(t)
			m := p.editOf(t, card.ID, undoneCard())
			if c.action == callbackAnswer {
				m = p.callbackAnswer(t, p.sim.Press(p.alice, card, "1u:42:0:Aa0_-zZ9"), undoneCard())
			}
			before := len(p.sim.Calls())
			p.sim.Fault(c.fault)
			receipt, err := p.sender.Send(testContext(t), m, atOnce)
			if failure := failureOf(t, err); receipt != (outbox.Receipt{}) || failure.Kind != c.kind {
				t.Errorf("%+v, kind %s: %v", receipt, failure.Kind, err)
			}
			equal(t, len(p.sim.Calls())-before, 1, "requests")
		})
	}
}

func TestAnEditThatCannotBeParsedIsMadeAsPlainText(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	card := p.sendCard(t)
	p.sim.Fault(botsim.Fault{Kind: botsim.Reject, Method: "editMessageText",
		Description: "Bad Request: can't parse entities: once", Times: 1})
	fixed := cardOf42()
	fixed.Was = &ranking.OldScore{Score: [2]int{3, 2}}
	m := p.mustSend(t, p.editOf(t, card.ID, fixed))
	if m.ParseMode != "" || strings.Contains(m.Text, "<") || m.Text != plain(mustRender(t, fixed).html) {
		t.Errorf("message %+v", m)
	}
	equal(t, m.Buttons, undoButtons, "buttons")
	if !strings.Contains(p.logged.String(), "level=ERROR") {
		t.Errorf("logged: %s", p.logged.String())
	}
	p.sim.Fault(botsim.Fault{Kind: botsim.Reject, Method: "editMessageText",
		Description: "Bad Request: can't parse entities: again"})
	_, err := p.sender.Send(testContext(t), p.editOf(t, card.ID, undoneCard()), atOnce)
	equal(t, failureOf(t, err).Kind, outbox.Rejected, "failure %v", err)
	equal(t, p.sim.CallCount("editMessageText"), 4, "requests")
}

// TestWhatWasAcceptedIsDone checks that an accepted edit or callback answer succeeds, whatever the
// response contains.
func TestWhatWasAcceptedIsDone(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"a message of the future": `{"ok":true,"result":{"message_id":"x","paid_media":[]}}`,
		"a word":                  `{"ok":true,"result":"fine"}`,
		"nothing":                 `{"ok":true,"result":null}`,
		"no result":               `{"ok":true}`,
		"an odd envelope":         `{"ok":true,"result":true,"description":5}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			card := p.sendCard(t)
			p.sim.Fault(botsim.Fault{Kind: botsim.WrongAnswer, Body: body})
			if m := p.mustSend(t, p.editOf(t, card.ID, undoneCard())); m.ID != card.ID || m.Edits != 1 {
				t.Errorf("message %+v", m)
			}
			if _, err := p.sender.Send(testContext(t),
				p.callbackAnswer(t, p.sim.Press(p.alice, card, "1u:42:0:Aa0_-zZ9"), undoneCard()), atOnce); err != nil {
				t.Errorf("toast: %v", err)
			}
			equal(t, p.logged.String(), "", "logged")
		})
	}
}

func (p *post) callbackAnswer(t *testing.T, press string, n notice.Notice) outbox.Message {
	t.Helper()
	m := messageOf(t, p.group.ID(), n)
	m.Action, m.Lane.Kind, m.Row.Button, m.Items[0].Button = outbox.CallbackAnswer, outbox.CallbackAnswers, press, press
	return m
}

func TestCallbackAnswerOfAPress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		notice notice.Notice
		want   string
	}{
		"undone":  {ranking.MatchUndone{Number: 42, Sides: aliceAndBob(3, 1, 16)}, "Match #42 undone: \u2068Alice\u2069 3:1 \u2068Bob\u2069 no longer counts."},
		"refused": {ranking.Refusal{Code: ranking.NotYours, Number: 42}, "Only those who played or reported match #42, and the group’s admins, can undo or fix it."},
		"unknown": {ranking.Refusal{Code: ranking.UnknownButton}, "This button no longer works."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			press := p.sim.Press(p.alice, p.sendCard(t), "1u:42:0:Aa0_-zZ9")
			receipt, err := p.sender.Send(testContext(t), p.callbackAnswer(t, press, c.notice), atOnce)
			if receipt != (outbox.Receipt{}) || err != nil {
				t.Fatalf("%+v, error %v", receipt, err)
			}
			got, err := p.sim.WaitAnswer(testContext(t), press)
			if diff := cmp.Diff(botsim.CallbackAnswer{Text: c.want}, got); diff != "" || err != nil {
				t.Errorf("answer (-want +got):\n%s error %v", diff, err)
			}
			want := map[string]string{"callback_query_id": press, "text": c.want}
			equal(t, p.sim.CallsOf("answerCallbackQuery")[0].Params, want, "request")
			equal(t, len(p.group.BotMessages()), 1, "messages, with the card")
		})
	}
}

func TestALateCallbackAnswerIsObsolete(t *testing.T) {
	t.Parallel()
	now := worldTime
	sim, client := startSimulator(t, botsim.WithClock(func() time.Time { return now }))
	p := &post{sim: sim, alice: sim.User("alice"), logged: &buffered{}}
	p.group = sim.Group("Table tennis", p.alice)
	p.sender = NewSender(client, selfOf(sim), slog.New(slog.DiscardHandler))
	card := p.sendCard(t)
	late, twice := sim.Press(p.alice, card, "1u:42:0:Aa0_-zZ9"), sim.Press(p.alice, card, "1u:42:0:Aa0_-zZ9")
	refusal := ranking.Refusal{Code: ranking.UndoneAlready, Number: 42}
	if _, err := p.sender.Send(testContext(t), p.callbackAnswer(t, twice, refusal), atOnce); err != nil {
		t.Fatalf("toast: %v", err)
	}
	now = now.Add(151 * time.Second)
	for what, press := range map[string]string{"late": late, "a second one": twice,
		"of no press": "123", "of nothing": ""} {
		_, err := p.sender.Send(testContext(t), p.callbackAnswer(t, press, refusal), atOnce)
		equal(t, failureOf(t, err).Kind, outbox.Obsolete, "%s: failure %v", what, err)
	}
}

// TestTheButtonSaysWhatThePressAsksFor checks that a press of the button below a sent card asks to
// undo the card's match.
func TestTheButtonSaysWhatThePressAsksFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := sendTo(t, w.sim, NewSender(w.client, selfOf(w.sim), slog.New(slog.DiscardHandler)), w.group, cardOf42())
	w.sim.Press(w.bob, m, m.Buttons[0][0].CallbackData)
	w.expect("the button of a card", "undo #42 Aa0_-zZ9")
}
