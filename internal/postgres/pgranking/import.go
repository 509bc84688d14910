package pgranking

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/crashpoint"
	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// BeforeImport implements ranking.Locked.
func (l *locked) BeforeImport(ctx context.Context, in ladder.ID) (b ranking.BeforeImport, err error) {
	var secret *[16]byte
	var batch pgx.Batch
	batch.Queue(`
		SELECT g.last_match_number, g.import_secret,
		       1 + coalesce((SELECT max(number) FROM imports WHERE group_id = g.id), 0)
		FROM ladders l JOIN groups g ON g.id = l.group_id WHERE l.id = $1`, in).
		QueryRow(func(row pgx.Row) error { return row.Scan(&b.Last, &secret, &b.Import) })
	batch.Queue(`
		SELECT id, number, coalesce(name, ''), starts_at, ends_at FROM seasons WHERE ladder_id = $1 ORDER BY number`, in).
		Query(func(rows pgx.Rows) error {
			var s ranking.Season
			_, err := pgx.ForEachRow(rows, []any{
				(*int64)(&s.ID), &s.Number, &s.Name, (*zeronull.Timestamptz)(&s.Starts), (*zeronull.Timestamptz)(&s.Ends),
			}, func() error {
				b.Seasons = append(b.Seasons, s)
				return nil
			})
			return err
		})
	batch.Queue(`
		SELECT `+postgres.Position+`, played_at FROM matches m WHERE ladder_id = $1 ORDER BY `+postgres.Position, in).
		Query(func(rows pgx.Rows) error {
			var m ladder.Placed
			_, err := pgx.ForEachRow(rows, []any{(*int64)(&m.Position), &m.PlayedAt}, func() error {
				b.Ordered = append(b.Ordered, m)
				return nil
			})
			return err
		})
	if err := l.db.SendBatch(ctx, &batch).Close(); err != nil {
		return b, fmt.Errorf("read what an import depends on: %w", Translate(err))
	}
	if secret != nil {
		b.Secret = *secret
	} else {
		_, err = rand.Read(b.Secret[:])
	}
	return b, err
}

// KnownKeys implements ranking.Locked.
func (l *locked) KnownKeys(ctx context.Context, keys []string) ([]string, error) {
	return postgres.Collect(ctx, l.db, "read keys", pgx.RowTo[string],
		`SELECT idempotency_key FROM matches WHERE idempotency_key = ANY ($1)`, keys)
}

// PlayedBetween implements ranking.Locked.
func (l *locked) PlayedBetween(
	ctx context.Context, in ladder.ID, first, last time.Time,
) (all []ranking.PlayedMatch, err error) {
	type row struct {
		Key            string
		At             time.Time
		ScoreA, ScoreB int
		A, B           []ladder.PlayerID
	}
	const side = `ARRAY(SELECT player_id FROM match_players WHERE match_id = m.id AND side = %d ORDER BY player_id)`
	rows, err := postgres.Collect(ctx, l.db, "read matches of the same time", pgx.RowToStructByPos[row], `
		SELECT idempotency_key, played_at, `+postgres.Score+`, `+fmt.Sprintf(side, 1)+`, `+fmt.Sprintf(side, 2)+`
		FROM matches m WHERE ladder_id = $1 AND played_at BETWEEN $2 AND $3`, in, first, last)
	for _, r := range rows {
		all = append(all, ranking.PlayedMatch{
			Key: r.Key, At: r.At, Score: ladder.Score{A: r.ScoreA, B: r.ScoreB}, Sides: [2][]ladder.PlayerID{r.A, r.B},
		})
	}
	return all, err
}

// MakeRoom implements ranking.Locked.
func (l *locked) MakeRoom(
	ctx context.Context, in ladder.ID, moved []ladder.MovedPosition, count int,
) (ids []ladder.MatchID, err error) {
	var batch pgx.Batch
	queueSpread(&batch, ranking.Inserted{Ladder: in, Spread: moved})
	batch.Queue(`SELECT nextval('matches_id_seq') FROM generate_series(1, $1)`, count).Query(func(rows pgx.Rows) error {
		ids, err = pgx.CollectRows(rows, pgx.RowTo[ladder.MatchID])
		return err
	})
	if err := l.db.SendBatch(ctx, &batch).Close(); err != nil {
		return nil, fmt.Errorf("make room for matches: %w", Translate(err))
	}
	return ids, nil
}

