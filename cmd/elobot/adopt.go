package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/app"
	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/telegram"
)

type adoptCommand struct {
	app.TelegramConfig
	app.DatabaseConfig
}

// Run makes the database belong to the bot whose token is configured. It tells the operator which
// other bot the database belonged to, if any.
func (c *adoptCommand) Run(ctx context.Context) error {
	if faults := append(c.TelegramConfig.Resolve(), c.DatabaseConfig.Faults()...); len(faults) > 0 {
		return &app.ConfigError{Faults: faults}
	}
	return c.With(ctx, func(pool *pgxpool.Pool) error {
		return c.WithClient(ctx, nil, func(ctx context.Context, client *telegram.Client) error {
			self, err := client.GetMe(ctx)
			if err != nil {
				return fmt.Errorf("ask Telegram who the bot is: %w\nNothing was changed", err)
			}
			before, err := postgres.AdoptBot(ctx, pool, ladder.UserID(self.ID))
			switch {
			case err != nil:
				return adoptError(before, err)
			case before == ladder.UserID(self.ID):
				fmt.Printf("The database already belongs to @%s (%d).\n", self.Username, self.ID)
			case before == 0:
				fmt.Printf("The database now belongs to @%s (%d).\n", self.Username, self.ID)
			default:
				fmt.Printf("The database now belongs to @%s (%d), and no longer to the bot %d.\n"+
					"Stop everything that still runs with the old token. Add @%[1]s to the groups: it cannot send to groups "+
					"that only the old bot is in, and it cannot edit messages of the old bot.\n", self.Username, self.ID, before)
			}
			return nil
		})
	})
}

// adoptError turns the expected errors of AdoptBot into advice for the operator. It returns other
// errors unchanged. before is the bot that owns the database.
func adoptError(before ladder.UserID, err error) error {
	var deadUpdates *postgres.DeadUpdatesError
	switch {
	case errors.Is(err, postgres.ErrInstanceRuns):
		return fmt.Errorf("an instance with the token of the bot %d is running on the database: "+
			"stop all such instances first. If one has crashed, wait until its lease expires. Nothing was changed", before)
	case errors.As(err, &deadUpdates):
		return fmt.Errorf("some dead letters are updates of the bot %d, which another bot cannot handle: handle them "+
			"with the token of that bot and `elobot dead retry`, or delete them with `elobot dead drop %s`. Nothing was changed",
			before, strings.Trim(fmt.Sprint(deadUpdates.IDs), "[]"))
	default:
		return err
	}
}
