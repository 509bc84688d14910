package pgstats

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/stats"
)

// Board implements stats.Store.
func (s *Store) Board(ctx context.Context, in ladder.ID, object string, now time.Time) (stats.Board, error) {
	page, err := s.Ranking(ctx, in, nil, stats.RankingQuestion{Places: stats.BoardRows}, now)
	if err != nil {
		return stats.Board{}, err
	}
	b := stats.Board{RankingPage: page}
	var batch pgx.Batch
	batch.Queue(title, in).QueryRow(func(row pgx.Row) error { return row.Scan(&b.Title) })
	batch.Queue(`SELECT pin = 'wanted' FROM boards b WHERE ladder_id = $1 AND `+postgres.BoardObject+` = $2`, in, object).
		QueryRow(func(row pgx.Row) error {
			err := row.Scan(&b.ToPin)
			if b.On = err == nil; errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		})
	return b, s.send(ctx, &batch)
}
