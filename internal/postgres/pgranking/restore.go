package pgranking

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"elobot/internal/crashpoint"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/transfer"
)

// One statement inserts up to chunkRows rows, of about chunkBytes at most.
const (
	chunkRows  = 2000
	chunkBytes = 1 << 20
)

// What an export may contain, far beyond what groups have.
const (
	longestText   = 256
	highestNumber = 5_000_000 // of a match
)

// Restore implements ranking.Locked.
func (l *locked) Restore(ctx context.Context, here ranking.Here, e *transfer.Export) (*ranking.RestoredGroup, error) {
	crashpoint.At(crashpoint.Applying)
	r := restore{locked: l, here: here, export: e, ids: make(map[string][]int64)}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	err := r.insertAll(ctx)
	var pg *pgconn.PgError
	// The classes mean unusable values, contradictions between rows, and too large values.
	if errors.As(err, &pg) && slices.Contains([]string{"21", "22", "23", "54"}, pg.Code[:2]) {
		err = r.badRow(cmp.Or(pg.ConstraintName, pg.ColumnName, pg.Message))
	}
	l.many = len(r.ids["matches"]) >= manyMatches
	return &ranking.RestoredGroup{
		ImportChanges: ranking.ImportChanges{Group: here.Group, Number: r.number},
		Matches:       len(r.ids["matches"]), Players: len(r.ids["players"]),
	}, err
}

// restore is a restore in a transaction that holds the group's lock.
type restore struct {
	*locked
	here   ranking.Here
	export *transfer.Export
	// columns has the types and the defaults of columns by table and name, such as
	// "matches.number".
	columns map[string]column
	ids     map[string][]int64 // the ids of rows by table, in the order of their ids in the export
	free    []int64            // the ids of players without a name
	table   string             // the current table
	first   int                // the number of the first row of the current chunk
	number  int                // of the import, 0 for none
}

type column struct{ Name, Type, Default string }

func (r *restore) badRow(value string) error {
	return transfer.Fault{Line: r.first, Column: r.table, Reason: transfer.BadExportRow, Value: value}
}

// prepare checks whether the export can be restored, and clears the group.
func (r *restore) prepare(ctx context.Context) error {
	var schema int
	var isEmpty bool
	err := r.db.QueryRow(ctx, `
		SELECT version, NOT EXISTS (SELECT FROM matches WHERE group_id = $1) FROM schema_migrations`, r.here.Group).
		Scan(&schema, &isEmpty)
	switch {
	case err != nil:
		return fmt.Errorf("read the state of a group: %w", Translate(err))
	case r.export.Header.Schema > schema:
		return transfer.Fault{Reason: transfer.NewerExport}
	case !isEmpty:
		return ranking.ErrNotEmpty
	}
	all, err := postgres.Collect(ctx, r.db, "read columns", pgx.RowToStructByPos[column], `
		SELECT a.attrelid::regclass || '.' || a.attname, format_type(a.atttypid, NULL),
		       coalesce(pg_get_expr(d.adbin, d.adrelid), 'NULL')
		FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE a.attrelid = ANY ($1::text[]::regclass[]) AND a.attnum > 0 AND NOT a.attisdropped`, exportTableNames())
	if err != nil {
		return err
	}
	r.columns = make(map[string]column, len(all))
	for _, c := range all {
		r.columns[c.Name] = c
	}
	return r.clear(ctx)
}

// insertAll inserts everything, and checks it.
func (r *restore) insertAll(ctx context.Context) error {
	for _, t := range exportTables {
		if err := r.restoreTable(ctx, t); err != nil {
			return err
		}
	}
	if err := r.export.End(); err != nil {
		return err
	}
	return r.finish(ctx)
}

