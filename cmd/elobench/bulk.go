package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

const (
	// bulkChunk is small enough for frequent progress messages, and large enough that commits take little of the time.
	bulkChunk = 100_000
	// bulkEnded is the time between the last bulk match and the start of the bot, so that no match counts against a limit.
	bulkEnded = time.Hour
)

// bulk is the match history of a workload before the measurement: matches with all rows that the bot would have written
// for them. All matches are draws between players of the same rating. A draw changes no rating, so that the ratings are
// right without calculation. All matches fall into two days, so that no row is old enough for the cleanup.
//
// The groups take turns, and in each group everybody plays everybody. Ids start at 1: a group, its chat and its ladder
// have the same id, and players are numbered group by group. Message ids start at a billion, out of the simulator's range.
type bulk struct {
	matches int
	chunk   int // matches per transaction
	load    *workload
	until   time.Time // when the last match was played
}

// bulkPeople inserts the chats and players as the bot stores them after their first message.
var bulkPeople = []string{
	`INSERT INTO chats (id, telegram_chat_id, kind, title) OVERRIDING SYSTEM VALUE
	 SELECT id, telegram_chat_id, 'supergroup', title
	 FROM unnest(@chats::bigint[], @titles::text[]) WITH ORDINALITY AS c (telegram_chat_id, title, id)`,
	`INSERT INTO players (id, telegram_user_id, username, display_name) OVERRIDING SYSTEM VALUE
	 SELECT id, telegram_user_id, username, name
	 FROM unnest(@users::bigint[], @usernames::text[], @names::text[]) WITH ORDINALITY
	      AS p (telegram_user_id, username, name, id)`,
}

// bulkPlayed selects the matches from @first to @last: the number, the reporter and the message, the opponent, the time,
// and the message of the bot's answer.
const bulkPlayed = `(
	SELECT i AS id, turn.group_id, turn.number, c.telegram_chat_id,
	       one.id AS one, one.telegram_user_id AS sender, one.display_name AS one_name,
	       other.id AS other, other.display_name AS other_name,
	       1000000000 + 2 * turn.number - 1 AS message, 1000000000 + 2 * turn.number AS answer,
	       'm:' || c.telegram_chat_id || ':' || 1000000000 + 2 * turn.number - 1 AS key,
	       @until::timestamptz - (interval '2 days' * ((@matches::bigint - i)::float8 / @matches::bigint)) AS played_at
	FROM generate_series(@first::bigint, @last::bigint) AS i
	CROSS JOIN LATERAL (
	    SELECT (i - 1) % @groups::bigint + 1 AS group_id, (i - 1) / @groups::bigint + 1 AS number) AS turn
	CROSS JOIN LATERAL (
	    SELECT (turn.number - 1) % @people::bigint AS place,
	           (turn.number - 1) / @people::bigint % (@people::bigint - 1) + 1 AS apart) AS pair
	JOIN chats c ON c.id = turn.group_id
	JOIN players one ON one.id = (turn.group_id - 1) * @people::bigint + pair.place + 1
	JOIN players other
	     ON other.id = (turn.group_id - 1) * @people::bigint + (pair.place + pair.apart) % @people::bigint + 1
	) AS m`

