package pgranking

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// Read implements ranking.Store.
func (s *Store) Read(ctx context.Context, q ranking.Query) (ranking.Snapshot, error) {
	var snap ranking.Snapshot
	var batch pgx.Batch
	queueRead(&batch, q, &snap)
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return ranking.Snapshot{}, fmt.Errorf("read: %w", postgres.Translate(err))
	}
	if snap.Handled {
		s.wakeHandled(snap.ChatID)
	}
	return snap, nil
}

func queueRead(batch *pgx.Batch, q ranking.Query, snap *ranking.Snapshot) {
	queueChat(batch, q, snap)
	if q.RateEntry != (ranking.RateEntry{}) {
		queueRecentUsage(batch, q.RateEntry, &snap.RecentUsage)
	}
	if q.Further != (ranking.RateEntry{}) {
		queueRecentUsage(batch, q.Further, &snap.FurtherUsage)
	}
	if len(q.People) > 0 {
		queuePeople(batch, q, snap)
	}
	if !q.Equal.At.IsZero() { // after the standings: a match that is recorded in between changes those
		queueEqualResults(batch, q, &snap.Recent)
	}
}

func queueChat(batch *pgx.Batch, q ranking.Query, snap *ranking.Snapshot) {
	const sql = `
		SELECT EXISTS (SELECT FROM handled_commands WHERE key = $2)
		       OR EXISTS (SELECT FROM handled_commands WHERE key = $3 AND outcome <> 'refused'),
		       coalesce(c.id, 0), coalesce(c.telegram_chat_id, 0), coalesce(c.kind, ''), coalesce(c.title, ''),
		       coalesce(c.language, ''), coalesce(c.tables, false), NOT coalesce(c.celebrations, true),
		       coalesce(c.dark_charts, false), coalesce(g.id, 0),
		       coalesce(l.id, 0), coalesce(l.start_elo, 0), coalesce(l.k_factor, 0), coalesce(l.draws_allowed, false),
		       coalesce(l.uneven_teams_allowed, false), coalesce(l.provisional_k_factor, 0),
		       coalesce(l.provisional_matches, 0), coalesce(l.margin_of_victory, false), c.greeted_at, c.added_at
		FROM (VALUES (true)) AS one
		LEFT JOIN LATERAL (
		    SELECT * FROM chats WHERE telegram_chat_id = $1
		    UNION ALL SELECT c.* FROM chat_aliases a JOIN chats c ON c.id = a.chat_id WHERE a.telegram_chat_id = $1
		    LIMIT 1) AS c ON true
		LEFT JOIN groups g ON g.chat_id = c.id
		LEFT JOIN ladders l ON l.group_id = g.id AND l.is_default`
	batch.Queue(sql, q.Chat.ID, q.Key, zeronull.Text(q.Message)).QueryRow(func(row pgx.Row) error {
		c, l := &snap.Chat, &snap.Ladder
		return row.Scan(&snap.Handled, &snap.ChatID, &c.ID, &c.Kind, &c.Title, &snap.Display.Language, &snap.Display.Tables,
			&snap.Display.NoCelebrations, &snap.Display.DarkCharts, &snap.Group, &l.ID, &l.Start, &l.K, &l.DrawsAllowed,
			&l.UnevenTeamsAllowed, &l.Provisional.K, &l.Provisional.Matches, &l.Margin, (*zeronull.Timestamptz)(&snap.Greeted), (*zeronull.Timestamptz)(&snap.Added))
	})
}