// clear deletes everything of the group's rankings but its oldest ladder, which becomes the first
// one of the export and keeps its board and topics. Players without an account lose their names,
// and will be those of the export: to delete them, PostgreSQL would have to look through all
// matches for their ids.
func (r *restore) clear(ctx context.Context) error {
	group, oldest := r.here.Group, r.here.Ladders[0].ID
	r.ids["ladders"] = []int64{int64(oldest)}
	gone := groupRow{ID: group, Chat: r.here.ChatID, Ladder: oldest}
	var batch pgx.Batch
	queueEndedBoards(&batch, gone)
	queueEndedSeasons(&batch, gone)
	const others = `SELECT id FROM ladders WHERE group_id = $1 AND id <> $2`
	batch.Queue(`DELETE FROM boards WHERE ladder_id IN (`+others+`)`, group, oldest)
	batch.Queue(`DELETE FROM timers WHERE chat_id = $1 AND starts_with(key, '`+ranking.SeasonTimer+`')`, r.here.ChatID)
	batch.Queue(`UPDATE imports SET ladder_id = $2 WHERE group_id = $1`, group, oldest)
	for _, sql := range []string{
		`DELETE FROM start_ratings WHERE group_id = $1`,
		`DELETE FROM group_players WHERE season_id IN (SELECT id FROM seasons WHERE group_id = $1)`,
		`DELETE FROM seasons WHERE group_id = $1`,
		`UPDATE sightings SET counts_as = NULL WHERE group_id = $1`,
		`DELETE FROM sightings WHERE group_id = $1 AND player_id IN (SELECT id FROM players WHERE group_id = $1)`,
	} {
		batch.Queue(sql, group)
	}
	batch.Queue(`DELETE FROM ladders WHERE id IN (`+others+`)`, group, oldest)
	batch.Queue(`UPDATE players SET username = NULL, folded = NULL WHERE group_id = $1 RETURNING id`, group).
		Query(func(rows pgx.Rows) error {
			var err error
			r.free, err = pgx.CollectRows(rows, pgx.RowTo[int64])
			slices.Sort(r.free)
			return err
		})
	if err := r.db.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("clear a group: %w", Translate(err))
	}
	return nil
}

