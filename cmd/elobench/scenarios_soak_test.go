//go:build soak

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"elobot/internal/botsim"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain lets the program of the tests be the echo bot, as the benchmark's own program is.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == echoArgument {
		os.Exit(realMain(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// TestScenarios measures with next to nothing of everything, and has the bots profiled: that it can be measured, not how fast
// it is.
func TestScenarios(t *testing.T) {
	t.Parallel()
	var told bytes.Buffer
	tiny := sizes{
		groups: 2, people: 4, results: 10, clients: 1, pgbench: 1, rate: 20, latency: 1,
		contended: 20, drained: 8, answers: 4,
		bulk: []int{10, 1000}, rounds: 1,
		chats: 5, waiting: 20, steady: 50 * time.Millisecond, starts: 1,
	}
	quick := map[string]string{"fsync": "off", "full_page_writes": "off"}
	folder := filepath.Join(t.TempDir(), "new", "folder")
	env, err := newEnvironment(t.Context(), tiny, "", folder, quick, newProgress(&told))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("it says:\n%s", told.String())
		}
	})
	if err := env.checkDurable(t.Context()); err == nil || !strings.Contains(err.Error(), "fsync off") {
		t.Errorf("a server that is not durable is taken for good: %v", err)
	}
	measured, err := (&measureCommand{Runs: 1, Profile: folder}).measure(t.Context(), env, scenarios())
	if err != nil {
		t.Fatal(err)
	}
	figures := measured.Figures
	none := []string{"contention.two.giveups", "contention.three.giveups", "draining.429"}
	some := []string{"contention.two.conflicts", "contention.three.conflicts", "ratio.p99_over"}
	for _, f := range figures {
		if positive := f.Value > 0; positive == slices.Contains(none, f.Name) && !slices.Contains(some, f.Name) {
			t.Errorf("%s is %v", f.Name, f.Value)
		}
	}
	if least, _ := find(figures, "draining.least"); least.Value != 1 {
		t.Errorf("32 messages take %v s at the least", least.Value)
	}
	checkAllFigures(t, figures)
	checkProfiles(t, measured, folder)
	checkLostIsMissed(t, env)
	checkEchoSaysWhatFails(t, env)
	if left, err := os.ReadDir(env.folder); err != nil || len(left) > 2 {
		t.Errorf("in the folder are %v, %v: want the bot and a script", left, err)
	}
	if measured.FileSystem == "" || !strings.HasPrefix(measured.Postgres, "PostgreSQL ") {
		t.Errorf("it was measured with %q on %q", measured.Postgres, measured.FileSystem)
	}
	if !strings.Contains(told.String(), "the data lies on ") {
		t.Errorf("it does not say what the data lies on:\n%s", told.String())
	}
}

// checkAllFigures checks that those are there that come of all scenarios together.
func checkAllFigures(t *testing.T, figures []figure) {
	t.Helper()
	for _, r := range comparisons {
		if _, ok := find(figures, r.name); !ok {
			t.Errorf("there is no %s", r.name)
		}
	}
	for _, name := range []string{"ratio.growth.match.1e3", "ratio.growth.ranking.1e3"} {
		if _, ok := find(figures, name); !ok {
			t.Errorf("there is no %s", name)
		}
	}
	for _, name := range []string{
		"throughput.rss", "throughput.webhook.rss", "memory.idle", "memory.chats.peak", "memory.waiting.peak",
	} {
		if _, ok := find(figures, name); ok != (runtime.GOOS == "linux") {
			t.Errorf("whether there is a %s: %v", name, ok)
		}
	}
	if p50, _ := find(figures, "latency.p50"); p50.Value > milliseconds(time.Minute) {
		t.Errorf("half of all wait for %v ms", p50.Value)
	}
}

// checkProfiles: each bot leaves the profiles of its time and of its memory, and the figures say that it was profiled.
func checkProfiles(t *testing.T, measured *measurement, folder string) {
	t.Helper()
	if !measured.Profiled {
		t.Error("nothing says that the bot was profiled")
	}
	// the kinds of values that a profile has
	for name, kind := range map[string]string{
		"start-cpu.pprof": "nanoseconds", "start-heap.pprof": "inuse_space",
		"throughput-2-cpu.pprof": "nanoseconds", "throughput-2-heap.pprof": "inuse_space",
	} {
		if profile := unzip(t, filepath.Join(folder, name)); !strings.Contains(profile, kind) {
			t.Errorf("%s is no such profile:\n%q", name, profile)
		}
	}
	written, err := filepath.Glob(filepath.Join(folder, "start-*"))
	if err != nil || len(written) != 2 {
		t.Errorf("the bot that was started has written %v, %v", written, err)
	}
}

func unzip(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // what has been read is read
	zipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	content, err := io.ReadAll(zipped)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return string(content)
}

// checkLostIsMissed: what is neither recorded nor given up is lost.
func checkLostIsMissed(t *testing.T, env *environment) {
	t.Helper()
	db, drop, err := env.database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer drop()
	for _, statement := range []string{
		`INSERT INTO chats (telegram_chat_id, kind, title) VALUES (-1001, 'supergroup', 'Chess')`,
		`INSERT INTO outbox (chat_id, key, kind, payload)
		 SELECT id, code, 'refusal', jsonb_build_object('code', code)
		 FROM chats, unnest(ARRAY['too_many_at_once', 'no_such_match']) AS code`,
	} {
		if _, err := db.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	messages := make(chan botsim.Message, 1)
	messages <- botSays(-1, refused)
	if _, err := checkContended(t.Context(), env, db, messages, 2); err == nil {
		t.Error("a result that is lost is not missed")
	}
	if givenUp, err := checkContended(t.Context(), env, db, messages, 1); err != nil || givenUp != 1 {
		t.Errorf("%d are given up, %v", givenUp, err)
	}
}

// checkEchoSaysWhatFails: an echo bot that cannot commit ends and says why, so that nobody waits for its answers.
func checkEchoSaysWhatFails(t *testing.T, env *environment) {
	t.Helper()
	sim := botsim.Start(t)
	newCrowd(sim, env.sizes).say(0)
	bot, err := env.launchEcho(t.Context(), sim, env.server.URL()) // where there is no table
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := bot.during(t.Context())
	defer cancel()
	timeout := time.NewTimer(time.Minute)
	defer timeout.Stop()
	select {
	case <-ctx.Done():
	case <-timeout.C:
		t.Error("it goes on")
	}
	if why := context.Cause(ctx); why == nil || !strings.Contains(why.Error(), "handled_commands") {
		t.Errorf("it has ended because of %v", why)
	}
	if err := bot.kill(); err != nil {
		t.Error(err)
	}
}
