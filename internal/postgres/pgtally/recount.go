package pgtally

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// recount is how far a ladder has been counted again: all players up to this one, and this one up to this month.
type recount struct {
	ladder ranking.LadderID
	player ranking.PlayerID
	month  time.Time
}

// playersAtOnce is how many players are considered for a step of a recount.
const playersAtOnce = 500

// allPlayers is the last player of a recount that is complete.
const allPlayers = ranking.PlayerID(math.MaxInt64)

// Recount implements stats.TallyStore.
func (s *Store) Recount(ctx context.Context, except ...ranking.LadderID) (step stats.RecountStep, err error) {
	err = s.transact(ctx, func(tx pgx.Tx) error {
		step = stats.RecountStep{}
		r, err := s.nextRecount(ctx, tx, except)
		if err != nil || r.ladder == 0 {
			return err
		}
		step.Ladder = r.ladder
		if r.month.Before(afterMonth) {
			err = s.recountMonths(ctx, tx, &r)
		} else {
			err = s.recountPlayers(ctx, tx, &r)
		}
		if err != nil {
			return err
		}
		step.Complete = r.player == allPlayers
		if step.Complete {
			return s.endRecount(ctx, tx, r.ladder)
		}
		const sql = `UPDATE ladder_tallies SET recount_player = $2, recount_month = $3 WHERE ladder_id = $1`
		if _, err := tx.Exec(ctx, sql, r.ladder, r.player, r.month); err != nil {
			return fmt.Errorf("write progress: %w", err)
		}
		return s.progress(ctx, tx, r, &step)
	})
	if err != nil {
		return stats.RecountStep{Ladder: step.Ladder}, fmt.Errorf("recount ladder: %w", err)
	}
	return step, nil
}

// nextRecount returns the first ladder that is being recounted, a zero recount if there is none.
func (s *Store) nextRecount(ctx context.Context, tx pgx.Tx, except []ranking.LadderID) (r recount, err error) {
	const sql = `
		SELECT ladder_id, recount_player, least(greatest(recount_month, $1::date), $2::date)
		FROM ladder_tallies WHERE recounting AND (ladder_id = ANY ($3)) IS NOT TRUE ORDER BY ladder_id LIMIT 1`
	err = tx.QueryRow(ctx, sql, noMonth, afterMonth, except).Scan(&r.ladder, &r.player, &r.month)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("find a ladder to recount: %w", err)
	}
	return r, nil
}

// progress counts the players of a ladder, and how many of them have been counted.
func (s *Store) progress(ctx context.Context, tx pgx.Tx, r recount, step *stats.RecountStep) error {
	const sql = `SELECT count(*) FILTER (WHERE player_id <= $2), count(*) FROM group_players WHERE ladder_id = $1`
	if err := tx.QueryRow(ctx, sql, r.ladder, r.player).Scan(&step.Players, &step.OfPlayers); err != nil {
		return fmt.Errorf("read progress: %w", err)
	}
	return nil
}

// recountMonths counts the next months of a player with very many matches, at least one. The last months complete the player.
func (s *Store) recountMonths(ctx context.Context, tx pgx.Tx, r *recount) error {
	from, until := r.month.AddDate(0, 1, 0), afterMonth
	const sql = `
		SELECT coalesce(min(played_at), $3), max(played_at) FILTER (WHERE n > $4) FROM (
		    SELECT played_at, row_number() OVER (ORDER BY played_at, match_id) AS n FROM match_players
		    WHERE player_id = $1 AND ladder_id = $2 AND played_at >= $3 ORDER BY played_at, match_id LIMIT $4 + 1) AS next`
	var first time.Time
	var beyond *time.Time // the first match that is too many
	if err := tx.QueryRow(ctx, sql, r.player, r.ladder, from, s.parts).Scan(&first, &beyond); err != nil {
		return fmt.Errorf("choose months: %w", err)
	}
	if beyond != nil {
		until = ranking.MonthOf(*beyond)
		if month := ranking.MonthOf(first); !until.After(month) {
			until = month.AddDate(0, 1, 0)
		}
	}
	months := playerMonths{r.ladder, r.player, from, until}
	var batch pgx.Batch
	for _, table := range []string{"player_months", "pair_months", "tally_marks"} {
		batch.Queue(`DELETE FROM `+table+` WHERE ladder_id = $1 AND player_id = $2 AND month >= $3 AND month < $4`,
			r.ladder, r.player, from, until)
	}
	if err := recountInto(ctx, tx, &batch, []playerMonths{months}); err != nil {
		return err
	}
	if r.month = until.AddDate(0, -1, 0); until.Equal(afterMonth) {
		r.month = afterMonth
		return sumAll(ctx, tx, r.ladder, r.player-1, r.player)
	}
	return nil
}