// bulkMatches inserts the matches from @first to @last. Each statement fills one table.
var bulkMatches = []string{
	`INSERT INTO matches (id, group_id, ladder_id, number, score_a, score_b, k_factor, reported_by, played_at,
	                      idempotency_key, created_at) OVERRIDING SYSTEM VALUE
	 SELECT id, group_id, group_id, number, 2, 2, 32, one, date_trunc('second', played_at), key, played_at
	 FROM ` + bulkPlayed + ` ORDER BY id`,
	`INSERT INTO match_players (match_id, player_id, side, ladder_id, played_at)
	 SELECT id, player_id, side, group_id, date_trunc('second', played_at)
	 FROM ` + bulkPlayed + ` CROSS JOIN LATERAL (VALUES (one, 1), (other, 2)) AS p (player_id, side) ORDER BY id, side`,
	`INSERT INTO elo_history (id, match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, reason,
	                          created_at) OVERRIDING SYSTEM VALUE
	 SELECT 2 * id - 2 + side, id, player_id, 1500, 1500, 32, 1500, 0, 'match', played_at
	 FROM ` + bulkPlayed + ` CROSS JOIN LATERAL (VALUES (one, 1), (other, 2)) AS p (player_id, side) ORDER BY id, side`,
	`INSERT INTO handled_commands (key, handled_at, sender, sent_at, rate_class, outcome)
	 SELECT key, played_at, sender, date_trunc('second', played_at), 'result', 'recorded' FROM ` + bulkPlayed + ` ORDER BY id`,
	`INSERT INTO outbox (id, chat_id, key, kind, purpose, payload, state, attempts, addressee, reply_to, match_id,
	                     telegram_message_id, created_at, tried_at, finished_at, expires_at) OVERRIDING SYSTEM VALUE
	 SELECT id, group_id, key, 'match_recorded', 'outcome',
	        jsonb_build_object('number', number, 'sides', jsonb_build_array(
	            jsonb_build_object('score', 2, 'players', jsonb_build_array(jsonb_build_object(
	                'name', jsonb_build_object('name', one_name), 'before', 1500, 'after', 1500))),
	            jsonb_build_object('score', 2, 'players', jsonb_build_array(jsonb_build_object(
	                'name', jsonb_build_object('name', other_name), 'before', 1500, 'after', 1500))))),
	        'sent', 1, one_name, message, id, answer, played_at, played_at, played_at,
	        date_trunc('second', played_at) + interval '24 hours'
	 FROM ` + bulkPlayed + ` ORDER BY id`,
	`INSERT INTO match_messages (telegram_chat_id, telegram_message_id, match_id, outbox_id, fingerprint)
	 SELECT telegram_chat_id, answer, id, id, encode(substr(sha256(key::bytea), 1, 8), 'hex')
	 FROM ` + bulkPlayed + ` ORDER BY id`,
}

// bulkStandings inserts the standings after all matches, and sets the sequences past the inserted ids.
var bulkStandings = []string{
	`INSERT INTO groups (id, chat_id, last_match_number) OVERRIDING SYSTEM VALUE
	 SELECT id, id, coalesce((SELECT max(number) FROM matches WHERE group_id = c.id), 0) FROM chats c ORDER BY id`,
	`INSERT INTO ladders (id, group_id, is_default) OVERRIDING SYSTEM VALUE
	 SELECT id, id, true FROM groups ORDER BY id`,
	`INSERT INTO group_players (id, ladder_id, player_id, name, elo, start_elo, best_elo, version, played, drawn, last_played_at)
	 OVERRIDING SYSTEM VALUE
	 SELECT id, (id - 1) / @people::bigint + 1, id, display_name, 1500, 1500, 1500, greatest(played, 1), played, played, last
	 FROM players p CROSS JOIN LATERAL (
	     SELECT count(*) AS played, max(mp.played_at) AS last FROM match_players mp WHERE mp.player_id = p.id) AS of_player
	 ORDER BY id`,
	`INSERT INTO player_months (ladder_id, player_id, month, played, won, drawn, lost, best_elo, best_match)
	 SELECT ladder_id, player_id, date_trunc('month', played_at AT TIME ZONE 'UTC') AS month, count(*), 0, count(*), 0, 1500, min(match_id)
	 FROM match_players GROUP BY ladder_id, player_id, month ORDER BY ladder_id, player_id, month`,
	`INSERT INTO pair_months (ladder_id, player_id, other_id, together, month, played, won, drawn, lost,
	                          points_for, points_against, gained, surplus)
	 SELECT p.ladder_id, p.player_id, o.player_id, false, date_trunc('month', p.played_at AT TIME ZONE 'UTC') AS month,
	        count(*), 0, count(*), 0, 2 * count(*), 2 * count(*), 0, 0
	 FROM match_players p JOIN match_players o ON o.match_id = p.match_id AND o.side <> p.side
	 GROUP BY p.ladder_id, p.player_id, o.player_id, month ORDER BY p.ladder_id, p.player_id, o.player_id, month`,
	`INSERT INTO pair_totals
	 SELECT ladder_id, player_id, other_id, false, sum(played), 0, sum(drawn), 0, sum(points_for), sum(points_against), 0, 0
	 FROM pair_months GROUP BY ladder_id, player_id, other_id ORDER BY ladder_id, player_id, other_id`,
	`INSERT INTO sightings (group_id, player_id, username, seen_at)
	 SELECT (id - 1) / @people::bigint + 1, id, username, @until::timestamptz - interval '2 days' FROM players ORDER BY id`,
	`SELECT setval('chats_id_seq', (SELECT max(id) FROM chats)),
	        setval('players_id_seq', (SELECT max(id) FROM players)),
	        setval('groups_id_seq', (SELECT max(id) FROM groups)),
	        setval('ladders_id_seq', (SELECT max(id) FROM ladders)),
	        setval('group_players_id_seq', (SELECT max(id) FROM group_players)),
	        setval('matches_id_seq', (SELECT max(id) FROM matches)),
	        setval('elo_history_id_seq', (SELECT max(id) FROM elo_history)),
	        setval('outbox_id_seq', (SELECT max(id) FROM outbox))`,
}

