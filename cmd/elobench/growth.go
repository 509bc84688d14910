package main

import (
	"context"
	"fmt"
)

// measureGrowth measures whether a result costs more when the database already has many matches,
// with the same groups and people.
func measureGrowth(ctx context.Context, b *bench) error {
	return b.withoutNoise(ctx, func() error {
		for _, matches := range b.sizes.grown {
			err := b.onStage(ctx, b.sizes.groups, b.sizes.people, func(w *workload, db database) error {
				if err := w.writeHistory(ctx, b, db, matches, 1); err != nil {
					return err
				}
				return b.costOf(ctx, fmt.Sprintf("Growth/matches=%d", matches), w, db)
			})
			if err != nil {
				return fmt.Errorf("%d matches: %w", matches, err)
			}
		}
		return nil
	})
}
