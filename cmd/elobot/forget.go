package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/app"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

type forgetCommand struct {
	app.DatabaseConfig
	User     int64  `placeholder:"ID" xor:"whom" required:"" help:"Forget the person with this Telegram id."`
	Username string `placeholder:"NAME" xor:"whom" required:"" help:"Forget the person with this username, even if they were only named."`
	Group    int64  `placeholder:"ID" xor:"whom" required:"" help:"Delete everything of the group with this Telegram id, such as --group=-1001234567890."`
	Yes      bool   `help:"Do not ask."`
}

var errNotForgotten = errors.New("nothing was forgotten")

// Run forgets a person or a group.
func (c *forgetCommand) Run(ctx context.Context) error {
	err := c.With(ctx, func(pool *pgxpool.Pool) error {
		store := pgranking.NewStore(pool, func(outbox.Lane) {})
		if c.Group != 0 {
			return c.forgetGroup(ctx, store)
		}
		return c.forgetPerson(ctx, store)
	})
	if errors.Is(err, ranking.ErrConflict) || errors.Is(err, ranking.ErrLocked) {
		return fmt.Errorf("somebody else is writing right now, try again: %w", err)
	}
	return err
}

func (c *forgetCommand) forgetGroup(ctx context.Context, store *pgranking.Store) error {
	group := ranking.ExternalChatID(c.Group)
	known, err := store.KnownGroup(ctx, group)
	if errors.Is(err, ranking.ErrNoSuchGroup) {
		return fmt.Errorf("there is no group with the Telegram id %d in this database", c.Group)
	}
	if err == nil {
		err = c.ask("This deletes the group %d %q: %s, %s and all that is known of %s there.", c.Group, known.Title,
			counted(known.Ladders, "ranking", "rankings"), counted(known.Matches, "match", "matches"),
			counted(known.Players, "player", "players"))
	}
	if err == nil {
		err = store.ForgetGroup(ctx, group)
	}
	if err == nil {
		fmt.Println("The group is deleted.")
	}
	return err
}

func (c *forgetCommand) forgetPerson(ctx context.Context, store *pgranking.Store) error {
	who := ranking.Forgotten{User: ladder.UserID(c.User), Username: strings.TrimPrefix(c.Username, "@")}
	groups, players, matches, err := store.WhoIs(ctx, &who)
	if err == nil {
		err = c.ask("This makes the person a former player without a name: in %s, as %s, with %s, which stay.",
			counted(groups, "group", "groups"), counted(players, "player", "players"), counted(matches, "match", "matches"))
	}
	if err == nil {
		err = store.Forget(ctx, who)
	}
	if err == nil {
		fmt.Println("The person is forgotten. Messages in Telegram and backups stay.")
	}
	return err
}

// ask says what is about to happen, and returns errNotForgotten unless the operator agrees.
func (c *forgetCommand) ask(format string, args ...any) error {
	fmt.Printf(format+"\n", args...)
	if c.Yes {
		return nil
	}
	fmt.Print("It cannot be undone. Type yes to go on: ")
	answer, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	if strings.TrimSpace(answer) != "yes" {
		return errNotForgotten
	}
	return nil
}
