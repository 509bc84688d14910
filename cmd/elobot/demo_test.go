package main_test

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestDemo: the demo plays its scene on whatever PostgreSQL the machine has, ends well and leaves nothing behind. It
// looks at no setting that is meant for the real bot.
func TestDemo(t *testing.T) {
	t.Parallel()
	// t.TempDir is closed to the unprivileged user that the server runs as when this test runs as root
	temp, err := os.MkdirTemp("", "elobot-demo-test-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	if err := os.Chmod(temp, 0o777); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(folder+"/.env", []byte("TELEGRAM_API_URL=nonsense\nDATABASE_URL=nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	demo := launchIn(t, folder, []string{"TMPDIR=" + temp, "DATABASE_URL=nonsense", "TELEGRAM_BOT_TOKEN=nonsense"}, "demo", "--once")
	if code := demo.wait(t); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	output := demo.output.String()
	for _, want := range []string{
		"Alice beat bob 3:1", "Match #13", "Ranking · Table tennis", "4 players · won–drawn–lost",
		"A score has two numbers", "reported by Dave", "new players: Alice, bob",
	} {
		if !strings.Contains(output, want) {
			t.Errorf("the demo does not show %q", want)
		}
	}
	if strings.Contains(output, "\x1b") {
		t.Error("there are colours in an output that is no terminal")
	}
	eventually(t, "nothing is left in the folder for temporary files", func() bool {
		left, err := os.ReadDir(temp)
		return err == nil && len(left) == 0
	})
}

// TestDemoConversation: after the scene the demo answers what is said on its standard input, and ends with it.
func TestDemoConversation(t *testing.T) {
	t.Parallel()
	demo := launchTalking(t, "zoe: /match @alice 3:2\nno command\n\n  /ranking\nzoe : /match\n")
	begun := time.Now()
	if code := demo.wait(t); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	_, talk, found := strings.Cut(demo.output.String(), "Now you.")
	if !found {
		t.Fatalf("the demo invites nobody after %v", time.Since(begun))
	}
	for _, want := range []string{"Zoe beat Alice 3:2", "new player: Zoe", "You  no command", "5 players", "Who played, and how did it end?"} {
		if !strings.Contains(talk, want) {
			t.Errorf("the conversation does not show %q:\n%s", want, talk)
		}
	}
}

// TestDemoInterrupted: Ctrl-C in the middle is no fault.
func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	demo := launch(t, nil, "demo", "--once")
	eventually(t, "the database is ready", func() bool { return strings.Contains(demo.output.String(), "is ready") })
	if code, took := demo.stop(t); code != 0 || took > 10*time.Second {
		t.Errorf("the demo ended after %v with %d", took, code)
	}
}
