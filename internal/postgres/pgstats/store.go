package pgstats

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// Store reads what questions ask for. It implements stats.Store.
type Store struct {
	questions, commands *pgxpool.Pool
}

var _ stats.Store = (*Store)(nil)

// NewStore returns a store that reads through questions. If no connection can be had there soon, because all are in use or
// the server accepts no more, it reads through commands.
func NewStore(questions, commands *pgxpool.Pool) *Store { return &Store{questions, commands} }

// send runs a batch of queries.
func (s *Store) send(ctx context.Context, batch *pgx.Batch) error {
	acquiring, cancel := context.WithTimeout(ctx, postgres.PingTimeout)
	conn, err := s.questions.Acquire(acquiring)
	cancel()
	if err != nil {
		return postgres.Translate(s.commands.SendBatch(ctx, batch).Close())
	}
	defer conn.Release()
	return postgres.Translate(conn.SendBatch(ctx, batch).Close())
}

// Ranking implements stats.Store.
func (s *Store) Ranking(ctx context.Context, chat ranking.ExternalChatID, asker *ranking.Person, number int) (stats.RankingPage, error) {
	return s.rankingPage(ctx, chat, asker, number, stats.PageRows)
}

// Top implements stats.Store.
func (s *Store) Top(ctx context.Context, chat ranking.ExternalChatID, asker *ranking.Person, places int) (stats.RankingPage, error) {
	page, err := s.rankingPage(ctx, chat, asker, 1, places)
	page.Page = 0
	return page, err
}

// rankingPage reads a page with this number of rows. Only the first page may have other than PageRows.
func (s *Store) rankingPage(
	ctx context.Context, chat ranking.ExternalChatID, asker *ranking.Person, number, rows int,
) (stats.RankingPage, error) {
	var page stats.RankingPage
	var shown []standing
	var own standing
	var batch pgx.Batch
	const title = `SELECT coalesce((SELECT title FROM chats WHERE id = ` + postgres.ThisChat + `), '')`
	batch.Queue(title, chat).QueryRow(func(row pgx.Row) error { return row.Scan(&page.Title) })
	better := 0 // how many players have a higher rating than the first one of the page
	queuePage(&batch, chat, number, rows, &shown)
	queueBounds(&batch, chat, number, rows, &page.Total, &better)
	if asker != nil {
		queueStanding(&batch, chat, postgres.ThisPlayer, asker.ID, &own)
	}
	if err := s.send(ctx, &batch); err != nil {
		return stats.RankingPage{}, err
	}
	page.Page = min(number, max(1, (page.Total+rows-1)/rows))
	first, _ := page.Bounds()
	for i, s := range shown {
		switch {
		case i == 0:
			shown[i].position = 1 + better
		case s.Elo == shown[i-1].Elo:
			shown[i].position = shown[i-1].position
		default:
			shown[i].position = first + i
		}
		page.Rows = append(page.Rows, shown[i].row())
	}
	if own.position > 0 && !slices.ContainsFunc(shown, func(s standing) bool { return s.ID == own.ID }) {
		row := own.row()
		page.Own = &row
	}
	return page, nil
}

// Standing implements stats.Store.
func (s *Store) Standing(ctx context.Context, chat ranking.ExternalChatID, who ranking.Person) (stats.MyStanding, error) {
	return s.standing(ctx, chat, postgres.ThisPlayer, who.ID)
}

// PlayerStanding implements stats.Store.
func (s *Store) PlayerStanding(ctx context.Context, chat ranking.ExternalChatID, player ranking.PlayerID) (stats.MyStanding, error) {
	return s.standing(ctx, chat, `$2`, player)
}

// standing reads the standing of the player whose id is an SQL expression with the parameter $2.
func (s *Store) standing(ctx context.Context, chat ranking.ExternalChatID, player string, id any) (stats.MyStanding, error) {
	var total int
	var own standing
	var batch pgx.Batch
	queueTotal(&batch, chat, &total)
	queueStanding(&batch, chat, player, id, &own)
	if err := s.send(ctx, &batch); err != nil {
		return stats.MyStanding{}, err
	}
	n := stats.MyStanding{Total: total}
	if own.ID != 0 {
		n.Name = ranking.Name{Player: own.Player}
		n.Position, n.Left = own.position, !own.LeftAt.IsZero()
		n.Elo, n.Best, n.Streak = own.Elo, own.BestElo, own.Streak
		n.Won, n.Drawn, n.Lost = own.Won, own.Drawn, own.Lost
	}
	return n, nil
}

