package pgoutbox_test

import (
	"testing"

	"elobot/internal/postgres/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }
