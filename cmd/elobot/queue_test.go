package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
)

// testMalformedNotices puts notices that nobody can read between those of a group: each becomes a dead letter with its
// reason, and everything else is told.
func testMalformedNotices(t *testing.T, b *house) {
	group := b.group("Chess")
	b.ask(group, b.alice, "/match @bob 1:0")
	malformed := []string{`"text"`, `[1, 2]`, `{"number": "seven"}`}
	add := func(kind, payload string) {
		t.Helper()
		b.exec(`INSERT INTO outbox (chat_id, kind, payload) SELECT id, $1, $2 FROM chats WHERE telegram_chat_id = $3`,
			kind, payload, group.ID())
	}
	const rounds = 2
	for range rounds {
		for _, payload := range malformed {
			add("match_recorded", payload)
		}
		add("no_such_kind", `{}`)
		add("joined", `{"name": {"name": "Carol"}, "elo": 1500}`)
	}
	b.ask(group, b.alice, "/match @bob 1:0") // which comes after them
	b.settle()
	told := 0
	for _, m := range group.BotMessages() {
		told += strings.Count(visible(m), "Carol joins")
	}
	if told != rounds {
		t.Errorf("%d of the notices in between were told, want %d", told, rounds)
	}
	type letter struct {
		Kind, Error string
		Attempts    int
	}
	letters := collect(t, b.pool, pgx.RowToStructByPos[letter], `
		SELECT o.kind, d.last_error, d.attempts FROM dead_letters d JOIN outbox o ON o.id = d.outbox_id ORDER BY o.id`)
	if want := rounds * (len(malformed) + 1); len(letters) != want {
		t.Errorf("%d dead letters, want %d", len(letters), want)
	}
	for _, l := range letters {
		if l.Error == "" || l.Attempts != 1 || !strings.Contains(l.Error, l.Kind) {
			t.Errorf("a dead letter without a reason: %+v", l)
		}
	}
	b.exec(`DELETE FROM dead_letters`)
}

// TestHandOver runs two instances. One of them works; when it is stopped or killed the other one goes on, and everything
// is told once and in order.
func TestHandOver(t *testing.T) {
	t.Parallel()
	const rounds, each = 4, 15
	sim := botsim.Start(t)
	url, pool := database(t)
	alice, bob := sim.User("alice"), sim.User("bob")
	group := sim.Group("Chess", alice, bob)
	env := crashEnvironment(environment(sim, url))
	instances := [2]*process{launch(t, env, "run"), launch(t, env, "run")}
	said, leader := 0, 0
	for round := range rounds {
		for range each {
			group.Say(alice, fmt.Sprintf("/match @bob %d:%d", said%10, said%7))
			said++
		}
		eventually(t, "somebody works", func() bool { return sim.Pending() < each })
		leader = leaderOf(t, instances)
		if round%2 == 0 {
			if code, took := instances[leader].stop(t); code != 0 {
				t.Fatalf("the leader ended with %d after %v", code, took)
			}
		} else {
			instances[leader].kill()
		}
		eventually(t, "the other one takes over", func() bool {
			return strings.Contains(instances[1-leader].output.String(), "leading")
		})
		instances[leader] = launch(t, env, "run")
	}
	eventually(t, "everything is sent", func() bool {
		return sim.Pending() == 0 && count(t, pool, `SELECT count(*) FROM outbox WHERE state <> 'sent'`) == 0
	})
	copies, perhaps := checkToldInOrder(t, group, said), count(t, pool, `SELECT sum(perhaps_sent) FROM outbox`)
	epoch := count(t, pool, `SELECT epoch FROM leases WHERE name = 'leader'`)
	t.Logf("%d results over %d handovers: %d came twice, %d were counted as perhaps sent", said, epoch-1, copies, perhaps)
	if copies > perhaps {
		t.Errorf("%d results came twice, %d were counted as perhaps sent", copies, perhaps)
	}
	if epoch < rounds+1 {
		t.Errorf("the lease was had %d times, want %d at least", epoch, rounds+1)
	}
	verifyClean(t, url)
}

// leaderOf returns which of two instances leads.
func leaderOf(t *testing.T, instances [2]*process) int {
	t.Helper()
	for i, p := range instances {
		select {
		case <-p.ended:
			continue
		default:
		}
		if strings.Contains(p.output.String(), "msg=leading") {
			return i
		}
	}
	t.Fatal("nobody leads")
	return 0
}
