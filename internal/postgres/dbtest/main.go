// Package dbtest is shared by tests that need a database, mainly the tests of internal/postgres and
// its folders. It offers a world in which people play, an outbox under the leader's lease, a proxy
// that cuts connections, a pair of servers for failovers, and checks of query plans. Only tests
// import it.
package dbtest

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
)

// Main runs the tests of a package, on databases whose sessions plan statements as the bot's do. It
// exits with an error if a test fails or goroutines are left.
func Main(m *testing.M) {
	// The tests mostly wait for the database, so run at least four in parallel. A value on the
	// command line takes precedence, because it is set after this one.
	if err := flag.Set("test.parallel", strconv.Itoa(max(4, runtime.GOMAXPROCS(0)))); err != nil {
		fmt.Fprintln(os.Stderr, "set the number of tests at the same time:", err)
		os.Exit(1)
	}
	// The heaps of tests are small, and collecting garbage would take a sixth of the time.
	debug.SetGCPercent(400)
	goleak.VerifyTestMain(pgtest.Main{M: m, Session: postgres.Planning})
}