// Divide implements ranking.Locked.
func (l *locked) Divide(ctx context.Context, chat ranking.ChatID, in ranking.Ladder, ends []time.Time) error {
	season := in.Season.ID
	for i, at := range ends {
		next := ranking.NewSeason{Ladder: in.ID, Ends: season, At: at}
		if i == len(ends)-1 {
			next.Until = in.Season.Ends
		}
		var batch pgx.Batch
		batch.Queue(`DELETE FROM timers WHERE key = $1`, ranking.SeasonUntil{Ladder: in.ID, Season: season}.Timer())
		queueNewSeason(&batch, ranking.Changes{Chat: chat}, &next)
		batch.Queue(`SELECT season_id FROM ladders WHERE id = $1`, in.ID).
			QueryRow(func(row pgx.Row) error { return row.Scan(&season) })
		if err := l.send(ctx, &batch); err != nil {
			return err
		}
	}
	return nil
}

// writeImport writes what an import or its undo changes besides the changes that every command
// makes. It returns the changes that remain.
func (l *locked) writeImport(ctx context.Context, c ranking.Changes) (ranking.Changes, error) {
	var err error
	switch e := c.Effect.(type) {
	case *ranking.NewImport:
		err = l.writeNewImport(ctx, e, c.Seen)
		c.Seen.People = nil
	case *ranking.UndoneImport:
		err = l.writeUndoneImport(ctx, e)
	case *ranking.Forgotten:
		err = l.forget(ctx, *e)
	default:
		return c, nil
	}
	if err != nil {
		return c, err
	}
	// A season of which nobody was told gets no message.
	var told []ladder.SeasonID
	for _, season := range c.Corrected {
		switch isTold, err := l.isTold(ctx, c.Chat, season); {
		case err != nil:
			return c, err
		case isTold:
			told = append(told, season)
		}
	}
	c.Corrected = told
	return c, nil
}

// writeNewImport writes what of an import is not staged yet.
func (l *locked) writeNewImport(ctx context.Context, n *ranking.NewImport, seen ranking.Seen) error {
	if !l.staged {
		var batch pgx.Batch
		queueReservation(&batch, n)
		if err := l.send(ctx, &batch); err != nil {
			return err
		}
		if err := l.stage(ctx, n, seen); err != nil {
			return err
		}
	}
	// Standings get ids in this transaction alone, because the group is locked.
	before, err := l.lastStanding(ctx)
	if err != nil {
		return err
	}
	if err := l.rewrite(ctx, n.Rewrites); err != nil {
		return err
	}
	var batch pgx.Batch
	batch.Queue(`
		UPDATE imports SET undone_at = NULL, standings = ARRAY(
		    SELECT s.id FROM group_players s
		    WHERE s.id > $3 AND season_id = ANY (ARRAY(SELECT id FROM seasons WHERE ladder_id = imports.ladder_id)))
		WHERE group_id = $1 AND number = $2`, n.Group, n.Number, before)
	if len(n.Starts) > 0 {
		queueStarts(&batch, n)
	}
	return l.send(ctx, &batch)
}

// Reserve implements ranking.Locked.
func (l *locked) Reserve(ctx context.Context, n *ranking.NewImport) error {
	crashpoint.At(crashpoint.Applying)
	var batch pgx.Batch
	queueReservation(&batch, n)
	batch.Queue(`COMMIT`)
	return l.send(ctx, &batch)
}

// queueReservation gives an import its numbers. Until the import is written, it counts as taken
// back.
func queueReservation(batch *pgx.Batch, n *ranking.NewImport) {
	batch.Queue(`UPDATE groups SET last_match_number = last_match_number + $2, import_secret = $3 WHERE id = $1`,
		n.Group, len(n.Matches), n.Secret)
	batch.Queue(`
		INSERT INTO imports (group_id, number, ladder_id, first_match, matches, standings, undone_at, divided)
		SELECT $1, $2, $3, last_match_number - $4 + 1, $4, '{}', now(), $5 FROM groups WHERE id = $1`,
		n.Group, n.Number, n.Ladder, len(n.Matches), n.Divided)
}

