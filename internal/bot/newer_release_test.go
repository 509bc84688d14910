package bot

import (
	"testing"

	"elobot/internal/outbox"
)

// TestUnknownKinds checks that a notice that this release cannot render is set aside without a
// request. A merged message ends before such a notice, but a message that may have arrived is set
// aside as a whole.
func TestUnknownKinds(t *testing.T) {
	t.Parallel()
	joined := outbox.Item{ID: 1, Kind: "joined", Payload: []byte(`{"name": {"name": "Alice"}}`)}
	unknown := outbox.Item{ID: 2, Kind: "of_tomorrow", Payload: []byte(`{}`)}
	again := joined
	again.Repeated = true
	for name, tc := range map[string]struct {
		action   outbox.Action
		items    []outbox.Item
		setAside bool
		covered  int
	}{
		"first":              {outbox.Send, []outbox.Item{unknown, joined}, true, 1},
		"second":             {outbox.Send, []outbox.Item{joined, unknown}, false, 1},
		"second of a repeat": {outbox.Send, []outbox.Item{again, unknown}, true, 0},
		"edit":               {outbox.Edit, []outbox.Item{unknown}, true, 1},
		"edit of several":    {outbox.Edit, []outbox.Item{joined, unknown}, true, 1},
		"page":               {outbox.Page, []outbox.Item{unknown}, true, 1},
		"ensure":             {outbox.Ensure, []outbox.Item{unknown}, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			m := outbox.Message{ExternalChat: p.group.ID(), Action: tc.action, Items: tc.items, Row: tc.items[0], Target: 5}
			receipt, err := p.sender.Send(testContext(t), m, atOnce)
			if receipt.Covered != tc.covered || (err != nil) != tc.setAside {
				t.Fatalf("%+v, %v", receipt, err)
			}
			if !tc.setAside {
				return
			}
			equal(t, failureOf(t, err).Kind, outbox.Unsupported, "failure %v", err)
			equal(t, len(p.sim.Calls()), 0, "requests")
		})
	}
}

// TestUnknownAnswer checks that a press gets an empty answer if this release cannot render the
// answer.
func TestUnknownAnswer(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	press := p.sim.Press(p.alice, p.sendCard(t), "1u:42:0:Aa0_-zZ9")
	item := outbox.Item{Kind: "of_tomorrow", Payload: []byte(`{}`), Button: press}
	m := outbox.Message{
		Lane: outbox.Lane{Chat: 1, Kind: outbox.CallbackAnswers}, ExternalChat: p.group.ID(), Action: outbox.CallbackAnswer,
		Items: []outbox.Item{item}, Row: item,
	}
	if _, err := p.sender.Send(testContext(t), m, atOnce); err != nil {
		t.Fatal(err)
	}
	if answer, err := p.sim.WaitAnswer(testContext(t), press); err != nil || answer.Text != "" {
		t.Errorf("the answer is %+v, %v", answer, err)
	}
}
