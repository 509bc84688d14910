//go:build linux && soak

package main_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
)

// darkHosts start hosts that are silent in different ways, and return their addresses.
var darkHosts = map[string]func(t *testing.T) string{
	"accepts": func(t *testing.T) string { // never answers, like a frozen machine
		t.Helper()
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		t.Cleanup(func() { must(t, listener.Close()) })
		return listener.Addr().String()
	},
	// The queue of connections is full, so the kernel drops further packets.
	"drops": func(t *testing.T) string {
		t.Helper()
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
		must(t, err)
		t.Cleanup(func() { must(t, syscall.Close(fd)) })
		must(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
		must(t, syscall.Listen(fd, 0))
		name, err := syscall.Getsockname(fd)
		must(t, err)
		address := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port) //nolint:forcetypeassert // as bound
		for {
			conn, err := net.DialTimeout("tcp", address, time.Second)
			if err != nil {
				return address
			}
			t.Cleanup(func() { conn.Close() }) //nolint:errcheck // it only fills the queue
		}
	},
}

// TestDarkHosts: the bot starts with one or two silent hosts, wherever the working host is in the
// list.
func TestDarkHosts(t *testing.T) {
	t.Parallel()
	for kind, makeDark := range darkHosts {
		for _, dark := range []int{1, 2} {
			for position := range dark + 1 {
				t.Run(fmt.Sprintf("%s, %d of %d", kind, position+1, dark+1), func(t *testing.T) {
					t.Parallel()
					sim := startTelegram(t)
					url, _ := database(t)
					var addresses []string
					for len(addresses) < dark {
						addresses = append(addresses, "postgres://"+makeDark(t))
					}
					through := dbtest.NewProxy(t, url)
					addresses = append(addresses[:position:position], append([]string{through.URL}, addresses[position:]...)...)
					group := sim.Group("Chess", sim.User("alice"), sim.User("bob"))
					group.Say(sim.User("alice"), "/match @bob 3:1")
					begun := time.Now()
					launch(t, environment(sim, withHosts(t, through.URL, addresses...)), "run")
					awaitAnswers(t, group, 1)
					t.Logf("the first answer came after %v", time.Since(begun).Round(10*time.Millisecond))
				})
			}
		}
	}
}

// TestFrozenPrimary: the primary freezes while 20 results a second come in, and its synchronous
// standby is promoted. The primary is the first of two hosts, or between a silent one and the
// standby.
func TestFrozenPrimary(t *testing.T) {
	t.Parallel()
	for _, hosts := range []int{2, 3} {
		t.Run(fmt.Sprint(hosts), func(t *testing.T) {
			t.Parallel()
			servers := dbtest.StartPair(t)
			standby, err := pgxpool.New(t.Context(), servers.Standby.URL())
			must(t, err)
			t.Cleanup(standby.Close)
			sim := startTelegram(t)
			addresses := []string{servers.Primary.URL(), servers.Standby.URL()}
			if hosts == 3 {
				addresses = append([]string{"postgres://" + darkHosts["drops"](t)}, addresses...)
			}
			address := pgtest.WithParameter(withHosts(t, servers.Primary.URL(), addresses...), "sslmode", "disable")
			launch(t, environment(sim, address), "run")
			load := startLoad(t, sim, 10, 500*time.Millisecond)
			awaitAnswers(t, load.groups[0], 4)

			load.crashed = time.Now()
			freeze(t, servers.Primary.PID())
			servers.Promote(t)
			promoted := time.Now()
			awaitAnswers(t, load.groups[0], len(load.groups[0].BotMessages())+2)
			t.Logf("answers came %v after the standby was promoted", time.Since(promoted).Round(10*time.Millisecond))
			load.stop()
			load.checkAll(t, sim, standby, servers.Standby.URL())
		})
	}
}

// freeze stops a server and its sessions until the test ends.
func freeze(t *testing.T, server int) {
	t.Helper()
	stopped := []int{server}
	must(t, syscall.Kill(server, syscall.SIGSTOP)) // first, so that it starts no sessions
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	must(t, err)
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // already ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(server) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			must(t, err)
			must(t, syscall.Kill(pid, syscall.SIGSTOP))
			stopped = append(stopped, pid)
		}
	}
	t.Cleanup(func() {
		for _, pid := range stopped {
			_ = syscall.Kill(pid, syscall.SIGCONT) // a session may have ended
		}
	})
}
