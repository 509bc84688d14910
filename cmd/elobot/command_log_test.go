package main_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// commandLine matches the log line about a handled command.
var commandLine = regexp.MustCompile(
	`level=INFO msg="command handled" update_id=(\d+) key=(\S+) chat_id=(-?\d+) command=(\S+) outcome=(\S+) duration_ms=\d+\n`)

// testEveryCommandIsLogged checks that the log has exactly one line per command, whatever its
// outcome, and contains neither texts of messages nor names. An edit that does not change the score
// has no line.
func testEveryCommandIsLogged(t *testing.T, b *botFixture, door *entrance) {
	sim, pool, alice, bob, group := b.sim, b.pool, b.alice, b.bob, b.group("Chess")
	var want []string
	logged := func(key, command, outcome string) {
		want = append(want, fmt.Sprintf("%s %s %s", key, command, outcome))
	}
	answers := 0
	say := func(text, command, outcome string) botsim.Message {
		t.Helper()
		m := group.Say(alice, text)
		answers++
		awaitAnswers(t, group, answers)
		logged(key(m), command, outcome)
		return m
	}
	say("/start@"+sim.Bot().Username, "start", "answered")
	say("/join", "join", "joined")
	say("/join", "join", "answered")
	match := say("/match @bob 3:1", "match", "recorded")
	refused := say("/match @bob secretword", "match", "refused")
	for _, e := range []struct{ text, outcome string }{
		{"/match @bob secretword 2", "refused"}, {"/match @bob 2:1", "recorded"}, {"/match @bob 2:0", "answered"}, {"/match @bob 2:1", ""},
	} {
		edited := group.Edit(refused, e.text)
		if e.outcome == "" { // the edit does not change the score
			continue
		}
		answers++
		awaitAnswers(t, group, answers)
		text := sha256.Sum256([]byte(e.text))
		logged(fmt.Sprintf("e:%d:%d:%d:%x", group.ID(), edited.ID, edited.EditDate.Unix(), text[:4]), "match", e.outcome)
	}
	say("/match @alice 3:1", "match", "refused")
	say("/fix 1 3:2", "fix", "fixed")
	say("/undo 1", "undo", "undone")
	say("/undo 1", "undo", "refused")
	say("/ranking", "ranking", "answered")
	say("/me", "stats", "answered")
	say("/help match", "help", "answered")
	say("/secretword@"+sim.Bot().Username, "unknown", "refused")
	group.Say(alice, "/othersecretword")
	group.Say(bob, "secretword")
	last := say("/match @bob 3:0", "match", "recorded")
	cards := group.BotMessages()
	press := sim.Press(bob, cards[len(cards)-1], cards[len(cards)-1].Buttons[0][0].CallbackData)
	if _, err := sim.WaitAnswer(testContext(t), press); err != nil {
		t.Fatal(err)
	}
	answers++ // notice of the undo in the group
	awaitAnswers(t, group, answers)
	logged("c:"+press, "undo", "undone")
	// Another update delivers the first result again.
	if status := door.post(t, "POST", "/telegram", webhookSecret,
		matchUpdate(731000001, group, alice, match.ID)); status != 200 {
		t.Errorf("the second delivery is answered with %d", status)
	}
	logged(key(match), "match", "duplicate")
	// This update cannot be decoded.
	broken := bytes.Replace(matchUpdate(731000002, group, alice, last.ID+1000), []byte(`"entities":[`),
		[]byte(`"entities":7,"x":[`), 1)
	equal(t, door.post(t, "POST", "/telegram", webhookSecret, broken), 200, "answer to an update that cannot be read")
	logged(fmt.Sprintf("m:%d:%d", group.ID(), last.ID+1000), "match", "dead_letter")
	var lines [][]string
	eventually(t, "all commands are in the log", func() bool {
		lines = slices.DeleteFunc(commandLine.FindAllStringSubmatch(b.bot.output.String(), -1),
			func(l []string) bool { return l[3] != strconv.FormatInt(group.ID(), 10) })
		return len(lines) >= len(want)
	})
	var got []string
	for _, l := range lines {
		update, key, name, outcome := l[1], l[2], l[4], l[5]
		got = append(got, fmt.Sprintf("%s %s %s", key, name, outcome))
		if update == "0" {
			t.Errorf("a line says %s", l[0])
		}
		// The notices of a command have its key, and an edited card has the key of the press.
		if n := count(t, pool, `SELECT count(*) FROM outbox WHERE key = $1`, key); n == 0 {
			t.Errorf("there is no notice of %s", key)
		}
	}
	equal(t, got, want, "commands in the log")
	b.exec(`DELETE FROM dead_letters`)
	if strings.Contains(b.bot.output.String(), "secretword") || strings.Contains(b.bot.output.String(), "Alice") {
		t.Errorf("the log contains texts or names of people:\n%s", b.bot.output)
	}
}
