package main_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	main "elobot/cmd/elobot"
)

// foreignSettings sets variables with which PostgreSQL's programs would fail or use a server other
// than the demo's.
var foreignSettings = []string{
	"PGHOST=/nonexistent", "PGPORT=1", "PGUSER=x", "PGPASSWORD=x", "PGDATABASE=x", "PGSERVICE=x", "PGSSLMODE=verify-full",
	"PGSSLROOTCERT=/nonexistent", "PGOPTIONS=-cdefault_transaction_read_only=on", "PGTARGETSESSIONATTRS=read-only", "PGTZ=Foo",
	"PGDATA=/nonexistent", "PGCONNECT_TIMEOUT=x", "PGMINPROTOCOLVERSION=x",
}

// TestDemo checks that the demo plays its scene and answers commands from its standard input. An
// interrupt ends it without an error, and it leaves no process and no temporary file except the
// pictures. It ignores settings for the real bot and for another database.
func TestDemo(t *testing.T) {
	t.Parallel()
	place := demoPlace(t)
	cache, err := os.UserCacheDir()
	must(t, err)
	// If the machine has no PostgreSQL, other tests have downloaded it to this cache.
	env := append([]string{"XDG_CACHE_HOME=" + cache, "TMPDIR=" + place + "/tmp", "HOME=" + place + "/home",
		"DATABASE_URL=nonsense", "TELEGRAM_BOT_TOKEN=nonsense"}, foreignSettings...)
	demo := prepare(env, "demo")
	demo.cmd.Path = place + "/elobot"
	demo.cmd.Args[0] = demo.cmd.Path
	demo.cmd.Dir = place + "/home"
	if os.Geteuid() == 0 {
		asNobody(t)(demo.cmd)
	}
	typed, err := demo.cmd.StdinPipe()
	must(t, err)
	demo.start(t)
	if len(processesNaming(t, place)) == 0 {
		t.Error("the test does not find the demo's processes")
	}
	if _, err := io.WriteString(typed, "scene\nzoe: /match @alice 3:2\nno command\n1\n/match\n"); err != nil {
		t.Fatal(err)
	}
	demo.await(t, "Who did you play?")
	link := regexp.MustCompile(`http://127\.0\.0\.1:\d+/g/\S+`).FindString(demo.output.String())
	resp, err := http.Get(link) //nolint:noctx // the demo ends soon
	must(t, err)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the web board at %q is %s", link, resp.Status)
	}
	must(t, demo.cmd.Process.Signal(os.Interrupt))
	if code := demo.wait(t); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	scene, err := os.ReadFile("testdata/scene.txt")
	must(t, err)
	output := demo.output.String()
	beginning, later, _ := strings.Cut(main.WithoutDates(output), "\n… “scene” shows")
	beginning = beginning[max(0, strings.Index(beginning, string(scene[:20]))):]
	if rest, ok := strings.CutPrefix(string(scene), beginning); !ok || !strings.Contains(later, rest) {
		t.Errorf("the scene is not the one in testdata/scene.txt:\n%s", output)
	}
	says(t, output, "Now you.", "Zoe beat Alice 3:2", "You  no command", "You pressed [Undo]", "Only those who played")
	if strings.Contains(output, "\x1b") {
		t.Error("there are colors although the output is not a terminal")
	}
	eventually(t, "only pictures are left in the folder for temporary files", func() bool {
		left, err := os.ReadDir(place + "/tmp")
		pictures, _ := filepath.Glob(place + "/tmp/elobot-demo-*/*.png")
		return err == nil && len(left) == 1 && len(pictures) == strings.Count(string(scene), "[picture")
	})
	eventually(t, "no process is left", func() bool { return len(processesNaming(t, place)) == 0 })
}

// demoPlace returns a folder with the bot, a home and a temporary folder, all accessible to every
// user. The folders of tests and of the built bot are accessible only to the user who runs the
// tests.
func demoPlace(t *testing.T) string {
	t.Helper()
	place, err := os.MkdirTemp("", "elobot-demo-test-") //nolint:usetesting // see above
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(place) })
	err = errors.Join(os.Chmod(place, 0o755), os.Link(binary, place+"/elobot"))
	for _, name := range []string{"tmp", "home"} {
		err = errors.Join(err, os.Mkdir(place+"/"+name, 0o755), os.Chmod(place+"/"+name, 0o777))
	}
	err = errors.Join(err,
		os.WriteFile(place+"/home/.env", []byte("TELEGRAM_API_URL=nonsense\nDATABASE_URL=nonsense\n"), 0o644))
	must(t, err)
	return place
}

// processesNaming returns the processes that have the folder in their command line. If there is a
// /proc, it also looks for the folder in the environment and the working directory of each process.
func processesNaming(t *testing.T, folder string) []string {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*")
	must(t, err)
	var found []string
	for _, process := range processes { // unreadable files belong to a process that has ended, or to another user
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
