package dbtest

import (
	"io/fs"
	"log/slog"
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
	Must(t, postgres.Migrate(t.Context(), pool, files, slog.New(slog.DiscardHandler)))
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
