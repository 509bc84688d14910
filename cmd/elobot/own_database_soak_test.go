//go:build soak && unix

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// TestOwnDatabaseKilled checks that every result counts once, and that the stored ratings are
// right, although the bot, its own PostgreSQL, or both are killed 20 times while results come in.
// It runs once for each user that users returns, and logs how long the first start took.
func TestOwnDatabaseKilled(t *testing.T) {
	t.Parallel()
	for name, credential := range users(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newOwnHost(t)
			if h.credential = credential; credential != nil {
				h.copyProgram()
			}
			random := seeded(t)
			alice, bob := h.sim.User("alice"), h.sim.User("bob")
			group := h.sim.Group("Chess", alice, bob)
			begun := time.Now()
			bot := h.run()
			t.Logf("the first start took %v", time.Since(begun).Round(time.Millisecond))
			// A server killed during its start ends the bot, which a service manager would restart.
			keepRunning := func() {
				select {
				case <-bot.ended:
					bot = h.elobot("run")
				default:
				}
			}
			var posted []botsim.Message
			const kills = 20
			for kill := range kills {
				for range 1 + random.IntN(10) {
					posted = append(posted, group.Say(alice, "/match @bob 3:1"))
				}
				pause := time.NewTimer(time.Duration(random.IntN(400)) * time.Millisecond)
				<-pause.C
				if kill%3 != 0 {
					eventually(t, "PostgreSQL is killed", func() bool {
						keepRunning()
						return h.killsServer()
					})
				}
				if kill%3 != 1 {
					bot.kill()
					bot = h.elobot("run")
				}
			}
			answers := awaitAll(t, group, posted, keepRunning)
			if code, _ := bot.stop(t); code != 0 {
				t.Errorf("the bot ended with %d", code)
			}
			h.must(fmt.Sprintf("Verified 1 group with %d matches: no differences.", len(posted)), "verify")
			t.Logf("%d results after %d kills, %d answers", len(posted), kills, answers)
		})
	}
}

// awaitAll waits until all messages are answered, and returns the number of answers. Before every
// poll, it calls the function each.
func awaitAll(t *testing.T, group *botsim.Chat, posted []botsim.Message, each func()) int {
	t.Helper()
	missing := len(posted)
	eventually(t, "all results are answered", func() bool {
		each()
		answered := make(map[int]bool)
		for _, m := range group.BotMessages() {
			answered[m.ReplyTo] = true
		}
		missing = 0
		for _, m := range posted {
			if !answered[m.ID] {
				missing++
			}
		}
		return missing == 0
	})
	return len(group.BotMessages())
}

// users returns the users to run the bot as: the current user and, if that is root, also nobody.
func users(t *testing.T) map[string]*syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return map[string]*syscall.Credential{"as this user": nil}
	}
	account, err := user.Lookup("nobody")
	must(t, err)
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	must(t, err)
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	must(t, err)
	return map[string]*syscall.Credential{"as root": nil, "as a user": {Uid: uint32(uid), Gid: uint32(gid)}}
}

// copyProgram copies the binary to a folder where every user can run it.
func (h *ownHost) copyProgram() {
	h.t.Helper()
	h.program = filepath.Join(h.folder, "elobot")
	// Let another process write the file. If this process forked while it had the file open for
	// writing, the file could not be executed.
	if out, err := exec.CommandContext(h.t.Context(),
		"install", "-m", "755", binary, h.program).CombinedOutput(); err != nil {
		h.t.Fatalf("copy the binary: %v: %s", err, out)
	}
}
