package pgranking

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// locked is an open transaction that holds the lock of the chat's group, if the chat has one.
type locked struct {
	*Store               // its statements run in the transaction
	conn   *pgxpool.Conn // of the transaction; nil once it is released
}

// Lock implements ranking.Store.
func (s *Store) Lock(ctx context.Context, q ranking.Query) (ranking.Locked, *ranking.Snapshot, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("lock the group: %w", Translate(err))
	}
	l, snap := &locked{s.inside(conn), conn}, new(ranking.Snapshot)
	var batch pgx.Batch
	var held int64
	batch.Queue(`BEGIN`)
	s.lease.RequireWhileOpen(&batch)
	batch.Queue(`
		SELECT count(*)
		FROM (SELECT FROM groups WHERE chat_id = `+postgres.ThisChat+` FOR NO KEY UPDATE) AS locked`, q.Chat.ID).
		QueryRow(func(row pgx.Row) error { return row.Scan(&held) })
	queueRead(&batch, q, snap)
	err = conn.SendBatch(ctx, &batch).Close()
	if err == nil && held == 0 && snap.Group != 0 && !snap.NewGroup {
		// The read found a group, but the lock did not. The group was created in between, or a
		// merge of chats deleted or detached the old group while this transaction waited for its
		// lock.
		err = fmt.Errorf("%w: the chat has another group", ranking.ErrConflict)
	}
	if err != nil {
		l.Release(ctx)
		return nil, nil, fmt.Errorf("lock the group: %w", Translate(err))
	}
	if snap.Handled {
		s.wakeHandled(snap.ChatID)
	}
	return l, snap, nil
}

// Apply implements ranking.Locked.
func (l *locked) Apply(ctx context.Context, c ranking.Changes) error {
	var batch pgx.Batch
	l.queueChanges(&batch, c)
	batch.Queue(`COMMIT`)
	return l.sendChanges(ctx, &batch, c)
}

// Rewrite implements ranking.Locked.
func (l *locked) Rewrite(ctx context.Context, w ladder.Rewrite) error {
	var batch pgx.Batch
	queueRewrite(&batch, w)
	batch.Queue(`COMMIT`)
	if err := l.conn.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("rewrite: %w", Translate(err))
	}
	return nil
}

// Release implements ranking.Locked. If ctx has ended, it sends no rollback: the pool closes the
// connection, which ends the transaction.
func (l *locked) Release(ctx context.Context) {
	if l.conn == nil {
		return
	}
	if l.conn.Conn().PgConn().TxStatus() != 'I' && ctx.Err() == nil {
		_, _ = l.conn.Exec(ctx, `ROLLBACK`) // if it fails, the pool closes the connection
	}
	l.conn.Release()
	l.conn = nil
}
