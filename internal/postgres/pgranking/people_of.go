package pgranking

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// PeopleOf implements ranking.Store. It reads names and accounts one after the other: with thousands of people, a join takes half as long
// again. Both come as arrays, because transferring thousands of rows is slow.
func (s *Store) PeopleOf(ctx context.Context, chat ranking.ExternalChatID) ([]ranking.Person, error) {
	const sql = `
		SELECT coalesce(array_agg(player_id), '{}'), coalesce(array_agg(name), '{}')
		FROM (SELECT player_id, name FROM group_players WHERE ladder_id = ` + postgres.ThisLadder + ` ORDER BY id) AS s`
	var players []int64 // pgx scans arrays of other types slowly
	var names []string
	if err := s.db.QueryRow(ctx, sql, chat).Scan(&players, &names); err != nil {
		return nil, fmt.Errorf("read the people of a group: %w", postgres.Translate(err))
	}
	if len(players) == 0 {
		return nil, nil
	}
	accounts, err := s.accounts(ctx, players)
	if err != nil {
		return nil, err
	}
	people := make([]ranking.Person, len(players))
	for i, player := range players {
		people[i] = accounts[player]
		people[i].Name = names[i]
	}
	return people, nil
}

// accounts returns these players, and perhaps others, without their names. There must be one at least. Whoever has just been merged
// into another player comes with the account of that one.
//
// If most players of a range are wanted, as those of the largest group of a host may be, reading the whole range takes about half as long
// as looking up each of them.
func (s *Store) accounts(ctx context.Context, players []int64) (map[int64]ranking.Person, error) {
	const sql = `
		SELECT array_agg(p.id),
		       array_agg(coalesce(p.telegram_user_id, (SELECT telegram_user_id FROM players WHERE id = p.merged_into), 0)),
		       array_agg(coalesce(p.username, (SELECT username FROM players WHERE id = p.merged_into), ''))
		FROM players p WHERE p.id `
	var row pgx.Row
	if first, last := slices.Min(players), slices.Max(players); last-first < 2*int64(len(players)) {
		row = s.db.QueryRow(ctx, sql+"BETWEEN $1 AND $2", first, last)
	} else {
		row = s.db.QueryRow(ctx, sql+"= ANY ($1)", players)
	}
	var ids, users []int64
	var usernames []string
	if err := row.Scan(&ids, &users, &usernames); err != nil {
		return nil, fmt.Errorf("read the accounts of a group: %w", postgres.Translate(err))
	}
	accounts := make(map[int64]ranking.Person, len(ids))
	for i, id := range ids {
		accounts[id] = ranking.Person{ID: ranking.UserID(users[i]), Username: usernames[i], Player: ranking.PlayerID(id)}
	}
	return accounts, nil
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
