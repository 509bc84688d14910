package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/app"
	"elobot/internal/catalog"
	"elobot/internal/outbox"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

type exportCommand struct {
	app.DatabaseConfig
	File  string `arg:"" help:"The zip file to write, or - for the standard output."`
	Group int64  `required:"" placeholder:"ID" help:"The group's Telegram id, such as --group=-1001234567890."`
}

// Run exports a group into a file that does not exist yet.
func (c *exportCommand) Run(ctx context.Context) error {
	return c.With(ctx, func(pool *pgxpool.Pool) error {
		out := os.Stdout
		if c.File != "-" {
			var err error
			if out, err = os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); errors.Is(err, os.ErrExist) {
				return fmt.Errorf("there is already a %s: remove it, or give another name", c.File)
			} else if err != nil {
				return err
			}
		}
		w := bufio.NewWriter(out)
		former := catalog.For("en").Text("names.former", nil)
		err := pgranking.NewStore(pool, func(outbox.Lane) {}).Export(ctx, ranking.ExternalChatID(c.Group), former, w)
		if err == nil {
			err = w.Flush()
		}
		if err = errors.Join(err, out.Close()); err != nil && c.File != "-" {
			_ = os.Remove(c.File) // half an export is no use
		}
		if errors.Is(err, ranking.ErrNoSuchGroup) {
			return fmt.Errorf("there is no group with the Telegram id %d in this database", c.Group)
		}
		return err
	})
}
