package pgstats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// Board implements stats.Store.
func (s *Store) Board(ctx context.Context, ladder ranking.LadderID, object string, now time.Time) (stats.Board, error) {
	page, err := s.Ranking(ctx, ladder, nil, stats.RankingQuery{Places: stats.BoardRows}, now)
	if err != nil {
		return stats.Board{}, err
	}
	b := stats.Board{RankingPage: page}
	payload, err := json.Marshal(page)
	if err != nil {
		return stats.Board{}, fmt.Errorf("encode a ranking: %w", err)
	}
	var names map[ranking.PlayerID]ranking.Name
	var batch pgx.Batch
	queueNames(&batch, ladder, payload, &names)
	batch.Queue(title, ladder).QueryRow(func(row pgx.Row) error { return row.Scan(&b.Title) })
	batch.Queue(`SELECT pin = 'wanted' FROM boards b WHERE ladder_id = $1 AND `+postgres.BoardObject+` = $2`, ladder, object).
		QueryRow(func(row pgx.Row) error {
			err := row.Scan(&b.ToPin)
			if b.On = err == nil; errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		})
	if err := s.send(ctx, &batch); err != nil {
		return stats.Board{}, err
	}
	for i, r := range b.Rows {
		name := names[r.Name.Player]
		name.Player = r.Name.Player
		b.Rows[i].Name = name
	}
	return b, nil
}