// Stage implements ranking.Store.
func (s *Store) Stage(ctx context.Context, n *ranking.NewImport, seen ranking.Seen) (ranking.Staged, error) {
	l, err := s.beginStaged(ctx, new(pgx.Batch))
	if err != nil {
		return nil, err
	}
	if err := l.stage(ctx, n, seen); err != nil {
		l.Release(ctx)
		return nil, err
	}
	return l, nil
}

// beginStaged begins a transaction with these statements.
func (s *Store) beginStaged(ctx context.Context, first *pgx.Batch) (*locked, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("stage an import: %w", Translate(err))
	}
	l := &locked{Store: s.inside(conn), conn: conn, staged: true}
	var batch pgx.Batch
	batch.Queue(`BEGIN`)
	s.lease.RequireWhileOpen(&batch)
	batch.Queue(`SET LOCAL lock_timeout = '30s'`) // so much work is not given up for a busy group
	batch.QueuedQueries = append(batch.QueuedQueries, first.QueuedQueries...)
	if err := l.send(ctx, &batch); err != nil {
		l.Release(ctx)
		return nil, err
	}
	return l, nil
}

// stage writes the new people, matches and history entries of an import, and removes these entries
// from its rewrites.
func (l *locked) stage(ctx context.Context, n *ranking.NewImport, seen ranking.Seen) error {
	l.many = len(n.Matches) >= manyMatches
	var batch pgx.Batch
	queueSeenPeople(&batch, seen)
	if err := l.send(ctx, &batch); err != nil {
		return err
	}
	if err := l.copyMatches(ctx, n); err != nil {
		return err
	}
	ids := make(map[ladder.MatchID]bool, len(n.Matches))
	for i := range n.Matches {
		ids[n.Matches[i].ID] = true
	}
	for i := range n.Rewrites {
		w := &n.Rewrites[i]
		all := w.Entries
		w.Entries = nil
		for _, e := range all {
			if !ids[e.Match] {
				w.Entries = append(w.Entries, e)
			}
		}
		err := l.copyEntries(ctx, w.Reason, func(yield func(ladder.NewEntry) bool) {
			for _, e := range all {
				if ids[e.Match] && !yield(e) {
					return
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// analyze updates the statistics after a long import. Until the server does so by itself, a minute
// later, it may plan statements for empty tables. The import is committed, so a failure must not
// look like that of the import. It costs only that minute.
func (l *locked) analyze(ctx context.Context) {
	_, _ = l.db.Exec(ctx, `ANALYZE matches, match_players, elo_history, group_players`)
}

// queueStarts stores the start ratings that an import has set.
func queueStarts(batch *pgx.Batch, n *ranking.NewImport) {
	players := make([]ladder.PlayerID, len(n.Starts))
	before, after := make([]int, len(n.Starts)), make([]int, len(n.Starts))
	for i, s := range n.Starts {
		players[i], before[i], after[i] = s.Player, s.Old, s.New
	}
	batch.Queue(`
		INSERT INTO start_ratings (group_id, import, standing_id, old_start, new_start)
		SELECT $1, $2, s.id, one.old, one.new
		FROM unnest($4::bigint[], $5::integer[], $6::integer[]) AS one (player_id, old, new)
		JOIN group_players s ON s.season_id = $3 AND s.player_id = one.player_id`,
		n.Group, n.Number, n.Rewrites[0].Season, players, before, after)
}

// manyMatches is how many new matches can make the plans of statements bad.
const manyMatches = 1000

// lastStanding returns an id that is not below those of all standings.
func (l *locked) lastStanding(ctx context.Context) (id int64, err error) {
	if err := l.db.QueryRow(ctx, `SELECT nextval('group_players_id_seq')`).Scan(&id); err != nil {
		return 0, fmt.Errorf("read the last id of a standing: %w", Translate(err))
	}
	return id, nil
}

// copyMatches inserts matches with their players.
func (l *locked) copyMatches(ctx context.Context, n *ranking.NewImport) error {
	err := l.copy(ctx, "matches", []string{
		"id", "group_id", "ladder_id", "season_id", "number", "position", "score_a", "score_b", "winner", "sets", "games",
		"k_factor", "provisional_k_factor", "provisional_matches", "margin_of_victory", "played_at", "created_at",
		"idempotency_key", "upset",
	}, func(yield func([]any) bool) {
		for i := range n.Matches {
			m := &n.Matches[i]
			a, b, winner := scoreColumns(m.Score)
			var position *ladder.Position
			if m.Position != ladder.PositionOf(m.Number) {
				position = &m.Position
			}
			row := []any{
				m.ID, n.Group, n.Ladder, m.Season, m.Number, position, a, b, winner, setPoints(m.Sets), zeronull.Text(m.Games),
				m.K, m.Provisional.K, m.Provisional.Matches, m.Margin, m.PlayedAt, m.PlayedAt,
				m.Key, zeronull.Int4(m.Upset),
			}
			if !yield(row) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return l.copy(ctx, "match_players", []string{"match_id", "player_id", "side", "place", "named_id"},
		func(yield func([]any) bool) {
			for _, m := range n.Matches {
				for i, p := range m.Parts {
					if !yield([]any{m.ID, p.Player, p.Side, i + 1, zeronull.Int8(p.Named)}) {
						return
					}
				}
			}
		})
}

// rewrite writes rewrites, with one statement for all new history entries of a season.
func (l *locked) rewrite(ctx context.Context, all []ladder.Rewrite) error {
	for _, w := range all {
		entries := w.Entries
		w.Entries = nil
		var batch pgx.Batch
		queueRewrite(&batch, w)
		if err := l.send(ctx, &batch); err != nil {
			return err
		}
		if err := l.copyEntries(ctx, w.Reason, slices.Values(entries)); err != nil {
			return err
		}
	}
	return nil
}

// copyEntries inserts history entries.
func (l *locked) copyEntries(ctx context.Context, why ladder.Reason, entries iter.Seq[ladder.NewEntry]) error {
	return l.copy(ctx, "elo_history", []string{
		"match_id", "player_id", "elo_before", "elo_after", "k_factor", "best_before", "streak_before", "longest_before",
		"reason",
	}, func(yield func([]any) bool) {
		for e := range entries {
			if !yield([]any{
				e.Match, e.Player, e.Before, e.After, e.K, e.BestBefore, e.StreakBefore, e.LongestBefore, why,
			}) {
				return
			}
		}
	})
}

// copy inserts rows into a table.
func (l *locked) copy(ctx context.Context, table string, columns []string, rows iter.Seq[[]any]) error {
	next, stop := iter.Pull(rows)
	defer stop()
	count := 0
	source := pgx.CopyFromFunc(func() ([]any, error) {
		if count++; count%1000 == 0 {
			crashpoint.At(crashpoint.Importing)
		}
		row, _ := next()
		return row, nil
	})
	_, err := l.conn.Conn().CopyFrom(ctx, pgx.Identifier{table}, columns, source)
	switch err = Translate(err); {
	case errors.Is(err, ranking.ErrHandled): // not this command, but a match in its file
		return fmt.Errorf("%w: another import has recorded a match of the file", ranking.ErrConflict)
	case err != nil:
		return fmt.Errorf("copy into %s: %w", table, err)
	}
	crashpoint.At(crashpoint.Importing)
	return nil
}

// send sends the statements of an import.
func (l *locked) send(ctx context.Context, batch *pgx.Batch) error {
	if batch.Len() == 0 {
		return nil
	}
	if err := l.db.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("write an import: %w", Translate(err))
	}
	crashpoint.At(crashpoint.Importing)
	return nil
}

// isTold reports whether a message in the chat tells how the season ended.
func (l *locked) isTold(ctx context.Context, chat ranking.ChatID, season ladder.SeasonID) (told bool, err error) {
	err = l.db.QueryRow(ctx, `
		SELECT EXISTS (
		    SELECT FROM ensured_messages WHERE chat_id = $1 AND (object = $2 OR starts_with(object, $2 || ':')))`,
		chat, ranking.SeasonObject(season)).Scan(&told)
	if err != nil {
		return false, fmt.Errorf("look for the message about a season: %w", Translate(err))
	}
	return told, nil
}

// FindImport implements ranking.Locked.
func (l *locked) FindImport(
	ctx context.Context, group ranking.GroupID, number int,
) (matches []ranking.FoundMatch, starts []ranking.FoundStart, err error) {
	isThere := false
	var batch pgx.Batch
	batch.Queue(`SELECT EXISTS (SELECT FROM imports WHERE group_id = $1 AND number = $2 AND undone_at IS NULL)`,
		group, number).QueryRow(func(row pgx.Row) error { return row.Scan(&isThere) })
	batch.Queue(`
		SELECT m.id, m.season_id, `+postgres.Position+`, m.idempotency_key, m.played_at
		FROM imports i JOIN matches m ON m.group_id = i.group_id
		    AND m.number BETWEEN i.first_match AND i.first_match + i.matches - 1
		WHERE i.group_id = $1 AND i.number = $2 ORDER BY m.number`, group, number).Query(func(rows pgx.Rows) error {
		matches, err = pgx.CollectRows(rows, pgx.RowToStructByPos[ranking.FoundMatch])
		return err
	})
	// Without the import, the last of the other imports counts, or else what was before all of
	// them.
	batch.Queue(`
		SELECT s.id, s.season_id, coalesce((
		    SELECT o.new_start FROM start_ratings o JOIN imports i ON i.group_id = o.group_id AND i.number = o.import
		    WHERE o.group_id = $1 AND o.standing_id = s.id AND o.import <> $2 AND i.undone_at IS NULL
		    ORDER BY o.import DESC LIMIT 1), (
		    SELECT o.old_start FROM start_ratings o
		    WHERE o.group_id = $1 AND o.standing_id = s.id ORDER BY o.import LIMIT 1))
		FROM start_ratings r JOIN group_players s ON s.id = r.standing_id
		WHERE r.group_id = $1 AND r.import = $2`, group, number).Query(func(rows pgx.Rows) error {
		starts, err = pgx.CollectRows(rows, pgx.RowToStructByPos[ranking.FoundStart])
		return err
	})
	switch err := l.db.SendBatch(ctx, &batch).Close(); {
	case err != nil:
		return nil, nil, fmt.Errorf("read an import: %w", Translate(err))
	case !isThere:
		return nil, nil, ranking.ErrNoSuchImport
	}
	return matches, starts, nil
}

// StageUndo implements ranking.Store.
func (s *Store) StageUndo(ctx context.Context, group ranking.GroupID, number int) (ranking.Staged, error) {
	var batch pgx.Batch
	batch.Queue(`
		SELECT FROM imports i JOIN matches m ON m.group_id = i.group_id
		    AND m.number BETWEEN i.first_match AND i.first_match + i.matches - 1
		WHERE i.group_id = $1 AND i.number = $2 FOR UPDATE OF m`, group, number)
	l, err := s.beginStaged(ctx, &batch)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// DeleteMatches implements ranking.Staged. It also deletes what is known of the matches in the
// chat: cards, prompts about them, and that they were fixed or moved.
func (l *locked) DeleteMatches(ctx context.Context, found []ranking.FoundMatch) error {
	matches := make([]ladder.MatchID, len(found))
	for i, m := range found {
		matches[i] = m.ID
	}
	var batch pgx.Batch
	batch.Queue(`
		UPDATE outbox SET state = 'expired', finished_at = now(),
		    last_error = 'the import was taken back', supersede_key = NULL
		WHERE match_id = ANY ($1) AND state = 'planned'`, matches)
	// Only a notice with a match can be an edit.
	batch.Queue(`
		UPDATE outbox SET match_id = NULL, action = CASE action WHEN 'edit' THEN 'send' ELSE action END
		WHERE match_id = ANY ($1)`, matches)
	batch.Queue(`
		WITH gone AS (DELETE FROM prompts WHERE match_id = ANY ($1) RETURNING id)
		DELETE FROM timers WHERE key = ANY (ARRAY(SELECT `+promptTimer+` FROM gone))`, matches)
	for _, table := range []string{"elo_history", "match_players", "match_fixes", "match_moves", "match_messages"} {
		batch.Queue(`DELETE FROM `+table+` WHERE match_id = ANY ($1)`, matches)
	}
	batch.Queue(`DELETE FROM matches WHERE id = ANY ($1)`, matches)
	return l.send(ctx, &batch)
}

// writeUndoneImport writes what of the undo of an import is not staged yet.
func (l *locked) writeUndoneImport(ctx context.Context, u *ranking.UndoneImport) error {
	if !l.staged {
		if err := l.DeleteMatches(ctx, u.Matches); err != nil {
			return err
		}
	}
	if err := l.rewrite(ctx, u.Rewrites); err != nil {
		return err
	}
	var batch pgx.Batch
	var seasons []ladder.SeasonID
	for _, w := range u.Rewrites {
		seasons = append(seasons, w.Season)
	}
	batch.Queue(`UPDATE imports SET undone_at = now() WHERE group_id = $1 AND number = $2`, u.Group, u.Number)
	batch.Queue(`
		DELETE FROM group_players s
		WHERE s.id = ANY (ARRAY(SELECT unnest(standings) FROM imports WHERE group_id = $1))
		  AND s.season_id = ANY ($2) AND s.played = 0 AND s.named_id IS NULL
		  AND NOT EXISTS (
		    SELECT FROM start_ratings r JOIN imports i ON i.group_id = r.group_id AND i.number = r.import
		    WHERE r.group_id = $1 AND r.standing_id = s.id AND i.undone_at IS NULL)
		  AND NOT EXISTS (
		    SELECT FROM match_players mp CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = mp.match_id LIMIT 1) AS m
		    WHERE mp.player_id = s.player_id AND m.season_id = s.season_id)
		  AND NOT EXISTS (
		    SELECT FROM sightings known WHERE known.group_id = $1 AND known.player_id = s.player_id
		      AND (known.came AND known.seen_at IS NOT NULL OR known.counts_as IS NOT NULL))
		  AND NOT EXISTS (SELECT FROM sightings known WHERE known.group_id = $1 AND known.counts_as = s.player_id)`,
		u.Group, seasons)
	batch.Queue(undivide, u.Group, u.Number)
	return l.send(ctx, &batch)
}

// undivide makes the first season of a ladder its only one, if the import divided the ladder and it
// has no matches any more. Seasons of which the chat was told stay.
const undivide = `
	WITH divided AS (
	    SELECT l.id, l.season_id AS last, s.id AS first FROM imports i JOIN ladders l ON l.id = i.ladder_id
	    JOIN seasons s ON s.ladder_id = l.id AND s.number = 1
	    WHERE i.group_id = $1 AND i.number = $2 AND i.divided AND NOT EXISTS (SELECT FROM matches WHERE ladder_id = l.id)
	      AND NOT EXISTS (
	        SELECT FROM groups g JOIN ensured_messages e ON e.chat_id = g.chat_id
	        JOIN seasons told ON told.ladder_id = l.id
	        WHERE g.id = $1 AND starts_with(e.object || ':', 'season:' || told.id || ':'))
	), gone AS (
	    SELECT s.id FROM divided JOIN seasons s ON s.ladder_id = divided.id AND s.id <> divided.first
	), standings AS (
	    DELETE FROM group_players WHERE season_id = ANY (ARRAY(SELECT id FROM gone))
	), removed AS (
	    DELETE FROM seasons WHERE id = ANY (ARRAY(SELECT id FROM gone)) RETURNING id, ends_at
	), first AS (
	    UPDATE seasons s SET ends_at = removed.ends_at, place_matches = NULL, halfway = NULL
	    FROM divided JOIN removed ON removed.id = divided.last WHERE s.id = divided.first
	), timer AS (
	    UPDATE timers SET key = '` + ranking.SeasonTimer + `' || divided.id || ':' || first FROM divided
	    WHERE last <> first AND key = '` + ranking.SeasonTimer + `' || divided.id || ':' || last
	)
	UPDATE ladders SET season_id = first FROM divided WHERE ladders.id = divided.id AND last <> first`
