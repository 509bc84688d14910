package pgtally_test

import (
	"testing"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/rapidtest"
)

func TestMain(m *testing.M) {
	rapidtest.Same(3)
	dbtest.Main(m)
}
