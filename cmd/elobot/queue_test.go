package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

// TestMalformedNotices puts notices that nobody can read between those of a group: each becomes a dead letter with its
// reason, and everything else is told.
func TestMalformedNotices(t *testing.T) {
	t.Parallel()
	const rounds = 7
	sim := botsim.Start(t)
	url, pool := database(t)
	alice, bob := sim.User("alice"), sim.User("bob")
	group := sim.Group("Chess", alice, bob)
	bot := launch(t, plainEnvironment(sim, url), "run")
	group.Say(alice, "/match @bob 1:0")
	awaitAnswers(t, group, 1)
	if code, _ := bot.stop(t); code != 0 {
		t.Fatalf("the bot ended with %d", code)
	}
	malformed := []string{`"text"`, `[1, 2]`, `{"number": "seven"}`}
	for range rounds {
		for _, payload := range malformed {
			addNotice(t, pool, "match_recorded", payload)
		}
		addNotice(t, pool, "no_such_kind", `{}`)
		addNotice(t, pool, "joined", `{"name": {"name": "Carol"}, "elo": 1500}`)
	}
	launch(t, plainEnvironment(sim, url), "run")
	eventually(t, "everything is at its end", func() bool {
		return count(t, pool, `SELECT count(*) FROM outbox WHERE finished_at IS NULL`) == 0
	})
	told := 0
	for _, m := range group.BotMessages()[1:] {
		told += strings.Count(visible(m), "Carol joins")
	}
	if told != rounds {
		t.Errorf("%d of the notices in between were told, want %d", told, rounds)
	}
	type letter struct {
		Kind, Error string
		Attempts    int
	}
	letters := collect(t, pool, pgx.RowToStructByPos[letter], `
		SELECT o.kind, d.last_error, d.attempts FROM dead_letters d JOIN outbox o ON o.id = d.outbox_id ORDER BY o.id`)
	if want := rounds * (len(malformed) + 1); len(letters) != want {
		t.Errorf("%d dead letters, want %d", len(letters), want)
	}
	for _, l := range letters {
		if l.Error == "" || l.Attempts != 1 || !strings.Contains(l.Error, l.Kind) {
			t.Errorf("a dead letter without a reason: %+v", l)
		}
	}
}

// addNotice adds a notice to the only chat that there is.
func addNotice(t *testing.T, pool *pgxpool.Pool, kind, payload string) {
	t.Helper()
	if _, err := pool.Exec(testContext(t), `INSERT INTO outbox (chat_id, kind, payload) SELECT id, $1, $2 FROM chats`, kind, payload); err != nil {
		t.Fatal(err)
	}
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

// TestFigures looks at what the bot serves about itself.
func TestFigures(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	url, _ := database(t)
	alice, bob := sim.User("alice"), sim.User("bob")
	group := sim.Group("Chess", alice, bob)
	p := launch(t, append(plainEnvironment(sim, url), "LISTEN_ADDR=127.0.0.1:0"), "run")
	group.Say(alice, "/match @bob 3:1")
	awaitAnswers(t, group, 1)
	var address string
	eventually(t, "the bot says where it serves", func() bool {
		found := regexp.MustCompile(`addr=(127\.0\.0\.1:\d+)`).FindStringSubmatch(p.output.String())
		if found != nil {
			address = "http://" + found[1]
		}
		return found != nil
	})
	var figures struct {
		Dispatching bool
		Sent, Told  int
	}
	eventually(t, "the figures say what was sent", func() bool {
		if err := json.Unmarshal([]byte(get(t, address+"/api/metrics")), &figures); err != nil {
			t.Fatal(err)
		}
		return figures.Sent == 1
	})
	if !figures.Dispatching || figures.Told != 1 {
		t.Errorf("figures: %+v", figures)
	}
	if metrics := get(t, address+"/metrics"); !regexp.MustCompile(`(?m)^elobot_outbox_\w+ 1$`).MatchString(metrics) {
		t.Errorf("metrics:\n%s", metrics)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(testContext(t), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v", url, response.Status, err)
	}
	return string(body)
}
