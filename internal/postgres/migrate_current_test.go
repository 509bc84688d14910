package postgres_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp/pgtest"
	"elobot/migrations"
)

// TestMigrateWhatIsUpToDate: it takes no connection of its own and waits for nobody.
func TestMigrateWhatIsUpToDate(t *testing.T) {
	t.Parallel()
	var dialled atomic.Int64
	pool := open(t, pgtest.New(t), func(c *pgxpool.Config) {
		dial := c.ConnConfig.DialFunc
		c.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
			dialled.Add(1)
			return dial(ctx, network, address)
		}
	})
	migrate(t, pool, migrations.FS)
	if n := dialled.Load(); n != 1 {
		t.Errorf("it took %d connections, want the one of the pool", n)
	}
}
