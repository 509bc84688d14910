package main_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
)

// foreignSettings are variables for PostgreSQL's programs that mean another server than the demo's.
var foreignSettings = []string{
	"PGHOST=/nonexistent", "PGPORT=1", "PGUSER=x", "PGPASSWORD=x", "PGDATABASE=x", "PGSERVICE=x", "PGSSLMODE=verify-full",
	"PGSSLROOTCERT=/nonexistent", "PGOPTIONS=-cdefault_transaction_read_only=on", "PGTARGETSESSIONATTRS=read-only", "PGTZ=Foo",
	"PGDATA=/nonexistent", "PGCONNECT_TIMEOUT=x", "PGMINPROTOCOLVERSION=x",
}

// TestDemo: the demo plays its scene on whatever PostgreSQL the machine has, ends well and leaves nothing behind, no
// file and no process. It looks at no setting that is meant for the real bot or for another database.
func TestDemo(t *testing.T) {
	t.Parallel()
	users := map[string]func(*exec.Cmd){"this user": func(*exec.Cmd) {}}
	if os.Geteuid() == 0 {
		users["an unprivileged user"] = asNobody(t)
	}
	for name, become := range users {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := demoPlace(t)
			cache, err := os.UserCacheDir()
			if err != nil {
				t.Fatal(err)
			}
			// On a machine without PostgreSQL the cache has one: other tests have fetched it.
			env := append([]string{"XDG_CACHE_HOME=" + cache, "TMPDIR=" + place + "/tmp", "HOME=" + place + "/home", "DATABASE_URL=nonsense",
				"TELEGRAM_BOT_TOKEN=nonsense"}, foreignSettings...)
			demo := prepare(env, "demo", "--once")
			demo.cmd.Path = place + "/elobot"
			demo.cmd.Args[0] = demo.cmd.Path
			demo.cmd.Dir = place + "/home"
			become(demo.cmd)
			demo.start(t)
			if len(processesNaming(t, place)) == 0 {
				t.Error("the test does not find the demo's processes")
			}
			if code := demo.wait(t); code != 0 {
				t.Fatalf("exit code %d", code)
			}
			checkScene(t, demo.output.String())
			eventually(t, "nothing is left in the folder for temporary files", func() bool {
				left, err := os.ReadDir(place + "/tmp")
				return err == nil && len(left) == 0
			})
			eventually(t, "no process is left", func() bool { return len(processesNaming(t, place)) == 0 })
		})
	}
}

