package ranking

import (
	"context"

	"elobot/internal/command"
)

// RecordMatch handles a message that has been parsed into these reports.
func (s *Service) RecordMatch(ctx context.Context, o Origin, reports ...command.Match) error {
	return s.Do(ctx, o, ReadReport{Parsed: &Parsed{Reports: reports}})
}

// Use makes the importer write to another store.
func (i *Importer) Use(store Store) { i.store = store }
