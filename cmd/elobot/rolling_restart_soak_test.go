//go:build soak

package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// buildOlder builds a program that stands for an older release: it does not know the kind of notice
// that answers /join.
func buildOlder(t *testing.T) string {
	t.Helper()
	file, err := filepath.Abs("../../internal/bot/newer_release.go")
	must(t, err)
	source, err := os.ReadFile(file)
	must(t, err)
	const unknown = "return views[notice.Type(kind)] == nil"
	if strings.Count(string(source), unknown) != 1 {
		t.Fatalf("%s does not contain %q once", file, unknown)
	}
	folder := t.TempDir()
	older := filepath.Join(folder, "newer_release.go")
	without := strings.Replace(string(source), unknown, unknown+` || kind == "joined"`, 1)
	must(t, os.WriteFile(older, []byte(without), 0o600))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {file: older}})
	must(t, err)
	replaced := filepath.Join(folder, "overlay.json")
	must(t, os.WriteFile(replaced, overlay, 0o600))
	built, err := buildBot(folder, "elobot", "-overlay="+replaced)
	must(t, err)
	return built
}

// TestRollingUpgrade checks that everything is answered exactly once, and results in order, while
// two webhook instances are replaced one by one by a newer release. As long as an instance of the
// older release leads, notices that only the newer release knows are set aside.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	older := buildOlder(t)
	sim := startTelegram(t, botsim.WithWebhookDelays(func(int) time.Duration { return 100 * time.Millisecond }))
	url, pool := database(t)
	door := newBalancer(t, 2)
	start := func(i int, program string) *process {
		t.Helper()
		bot := prepare(append(environment(sim, url), door.environment()...), "run")
		bot.cmd.Path, bot.cmd.Args[0], bot.cmd.Dir = program, program, t.TempDir()
		bot.start(t)
		eventually(t, "the bot serves", func() bool { return door.find(i, bot) })
		awaitWebhooks(t, sim, 1) // instances that start at the same time may both set the webhook
		return bot
	}
	stop := func(bot *process) {
		t.Helper()
		if code, _ := bot.stop(t); code != 0 {
			t.Errorf("the bot exits with %d", code)
		}
	}
	var bots [2]*process
	bots[0] = start(0, older)
	bots[0].await(t, "msg=leading")
	bots[1] = start(1, older)

	load := startLoad(t, sim, 4, 100*time.Millisecond)
	progress := func() {
		t.Helper()
		awaitAnswers(t, load.groups[0], len(load.groups[0].BotMessages())+5)
	}
	newcomers := sim.Group("Newcomers", load.alice)
	joined := 0
	join := func(n int) {
		for range n {
			joined++
			newcomers.Say(sim.User(fmt.Sprint("newcomer_", joined)), "/join")
		}
	}
	setAside := func(want int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d notices are set aside", want), func() bool {
			return count(t, pool, `SELECT count(*) FROM outbox WHERE deferred_at IS NOT NULL AND finished_at IS NULL`) == want
		})
	}
	progress()
	stop(bots[1])
	bots[1] = start(1, binary)
	join(20) // about half of them arrive at the newer release
	progress()
	setAside(joined)
	join(5)
	stop(bots[0])
	bots[1].await(t, "msg=leading")
	join(5)
	setAside(0)
	progress()
	bots[0] = start(0, binary)
	join(5)
	progress()
	load.stop()
	equal(t, load.checkAll(t, sim, pool, url), 0, "answers that came twice although no instance crashed")
	awaitSettled(t, sim, pool, newcomers)
	answers := make(map[int]int)
	for _, m := range newcomers.BotMessages() {
		answers[m.ReplyTo]++
	}
	if len(answers) != joined || len(newcomers.BotMessages()) != joined {
		t.Errorf("%d newcomers got %d answers to %d messages", joined, len(newcomers.BotMessages()), len(answers))
	}
	equal(t, count(t, pool, `SELECT count(*) FROM outbox WHERE kind = 'joined' AND attempts <> 1`),
		0, "joins sent later")
	for _, bot := range bots {
		stop(bot)
	}
}
