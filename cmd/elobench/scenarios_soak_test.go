//go:build soak

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// TestMain lets the test binary run as the echo bot, like the benchmark's own binary.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == echoArgument {
		os.Exit(realMain(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// TestScenarios runs all scenarios with tiny sizes and with profiles. It checks that the measurements work, not how fast the
// bot is.
func TestScenarios(t *testing.T) {
	t.Parallel()
	var output bytes.Buffer
	tiny := sizes{
		groups: 2, people: 4, results: 10, clients: 1, pgbench: 1, rate: 20, latency: 1,
		contended: 20, drained: 8, answers: 4,
		bulk: []int{10, 1000}, rounds: 1, clubs: []int{100, 1000}, viewed: 2,
		chats: 5, waiting: 20, steady: 50 * time.Millisecond, starts: 1,
	}
	volatileSettings := map[string]string{"fsync": "off", "full_page_writes": "off"}
	folder := filepath.Join(t.TempDir(), "new", "folder")
	env, err := newEnvironment(t.Context(), tiny, "", folder, volatileSettings, newProgress(&output))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("progress:\n%s", output.String())
		}
	})
	if err := env.checkDurable(t.Context()); err == nil || !strings.Contains(err.Error(), "fsync off") {
		t.Errorf("checkDurable of a server without fsync: %v", err)
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
		t.Errorf("minimum time of 32 messages = %v s", least.Value)
	}
	checkAllFigures(t, figures)
	checkProfiles(t, measured, folder)
	checkLostResultIsDetected(t, env)
	checkEchoReportsError(t, env)
	if left, err := os.ReadDir(env.folder); err != nil || len(left) > 2 {
		t.Errorf("the folder contains %v, %v: want the bot and a script", left, err)
	}
	if measured.FileSystem == "" || !strings.HasPrefix(measured.Postgres, "PostgreSQL ") {
		t.Errorf("file system %q, database %q", measured.Postgres, measured.FileSystem)
	}
	if !strings.Contains(output.String(), "the data is on ") {
		t.Errorf("the progress does not name the file system:\n%s", output.String())
	}
}

// checkAllFigures checks that all ratios exist, and the figures that exist only on Linux.
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
		"throughput.rss", "throughput.processor", "throughput.webhook.processor", "throughput.webhook.rss", "memory.idle", "memory.chats.peak", "memory.waiting.peak",
	} {
		if _, ok := find(figures, name); ok != (runtime.GOOS == "linux") {
			t.Errorf("%s exists: %v", name, ok)
		}
	}
	if p50, _ := find(figures, "latency.p50"); p50.Value > milliseconds(time.Minute) {
		t.Errorf("the median wait is %v ms", p50.Value)
	}
}

// checkProfiles checks that each bot wrote its CPU and heap profiles, and that the measurement is marked as profiled.
func checkProfiles(t *testing.T, measured *measurement, folder string) {
	t.Helper()
	if !measured.Profiled {
		t.Error("the measurement is not marked as profiled")
	}
	// the value types of each profile
	for name, kind := range map[string]string{
		"start-cpu.pprof": "nanoseconds", "start-heap.pprof": "inuse_space",
		"throughput-2-cpu.pprof": "nanoseconds", "throughput-2-heap.pprof": "inuse_space",
	} {
		if profile := unzip(t, filepath.Join(folder, name)); !strings.Contains(profile, kind) {
			t.Errorf("%s has another type of profile:\n%q", name, profile)
		}
	}
	written, err := filepath.Glob(filepath.Join(folder, "start-*"))
	if err != nil || len(written) != 2 {
		t.Errorf("the bot of scenario start wrote %v, %v", written, err)
	}
}

func unzip(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // only read
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

// checkLostResultIsDetected checks that a result that is neither recorded nor given up leads to an error.
func checkLostResultIsDetected(t *testing.T, env *environment) {
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
		t.Error("a lost result was not detected")
	}
	if givenUp, err := checkContended(t.Context(), env, db, messages, 1); err != nil || givenUp != 1 {
		t.Errorf("givenUp = %d, %v", givenUp, err)
	}
}

// checkEchoReportsError checks that an echo bot that cannot commit ends with an error, so that no measurement waits for it.
func checkEchoReportsError(t *testing.T, env *environment) {
	t.Helper()
	sim := botsim.Start(t)
	newWorkload(sim, env.sizes).reportMatch(0)
	bot, err := env.launchEcho(t.Context(), sim, env.server.URL()) // this database has no tables
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
		t.Error("the echo bot does not end")
	}
	if cause := context.Cause(ctx); cause == nil || !strings.Contains(cause.Error(), "handled_commands") {
		t.Errorf("cause of the end = %v", cause)
	}
	if err := bot.kill(); err != nil {
		t.Error(err)
	}
}
