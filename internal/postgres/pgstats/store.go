package pgstats

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/postgres"
	"elobot/internal/stats"
)

// Store reads the data for questions. It implements stats.Store.
type Store struct {
	questions, commands *pgxpool.Pool
}

var _ stats.Store = (*Store)(nil)

// NewStore returns a store that reads through questions. If the store gets no connection there
// within postgres.PingTimeout, it reads through commands. But if all connections of questions are
// in use, it waits for one: many slow questions must not take the connections of commands.
func NewStore(questions, commands *pgxpool.Pool) *Store { return &Store{questions, commands} }

func (s *Store) send(ctx context.Context, batch *pgx.Batch) error {
	acquiring, cancel := context.WithTimeout(ctx, postgres.PingTimeout)
	conn, err := s.questions.Acquire(acquiring)
	cancel()
	if err != nil && s.isBusy() {
		if conn, err = s.questions.Acquire(ctx); err != nil {
			return postgres.Translate(err)
		}
	}
	if err != nil {
		return postgres.Translate(s.commands.SendBatch(ctx, batch).Close())
	}
	defer conn.Release()
	return postgres.Translate(conn.SendBatch(ctx, batch).Close())
}

// isBusy reports whether all connections for questions are in use.
func (s *Store) isBusy() bool {
	stat := s.questions.Stat()
	return stat.AcquiredConns() == stat.MaxConns()
}

const (
	// thisLadder is the ladder that a question is about.
	thisLadder = `$1::bigint`
	// thisSeason is the current season of thisLadder.
	thisSeason = `(SELECT season_id FROM ladders WHERE id = $1)`
	// anySeason follows "season_id =" and matches all seasons of thisLadder.
	anySeason = `ANY (ARRAY(SELECT id FROM seasons WHERE ladder_id = $1))`
	// thisChat is the chat of thisLadder.
	thisChat = `(SELECT g.chat_id FROM ladders l JOIN groups g ON g.id = l.group_id WHERE l.id = $1)`
)

// title selects the title of thisChat, with the name of thisLadder if the group has other ladders.
const title = `
		SELECT coalesce((SELECT title FROM chats WHERE id = ` + thisChat + `), '') || coalesce((
		    SELECT ' · ' || name FROM ladders l
		    WHERE id = ` + thisLadder + ` AND (SELECT count(*) > 1 FROM ladders WHERE group_id = l.group_id)), '')`

// queueAll queues a query, and reads all its rows into *to.
func queueAll[T any](batch *pgx.Batch, to *[]T, read pgx.RowToFunc[T], sql string, args ...any) {
	batch.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		*to, err = pgx.CollectRows(rows, read)
		return err
	})
}

// queueOne queues a query, and reads its first row into *to. Without a row, it leaves *to
// unchanged.
func queueOne[T any](batch *pgx.Batch, to **T, read pgx.RowToFunc[T], sql string, args ...any) {
	batch.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, read)
		if len(found) > 0 {
			*to = &found[0]
		}
		return err
	})
}
