//go:build soak && unix

package soaktest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/cmd/elobot/soaktest/judge"
)

// counts describes how many matches and dead letters are stored.
func (d *database) counts(ctx context.Context) (text string) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	err := d.admin.QueryRow(ctx, `
		SELECT format('%s matches, %s dead letters', (SELECT count(*) FROM matches),
			(SELECT count(*) FROM dead_letters))`).Scan(&text)
	if err != nil {
		return err.Error()
	}
	return text
}

// handledAny reports whether any of the commands was handled. It returns false if the database does
// not answer.
func (d *database) handledAny(ctx context.Context, keys []string) (handled bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err := d.admin.QueryRow(ctx, `SELECT EXISTS (SELECT FROM handled_commands WHERE key = ANY ($1))`, keys).Scan(&handled)
	return err == nil && handled
}

// leader returns the process id of the bot that has the lease, or 0 if it is not known.
func (d *database) leader(ctx context.Context) (pid int) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	err := d.admin.QueryRow(ctx, `
		SELECT split_part(holder, '/', 2)::integer FROM leases WHERE expires_at > clock_timestamp()`).Scan(&pid)
	if err != nil {
		return 0
	}
	return pid
}

// unsent returns the number of unfinished notices, and the latest time for which the bot has
// scheduled one of them.
func (d *database) unsent(ctx context.Context) (left int, until time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err = d.admin.QueryRow(ctx, `
		SELECT count(*), coalesce(max(not_before), 'epoch') FROM outbox WHERE finished_at IS NULL`).Scan(&left, &until)
	return left, until, err
}

// describeUnsent describes up to ten unfinished notices.
func (d *database) describeUnsent(ctx context.Context) string {
	all, err := collect[string](ctx, d, pgx.RowTo[string], `
		SELECT format('%s %s %s in state %s after %s attempts, not before %s: %s',
			action, kind, key, state, attempts, not_before, last_error)
		FROM outbox WHERE finished_at IS NULL ORDER BY id LIMIT 10`)
	if err != nil {
		return err.Error()
	}
	return strings.Join(all, "; ")
}

// history reads everything that the judge needs from the database.
func (d *database) history(ctx context.Context) (h judge.History, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	h.Matches, err = collect(ctx, d, pgx.RowToStructByPos[judge.Match], `
		SELECT c.telegram_chat_id, m.number, m.idempotency_key, array_agg(p.display_name ORDER BY mp.side),
		       ARRAY[m.score_a, m.score_b], m.undone_at IS NOT NULL
		FROM matches m JOIN groups g ON g.id = m.group_id JOIN chats c ON c.id = g.chat_id
		JOIN match_players mp ON mp.match_id = m.id JOIN players p ON p.id = mp.player_id
		GROUP BY c.telegram_chat_id, m.id`)
	if err != nil {
		return h, fmt.Errorf("read matches: %w", err)
	}
	h.Standings, err = collect(ctx, d, pgx.RowToStructByPos[judge.Standing], `
		SELECT c.telegram_chat_id, s.name, s.elo, s.won, s.drawn, s.lost
		FROM group_players s JOIN ladders l ON l.season_id = s.season_id
		JOIN groups g ON g.id = l.group_id JOIN chats c ON c.id = g.chat_id`)
	if err != nil {
		return h, fmt.Errorf("read standings: %w", err)
	}
	h.Notices, err = collect(ctx, d, pgx.RowToStructByPos[judge.Notice], `
		SELECT c.telegram_chat_id, o.id, o.key, o.kind, o.state, coalesce(o.telegram_message_id, 0), o.possible_duplicates,
		       o.created_at, coalesce(o.finished_at, now())
		FROM outbox o JOIN chats c ON c.id = o.chat_id WHERE o.action = 'send' AND o.kind <> 'joined' ORDER BY o.id`)
	if err != nil {
		return h, fmt.Errorf("read notices: %w", err)
	}
	h.Handled, err = collect(ctx, d, pgx.RowToStructByPos[judge.Handling], `SELECT key, handled_at FROM handled_commands`)
	if err != nil {
		return h, fmt.Errorf("read keys: %w", err)
	}
	h.DeadLetters, err = collect(ctx, d, pgx.RowTo[string], `
		SELECT format('%s %s after %s attempts from %s to %s: %s', kind, coalesce(update_id, outbox_id), attempts,
		              first_seen_at::time(0), last_seen_at::time(0), last_error)
		FROM dead_letters ORDER BY id`)
	if err != nil {
		return h, fmt.Errorf("read dead letters: %w", err)
	}
	return h, nil
}

func collect[T any](ctx context.Context, d *database, row pgx.RowToFunc[T], sql string) ([]T, error) {
	rows, err := d.admin.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, row)
}
