package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// What tests look at that nobody else needs.
var (
	LaneLists        = laneLists
	ReadLanes        = readLanes
	NextNotification = next
)

// Planning is how statements are planned for the bot.
const Planning = planning

// MaxTogether is how many results are written in one transaction at most.
const MaxTogether = maxTogether

// ApplyTogether applies results in one transaction.
func (s *Store) ApplyTogether(ctx context.Context, all ...ranking.Changes) error {
	return s.apply(ctx, all, nil)
}

// Standstill says how long a transaction under the lease may do nothing.
func (l *Lease) Standstill(standstill time.Duration) { l.standstill = standstill }

// Transact runs a function in a transaction under the lease.
func (l *Lease) Transact(ctx context.Context, fn func(pgx.Tx) error) error {
	return l.transact(ctx, l.pool, fn)
}

// HoldUp has all results wait until the returned function is called. Then there is one transaction after the other.
func (s *Store) HoldUp() (goOn func()) {
	g := s.batchWriter
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writing += maxWriting
	return func() { g.next(s) }
}

// Gathered returns how many results wait to be written together.
func (s *Store) Gathered() int {
	g := s.batchWriter
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting)
}
