package postgres_test

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

func TestMain(m *testing.M) {
	// These tests mostly wait for the database. A value on the command line takes precedence.
	if err := flag.Set("test.parallel", strconv.Itoa(max(4, runtime.GOMAXPROCS(0)))); err != nil {
		fmt.Fprintln(os.Stderr, "set the number of tests at the same time:", err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(pgtest.Main{M: m, Session: postgres.Planning})
}
