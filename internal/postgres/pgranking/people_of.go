package pgranking

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// PeopleOf implements ranking.Store. Of thousands of people, it reads the names and the accounts apart: looking up each player for its
// standing takes half as long again. They come in arrays, because thousands of rows take long to transfer.
func (s *Store) PeopleOf(ctx context.Context, chat ranking.ExternalChatID) ([]ranking.Person, error) {
	const standings = `
		SELECT coalesce(array_agg(player_id), '{}'), coalesce(array_agg(name), '{}')
		FROM (SELECT player_id, name FROM group_players WHERE ladder_id = ` + postgres.ThisLadder + ` ORDER BY id) AS s`
	const accounts = `
		SELECT coalesce(array_agg(id), '{}'), coalesce(array_agg(coalesce(telegram_user_id, 0)), '{}'),
		       coalesce(array_agg(coalesce(username, '')), '{}')
		FROM players WHERE id = ANY (ARRAY(
		    SELECT player_id FROM group_players WHERE ladder_id = ` + postgres.ThisLadder + ` ORDER BY player_id))`
	var standing, players, users []int64 // pgx scans arrays of other types slowly
	var names, usernames []string
	var batch pgx.Batch
	batch.Queue(standings, chat).QueryRow(func(row pgx.Row) error { return row.Scan(&standing, &names) })
	batch.Queue(accounts, chat).QueryRow(func(row pgx.Row) error { return row.Scan(&players, &users, &usernames) })
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return nil, fmt.Errorf("read the people of a group: %w", postgres.Translate(err))
	}
	account := make(map[int64]int, len(players))
	for i, id := range players {
		account[id] = i
	}
	people := make([]ranking.Person, 0, len(standing))
	for i, id := range standing {
		if at, there := account[id]; there { // otherwise the player has just been merged into another one
			people = append(people, ranking.Person{
				ID: ranking.UserID(users[at]), Username: usernames[at], Name: names[i], Player: ranking.PlayerID(id),
			})
		}
	}
	return people, nil
}

// LastMatches implements ranking.Store.
func (s *Store) LastMatches(ctx context.Context, chat ranking.ExternalChatID, who ranking.Person, limit int) ([]ranking.PlayedBefore, error) {
	const sql = `
		SELECT last.id, last.own, last.other, coalesce(p.telegram_user_id, 0), coalesce(p.username, ''), p.display_name, p.id
		FROM (
		    SELECT m.id, mp.played_at, mp.side, CASE mp.side WHEN 1 THEN m.score_a ELSE m.score_b END AS own,
		           CASE mp.side WHEN 1 THEN m.score_b ELSE m.score_a END AS other
		    FROM match_players mp CROSS JOIN LATERAL (SELECT * FROM matches WHERE id = mp.match_id LIMIT 1) AS m
		    WHERE mp.player_id = ` + postgres.ThisPlayer + ` AND mp.ladder_id = ` + postgres.ThisLadder + ` AND m.undone_at IS NULL
		    ORDER BY mp.played_at DESC, mp.match_id DESC LIMIT $3) AS last
		CROSS JOIN LATERAL (SELECT * FROM match_players WHERE match_id = last.id AND side <> last.side ORDER BY place) AS against
		CROSS JOIN LATERAL (SELECT * FROM players WHERE id = against.player_id LIMIT 1) AS p
		ORDER BY last.played_at DESC, last.id DESC, against.place`
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
