package ranking

import (
	"context"

	"elobot/internal/command"
)

// RecordMatch reports matches.
func (s *Service) RecordMatch(ctx context.Context, o Origin, reports ...command.Match) error {
	return s.Do(ctx, o, ReadReport{Parsed: &Parsed{Reports: reports}})
}