// Standings implements stats.Store. It covers the groups that the bot is in and the person is a member of. The condition
// played <> 0 keeps the planner from the index of the ranking, which it would scan in a new database.
func (s *Store) Standings(ctx context.Context, who ranking.Person, limit int) (stats.MyStandings, error) {
	const sql = `
		SELECT mine.title, 1 + others.better, 1 + others.all, mine.elo, mine.won, mine.drawn, mine.lost, mine.groups
		FROM (
		    SELECT s.id, s.ladder_id, c.title, s.elo, s.played, s.won, s.drawn, s.lost, count(*) OVER () AS groups
		    FROM group_players s
		    JOIN ladders l ON l.id = s.ladder_id AND l.is_default
		    JOIN groups g ON g.id = l.group_id
		    JOIN chats c ON c.id = g.chat_id AND c.is_active
		    WHERE s.player_id = ` + postgres.ThisPlayer + ` AND s.played <> 0 AND s.left_at IS NULL
		    ORDER BY s.played DESC, s.id LIMIT $1
		) AS mine
		CROSS JOIN LATERAL (
		    SELECT count(*) AS all, count(*) FILTER (WHERE o.elo > mine.elo) AS better FROM group_players o
		    WHERE o.ladder_id = mine.ladder_id AND o.played > 0 AND o.left_at IS NULL AND o.id <> mine.id
		) AS others
		ORDER BY mine.played DESC, mine.id`
	var n stats.MyStandings
	var batch pgx.Batch
	batch.Queue(sql, limit, who.ID).Query(func(rows pgx.Rows) (err error) {
		n.Groups, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (stats.GroupStanding, error) {
			var g stats.GroupStanding
			var all int
			err := row.Scan(&g.Title, &g.Position, &g.Total, &g.Elo, &g.Won, &g.Drawn, &g.Lost, &all)
			n.More = max(0, all-limit)
			return g, err
		})
		return err
	})
	err := s.send(ctx, &batch)
	return n, err
}

// standing is a person's standing in a group. If ID is 0, the person is not in the ladder.
type standing struct {
	ranking.RankedPlayer
	position int // 0 if the ranking does not show the person
}

func (s standing) row() stats.Row {
	return stats.Row{Position: s.position, Name: ranking.Name{Player: s.Player}, Elo: s.Elo, Won: s.Won, Drawn: s.Drawn, Lost: s.Lost}
}

// inRanking is the condition that the ranking shows the standing s.
const inRanking = `s.played > 0 AND s.left_at IS NULL`

// pageOffset is how many players of ThisLadder come before the page $2 of $3 rows, or before the last page if there are
// fewer pages.
const pageOffset = `(
		    SELECT greatest(0, least(($2::bigint - 1) * $3::bigint, (count(*) - 1) / $3 * $3))
		    FROM group_players s WHERE ` + inRanking + ` AND s.ladder_id = ` + postgres.ThisLadder + `)`

// queuePage reads the standings on a page of the ranking. Equal ratings share a position, and are in the order in which
// the players joined the ladder.
func queuePage(batch *pgx.Batch, chat ranking.ExternalChatID, number, size int, shown *[]standing) {
	const sql = postgres.RankedPlayers + postgres.ThisLadder + ` AND ` + inRanking + `
		ORDER BY s.elo DESC, s.id OFFSET ` + pageOffset + ` LIMIT $3`
	batch.Queue(sql, chat, number, size).Query(func(rows pgx.Rows) error {
		all, err := pgx.CollectRows(rows, postgres.ScanRankedPlayer)
		for _, c := range all {
			*shown = append(*shown, standing{RankedPlayer: c})
		}
		return err
	})
}

// queueBounds counts the players in the ranking, and those with a higher rating than the first one on a page.
func queueBounds(batch *pgx.Batch, chat ranking.ExternalChatID, number, size int, total, better *int) {
	const sql = `
		WITH first AS (
		    SELECT s.elo FROM group_players s WHERE ` + inRanking + ` AND s.ladder_id = ` + postgres.ThisLadder + `
		    ORDER BY s.elo DESC, s.id OFFSET ` + pageOffset + ` LIMIT 1
		)
		SELECT count(*), count(*) FILTER (WHERE s.elo > (SELECT elo FROM first))
		FROM group_players s WHERE ` + inRanking + ` AND s.ladder_id = ` + postgres.ThisLadder
	batch.Queue(sql, chat, number, size).QueryRow(func(row pgx.Row) error { return row.Scan(total, better) })
}

// queueTotal counts the players in the ranking.
func queueTotal(batch *pgx.Batch, chat ranking.ExternalChatID, total *int) {
	const sql = `
		SELECT count(*) FROM group_players s WHERE ` + inRanking + ` AND s.ladder_id = ` + postgres.ThisLadder
	batch.Queue(sql, chat).QueryRow(func(row pgx.Row) error { return row.Scan(total) })
}

// queueStanding reads a standing in a group. player is the SQL expression of the player's id, whose parameter $2 is id.
func queueStanding(batch *pgx.Batch, chat ranking.ExternalChatID, player string, id any, own *standing) {
	sql := `
		SELECT s.id, s.player_id, s.name, s.elo, s.start_elo, s.best_elo, s.version,
		       s.played, s.won, s.drawn, s.lost, s.streak, s.left_at,
		       CASE WHEN s.played > 0 AND s.left_at IS NULL THEN
		           (SELECT 1 + count(*) FROM group_players o
		            WHERE o.ladder_id = s.ladder_id AND o.played > 0 AND o.left_at IS NULL AND o.elo > s.elo)
		       ELSE 0 END
		FROM group_players s
		WHERE s.ladder_id = ` + postgres.ThisLadder + ` AND s.player_id = ` + player
	batch.Queue(sql, chat, id).Query(func(rows pgx.Rows) error {
		for rows.Next() { // at most once
			err := rows.Scan(append(postgres.StandingFields(&own.Standing), &own.position)...)
			if err != nil {
				return fmt.Errorf("scan standing: %w", err)
			}
		}
		return rows.Err()
	})
}
