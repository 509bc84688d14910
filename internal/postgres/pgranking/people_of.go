package pgranking

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// PeopleOf implements ranking.Store. Whoever has just been merged into another player comes with the account of that one.
func (s *Store) PeopleOf(ctx context.Context, chat ranking.ExternalChatID) ([]ranking.Person, error) {
	const sql = `
		SELECT coalesce(account.telegram_user_id, 0), coalesce(account.username, ''), s.name, s.player_id
		FROM group_players s
		JOIN players p ON p.id = s.player_id
		JOIN players account ON account.id = coalesce(p.merged_into, p.id)
		WHERE s.ladder_id = ` + postgres.ThisLadder + ` ORDER BY s.id`
	rows, err := s.db.Query(ctx, sql, chat)
	if err != nil {
		return nil, fmt.Errorf("read the people of a group: %w", postgres.Translate(err))
	}
	people, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p ranking.Person, err error) {
		err = row.Scan(&p.ID, &p.Username, &p.Name, &p.Player)
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the people of a group: %w", postgres.Translate(err))
	}
	return people, nil
}

// LastMatches implements ranking.Store.
func (s *Store) LastMatches(ctx context.Context, chat ranking.ExternalChatID, who ranking.Person, limit int) ([]ranking.PlayedBefore, error) {
	const sql = `
		SELECT last.id, last.own, last.other, coalesce(p.telegram_user_id, 0), coalesce(p.username, ''), p.display_name, p.id
		FROM (
		    SELECT m.id, mp.side, CASE mp.side WHEN 1 THEN m.score_a ELSE m.score_b END AS own,
		           CASE mp.side WHEN 1 THEN m.score_b ELSE m.score_a END AS other
		    FROM match_players mp CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = mp.match_id LIMIT 1) AS m
		    WHERE mp.player_id = ` + postgres.ThisPlayer + ` AND m.ladder_id = ` + postgres.ThisLadder + ` AND m.undone_at IS NULL
		    ORDER BY mp.match_id DESC LIMIT $3) AS last
		CROSS JOIN LATERAL (SELECT * FROM match_players WHERE match_id = last.id AND side <> last.side ORDER BY place) AS against
		CROSS JOIN LATERAL (SELECT * FROM players WHERE id = against.player_id LIMIT 1) AS p
		ORDER BY last.id DESC, against.place`
	rows, err := s.db.Query(ctx, sql, chat, who.ID, limit)
	if err != nil {
		return nil, fmt.Errorf("read the last matches of a player: %w", postgres.Translate(err))
	}
	type opponent struct {
		match int64
		score ranking.Score
		ranking.Person
	}
	opponents, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o opponent, err error) {
		err = row.Scan(&o.match, &o.score.A, &o.score.B, &o.ID, &o.Username, &o.Name, &o.Player)
		return o, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the last matches of a player: %w", postgres.Translate(err))
	}
	var all []ranking.PlayedBefore
	for i, o := range opponents {
		if i == 0 || o.match != opponents[i-1].match {
			all = append(all, ranking.PlayedBefore{Score: o.score})
		}
		last := &all[len(all)-1]
		last.Opponents = append(last.Opponents, o.Person)
	}
	return all, nil
}