// write fills an empty database. It leaves the database like one that has been in use for a long time: vacuumed, analyzed
// and written to disk.
func (b bulk) write(ctx context.Context, db database, progress *progress) error {
	if err := b.run(ctx, db, 0, 0, bulkPeople...); err != nil {
		return fmt.Errorf("insert players: %w", err)
	}
	reported := time.Now()
	for first := 1; first <= b.matches; first += b.chunk {
		last := min(first+b.chunk-1, b.matches)
		tables, chunkCtx := errgroup.WithContext(ctx)
		tables.SetLimit(runtime.NumCPU())
		for _, sql := range bulkMatches {
			tables.Go(func() error { return b.run(chunkCtx, db, first, last, sql) })
		}
		if err := tables.Wait(); err != nil {
			return fmt.Errorf("insert matches from %d on: %w", first, err)
		}
		if time.Since(reported) > progressEvery {
			reported = time.Now()
			progress.log("inserted %d of %d matches", last, b.matches)
		}
	}
	if err := b.run(ctx, db, 0, 0, bulkStandings...); err != nil {
		return fmt.Errorf("insert standings: %w", err)
	}
	for _, sql := range []string{"VACUUM (ANALYZE)", "CHECKPOINT"} {
		if _, err := db.Exec(ctx, sql); err != nil {
			return fmt.Errorf("clean up: %w", err)
		}
	}
	return nil
}

// run runs statements in a transaction. To save time it disables foreign key checks, so that the order of the tables does
// not matter, and does not wait for the disk, because write ends with a checkpoint.
func (b bulk) run(ctx context.Context, db database, first, last int, statements ...string) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		const settings = `
			SELECT set_config('session_replication_role', 'replica', true),
			       set_config('synchronous_commit', 'off', true)`
		if _, err := tx.Exec(ctx, settings); err != nil {
			return err
		}
		args := b.arguments(first, last)
		for _, sql := range statements {
			if _, err := tx.Exec(ctx, sql, args); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b bulk) arguments(first, last int) pgx.NamedArgs {
	var chats, users []int64
	var titles, usernames, names []string
	for g, group := range b.load.groups {
		chats, titles = append(chats, group.ID()), append(titles, group.Title())
		for _, u := range b.load.people[g] {
			users, usernames, names = append(users, u.ID), append(usernames, u.Username), append(names, u.FirstName)
		}
	}
	return pgx.NamedArgs{
		"chats": chats, "titles": titles, "users": users, "usernames": usernames, "names": names,
		"groups": len(chats), "people": len(users) / len(chats), "matches": b.matches, "first": first, "last": last,
		"until": b.until,
	}
}
