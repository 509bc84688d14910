package pgstats

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// thisOne is the player with the id $2, or whom that one turned out to be: the id may be that of an old button.
const thisOne = `coalesce((SELECT merged_into FROM players WHERE id = $2), $2::bigint)`

// Player implements stats.Store.
func (s *Store) Player(
	ctx context.Context, chat ranking.ExternalChatID, player ranking.PlayerID, since time.Time,
) (stats.MyStanding, error) {
	var n stats.MyStanding
	var batch pgx.Batch
	queueFreshness(&batch, chat, &n.Freshness)
	queuePlayer(&batch, chat, player, since, &n)
	queueLastMatches(&batch, chat, player, &n)
	queueBest(&batch, chat, player, &n)
	queueUpset(&batch, chat, player, &n)
	queuePairings(&batch, chat, player, &n)
	if err := s.send(ctx, &batch); err != nil {
		return stats.MyStanding{}, err
	}
	return n, nil
}

// queuePlayer reads a standing and its place. Without a standing, nothing is set.
func queuePlayer(batch *pgx.Batch, chat ranking.ExternalChatID, player ranking.PlayerID, since time.Time, n *stats.MyStanding) {
	const sql = `
		SELECT s.player_id, s.elo, s.best_elo, s.won, s.drawn, s.lost, s.streak, s.left_at IS NOT NULL,
		       coalesce(s.last_played_at <= $3, false), NOT l.draws_allowed, coalesce(places.better + 1, 0), coalesce(places.all, 0)
		FROM ladders l
		CROSS JOIN LATERAL (SELECT * FROM group_players WHERE ladder_id = l.id AND player_id = ` + thisOne + ` LIMIT 1) AS s
		LEFT JOIN LATERAL (
		    SELECT count(*) AS all, count(*) FILTER (WHERE o.elo > s.elo) AS better, bool_or(o.id = s.id) AS shows
		    FROM group_players o WHERE o.ladder_id = l.id AND ` + hasPlace + `
		) AS places ON places.shows
		WHERE l.id = ` + postgres.ThisLadder
	batch.Queue(sql, chat, player, since).Query(func(rows pgx.Rows) error {
		for rows.Next() { // at most once
			if err := rows.Scan(&n.Name.Player, &n.Elo, &n.Best, &n.Won, &n.Drawn, &n.Lost, &n.Streak, &n.Left,
				&n.Inactive, &n.NoDraws, &n.Position, &n.Total); err != nil {
				return fmt.Errorf("scan the standing of a player: %w", err)
			}
		}
		return rows.Err()
	})
}

// queueLastMatches reads the last matches of a player, and the form.
func queueLastMatches(batch *pgx.Batch, chat ranking.ExternalChatID, player ranking.PlayerID, n *stats.MyStanding) {
	const sql = `
		SELECT m.number, m.played_at, CASE last.side WHEN 1 THEN m.score_a ELSE m.score_b END,
		       CASE last.side WHEN 1 THEN m.score_b ELSE m.score_a END, h.elo_after - h.elo_before,
		       ARRAY(SELECT player_id FROM match_players WHERE match_id = m.id AND side <> last.side ORDER BY place)
		FROM match_players last
		CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = last.match_id LIMIT 1) AS m
		CROSS JOIN LATERAL (
		    SELECT * FROM elo_history WHERE match_id = last.match_id AND player_id = last.player_id AND superseded_at IS NULL LIMIT 1
		) AS h
		WHERE last.player_id = ` + thisOne + ` AND last.ladder_id = ` + postgres.ThisLadder + ` AND m.undone_at IS NULL
		ORDER BY last.played_at DESC, last.match_id DESC LIMIT $3`
	batch.Queue(sql, chat, player, stats.FormMatches).Query(func(rows pgx.Rows) error {
		last, err := pgx.CollectRows(rows, scanPlayedMatch)
		for i, m := range last {
			n.Form = string(letter(m.Score)) + n.Form
			if i < stats.LastMatches {
				n.Last = append(n.Last, m)
			}
		}
		return err
	})
}

func scanPlayedMatch(row pgx.CollectableRow) (m stats.PlayedMatch, err error) {
	var against []ranking.PlayerID
	err = row.Scan(&m.Number, &m.At, &m.Score[0], &m.Score[1], &m.Change, &against)
	m.At, m.Against = m.At.UTC(), names(against)
	return m, err
}

// letter returns how a match counts in the form.
func letter(score [2]int) byte {
	switch {
	case score[0] > score[1]:
		return 'w'
	case score[0] < score[1]:
		return 'l'
	default:
		return 'd'
	}
}

func names(players []ranking.PlayerID) []ranking.Name {
	all := make([]ranking.Name, len(players))
	for i, p := range players {
		all[i].Player = p
	}
	return all
}

