package ranking

import (
	"context"
	"slices"
)

// read reads what only some results need to know.
func (r *recordOperation) read(ctx context.Context, store Store, snap Snapshot) error {
	if err := r.readNear(ctx, store, snap); err != nil {
		return err
	}
	return r.readUpset(ctx, store, snap)
}

// readLocked reads again what the ratings decide.
func (r *recordOperation) readLocked(ctx context.Context, store Store, snap Snapshot) error {
	return r.readUpset(ctx, store, snap)
}

// leaderQuery asks for as many players at the top of the ranking as it takes to know minRanked who do not play in the matches.
func (r *recordOperation) leaderQuery() LeaderQuery {
	limit := minRanked
	for person := range r.people {
		if r.plays(person) {
			limit++
		}
	}
	return LeaderQuery{ActiveSince: r.playedAt.Add(-PlaceLifetime), Limit: limit}
}

// readUpset reads the largest upset of the month if one of the matches may be celebrated as that.
func (r *recordOperation) readUpset(ctx context.Context, store Store, snap Snapshot) error {
	r.upset = nil
	mayCelebrate := func(m *NewMatch) bool { return m.upset() >= minUpset }
	if snap.Display.NoCelebrations || r.unknown(snap) >= 0 || !slices.ContainsFunc(r.playAll(snap), mayCelebrate) {
		return nil
	}
	upset, err := store.LargestUpset(ctx, snap.Ladder.ID, MonthOf(r.playedAt))
	r.upset = &upset
	return err
}
