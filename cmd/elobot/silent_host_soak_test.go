//go:build linux && soak

package main_test

import (
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"elobot/internal/postgres/dbtest"
)

// darkHosts maps each way in which a host can be silent to a function that starts such a host and
// returns its address.
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

// TestDarkHosts checks that the bot starts with one or two silent hosts, wherever the working host
// is in the list.
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
