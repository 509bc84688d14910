package main

import (
	"strings"
	"testing"
)

func TestReadPgbench(t *testing.T) {
	t.Parallel()
	const good = `pgbench (15.18 (Debian 15.18-0+deb12u1))
transaction type: pgbench.sql
number of transactions actually processed: 10234
number of failed transactions: 0 (0.000%)
latency average = 31.2 ms
initial connection time = 41.1 ms
tps = 1023.456 (without initial connection time)
`
	if got, err := readPgbench(good); err != nil || got != 1023.456 {
		t.Errorf("readPgbench = %v, %v", got, err)
	}
	for name, output := range map[string]string{
		"failures": strings.Replace(good, "transactions: 0 ", "transactions: 3 ", 1),
		"no rate":  strings.Replace(good, "tps = ", "", 1),
		"nothing":  "",
	} {
		if got, err := readPgbench(output); err == nil {
			t.Errorf("%s: readPgbench = %v, want an error", name, got)
		}
	}
}

func TestConnectionSettings(t *testing.T) {
	t.Parallel()
	got, err := connectionSettings("postgres://postgres:se%20cret@127.0.0.1:5433/elobench_1?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	all := "\n" + strings.Join(got, "\n") + "\n"
	for _, want := range []string{
		"PGHOST=127.0.0.1", "PGPORT=5433", "PGUSER=postgres", "PGPASSWORD=se cret", "PGDATABASE=elobench_1",
	} {
		if !strings.Contains(all, "\n"+want+"\n") {
			t.Errorf("the environment has no %s", want)
		}
	}
}