// queueBest reads the match in which a player reached the best rating. There is none if that is the start rating.
func queueBest(batch *pgx.Batch, chat ranking.ExternalChatID, player ranking.PlayerID, n *stats.MyStanding) {
	const sql = `
		SELECT m.number, m.played_at
		FROM (
		    SELECT best_elo, best_match FROM player_months WHERE ladder_id = ` + postgres.ThisLadder + ` AND player_id = ` + thisOne + `
		    ORDER BY best_elo DESC, month LIMIT 1
		) AS best
		CROSS JOIN LATERAL (
		    SELECT * FROM group_players WHERE ladder_id = ` + postgres.ThisLadder + ` AND player_id = ` + thisOne + ` LIMIT 1) AS s
		CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = best.best_match LIMIT 1) AS m
		WHERE s.best_elo = best.best_elo AND s.best_elo > s.start_elo`
	batch.Queue(sql, chat, player).Query(func(rows pgx.Rows) error {
		best, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[stats.MatchRef])
		for _, m := range best { // at most one
			m.At, n.BestIn = m.At.UTC(), m
		}
		return err
	})
}

// queueUpset reads the biggest upset of a player.
func queueUpset(batch *pgx.Batch, chat ranking.ExternalChatID, player ranking.PlayerID, n *stats.MyStanding) {
	const sql = `
		SELECT m.number, m.played_at, best.upset, ` + beatenBy + `
		FROM (
		    SELECT player_id, upset, upset_match FROM player_months
		    WHERE ladder_id = ` + postgres.ThisLadder + ` AND player_id = ` + thisOne + ` AND upset IS NOT NULL
		    ORDER BY upset DESC, month LIMIT 1
		) AS best
		CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = best.upset_match LIMIT 1) AS m`
	batch.Queue(sql, chat, player).Query(func(rows pgx.Rows) error {
		for rows.Next() { // at most once
			var u stats.Upset
			var beaten []ranking.PlayerID
			if err := rows.Scan(&u.Number, &u.At, &u.By, &beaten); err != nil {
				return fmt.Errorf("scan an upset: %w", err)
			}
			u.At, u.Beaten, n.Upset = u.At.UTC(), names(beaten), &u
		}
		return rows.Err()
	})
}

// beatenBy are the opponents of the player of best in the match m.
const beatenBy = `ARRAY(
		    SELECT player_id FROM match_players
		    WHERE match_id = m.id AND side <> (SELECT side FROM match_players WHERE match_id = m.id AND player_id = best.player_id)
		    ORDER BY place)`

// surplus is by how much more than expected a player scores in a match of a pair. Together with played >= 5 it has the form of the
// index.
const surplus = `surplus::float8 / played`

// queuePairings reads whom a player played most, and against whom and together with whom the player did best and worst. A surplus of
// zero is neither. The best value is the first one of an index. Only then the pairs that have it are compared: in one query, the
// planner would sort the thousands of pairs of a player who plays very much.
func queuePairings(batch *pgx.Batch, chat ranking.ExternalChatID, player ranking.PlayerID, n *stats.MyStanding) {
	for _, q := range []struct {
		which, value, direction string
		to                      **stats.Pairing
	}{
		{`NOT together`, `played`, `DESC`, &n.Most},
		{`together = false AND played >= 5 AND ` + surplus + ` > 0`, surplus, `DESC`, &n.Favourite},
		{`together = false AND played >= 5 AND ` + surplus + ` < 0`, surplus, ``, &n.Hardest},
		{`together = true AND played >= 5 AND ` + surplus + ` > 0`, surplus, `DESC`, &n.Partner},
	} {
		pairs := ` FROM pair_totals
			WHERE ladder_id = (SELECT ladder FROM us) AND player_id = (SELECT player FROM us) AND ` + q.which
		sql := `
			WITH us AS MATERIALIZED (SELECT ` + postgres.ThisLadder + ` AS ladder, ` + thisOne + ` AS player),
			best AS MATERIALIZED (SELECT ` + q.value + ` AS value` + pairs + ` ORDER BY ` + q.value + ` ` + q.direction + ` LIMIT 1)
			SELECT other_id, played, won, drawn, lost` + pairs + ` AND ` + q.value + ` = (SELECT value FROM best)
			ORDER BY other_id LIMIT 1`
		batch.Queue(sql, chat, player).Query(func(rows pgx.Rows) error {
			for rows.Next() { // at most once
				var p stats.Pairing
				if err := rows.Scan(&p.With.Player, &p.Played, &p.Won, &p.Drawn, &p.Lost); err != nil {
					return fmt.Errorf("scan a pair of players: %w", err)
				}
				*q.to = &p
			}
			return rows.Err()
		})
	}
}
