package app

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/telegram"
)

// claimDatabase claims the database for this bot, unless a bot owns it already. It returns an
// *otherBotError if the owner is another bot: with that bot's database, this bot would send to
// chats that it is not in, and edit messages that are not its own.
func claimDatabase(ctx context.Context, pool *pgxpool.Pool, self telegram.Self) error {
	owner, err := postgres.ClaimBot(ctx, pool, ladder.UserID(self.ID))
	if err != nil || owner == ladder.UserID(self.ID) {
		return err
	}
	return &otherBotError{owner, self}
}

type otherBotError struct {
	owner ladder.UserID
	self  telegram.Self
}

func (e *otherBotError) Error() string {
	return fmt.Sprintf("the database belongs to the bot whose token begins with %d:, but this is the token of @%s (%d): "+
		"set the other token or another database, or let @%s take over the database with `elobot adopt`",
		e.owner, e.self.Username, e.self.ID, e.self.Username)
}