// restoreTable inserts the rows of a table, chunk by chunk.
func (r *restore) restoreTable(ctx context.Context, t exportTable) error {
	r.table, r.first = t.name, 1
	known := append(strings.Fields(t.columns), "id")
	var chunk bytes.Buffer
	n := 0
	flush := func() error {
		chunk.WriteByte(']')
		err := r.insert(ctx, t, chunk.Bytes(), n)
		crashpoint.At(crashpoint.Importing)
		r.first, n = r.first+n, 0
		chunk.Reset()
		return err
	}
	for row, err := range r.export.Rows(t.name) {
		var fields map[string]json.RawMessage
		switch {
		case err != nil:
			return err
		case json.Unmarshal(row, &fields) != nil, t.hasID() && string(fields["id"]) != strconv.Itoa(r.first+n):
			return transfer.Fault{Line: r.first + n, Column: t.name, Reason: transfer.BadExport}
		}
		for name := range fields {
			if !slices.Contains(known, name) {
				return transfer.Fault{Line: r.first + n, Column: t.name, Reason: transfer.BadExport}
			}
		}
		chunk.WriteByte("[,"[min(n, 1)])
		chunk.Write(row)
		if n++; n == chunkRows || chunk.Len() > chunkBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if n == 0 {
		return nil
	}
	return flush()
}

// insert inserts a chunk of n rows. In place of rows of the group and its chat, it updates theirs.
func (r *restore) insert(ctx context.Context, t exportTable, rows []byte, n int) error {
	source := fmt.Sprintf(` FROM json_populate_recordset(NULL::%s, $1) AS r`, t.name)
	if t.hasID() {
		if err := r.drawIDs(ctx, t, source, rows, n); err != nil {
			return err
		}
	}
	if t.name == "sightings" { // who is not in the export gives way
		_, err := r.db.Exec(ctx, `UPDATE sightings s SET username = NULL`+source+`
			WHERE s.group_id = $2 AND lower(s.username) = lower(r.username)`, rows, r.here.Group)
		if err != nil {
			return fmt.Errorf("restore usernames: %w", Translate(err))
		}
	}
	sql, tables := t.insertRows(r.columns, source)
	args := []any{rows, r.here.Group}
	for _, table := range tables {
		args = append(args, r.ids[table])
	}
	tag, err := r.db.Exec(ctx, sql, args...)
	if err != nil {
		return fmt.Errorf("restore %s: %w", t.name, Translate(err))
	}
	if t.name != "players" && tag.RowsAffected() != int64(n) {
		return r.badRow("out of range")
	}
	return nil
}

// drawIDs adds the ids of a chunk of n rows.
func (r *restore) drawIDs(ctx context.Context, t exportTable, source string, rows []byte, n int) error {
	sql, args := `SELECT NULL, false, nextval(pg_get_serial_sequence($1, 'id')) FROM generate_series(1, $2)`,
		[]any{t.name, r.first + n - 1 - len(r.ids[t.name])}
	if t.name == "players" { // accounts are those of all groups
		sql, args = `SELECT (SELECT id FROM players WHERE telegram_user_id = r.telegram_user_id),
			num_nonnulls(r.telegram_user_id, r.merged_into) = 0, nextval('players_id_seq')`+source, []any{rows}
	}
	type drawn struct {
		Account *int64
		IsOwn   bool // a player of the group alone
		New     int64
	}
	all, err := postgres.Collect(ctx, r.db, "draw ids", pgx.RowToStructByPos[drawn], sql, args...)
	for _, d := range all {
		switch {
		case d.Account != nil:
			d.New = *d.Account
		case d.IsOwn && len(r.free) > 0:
			d.New, r.free = r.free[0], r.free[1:]
		}
		r.ids[t.name] = append(r.ids[t.name], d.New)
	}
	return err
}

// insertRows returns the statement that inserts the rows $1 into the group $2. source is its FROM
// clause. Its further arguments are the ids of the rows in the returned tables.
func (t exportTable) insertRows(columns map[string]column, source string) (sql string, tables []string) {
	tables, argument := t.references(3)
	var names, values, update []string
	where := []string{"$2::bigint > 0"}
	set := func(name, value string) { names, values = append(names, name), append(values, value) }
	for c := range strings.FieldsSeq(t.columns) {
		switch is := columns[t.name+"."+c]; {
		case argument[c] != "": // no row has the id 0, which an id that the export does not have becomes
			set(c, fmt.Sprintf("coalesce((%s)[r.%s], 0 * r.%[2]s)", argument[c], c))
		case is.Type == "timestamp with time zone": // infinity is no time in Go
			where = append(where, fmt.Sprintf("coalesce(r.%s BETWEEN '0001-01-01' AND '9999-12-31', true)", c))
			set(c, fmt.Sprintf("coalesce(r.%s, %s)", c, is.Default))
		case is.Type == "text":
			where = append(where, fmt.Sprintf("coalesce(char_length(r.%s) <= %d, true)", c, longestText))
			fallthrough
		default:
			set(c, fmt.Sprintf("coalesce(r.%s, %s)", c, is.Default))
		}
	}
	for _, m := range t.more {
		set(m[0], m[1])
	}
	for _, name := range names {
		update = append(update, name+" = excluded."+name)
	}
	if t.hasID() {
		if !slices.Contains(tables, t.name) {
			tables = append(tables, t.name)
		}
		set("id", fmt.Sprintf("($%d::bigint[])[r.id]", 3+slices.Index(tables, t.name)))
	}
	end := ""
	switch t.name {
	case "groups": // numbers of matches that are gone are not used again
		values[0] = "greatest(t.last_match_number, " + values[0] + ")"
		where = append(where, fmt.Sprintf("r.last_match_number <= %d", highestNumber))
		fallthrough
	case "chats":
		return fmt.Sprintf("UPDATE %s t SET (%s) = ROW (%s)%s WHERE %s AND %s", t.name, strings.Join(names, ", "),
			strings.Join(values, ", "), source, strings.Join(where, " AND "), strings.ReplaceAll(t.where, "$1", "$2")), nil
	case "players":
		where = append(where, "NOT EXISTS (SELECT FROM players WHERE telegram_user_id = r.telegram_user_id)")
		fallthrough
	case "ladders", "sightings": // some exist
		end = fmt.Sprintf(" ON CONFLICT ON CONSTRAINT %s_pkey DO UPDATE SET %s", t.name, strings.Join(update, ", "))
		// Somebody who does not want to be in the rankings stays out.
		end = strings.Replace(end, "= excluded.out_at", "= coalesce(sightings.out_at, excluded.out_at)", 1)
	}
	return fmt.Sprintf("INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s%s WHERE %s%s", t.name,
		strings.Join(names, ", "), strings.Join(values, ", "), source, strings.Join(where, " AND "), end), tables
}

// finish adds what an export does not have, makes the restore an import, and checks what neither
// constraints nor ranking.Verify do.
func (r *restore) finish(ctx context.Context) error {
	r.table, r.first = "", 0
	group, chat, ladders := r.here.Group, r.here.ChatID, r.ids["ladders"]
	var batch pgx.Batch
	batch.Queue(`
		UPDATE ladders l SET season_id = (SELECT id FROM seasons WHERE ladder_id = l.id ORDER BY number DESC LIMIT 1)
		WHERE group_id = $1`, group)
	batch.Queue(`
		INSERT INTO timers (key, chat_id, due_at)
		SELECT '`+ranking.SeasonTimer+`' || s.ladder_id || ':' || s.id, $2, s.ends_at + $3::interval
		FROM ladders l JOIN seasons s ON s.id = l.season_id WHERE l.group_id = $1 AND s.ends_at IS NOT NULL`,
		group, chat, ranking.AfterSeason)
	if r.here.Chat.ID == ranking.ExternalChatID(r.export.Header.Chat.ID) {
		for _, t := range r.export.Header.Topics {
			batch.Queue(`
				INSERT INTO topics (chat_id, thread_id, ladder_id) VALUES ($1, $2, ($3::bigint[])[$4])
				ON CONFLICT ON CONSTRAINT topics_pkey DO UPDATE SET ladder_id = excluded.ladder_id`,
				chat, t.Thread, ladders, t.Ladder)
		}
	}
	batch.Queue(`
		UPDATE sightings s SET username = NULL
		WHERE group_id = $1 AND player_id <> ALL ($2::bigint[])
		  AND EXISTS (SELECT FROM players p WHERE p.group_id = $1 AND lower(p.username) = lower(s.username))`,
		group, r.ids["players"])
	// Numbers without a match are those of imports that were taken back.
	const nextImport = `coalesce((SELECT max(number) FROM imports WHERE group_id = $1), 0)`
	batch.Queue(`
		INSERT INTO imports (group_id, number, ladder_id, first_match, matches, standings, undone_at)
		SELECT $1, `+nextImport+` + row_number() OVER (ORDER BY n), $2, n + 1, next - n - 1, '{}', now()
		FROM (SELECT n, lead(n, 1, (SELECT last_match_number + 1 FROM groups WHERE id = $1)) OVER (ORDER BY n) AS next
		      FROM (SELECT 0 AS n UNION ALL SELECT number FROM matches WHERE group_id = $1) AS numbers) AS gaps
		WHERE next > n + 1 AND NOT EXISTS (
		    SELECT FROM imports i WHERE i.group_id = $1 AND i.undone_at IS NOT NULL
		      AND i.first_match <= n + 1 AND i.first_match + i.matches >= next)`, group, ladders[0])
	batch.Queue(`
		INSERT INTO imports (group_id, number, ladder_id, first_match, matches, standings, divided)
		SELECT $1, `+nextImport+` + 1, $2, min(number), max(number) - min(number) + 1, '{}', true
		FROM matches WHERE group_id = $1 HAVING count(*) > 0
		RETURNING number`, group, ladders[0]).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&r.number}, func() error { return nil })
		return err
	})
	batch.Queue(`SET CONSTRAINTS ALL IMMEDIATE`)
	var isWrong bool
	batch.Queue(wrongSeasons, group, ranking.MaxLadders, transfer.MaxSide).
		QueryRow(func(row pgx.Row) error { return row.Scan(&isWrong) })
	if err := r.db.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("finish a restore: %w", Translate(err))
	}
	crashpoint.At(crashpoint.Importing)
	if isWrong {
		return transfer.Fault{Reason: transfer.WrongSeasons}
	}
	return nil
}

