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
	tx         pgx.Tx
	inside     *Store
	outer      *Store
	from, into ladder.PlayerID
	group      ranking.GroupID // of from, the unclaimed player
}

// LockPlayers implements ranking.Store.
func (s *Store) LockPlayers(
	ctx context.Context, from, into ladder.PlayerID,
) (ranking.Merging, []ranking.SharedLadder, error) {
	tx, err := s.lease.Begin(ctx, s.pool)
	if err != nil {
		return nil, nil, fmt.Errorf("merge players: %w", Translate(err))
	}
	m := &merging{tx: tx, inside: s.inside(tx), outer: s, from: from, into: into}
	var shared []ranking.SharedLadder
	if m.group, err = m.inside.lockForMerge(ctx, from, into); err == nil {
		shared, err = m.inside.shared(ctx, from, into)
	}
	if err == nil {
		return m, shared, nil
	}
	m.Release(ctx)
	if errors.Is(err, errNothingToMerge) {
		return nil, nil, nil
	}
	return nil, nil, fmt.Errorf("merge players: %w", Translate(err))
}

// Merge implements ranking.Merging.
func (m *merging) Merge(ctx context.Context, merges []ranking.LadderMerge) error {
	err := m.inside.applyMerge(ctx, m.group, m.from, m.into, merges)
	if err == nil {
		err = m.tx.Commit(ctx)
	}
	if err != nil {
		return fmt.Errorf("merge players: %w", Translate(err))
	}
	for _, l := range merges {
		m.outer.wake(l.Chat, outbox.Messages)
	}
	m.outer.WebChanged(m.group)
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
		SELECT id FROM players WHERE id = $1 AND telegram_user_id IS NULL AND merged_into IS NULL FOR UPDATE`
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

// shared reads the seasons in which both players have a standing.
func (s *Store) shared(ctx context.Context, from, into ladder.PlayerID) ([]ranking.SharedLadder, error) {
	const seasons = `
		SELECT season.id, l.season_id <> season.id, l.id, g.chat_id,
		       CASE WHEN (SELECT count(*) FROM ladders WHERE group_id = g.id) > 1 THEN l.name ELSE '' END, coalesce((
		    SELECT min(m.number) FROM match_players mp JOIN matches m ON m.id = mp.match_id
		    WHERE mp.player_id IN ($1, $2) AND m.season_id = season.id), g.last_match_number + 1)
		FROM group_players f
		JOIN seasons season ON season.id = f.season_id
		JOIN ladders l ON l.id = season.ladder_id
		JOIN groups g ON g.id = l.group_id
		WHERE f.player_id = $1 AND EXISTS (SELECT FROM group_players i WHERE i.season_id = season.id AND i.player_id = $2)
		ORDER BY season.id`
	type seasonRow struct {
		Season ladder.SeasonID
		Over   bool
		Ladder ladder.ID
		Chat   ranking.ChatID
		Name   string // empty if the group has only this ladder
		// First is the number of the season's first match with either player, or else of the
		// group's next match.
		First int
	}
	rows, err := postgres.Collect(ctx, s.db, "read seasons", pgx.RowToStructByPos[seasonRow], seasons, from, into)
	if err != nil {
		return nil, err
	}
	all := make([]ranking.SharedLadder, len(rows))
	for i, m := range rows {
		all[i].Chat, all[i].Over = m.Chat, m.Over
		if m.Name != "" {
			all[i].Label = &ranking.LadderLabel{ID: m.Ladder, Name: m.Name}
		}
		if all[i].History, err = s.MatchHistory(ctx, m.Season, m.First, from, into); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// applyMerge writes a merge, with its notices and the new cards. It rewrites the seasons in which
// both players have a standing, and drops one of their two standings there. Everything else of from
// passes to into, except its part in matches that both players played, which are undone.
func (s *Store) applyMerge(
	ctx context.Context, group ranking.GroupID, from, into ladder.PlayerID, merges []ranking.LadderMerge,
) error {
	var batch pgx.Batch
	for _, m := range merges {
		batch.Queue(`
			WITH undone AS (
			    UPDATE matches SET undone_at = now(), changes = changes + 1
			    WHERE id = ANY ($1) AND undone_at IS NULL RETURNING 1)
			SELECT (count(*) = coalesce(cardinality($1), 0))::unchanged FROM undone`, m.Undone)
	}
	// A match in which both players play keeps both, because it is undone.
	batch.Queue(`
		UPDATE match_players mp SET player_id = $2
		WHERE mp.player_id = $1
		  AND NOT EXISTS (SELECT FROM match_players other WHERE other.match_id = mp.match_id AND other.player_id = $2)`,
		from, into)
	for _, m := range merges {
		queueRewrite(&batch, m.Rewrite)
		batch.Queue(`
			WITH dropped AS (DELETE FROM group_players WHERE id = $1 AND version = $2 RETURNING 1)
			SELECT EXISTS (SELECT FROM dropped)::unchanged`, m.Drop.ID, m.Drop.Version)
	}
	batch.Queue(`
		UPDATE group_players s SET player_id = p.id, name = p.display_name, version = s.version + 1
		FROM players p WHERE p.id = $2 AND s.player_id = $1`, from, into)
	batch.Queue(`
		INSERT INTO sightings AS known (group_id, player_id, nick)
		SELECT group_id, $2, nick FROM sightings WHERE group_id = $3 AND player_id = $1 AND nick IS NOT NULL
		ON CONFLICT ON CONSTRAINT sightings_pkey DO UPDATE SET nick = coalesce(known.nick, excluded.nick)`, from, into, group)
	queueShownName(&batch, group, into)
	// if either player was still a member of a group, into is now a member of all the group's
	// ladders
	batch.Queue(`
		UPDATE group_players s SET left_at = NULL, version = version + 1
		WHERE player_id = $1 AND left_at IS NOT NULL AND EXISTS (
		    SELECT FROM ladders l JOIN group_players o ON o.season_id = l.season_id
		    WHERE o.player_id = $1 AND o.left_at IS NULL
		      AND l.group_id = (SELECT group_id FROM seasons WHERE id = s.season_id))`, into)
	// players who were merged into the unclaimed player earlier follow
	batch.Queue(`
		UPDATE players SET username = NULL, group_id = NULL, merged_into = $2 WHERE id = $1 OR merged_into = $1`, from, into)
	for _, m := range merges {
		if m.Over {
			queueCorrected(&batch, m.Chat, "", m.Rewrite.Season)
		} else {
			queueNotices(&batch, s.Now(),
				ranking.Changes{Chat: m.Chat, Ladder: m.Label, Decision: ranking.Decision{Notice: m.Notice}})
		}
		for _, card := range m.Cards {
			queueCard(&batch, m.Chat, "", card, m.Label)
		}
	}
	return s.db.SendBatch(ctx, &batch).Close()
}
