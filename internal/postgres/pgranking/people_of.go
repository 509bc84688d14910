package pgranking

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// PeopleOf implements ranking.Store.
func (s *Store) PeopleOf(ctx context.Context, chat ranking.ExternalChatID) ([]ranking.Person, error) {
	const sql = `
		SELECT coalesce(p.telegram_user_id, 0), coalesce(p.username, ''), s.name
		FROM group_players s
		CROSS JOIN LATERAL (SELECT * FROM players WHERE id = s.player_id LIMIT 1) AS p
		WHERE s.ladder_id = ` + postgres.ThisLadder + `
		ORDER BY s.id`
	rows, err := s.db.Query(ctx, sql, chat)
	if err != nil {
		return nil, fmt.Errorf("read the people of a group: %w", postgres.Translate(err))
	}
	people, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p ranking.Person, err error) {
		err = row.Scan(&p.ID, &p.Username, &p.Name)
		p.Known = p.ID != 0
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the people of a group: %w", postgres.Translate(err))
	}
	return people, nil
}
