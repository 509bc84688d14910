package postgres_test

import (
	"testing"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/rapidtest"
)

func TestMain(m *testing.M) {
	rapidtest.Same(100)
	dbtest.Main(m)
}