// demoPlace is a folder with the bot, a home and a place for temporary files, all of which any user may enter: the
// folders of tests and of the built bot are closed to everybody but the user who runs the tests.
func demoPlace(t *testing.T) string {
	t.Helper()
	place, err := os.MkdirTemp("", "elobot-demo-test-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(place) })
	err = errors.Join(os.Chmod(place, 0o755), os.Link(binary, place+"/elobot"))
	for _, name := range []string{"tmp", "home"} {
		err = errors.Join(err, os.Mkdir(place+"/"+name, 0o755), os.Chmod(place+"/"+name, 0o777))
	}
	err = errors.Join(err, os.WriteFile(place+"/home/.env", []byte("TELEGRAM_API_URL=nonsense\nDATABASE_URL=nonsense\n"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	return place
}

func checkScene(t *testing.T, output string) {
	t.Helper()
	rest := output
	for _, want := range []string{
		"Alice beat bob 3:1", "new players: Alice, bob", "reported by Dave", "A score has two numbers",
		"Carol & Dave beat Alice & Bob 10:8", "Bob beat Carol 2:1 (11:7 9:11 11:5)",
		"/fix 3:1  (in reply to Alice)", "Match #10 is corrected: Bob lost to Alice 1:3 (was 3:1)",
		"its earlier message now reads:", "Bob lost to Alice 1:3", "Match #10 · corrected from 3:1",
		"Carol  /undo", "Match #11 is undone: Dave 3:0 Carol",
		"its earlier message now reads:", "Dave beat Carol 3:0", "Match #11 · undone by Carol",
		"Bob  /ranking", "Ranking · Table tennis", "4 players · won–drawn–lost", "That was the real bot",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q does not follow:\n%s", want, output)
		}
		rest = after
	}
	if strings.Contains(output, "\x1b") {
		t.Error("there are colours in an output that is no terminal")
	}
}

// processesNaming returns the processes that have the folder in their command line, or, where that can be seen, in
// their environment or as the folder that they work in.
func processesNaming(t *testing.T, folder string) []string {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, process := range processes { // what cannot be read has ended meanwhile, or is somebody else's
		arguments, _ := os.ReadFile(process + "/cmdline")
		environment, _ := os.ReadFile(process + "/environ")
		working, _ := os.Readlink(process + "/cwd")
		if strings.Contains(string(arguments)+string(environment)+working, folder) {
			found = append(found, process+" "+string(arguments))
		}
	}
	if len(processes) > 0 {
		return found
	}
	list, err := exec.Command("ps", "-axww", "-o", "pid=,args=").Output()
	if err != nil {
		t.Fatalf("list the processes: %v", err)
	}
	for line := range strings.Lines(string(list)) {
		if strings.Contains(line, folder) {
			found = append(found, line)
		}
	}
	return found
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

// TestDemoConversationAlternates: each answer stands below its question even when all questions come at once, and
// what the bot ignores holds nothing up.
func TestDemoConversationAlternates(t *testing.T) {
	t.Parallel()
	demo := launchTalking(t, "zoe: /match @alice 3:2\n/match@other_bot @bob 3:0\nzoe: /unknown\nyan: /match @bob 3:0\nno command\n/ranking\n")
	if code := demo.wait(t); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	_, talk, _ := strings.Cut(demo.output.String(), "Now you.")
	rest := talk
	for _, want := range []string{
		"/match @alice 3:2", "Zoe beat Alice 3:2", "/match@other_bot", "/unknown", "/match @bob 3:0", "Yan beat Bob 3:0",
		"no command", "/ranking", "6 players",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q does not follow:\n%s", want, talk)
		}
		rest = after
	}
}

// TestDemoConversationPresses: the button of the last card that has one can be pressed by anybody, who is told what came
// of it; then the card reads differently, and the button of the card before it is the last one.
func TestDemoConversationPresses(t *testing.T) {
	t.Parallel()
	const matches = 10 // that count after the scene
	demo := launchTalking(t, "press\nalice: Press\n"+strings.Repeat("alice: press\n", matches-1)+"press\n/ranking\n")
	if code := demo.wait(t); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	_, talk, _ := strings.Cut(demo.output.String(), "Now you.")
	wanted := []string{"You pressed [Undo]", "Only those who played or reported match #10"}
	for number := matches; number > 0; number-- {
		wanted = append(wanted, "Alice pressed [Undo]", fmt.Sprintf("Match #%d is undone", number), "undone by Alice",
			"its earlier message now reads:", fmt.Sprintf("Match #%d · undone by Alice", number))
	}
	rest := talk
	for _, want := range append(wanted, "There is no button to press", "You  /ranking", "Nobody has played yet") {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q does not follow:\n%s", want, talk)
		}
		rest = after
	}
}

// TestDemoConversationTakesAnything: lines that no messenger takes are refused, and nothing that is said steers the
// terminal.
func TestDemoConversationTakesAnything(t *testing.T) {
	t.Parallel()
	longest, emoji := strings.Repeat("x", 4096), strings.Repeat("\U0001f3d3", 2049)
	demo := launchTalking(t, strings.Join([]string{
		longest, longest + "y", emoji, strings.Repeat("z", 900_000), "3:1", "7: eleven",
		"zoe: \x1b[31mred\x1b]0;title\a \u009b2Jcleared \x9b \x7f\b", "zoe: the end",
	}, "\n"))
	if code := demo.wait(t); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	_, talk, _ := strings.Cut(demo.output.String(), "Now you.")
	for want, times := range map[string]int{
		longest: 1, longest + "y": 0, emoji: 0, "zzz": 0, "takes no message of more than 4096": 3,
		"You  3:1": 1, "You  7: eleven": 1, "Zoe  [31mred]0;title 2Jcleared \ufffd": 1, "Zoe  the end": 1,
	} {
		if got := strings.Count(talk, want); got != times {
			t.Errorf("the conversation shows %.30q %d times, want %d", want, got, times)
		}
	}
	if i := strings.IndexFunc(talk, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }); i >= 0 {
		t.Errorf("a control character reaches the terminal: %q", talk[max(0, i-20):i+5])
	}
}

// TestDemoConversationUnreadable: input that cannot be read is no silent end.
func TestDemoConversationUnreadable(t *testing.T) {
	t.Parallel()
	demo := launchTalking(t, strings.Repeat("x", 2<<20))
	if code := demo.wait(t); code != 1 || !strings.Contains(demo.output.String(), "read what you say") {
		t.Errorf("exit code %d", code)
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
