package pgranking

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// errNothingToMerge means that the player to be merged was claimed or merged, or that the player to
// merge into has no account.
var errNothingToMerge = errors.New("nothing to merge")

// merging is an open transaction that locks two players.
type merging struct {
	tx     pgx.Tx
	inside *Store
	outer  *Store
	from   ladder.PlayerID // the unclaimed player
}

// LockPlayers implements ranking.Store.
func (s *Store) LockPlayers(
	ctx context.Context, from, into ladder.PlayerID,
) (ranking.Merging, *ranking.Mapping, error) {
	tx, err := s.lease.Begin(ctx, s.pool)
	if err != nil {
		return nil, nil, fmt.Errorf("merge players: %w", Translate(err))
	}
	m := &merging{tx: tx, inside: s.inside(tx), outer: s, from: from}
	group, err := m.inside.lockForMerge(ctx, from, into)
	var mapping *ranking.Mapping
	if err == nil {
		mapping, err = m.inside.Mapping(ctx, group, from, into)
	}
	if err == nil {
		return m, mapping, nil
	}
	m.Release(ctx)
	if errors.Is(err, errNothingToMerge) {
		return nil, nil, nil
	}
	return nil, nil, fmt.Errorf("merge players: %w", Translate(err))
}

// Merge implements ranking.Merging.
func (m *merging) Merge(ctx context.Context, r ranking.Remapping) error {
	var batch pgx.Batch
	batch.Queue(`UPDATE players SET username = NULL WHERE id = $1`, m.from)
	m.inside.queueRemapping(&batch, ranking.Changes{}, &r)
	if into, merges := r.CountsAs[m.from]; merges {
		batch.Queue(`
			INSERT INTO sightings AS known (group_id, player_id, nick)
			SELECT group_id, $2, nick FROM sightings WHERE group_id = $3 AND player_id = $1 AND nick IS NOT NULL
			ON CONFLICT ON CONSTRAINT sightings_pkey DO UPDATE SET nick = coalesce(known.nick, excluded.nick)`,
			m.from, into, r.Group)
		queueShownName(&batch, r.Group, into)
	}
	err := m.inside.db.SendBatch(ctx, &batch).Close()
	if err == nil {
		err = m.tx.Commit(ctx)
	}
	if err != nil {
		return fmt.Errorf("merge players: %w", Translate(err))
	}
	for _, season := range r.Seasons {
		m.outer.wake(season.Chat, outbox.Messages)
	}
	m.outer.WebChanged(r.Group)
	return nil
}

// Release implements ranking.Merging.
func (m *merging) Release(ctx context.Context) { postgres.Rollback(ctx, m.tx) }

// lockForMerge locks the group of the unclaimed player, then both players, and returns the group.
// Other transactions can then no longer add the unclaimed player to a ladder, because
// queueNewStanding locks the player's row.
func (s *Store) lockForMerge(ctx context.Context, from, into ladder.PlayerID) (ranking.GroupID, error) {
	const group = `SELECT id FROM groups WHERE id = (SELECT group_id FROM players WHERE id = $1)`
	find := func(lock string) ([]ranking.GroupID, error) {
		return postgres.Collect(ctx, s.db, "find the group of a player", pgx.RowTo[ranking.GroupID], group+lock, from)
	}
	locked, err := find(` FOR NO KEY UPDATE`)
	if err != nil {
		return 0, err
	}
	const unclaimed = `
		SELECT id FROM players WHERE id = $1 AND telegram_user_id IS NULL AND username IS NOT NULL FOR UPDATE`
	const known = `SELECT id FROM players WHERE id = $1 AND telegram_user_id IS NOT NULL FOR NO KEY UPDATE`
	for _, player := range []struct {
		sql string
		id  ladder.PlayerID
	}{{unclaimed, from}, {known, into}} {
		found, err := s.db.Exec(ctx, player.sql, player.id)
		if err != nil {
			return 0, fmt.Errorf("lock player %d: %w", player.id, err)
		}
		if found.RowsAffected() == 0 {
			return 0, errNothingToMerge
		}
	}
	// read without a lock: a transaction that holds the other group may wait for the player
	now, err := find("")
	if err != nil {
		return 0, err
	}
	if len(locked) == 0 || !slices.Equal(locked, now) {
		return 0, fmt.Errorf("%w: player %d has another group", ranking.ErrConflict, from)
	}
	return locked[0], nil
}
