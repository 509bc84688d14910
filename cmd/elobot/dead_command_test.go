package main_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// testDeadCommand checks that, if a command cannot be handled, its sender is notified, in order
// with the answers around it. A retry handles and answers the command even three days later.
func testDeadCommand(t *testing.T, b *botFixture) {
	l, sim, alice, group := b.letters(), b.sim, b.alice, b.group("Chess")
	l.env = b.env
	before := group.Say(alice, "/match @bob 3:1")
	awaitAnswers(t, group, 1)
	// damaged delivers an update that cannot be decoded, because its entities have the wrong type.
	damaged := func(id int, text string) {
		t.Helper()
		raw, err := json.Marshal(map[string]any{"message": map[string]any{
			"message_id": id, "date": time.Now().Add(-25 * time.Hour).Unix(), "text": text, "entities": "none",
			"chat": map[string]any{"id": group.ID(), "type": "supergroup", "title": "Chess"},
			"from": map[string]any{"id": alice.ID, "first_name": "Alice", "username": "alice"},
		}})
		must(t, err)
		sim.Update(raw)
	}
	damaged(before.ID, "I have no command")
	damaged(before.ID, "/other")
	l.await(2)
	// The database refuses a valid result.
	l.exec(`ALTER TABLE matches ADD CONSTRAINT broken CHECK (score_a <> 7) NOT VALID`)
	dead := group.Say(alice, "/match @bob 7:1")
	after := group.Say(alice, "/match @bob 3:2")
	all := awaitAnswers(t, group, 3)
	for i, m := range []botsim.Message{before, dead, after} {
		if all[i].ReplyTo != m.ID {
			t.Errorf("answer %d is to message %d, want %d: %s", i+1, all[i].ReplyTo, m.ID, visible(all[i]))
		}
	}
	says(t, visible(all[1]), "Something went wrong on my side, so /match @bob 7:1 was not done.")
	says(t, visible(all[2]), "Match #2")
	if n := count(t, l.pool, `SELECT count(*) FROM handled_commands WHERE key = $1`, key(dead)); n != 0 {
		t.Error("the dead command is marked as handled")
	}
	equal(t, count(t, l.pool, `SELECT attempts FROM dead_letters WHERE last_error LIKE '%"broken"%'`), 1, "attempts")
	l.exec(`ALTER TABLE matches DROP CONSTRAINT broken`)
	// Pretend that the command was sent three days ago.
	l.exec(`UPDATE dead_letters SET payload = convert_to(jsonb_set(convert_from(payload, 'UTF8')::jsonb, '{message,date}',
		to_jsonb(extract(epoch FROM now() - interval '3 days')::bigint))::text, 'UTF8') WHERE id = 3`)
	l.must("retry 3", 0, "3: handled\n", "")
	all = awaitAnswers(t, group, 4)
	says(t, visible(all[3]), "Alice beat bob 7:1", "Match #3")
	equal(t, all[3].ReplyTo, dead.ID, "what the late answer replies to")
	b.exec(`DELETE FROM dead_letters`)
}

// testDeadUnreadable checks that the sender of an update that cannot be decoded is notified too, if
// the message begins with a command. A member whose press cannot be handled is notified by the
// callback answer.
func testDeadUnreadable(t *testing.T, b *botFixture) {
	l, sim, alice, group := b.letters(), b.sim, b.alice, b.group("Chess")
	posted := group.Say(alice, "well played") // a second, damaged update about this message follows
	sim.Update(json.RawMessage(fmt.Sprintf(
		`{"message":{"message_id":%d,"date":%d,"text":"/match @bob 3:1","entities":"none",
		"chat":{"id":%d,"type":"supergroup","title":"Chess"},"from":{"id":%d,"first_name":"Alice"}}}`,
		posted.ID, time.Now().Unix(), group.ID(), alice.ID)))
	next := group.Say(alice, "/match @bob 3:2")
	all := awaitAnswers(t, group, 2)
	says(t, visible(all[0]), "/match @bob 3:1 was not done.")
	says(t, visible(all[1]), "Match #1")
	if all[0].ReplyTo != posted.ID || all[1].ReplyTo != next.ID {
		t.Errorf("the answers are %+v", all)
	}
	l.await(1)
	query := sim.Press(alice, all[1], undoButton(t, all[1]))
	if _, err := sim.WaitAnswer(testContext(t), query); err != nil {
		t.Fatal(err)
	}
	l.exec(`ALTER TABLE handled_commands ADD CONSTRAINT broken CHECK (key NOT LIKE 'c:%') NOT VALID`)
	answer, err := sim.WaitAnswer(testContext(t), sim.Press(alice, all[1], undoButton(t, all[1])))
	if err != nil ||
		answer.Text != "Something went wrong on my side, so this was not done. The operator of this bot can see why." {
		t.Errorf("the press is answered %q, error %v", answer.Text, err)
	}
	b.exec(`ALTER TABLE handled_commands DROP CONSTRAINT broken`)
	b.exec(`DELETE FROM dead_letters`)
}

// TestLocalTime checks that TZ is looked up in the time zones that are built in, because a
// container image may have no zone files. The name in TZ is in lower case, unlike the names of such
// files, so that files on this machine do not help.
func TestLocalTime(t *testing.T) {
	t.Parallel()
	p := launch(t, []string{"TZ=:pacific/kiritimati"}, "dead", "retry", "all", "--since=soon")
	equal(t, p.wait(t), 2, "exit code")
	east := time.Now().UTC().Add(14 * time.Hour)
	if output := p.output.String(); !strings.Contains(output, "such as "+east.Format("2006-01-02T15:")) &&
		!strings.Contains(output, "such as "+east.Add(-time.Minute).Format("2006-01-02T15:")) {
		t.Errorf("14 hours east of Greenwich, where it is %s: %s", east.Format(time.DateTime), output)
	}
}
