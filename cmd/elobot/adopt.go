package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/telegram"
	"elobot/migrations"
)

// claim makes sure that the database belongs to this bot. The first bot that runs on a database gets it. Another one would
// send into chats that it is not in, and edit messages that are not its own.
func claim(ctx context.Context, pool *pgxpool.Pool, self telegram.Self) error {
	owner, err := postgres.ClaimBot(ctx, pool, ranking.UserID(self.ID))
	if err != nil || owner == ranking.UserID(self.ID) {
		return err
	}
	return &otherBotError{owner, self}
}

// otherBotError says that a database belongs to another bot than this one.
type otherBotError struct {
	owner ranking.UserID
	self  telegram.Self
}

// Error implements error.
func (e *otherBotError) Error() string {
	return fmt.Sprintf("the database belongs to the bot whose token begins with %d:, and this is the token of @%s (%d): "+
		"give the other token or another database, or have @%s take the database over with `elobot adopt`",
		e.owner, e.self.Username, e.self.ID, e.self.Username)
}

type adoptCommand struct {
	telegramConfig
	databaseConfig
}

// Run makes the database that of the token's bot.
func (c *adoptCommand) Run(ctx context.Context) error {
	faults := c.telegramConfig.complete()
	if fault := c.fault(); fault != "" {
		faults = append(faults, fault)
	}
	if len(faults) > 0 {
		return &configurationError{faults}
	}
	pool, err := connectDatabase(ctx, c.DatabaseURL, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	defer postgres.Close(pool)
	if err := postgres.CheckSchema(ctx, pool, migrations.FS); err != nil {
		return err
	}
	return c.withTelegram(ctx, nil, func(ctx context.Context, client *telegram.Client) error {
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
