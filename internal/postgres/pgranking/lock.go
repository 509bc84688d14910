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
	conn   *pgxpool.Conn // the transaction's connection; nil once it is released
	staged bool          // it has staged an import, and holds the lock only after LockGroup
	many   bool          // it has added so many matches that the statistics are outdated
}

// Lock implements ranking.Store.
func (s *Store) Lock(ctx context.Context, q ranking.Query) (ranking.Locked, *ranking.Snapshot, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("lock the group: %w", Translate(err))
	}
	l := &locked{Store: s.inside(conn), conn: conn}
	var batch pgx.Batch
	batch.Queue(`BEGIN`)
	s.lease.RequireWhileOpen(&batch)
	snap, err := l.lock(ctx, &batch, q)
	if err != nil {
		l.Release(ctx)
		return nil, nil, err
	}
	return l, snap, nil
}

// LockGroup implements ranking.Staged.
func (l *locked) LockGroup(ctx context.Context, q ranking.Query) (*ranking.Snapshot, error) {
	var batch pgx.Batch
	batch.Queue(`DISCARD PLANS`) // they are for tables without the staged rows
	return l.lock(ctx, &batch, q)
}

// lock sends the statements of the batch, locks the group, and reads.
func (l *locked) lock(ctx context.Context, batch *pgx.Batch, q ranking.Query) (*ranking.Snapshot, error) {
	snap := new(ranking.Snapshot)
	var held int64
	batch.Queue(`
		SELECT count(*)
		FROM (SELECT FROM groups WHERE chat_id = `+postgres.ThisChat+` FOR NO KEY UPDATE) AS locked`, q.Chat.ID).
		QueryRow(func(row pgx.Row) error { return row.Scan(&held) })
	queueRead(batch, q, snap)
	err := l.conn.SendBatch(ctx, batch).Close()
	if err == nil && held == 0 && snap.Group != 0 && !snap.NewGroup {
		// The read found a group, but the lock did not. The group was created in between, or a
		// merge of chats deleted or detached the old group while this transaction waited for its
		// lock.
		err = fmt.Errorf("%w: the chat has another group", ranking.ErrConflict)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the group: %w", Translate(err))
	}
	if snap.Handled {
		l.wakeHandled(snap.ChatID)
	}
	return snap, nil
}

// Apply implements ranking.Locked.
func (l *locked) Apply(ctx context.Context, c ranking.Changes) error {
	c, err := l.writeImport(ctx, c)
	if err != nil {
		return err
	}
	var batch pgx.Batch
	l.queueChanges(&batch, c)
	if _, ok := c.Effect.(interface{ Import() *ranking.ImportChanges }); ok {
		// The process that imports need not be the one that sends.
		postgres.QueueChanged(&batch, c.Chat, c.ShownOnWeb, c.ShownOnWeb != 0)
	}
	batch.Queue(`COMMIT`)
	if err := l.sendChanges(ctx, &batch, c); err != nil {
		return err
	}
	if l.many {
		l.analyze(ctx)
	}
	return nil
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