// recountPlayers counts the next players completely. If the next one has very many matches, it only gets to this player.
func (s *Store) recountPlayers(ctx context.Context, tx pgx.Tx, r *recount) error {
	after := r.player
	players, upto, err := nextPlayers(ctx, tx, r.ladder, after, s.parts)
	if err != nil {
		return err
	}
	var months []playerMonths
	for _, p := range players {
		if p.Player <= upto {
			months = append(months, playerMonths{r.ladder, p.Player, noMonth, afterMonth})
		}
	}
	if r.player, r.month = upto, afterMonth; len(players) > 0 && len(months) == 0 {
		r.player, r.month = players[0].Player, noMonth // in the middle of this one
	}
	var batch pgx.Batch
	for _, table := range []string{"player_months", "pair_months", "pair_totals", "tally_marks"} {
		batch.Queue(`DELETE FROM `+table+` WHERE ladder_id = $1 AND player_id > $2 AND player_id <= $3`, r.ladder, after, upto)
	}
	if err := recountInto(ctx, tx, &batch, months); err != nil {
		return err
	}
	return sumAll(ctx, tx, r.ladder, after, upto)
}

// nextPlayer is a player of a ladder.
type nextPlayer struct {
	Player ranking.PlayerID
	Name   string
	Played int
}

// nextPlayers returns players after one, in the order of their ids. Those up to upto have played at most this number of matches
// together, and the ladder has no others up to there. If there are others, there is at least one player, who may be beyond upto.
func nextPlayers(ctx context.Context, tx pgx.Tx, ladder ranking.LadderID, after ranking.PlayerID, matches int) (
	players []nextPlayer, upto ranking.PlayerID, err error,
) {
	const sql = `
		SELECT player_id, name, played FROM group_players WHERE ladder_id = $1 AND player_id > $2 ORDER BY player_id LIMIT $3`
	rows, err := tx.Query(ctx, sql, ladder, after, playersAtOnce)
	if err != nil {
		return nil, 0, fmt.Errorf("choose players: %w", err)
	}
	if players, err = pgx.CollectRows(rows, pgx.RowToStructByPos[nextPlayer]); err != nil {
		return nil, 0, fmt.Errorf("choose players: %w", err)
	}
	for _, p := range players {
		if matches -= p.Played; matches < 0 {
			return players, p.Player - 1, nil
		}
	}
	if len(players) == playersAtOnce {
		return players, players[len(players)-1].Player, nil
	}
	return players, allPlayers, nil
}

// recountInto counts months again after a batch has cleared them.
func recountInto(ctx context.Context, tx pgx.Tx, batch *pgx.Batch, months []playerMonths) error {
	var matches []ladderMatch
	queueMatches(batch, nil, months, &matches)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("read matches: %w", err)
	}
	tallies := make(ladderTallies)
	wanted := wantedMonths(months)
	for i := range matches {
		tallies.of(matches[i].ladder).Add(&matches[i].CountedMatch, wanted)
	}
	batch = new(pgx.Batch)
	queueInsert(batch, tallies)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("write tallies: %w", err)
	}
	return nil
}

// wantedMonths returns a function that reports whether a month is one of months, of which each player has at most one element.
func wantedMonths(months []playerMonths) func(stats.MonthKey) bool {
	of := make(map[ranking.PlayerID]playerMonths, len(months))
	for _, m := range months {
		of[m.player] = m
	}
	return func(k stats.MonthKey) bool {
		m, there := of[k.Player]
		return there && !k.Month.Before(m.from) && k.Month.Before(m.until)
	}
}

// sumAll adds up again the totals of the players after one up to another.
func sumAll(ctx context.Context, tx pgx.Tx, ladder ranking.LadderID, after, upto ranking.PlayerID) error {
	const these = ` WHERE ladder_id = $1 AND player_id > $2 AND player_id <= $3`
	var batch pgx.Batch
	batch.Queue(`DELETE FROM pair_totals`+these, ladder, after, upto)
	batch.Queue(`
		INSERT INTO pair_totals SELECT ladder_id, player_id, other_id, together, `+sums+` FROM pair_months`+these+`
		GROUP BY ladder_id, player_id, other_id, together`, ladder, after, upto)
	if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("add up totals: %w", err)
	}
	return nil
}

func (s *Store) endRecount(ctx context.Context, tx pgx.Tx, ladder ranking.LadderID) error {
	const sql = `
		UPDATE ladder_tallies
		SET recounting = false, recount_player = DEFAULT, recount_month = DEFAULT, week_due_at = '-infinity' WHERE ladder_id = $1`
	if _, err := tx.Exec(ctx, sql, ladder); err != nil {
		return fmt.Errorf("end the recount: %w", err)
	}
	return nil
}

// StartRecount has the tallies of ladders counted again, from the start. The leader does it.
func (s *Store) StartRecount(ctx context.Context, ladders ...ranking.LadderID) error {
	var batch pgx.Batch
	for _, l := range ladders {
		batch.Queue(`
			INSERT INTO ladder_tallies (ladder_id, recounting) VALUES ($1, true)
			ON CONFLICT (ladder_id) DO UPDATE SET recounting = true, recount_player = DEFAULT, recount_month = DEFAULT`, l)
	}
	if err := s.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("start a recount: %w", postgres.Translate(err))
	}
	return nil
}
