//go:build unix

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

// ownHost runs bots without DATABASE_URL in one directory.
type ownHost struct {
	t      *testing.T
	sim    *botsim.Server
	folder string // working directory, which every user can enter
	// program and credential replace the bot's binary and user, if set.
	program    string
	credential *syscall.Credential
}

func newOwnHost(t *testing.T) *ownHost {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "elobot-own-test-") //nolint:usetesting // PostgreSQL's user cannot enter t.TempDir
	must(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	must(t, os.Chmod(folder, 0o777))
	return &ownHost{t: t, sim: startTelegram(t), folder: folder}
}

// elobot starts the binary with a token and without DATABASE_URL.
func (h *ownHost) elobot(args ...string) *process {
	h.t.Helper()
	env := append(environment(h.sim, ""), "DATA_DIR=", "PGHOST=/nonexistent", "PGOPTIONS=-c no_such_setting=1")
	p := prepare(env, args...)
	p.cmd.Dir = h.folder
	if h.program != "" {
		p.cmd.Path = h.program
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: h.credential}
	p.start(h.t)
	return p
}

// run starts the bot and waits until it is ready.
func (h *ownHost) run() *process {
	h.t.Helper()
	p := h.elobot("run")
	p.await(h.t, "msg=ready")
	return p
}

// must runs the bot with the given arguments. The command must succeed, and its output must contain
// want.
func (h *ownHost) must(want string, args ...string) {
	h.t.Helper()
	p := h.elobot(args...)
	if code := p.wait(h.t); code != 0 || !strings.Contains(p.output.String(), want) {
		h.t.Errorf("elobot %v ended with %d:\n%s", args, code, p.output)
	}
}

// checkMatches checks that the database has want matches, and that the server writes durably and
// does not compile queries. checkMatches gets the address from `elobot database`.
func (h *ownHost) checkMatches(want int) {
	h.t.Helper()
	p := h.elobot("database", "sh", "-c", `echo "postgres://$PGUSER:$PGPASSWORD@$PGHOST:$PGPORT/$PGDATABASE"; exit 3`)
	if code := p.wait(h.t); code != 1 || !strings.Contains(p.output.String(), "exit status 3") {
		h.t.Errorf("elobot database ended with %d:\n%s", code, p.output)
	}
	url, _, _ := strings.Cut(p.output.String(), "\n")
	pool, err := pgxpool.New(h.t.Context(), url)
	must(h.t, err)
	defer pool.Close()
	if n := count(h.t, pool, `SELECT count(*) FROM matches`); n != want {
		h.t.Errorf("%d matches, want %d", n, want)
	}
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		if got := collect(h.t, pool, pgx.RowTo[string], `SELECT current_setting($1)`, setting); got[0] != "on" {
			h.t.Errorf("%s is %s, so a power failure can lose results", setting, got[0])
		}
	}
	if got := collect(h.t, pool, pgx.RowTo[string], `SHOW jit`); got[0] != "off" {
		h.t.Errorf("jit is %s, so long queries fail under deploy/elobot.service", got[0])
	}
}

// server returns the process id of the bot's PostgreSQL, or 0 if none runs. It asks ps too, because
// the file with the id may be left over from a process that has ended.
func (h *ownHost) server() int {
	h.t.Helper()
	data := filepath.Join(h.folder, "elobot-data/data")
	content, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(content), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	command, err := exec.CommandContext(h.t.Context(), "ps", "-ww", "-o", "args=", "-p", first).Output()
	if err != nil || !strings.Contains(string(command), "-D "+data+" ") {
		return 0
	}
	return pid
}

// killServer kills the bot's PostgreSQL with SIGKILL as soon as it runs.
func (h *ownHost) killServer() {
	h.t.Helper()
	eventually(h.t, "PostgreSQL is killed", h.killsServer)
}

// killsServer tries to kill the bot's PostgreSQL, which may not be running. It reports whether it
// succeeded.
func (h *ownHost) killsServer() bool {
	h.t.Helper()
	pid := h.server()
	return pid > 1 && syscall.Kill(pid, syscall.SIGKILL) == nil
}

