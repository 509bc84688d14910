package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"elobot/internal/app"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/telegram"
)

type adoptCommand struct {
	app.TelegramConfig
	app.DatabaseConfig
}

// Run makes the database that of the token's bot.
func (c *adoptCommand) Run(ctx context.Context) error {
	if faults := append(c.TelegramConfig.Resolve(), c.DatabaseConfig.Faults()...); len(faults) > 0 {
		return &app.ConfigError{Faults: faults}
	}
	pool, err := c.Open(ctx)
	if err != nil {
		return err
	}
	defer postgres.Close(pool)
	return c.WithClient(ctx, nil, func(ctx context.Context, client *telegram.Client) error {
		self, err := client.GetMe(ctx)
		if err != nil {
			return fmt.Errorf("%w\nNothing was changed. Is Telegram to be reached, and TELEGRAM_BOT_TOKEN the token that @BotFather gave you?", err)
		}
		before, err := postgres.AdoptBot(ctx, pool, ranking.UserID(self.ID))
		switch {
		case err != nil:
			return adoptSentence(before, err)
		case before == ranking.UserID(self.ID):
			fmt.Printf("The database belongs to @%s (%d) already.\n", self.Username, self.ID)
		case before == 0:
			fmt.Printf("The database belongs to @%s (%d) now.\n", self.Username, self.ID)
		default:
			fmt.Printf("The database belongs to @%s (%d) now, and no longer to the bot %d.\n"+
				"Stop everything that still runs with the other token. Add @%[1]s to the groups: it reaches no chat that only "+
				"the other bot is in, and cannot edit what that one has sent.\n", self.Username, self.ID, before)
		}
		return nil
	})
}

// adoptSentence says what to do about the reasons that one expects for not taking the database over from a bot.
func adoptSentence(before ranking.UserID, err error) error {
	var dead *postgres.DeadUpdatesError
	switch {
	case errors.Is(err, postgres.ErrInstanceRuns):
		return fmt.Errorf("an instance with the token of the bot %d works on the database: stop all of them first, and after a "+
			"crash wait until its lease has run out. Nothing was changed", before)
	case errors.As(err, &dead):
		return fmt.Errorf("there are updates of the bot %d among the dead letters, which another bot cannot handle: do so with "+
			"the token of that bot and `elobot dead retry`, or delete them with `elobot dead drop %s`. Nothing was changed",
			before, strings.Trim(fmt.Sprint(dead.IDs), "[]"))
	default:
		return err
	}
}