// people is the query for people. %[1]s are further WITH queries, and %[2]s further columns.
//
// The last join must choose as ranking.Known.Identify does. The plan stays when tables grow: with LIMIT 1, the planner looks up each row by
// its key even in a new database, where it would scan whole groups otherwise.
const people = `
		WITH here AS MATERIALIZED (
		    SELECT g.id AS group_id, (SELECT id FROM ladders WHERE group_id = g.id AND is_default) AS ladder_id
		    FROM (SELECT ` + postgres.ThisGroup + ` AS id OFFSET 0) AS g)%[1]s
		SELECT coalesce(by_id.id, 0), coalesce(by_id.telegram_user_id, 0), coalesce(by_id.username, ''), coalesce(by_id.display_name, ''),
		       coalesce(by_name.id, 0), coalesce(by_name.telegram_user_id, 0), coalesce(by_name.username, ''), coalesce(by_name.display_name, ''),
		       coalesce(unclaimed.id, 0), 0, coalesce(unclaimed.username, ''), coalesce(unclaimed.display_name, ''),
		       seen.player_id IS NOT NULL, coalesce(seen.username, ''), seen.seen_at,
		       coalesce(s.id, 0), coalesce(s.player_id, 0), coalesce(s.name, ''),
		       coalesce(s.elo, 0), coalesce(s.start_elo, 0), coalesce(s.best_elo, 0), coalesce(s.longest_streak, 0), coalesce(s.version, 0),
		       coalesce(s.played, 0), coalesce(s.won, 0), coalesce(s.drawn, 0), coalesce(s.lost, 0),
		       coalesce(s.streak, 0), s.left_at, s.last_played_at%[2]s
		FROM unnest($2::bigint[], $3::text[]) WITH ORDINALITY AS person (user_id, username, place)
		CROSS JOIN here
		LEFT JOIN LATERAL (SELECT * FROM players WHERE telegram_user_id = nullif(person.user_id, 0) LIMIT 1) AS by_id ON true
		LEFT JOIN LATERAL (
		    SELECT * FROM sightings WHERE group_id = here.group_id AND player_id = by_id.id LIMIT 1) AS seen ON true
		LEFT JOIN LATERAL (
		    SELECT player_id FROM sightings
		    WHERE person.user_id = 0 AND group_id = here.group_id AND lower(username) = lower(person.username) LIMIT 1) AS named ON true
		LEFT JOIN LATERAL (SELECT * FROM players WHERE id = named.player_id LIMIT 1) AS by_name ON true
		LEFT JOIN LATERAL (
		    SELECT * FROM players
		    WHERE group_id = here.group_id AND lower(username) = lower(person.username) LIMIT 1) AS unclaimed ON true
		LEFT JOIN LATERAL (
		    SELECT * FROM group_players
		    WHERE ladder_id = here.ladder_id
		      AND player_id = coalesce(by_id.id, by_name.id, unclaimed.id)
		    LIMIT 1) AS s ON true
		ORDER BY person.place`

var (
	onlyPeople = fmt.Sprintf(people, "", "")
	// Both are read in one statement, so that the leaders are no older than the standings.
	peopleAndLeaders = fmt.Sprintf(people, `, leaders AS MATERIALIZED (`+leaders+`)`, `,
		       (SELECT array_agg(id ORDER BY elo DESC, id) FROM leaders), (SELECT array_agg(elo ORDER BY elo DESC, id) FROM leaders)`)
)

func queuePeople(batch *pgx.Batch, q ranking.Query, snap *ranking.Snapshot) {
	n := len(q.People)
	ids, usernames := make([]int64, n), make([]string, n)
	for i, p := range q.People {
		ids[i], usernames[i] = int64(p.ID), p.Username
	}
	sql, arguments := onlyPeople, []any{q.Chat.ID, ids, usernames}
	var standings []int64 // of the leaders; pgx scans arrays of other types slowly
	var elos []int32
	var further []any
	if q.Leaders.Limit > 0 {
		sql, arguments = peopleAndLeaders, append(arguments, q.Leaders.ActiveSince, q.Leaders.Limit)
		further = []any{&standings, &elos}
	}
	batch.Queue(sql, arguments...).Query(func(rows pgx.Rows) error {
		var err error
		snap.People, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (ranking.Known, error) { return scanKnown(row, further...) })
		for i, id := range standings {
			snap.Leaders = append(snap.Leaders, ranking.Leader{Standing: ranking.StandingID(id), Elo: int(elos[i])})
		}
		for i := range snap.People {
			snap.People[i].Identify(q.People[i])
		}
		return err
	})
}

// scanKnown scans a person, and what further columns have.
func scanKnown(row pgx.CollectableRow, further ...any) (ranking.Known, error) {
	var players [3]ranking.Player
	var isSeen bool
	var seen ranking.Sighting
	var s ranking.Standing
	var fields []any
	for i := range players {
		p := &players[i]
		fields = append(fields, &p.ID, &p.UserID, &p.Username, &p.Name)
	}
	fields = append(fields, &isSeen, &seen.Username, (*zeronull.Timestamptz)(&seen.At))
	err := row.Scan(slices.Concat(fields, postgres.StandingFields(&s), further)...)
	var k ranking.Known
	for i, to := range []**ranking.Player{&k.ByID, &k.ByUsername, &k.Unclaimed} {
		if players[i].ID != 0 {
			*to = &players[i]
		}
	}
	if isSeen {
		k.Sighting = &seen
	}
	if s.ID != 0 {
		k.Standing = &s
	}
	return k, err
}