// TestOwnDatabase checks that, without DATABASE_URL, the bot keeps a database of its own. Results
// survive SIGKILL of PostgreSQL and of the bot, commands work with and without a running bot, and
// no other user can read the password or enter the data folder.
func TestOwnDatabase(t *testing.T) {
	t.Parallel()
	h := newOwnHost(t)
	alice, bob := h.sim.User("alice"), h.sim.User("bob")
	group := h.sim.Group("Chess", alice, bob)
	report := func(n int) {
		t.Helper()
		m := group.Say(alice, "/match @bob 3:1")
		// An answer sent right before the server was killed may arrive twice.
		eventually(t, fmt.Sprintf("answer %d", n), func() bool {
			return slices.ContainsFunc(group.BotMessages(), func(a botsim.Message) bool {
				return a.ReplyTo == m.ID && strings.Contains(a.Text, fmt.Sprintf("#%d", n))
			})
		})
	}

	bot := h.run()
	report(1)
	h.killServer()
	report(2)
	h.must("Verified 1 group with 2 matches: no differences.", "verify")
	second := h.elobot("run")
	equal(t, second.wait(t), 1, "exit code of a second bot in the same folder")
	says(t, second.output.String(), fmt.Sprintf("process %d is using it: stop that one first", bot.cmd.Process.Pid))

	h.checkMatches(2)
	programs := regexp.MustCompile(`from (/[^\s"]+)`).FindStringSubmatch(bot.output.String())
	if programs == nil {
		t.Fatalf("the bot does not say which programs it uses:\n%s", bot.output)
	}
	h.must(programs[1]+"/postgres\n", "database", "sh", "-c", "command -v postgres")

	bot.kill()
	h.must("There are no dead letters.", "dead", "list")
	h.keepsServer()
	bot = h.run()
	report(3)
	if code, _ := bot.stop(t); code != 0 {
		t.Errorf("the bot ended with %d", code)
	}
	equal(t, h.server(), 0, "process of PostgreSQL")
	for path, mode := range map[string]os.FileMode{"password": 0o600, "data": 0o700} {
		if info, err := os.Stat(filepath.Join(h.folder, "elobot-data", path)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// keepsServer checks that, if the bot's PostgreSQL is killed, the bot logs a warning, keeps the
// server's log and starts the server again, even while it waits for Telegram. While `elobot
// database` runs a program, it ignores Ctrl-C, passes SIGTERM on to the program, and ends when the
// program does.
func (h *ownHost) keepsServer() {
	t := h.t
	t.Helper()
	bot := h.elobot("run", "--telegram-api-url=http://127.0.0.1:1")
	bot.await(t, "failed to ask Telegram who the bot is")
	h.killServer()
	bot.await(t, "is ready again")
	if !regexp.MustCompile(`level=WARN msg="the bot's own database ended, starting it again" error="the server ended: `).
		MatchString(bot.output.String()) {
		t.Errorf("the bot does not say why:\n%s", bot.output)
	}
	for _, name := range []string{"log", "log.1"} {
		content, err := os.ReadFile(filepath.Join(h.folder, "elobot-data", name))
		if err != nil || !strings.Contains(string(content), "starting PostgreSQL") {
			t.Errorf("%s: %v\n%s", name, err, content)
		}
	}

	p := h.elobot("database", "sh", "-c", `trap 'echo told to end; exit 5' TERM; echo begun; while :; do sleep 0.05; done`)
	p.await(t, "begun")
	for _, signal := range []os.Signal{os.Interrupt, os.Interrupt, os.Interrupt, syscall.SIGTERM} {
		must(t, p.cmd.Process.Signal(signal))
	}
	equal(t, p.wait(t), 1, "exit code of elobot database")
	says(t, p.output.String(), "told to end", "elobot: run sh: exit status 5")
	if code, _ := bot.stop(t); code != 0 {
		t.Errorf("the bot ended with %d", code)
	}
}

// TestDataDirOfOthers checks that commands refuse a DATA_DIR with foreign files and write nothing
// to it. run and doctor list this error together with other configuration errors.
func TestDataDirOfOthers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "password"), []byte("hush"), 0o600))
	for command, code := range map[string]int{"run": 2, "database psql": 2, "doctor": 1} {
		p := launch(t, []string{"TELEGRAM_BOT_TOKEN=" + unknownToken, "TELEGRAM_API_URL=http://127.0.0.1:1",
			"DATA_DIR=" + folder, "LOG_LEVEL=hush"}, strings.Fields(command)...)
		if got := p.wait(t); got != code {
			t.Errorf("elobot %s ended with %d, want %d:\n%s", command, got, code, p.output)
		}
		says(t, p.output.String(),
			"the folder "+folder+" is not empty, and elobot did not make it: set DATA_DIR to an empty folder")
		if command == "run" || command == "doctor" {
			says(t, p.output.String(), "LOG_LEVEL must be")
		}
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 1 {
		t.Errorf("the folder has %v, %v", files, err)
	}
}