// wrongSeasons reports whether the ladders, seasons and matches of the group $1 contradict one
// another. $2 and $3 limit the ladders of a group and the players on a side.
const wrongSeasons = `
	SELECT (SELECT count(*) FILTER (WHERE is_default) <> 1 OR count(*) FILTER (WHERE archived_at IS NULL) > $2
	        FROM ladders WHERE group_id = $1)
	    OR EXISTS (
	        SELECT FROM (
	            SELECT *, row_number() OVER by_number AS place, lead(starts_at) OVER by_number AS next,
	                   lead(id) OVER by_number IS NULL AS is_last
	            FROM seasons WHERE group_id = $1 WINDOW by_number AS (PARTITION BY ladder_id ORDER BY number)) AS s
	        WHERE number <> place OR num_nulls(place_matches, halfway) <> CASE WHEN is_last THEN 2 ELSE 0 END
	           OR NOT is_last AND ends_at IS DISTINCT FROM next)
	    OR EXISTS (
	        SELECT FROM (SELECT *, lag(id, 1, 0) OVER (ORDER BY number) AS before FROM matches WHERE group_id = $1) AS m
	        WHERE id < before OR position <= 0
	           OR position >= (SELECT last_match_number + 1::bigint FROM groups WHERE id = $1) << 32)
	    OR EXISTS (
	        SELECT FROM matches m JOIN match_players t ON t.match_id = m.id WHERE m.group_id = $1
	        GROUP BY m.id, t.side HAVING count(*) > $3)
	    OR EXISTS (
	        SELECT FROM sightings s JOIN sightings o ON o.group_id = s.group_id AND o.player_id = s.counts_as
	        WHERE s.group_id = $1 AND o.counts_as IS NOT NULL)`
