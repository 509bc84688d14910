package pgranking

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// Read implements ranking.Store.
func (s *Store) Read(ctx context.Context, q ranking.Query) (ranking.Snapshot, error) {
	var snap ranking.Snapshot
	var batch pgx.Batch
	queueChat(&batch, q, &snap)
	if q.RateEntry != (ranking.RateEntry{}) {
		queueRecentUsage(&batch, q.RateEntry, &snap.RecentUsage)
	}
	if len(q.People) > 0 {
		queuePeople(&batch, q, &snap)
	}
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return ranking.Snapshot{}, fmt.Errorf("read: %w", postgres.Translate(err))
	}
	return snap, nil
}

func queueChat(batch *pgx.Batch, q ranking.Query, snap *ranking.Snapshot) {
	const sql = `
		SELECT EXISTS (SELECT FROM handled_commands WHERE key = $2),
		       coalesce(c.id, 0), coalesce(c.telegram_chat_id, 0), coalesce(c.kind, ''), coalesce(c.title, ''),
		       coalesce(g.id, 0),
		       coalesce(l.id, 0), coalesce(l.start_elo, 0), coalesce(l.k_factor, 0), coalesce(l.draws_allowed, false),
		       coalesce(l.uneven_teams_allowed, false), c.greeted_at, c.added_at
		FROM (SELECT ` + postgres.ThisChat + ` AS id) AS wanted
		LEFT JOIN chats c ON c.id = wanted.id
		LEFT JOIN groups g ON g.chat_id = c.id
		LEFT JOIN ladders l ON l.group_id = g.id AND l.is_default`
	batch.Queue(sql, q.Chat.ID, q.Key).QueryRow(func(row pgx.Row) error {
		c, l := &snap.Chat, &snap.Ladder
		return row.Scan(&snap.Handled, &snap.ChatID, &c.ID, &c.Kind, &c.Title, &snap.Group,
			&l.ID, &l.StartElo, &l.K, &l.DrawsAllowed, &l.UnevenTeamsAllowed,
			(*zeronull.Timestamptz)(&snap.Greeted), (*zeronull.Timestamptz)(&snap.Added))
	})
}

// thatPlayer is the player that ranking.Person.Identify chooses between those with a person's user id and username.
const thatPlayer = `coalesce(by_id.id,
		    CASE WHEN person.user_id = 0 OR by_name.telegram_user_id IS NULL THEN by_name.id END)`

func queuePeople(batch *pgx.Batch, q ranking.Query, snap *ranking.Snapshot) {
	const sql = `
		SELECT coalesce(by_id.id, 0), coalesce(by_id.telegram_user_id, 0),
		       coalesce(by_id.username, ''), coalesce(by_id.display_name, ''),
		       coalesce(by_name.id, 0), coalesce(by_name.telegram_user_id, 0),
		       coalesce(by_name.username, ''), coalesce(by_name.display_name, ''),
		       coalesce(s.id, 0), coalesce(s.player_id, 0), coalesce(s.name, ''),
		       coalesce(s.elo, 0), coalesce(s.start_elo, 0), coalesce(s.best_elo, 0), coalesce(s.version, 0),
		       coalesce(s.played, 0), coalesce(s.won, 0), coalesce(s.drawn, 0), coalesce(s.lost, 0),
		       coalesce(s.streak, 0), s.left_at, namesakes.others, namesakes.earlier,
		       CASE WHEN person.place <= $4 AND ` + thatPlayer + ` IS NULL THEN nextval('players_id_seq') ELSE 0 END
		FROM unnest($2::bigint[], $3::text[], $5::text[]) WITH ORDINALITY AS person (user_id, username, called, place)
		CROSS JOIN (SELECT ` + postgres.ThisLadder + ` AS id OFFSET 0) AS ladder -- looked up once
		LEFT JOIN players by_id ON by_id.telegram_user_id = person.user_id
		LEFT JOIN players by_name ON lower(by_name.username) = lower(person.username)
		LEFT JOIN group_players s ON s.ladder_id = ladder.id AND s.player_id = ` + thatPlayer + `
		CROSS JOIN LATERAL (
		    SELECT count(*) AS others, count(*) FILTER (WHERE s.id IS NULL OR o.id < s.id) AS earlier
		    FROM group_players o
		    WHERE o.ladder_id = ladder.id AND o.id IS DISTINCT FROM s.id
		      AND lower(o.name) = lower(coalesce(nullif(person.called, ''), CASE WHEN NOT $6 THEN s.name END,
		          by_id.display_name, by_name.display_name, person.username))
		) AS namesakes
		ORDER BY person.place`
	n := len(q.People)
	ids, usernames, called := make([]int64, n), make([]string, n), make([]string, n)
	for i, p := range q.People {
		ids[i], usernames[i] = int64(p.ID), p.Username
		if q.UseShownNames && p.ID != 0 {
			called[i] = p.Name
		}
	}
	batch.Queue(sql, q.Chat.ID, ids, usernames, q.ReserveFirst, called, q.UseShownNames).Query(func(rows pgx.Rows) error {
		var err error
		snap.People, err = pgx.CollectRows(rows, scanKnown)
		for i := range snap.People {
			k := &snap.People[i]
			k.Player = q.People[i].Identify(k.ByID, k.ByUsername)
		}
		return err
	})
}

func scanKnown(row pgx.CollectableRow) (ranking.Known, error) {
	var k ranking.Known
	var byID, byUsername ranking.Player
	var s ranking.Standing
	fields := append([]any{
		&byID.ID, &byID.UserID, &byID.Username, &byID.Name,
		&byUsername.ID, &byUsername.UserID, &byUsername.Username, &byUsername.Name,
	}, postgres.StandingFields(&s)...)
	err := row.Scan(append(fields, &k.Namesakes, &k.Earlier, &k.Reserved)...)
	if byID.ID != 0 {
		k.ByID = &byID
	}
	if byUsername.ID != 0 {
		k.ByUsername = &byUsername
	}
	if s.ID != 0 {
		k.Standing = &s
	}
	return k, err
}
