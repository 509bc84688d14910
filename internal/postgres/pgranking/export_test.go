package pgranking

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ranking"
)

// MaxTogether is the maximum number of results in one transaction.
const MaxTogether = maxTogether

// ApplyTogether applies results in one transaction. All players must already have standings.
func (s *Store) ApplyTogether(all ...ranking.Changes) error {
	results := make([]*waitingResult, len(all))
	for i, c := range all {
		results[i] = &waitingResult{changes: c, match: sharedResult(c)}
	}
	return s.writeResults(results)
}

// ChangeCard changes the card of a match.
func (s *Store) ChangeCard(ctx context.Context, key string, chat ranking.ChatID, card ranking.Card) error {
	var batch pgx.Batch
	queueCard(&batch, chat, key, card, nil)
	return s.db.SendBatch(ctx, &batch).Close()
}

// HoldResults makes all results wait until the returned function is called. After that, they share
// one slot.
func (s *Store) HoldResults() (resume func()) {
	w := s.results
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slots = resultSlots
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.slots--
		w.fill(s)
	}
}

// WaitingResults returns how many results wait for a slot.
func (s *Store) WaitingResults() int {
	w := s.results
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting)
}

// ExportedColumns returns the columns of an export as "table.column", including the ids that are
// local to it.
func ExportedColumns() (all []string) {
	for _, t := range exportTables {
		for c := range strings.FieldsSeq(t.columns) {
			all = append(all, t.name+"."+c)
		}
	}
	return all
}
