package dbtest

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/postgres"
	"elobot/migrations"
)

// Migrate brings a database to the newest version of the files.
func Migrate(t *testing.T, pool *pgxpool.Pool, files fs.FS) {
	t.Helper()
	if err := postgres.Migrate(t.Context(), pool, files); err != nil {
		t.Fatal(err)
	}
}

// Steps returns the numbers of the migrations, in order.
func Steps(t *testing.T) []int {
	t.Helper()
	names, err := fs.Glob(migrations.FS, "*.up.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("migrations are %q, error %v", names, err)
	}
	numbers := make([]int, len(names))
	for i, name := range names {
		number, _, _ := strings.Cut(name, "_")
		if numbers[i], err = strconv.Atoi(number); err != nil {
			t.Fatal(err)
		}
	}
	return numbers
}

// GoDown reverts all migrations after this one, as golang-migrate does.
func GoDown(t *testing.T, pool *pgxpool.Pool, to int) {
	t.Helper()
	for _, step := range slices.Backward(Steps(t)) {
		if step <= to {
			break
		}
		names, err := fs.Glob(migrations.FS, fmt.Sprintf("%06d_*.down.sql", step))
		if err != nil || len(names) != 1 {
			t.Fatalf("the down migration of step %d is %q, error %v", step, names, err)
		}
		down, err := migrations.FS.ReadFile(names[0])
		if err != nil {
			t.Fatal(err)
		}
		Exec(t, pool, string(down))
	}
	Exec(t, pool, fmt.Sprintf(`UPDATE schema_migrations SET version = %d`, to))
	pool.Reset()
}
