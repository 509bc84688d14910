// Package dbtest is shared by the tests of internal/postgres and of its folders: a world in which
// people play, an outbox with a dispatcher's lease, a proxy that cuts connections, a pair of
// servers for failovers, and checks of query plans. Only tests import it.
package dbtest

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres"
)

// Main runs the tests of a package on databases whose sessions plan statements like the bot's, and
// then exits. It fails if goroutines are left.
func Main(m *testing.M) {
	// These tests mostly wait for the database. A value on the command line takes precedence.
	if err := flag.Set("test.parallel", strconv.Itoa(max(4, runtime.GOMAXPROCS(0)))); err != nil {
		fmt.Fprintln(os.Stderr, "set the number of tests at the same time:", err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(pgtest.Main{M: m, Session: postgres.Planning})
}
