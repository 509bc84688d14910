package ranking

import "context"

// RecordMatch reports matches.
func (s *Service) RecordMatch(ctx context.Context, o Origin, reports ...Report) error {
	return s.Do(ctx, o, ReadReport{Read: func([]Person) Reading { return Reading{Reports: reports} }})
}
