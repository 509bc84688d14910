package pgranking

import (
	"archive/zip"
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
	"elobot/internal/transfer"
)

var _ ranking.Exporter = (*Store)(nil)

// Export implements ranking.Exporter.
func (s *Store) Export(ctx context.Context, chat ranking.ExternalChatID, former string, w io.Writer) error {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("begin an export: %w", Translate(err))
	}
	defer postgres.Rollback(ctx, tx)
	e := export{tx: tx, former: former, ids: make(map[string][]int64)}
	// The usual generic plans expect that arrays of ids are short.
	if _, err := tx.Exec(ctx, `SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL TimeZone = 'UTC'`); err != nil {
		return fmt.Errorf("begin an export: %w", Translate(err))
	}
	if e.header, err = e.readHeader(ctx, chat); err != nil {
		return err
	}
	e.header.At = s.Now().UTC()
	out := zip.NewWriter(w)
	if err := e.write(ctx, out); err != nil {
		return err
	}
	return out.Close()
}

// export is an export of a group.
type export struct {
	tx     pgx.Tx
	group  ranking.GroupID
	header transfer.ExportHeader
	former string             // words for a forgotten person, before the number
	ids    map[string][]int64 // by table; the ids in the export are the indexes plus 1
	names  map[string]string  // of players, by their ids
}

// readHeader reads the header of the export, the group, and the ids of its rows.
func (e *export) readHeader(ctx context.Context, chat ranking.ExternalChatID) (h transfer.ExportHeader, err error) {
	const sql = `
		SELECT c.telegram_chat_id, c.title, g.id, (SELECT version FROM schema_migrations)
		FROM chats c JOIN groups g ON g.chat_id = c.id WHERE c.id = ` + postgres.ThisChat
	err = e.tx.QueryRow(ctx, sql, chat).Scan(&h.Chat.ID, &h.Chat.Title, &e.group, &h.Schema)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return h, ranking.ErrNoSuchGroup
	case err != nil:
		return h, fmt.Errorf("read a group: %w", Translate(err))
	}
	for _, t := range exportTables {
		if t.hasID() {
			e.ids[t.name], err = postgres.Collect(ctx, e.tx, "read ids", pgx.RowTo[int64], t.selectIDs(), e.group)
			if err != nil {
				return h, err
			}
		}
	}
	h.Topics, err = postgres.Collect(ctx, e.tx, "read topics", pgx.RowToStructByPos[transfer.ExportTopic], `
		SELECT thread_id, array_position($2::bigint[], ladder_id) FROM topics
		WHERE chat_id = (SELECT chat_id FROM groups WHERE id = $1) ORDER BY thread_id`, e.group, e.ids["ladders"])
	return h, err
}

// write writes all files into the zip file.
func (e *export) write(ctx context.Context, out *zip.Writer) error {
	f, err := out.CreateHeader(&zip.FileHeader{Name: transfer.ExportName, Method: zip.Deflate, Modified: e.header.At})
	if err == nil {
		err = e.writeExport(ctx, f)
	}
	if err != nil {
		return err
	}
	files, err := e.csvFiles(ctx)
	if err != nil {
		return err
	}
	for _, c := range files {
		f, err := out.CreateHeader(&zip.FileHeader{Name: c.name, Method: zip.Deflate, Modified: e.header.At})
		if err == nil {
			err = e.writeCSV(ctx, f, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeExport writes the export, with one row of a table in each line.
func (e *export) writeExport(ctx context.Context, w io.Writer) error {
	out := bufio.NewWriter(w)
	header, err := json.Marshal(e.header)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "{\n\"header\": %s", header) // Flush returns the error, here and below
	for _, t := range exportTables {
		sql, tables := t.selectRows()
		args := []any{e.group}
		for _, table := range tables {
			args = append(args, e.ids[table])
		}
		_, _ = fmt.Fprintf(out, ",\n%q: [", t.name)
		rows, err := e.query(ctx, sql, args...)
		if err != nil {
			return err
		}
		for separator := "\n"; rows.Next(); separator = ",\n" {
			_, _ = out.WriteString(separator)
			_, _ = out.Write(rows.RawValues()[0])
		}
		if err := e.readError(t.name, rows.Err()); err != nil {
			return err
		}
		_, _ = out.WriteString("\n]")
	}
	_, _ = out.WriteString("\n}\n")
	return out.Flush()
}

// query runs a query whose values come as text.
func (e *export) query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	args = append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, args...)
	rows, err := e.tx.Query(ctx, sql, args...) //nolint:rowserrcheck // the caller does
	return rows, e.readError("rows", err)
}

func (*export) readError(what string, err error) error {
	if err != nil {
		err = fmt.Errorf("read %s: %w", what, Translate(err))
	}
	return err
}

// csvFile is a file for spreadsheets: the rows of a query, whose columns name those of the file.
type csvFile struct{ name, sql string }

// csvFiles returns the files for spreadsheets. The default ladder has the first file of matches.
func (e *export) csvFiles(ctx context.Context) ([]csvFile, error) {
	// Times are in the group's zone, if the server knows it.
	var longest int // side
	var byDefault []ladder.ID
	err := e.tx.QueryRow(ctx, `
		SELECT coalesce(max(n), 1), ARRAY(SELECT id FROM ladders WHERE group_id = $2 ORDER BY is_default DESC, id),
		       (SELECT coalesce(jsonb_object_agg(id, name), '{}') FROM (`+called+`) AS called),
		       set_config('TimeZone', coalesce((
		           SELECT z.name FROM groups g JOIN chats c ON c.id = g.chat_id
		           JOIN pg_timezone_names z ON z.name = c.time_zone WHERE g.id = $2), 'UTC'), true)
		FROM (
		    SELECT count(*) AS n FROM matches m JOIN match_players t ON t.match_id = m.id WHERE m.group_id = $2
		    GROUP BY m.id, t.side) AS sides`, e.ids["players"], e.group, e.former).Scan(&longest, &byDefault, &e.names, nil)
	if err != nil {
		return nil, e.readError("names", err)
	}
	var sides []string
	for _, side := range []string{"a", "b"} {
		for i := range longest {
			sides = append(sides, fmt.Sprintf("sides.%s[%d] AS %[1]s%[2]d", side, i+1))
		}
	}
	matches := func(which string) string {
		return strings.NewReplacer("{which}", which, "{sides}", strings.Join(sides, ", ")).Replace(csvMatches)
	}
	files := []csvFile{{"players.csv", seasonsOf + csvPlayers}}
	for i, in := range byDefault {
		name := "matches.csv"
		if i > 0 {
			name = fmt.Sprintf("matches-%d.csv", i+1)
		}
		files = append(files, csvFile{name, seasonsOf + matches(fmt.Sprintf("m.undone_at IS NULL AND m.ladder_id = %d", in))})
	}
	return append(files, csvFile{"undone.csv", seasonsOf + matches("m.undone_at IS NOT NULL")},
		csvFile{"history.csv", seasonsOf + csvHistory}, csvFile{"seasons.csv", seasonsOf + csvSeasons},
		csvFile{"tables.csv", seasonsOf + strings.ReplaceAll(csvTables, "{fewest}", strconv.Itoa(ladder.MinPlaces))}), nil
}

var isPlayer = regexp.MustCompile(`^player$|^[ab]\d+$`)

// writeCSV writes a file for spreadsheets.
func (e *export) writeCSV(ctx context.Context, w io.Writer, f csvFile) error {
	out, err := transfer.NewCSVWriter(w)
	if err != nil {
		return err
	}
	rows, err := e.query(ctx, f.sql, e.group)
	if err != nil {
		return err
	}
	defer rows.Close()
	var cells []string
	var arePlayers []bool
	for _, c := range rows.FieldDescriptions() {
		cells, arePlayers = append(cells, c.Name), append(arePlayers, isPlayer.MatchString(c.Name))
	}
	for err = out.Write(cells...); err == nil && rows.Next(); err = out.Write(cells...) {
		for i, v := range rows.RawValues() {
			if cells[i] = string(v); arePlayers[i] {
				cells[i] = e.names[cells[i]]
			}
		}
	}
	out.Flush()
	return cmp.Or(err, out.Error(), e.readError(f.name, rows.Err()))
}

// The queries of the files for spreadsheets follow seasonsOf, and have its argument, the group.
// isPlayer reports which of their columns have ids of players, in place of names.
const (
	// called has the names of the players $1 as the group $2 shows them, with the words $3 for
	// those who were forgotten. Players with equal names are told apart by their usernames, or by
	// numbers.
	called = `
	SELECT id, CASE WHEN count(*) OVER (PARTITION BY lower(name)) = 1 THEN name ELSE name || ' (' || coalesce(
	    '@' || username, (row_number() OVER (PARTITION BY lower(name) ORDER BY n))::text) || ')' END AS name
	FROM (
	    SELECT p.id, p.n, replace(coalesce(s.nick, t.display_name), '` + ranking.Former + `', $3 || ' ') AS name,
	           coalesce(s.username, t.username) AS username
	    FROM unnest($1::bigint[]) WITH ORDINALITY AS p (id, n) JOIN players t ON t.id = p.id
	    LEFT JOIN sightings s ON s.group_id = $2 AND s.player_id = p.id) AS named`

	seasonsOf = `
	WITH season AS (
	    SELECT s.*, coalesce(l.name, '') AS ranking, l.season_id = s.id AS is_current,
	           coalesce(s.place_matches, l.place_matches) AS places_from
	    FROM seasons s JOIN ladders l ON l.id = s.ladder_id WHERE s.group_id = $1
	)`

	csvTime = `'YYYY-MM-DD"T"HH24:MI:SSTZH:TZM'`

	csvPlayers = `
	SELECT t.player_id AS player, s.ranking, s.number AS season, t.elo AS rating, t.start_elo AS start, t.best_elo AS best,
	       t.played, t.won, t.drawn, t.lost, t.longest_streak, to_char(t.last_played_at, ` + csvTime + `) AS last_played,
	       CASE WHEN g.out_at IS NOT NULL THEN 'out' WHEN t.left_at IS NOT NULL THEN 'left' ELSE 'member' END AS status
	FROM season s JOIN group_players t ON t.season_id = s.id
	LEFT JOIN sightings g ON g.group_id = s.group_id AND g.player_id = t.player_id
	WHERE s.is_current AND t.named_id IS DISTINCT FROM t.player_id ORDER BY s.ladder_id, t.elo DESC, t.id`

	// The import knows the first columns. Half points would be none to it, so it learns only who
	// won.
	csvMatches = `, match AS (
	    SELECT m.*, s.ranking, s.number AS season, ` + postgres.Position + ` AS place, ` + postgres.Winner + ` AS won
	    FROM matches m JOIN season s ON s.id = m.season_id WHERE m.group_id = $1 AND {which})
	SELECT to_char((SELECT created_at FROM groups WHERE id = $1) AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS-')
	           || m.number AS id, to_char(m.played_at, ` + csvTime + `) AS date,
	       row_number() OVER (ORDER BY m.ladder_id, m.place) AS "order", {sides},
	       CASE WHEN m.score_a < 1000 THEN m.score_a END AS score_a,
	       CASE WHEN m.score_b < 1000 THEN m.score_b END AS score_b,
	       (ARRAY['draw', 'a', 'b'])[m.won + 1] AS winner,
	       coalesce(m.games || ' RET', CASE WHEN m.score_a < 1000 AND 1000 > ALL (m.sets) THEN (
	           SELECT string_agg(m.sets[i][1] || '-' || m.sets[i][2], ' / ' ORDER BY i)
	           FROM generate_subscripts(m.sets, 1) AS i) END) AS sets,
	       replace(CASE WHEN m.score_a < 1000 THEN m.score_a || ':' || m.score_b
	           ELSE m.score_a - 1000 || '½:' || m.score_b - 1000 || '½' END, '0½', '½') AS written,
	       m.number, m.ranking, m.season, m.stand_ins_a, m.stand_ins_b, to_char(m.undone_at, ` + csvTime + `) AS undone
	FROM match m CROSS JOIN LATERAL (
	    SELECT array_agg(player_id ORDER BY place) FILTER (WHERE side = 1) AS a,
	           array_agg(player_id ORDER BY place) FILTER (WHERE side = 2) AS b
	    FROM match_players WHERE match_id = m.id) AS sides
	ORDER BY "order"`

	csvHistory = `
	SELECT m.number AS match, to_char(m.played_at, ` + csvTime + `) AS date, s.ranking, s.number AS season,
	       t.player_id AS player, t.elo_before AS before, t.elo_after AS after, t.k_factor
	FROM season s JOIN matches m ON m.ladder_id = s.ladder_id AND m.season_id = s.id
	JOIN elo_history t ON t.match_id = m.id
	WHERE t.superseded_at = 'infinity' ORDER BY s.ladder_id, ` + postgres.Position + `, t.id`

	csvSeasons = `
	SELECT s.ranking, s.number AS season, s.name, to_char(s.starts_at, ` + csvTime + `) AS starts,
	       to_char(s.ends_at, ` + csvTime + `) AS ends, CASE WHEN s.is_current THEN 'no' ELSE 'yes' END AS over,
	       (SELECT count(*) FROM matches m
	        WHERE m.ladder_id = s.ladder_id AND m.season_id = s.id AND m.undone_at IS NULL) AS matches
	FROM season s ORDER BY s.ladder_id, s.number`

	// The places are those of stats.SeasonTable.
	csvTables = `, standing AS (
	    SELECT s.ranking, s.ladder_id, s.number AS season, s.name AS season_name, t.*,
	           t.played >= s.places_from OR {fewest} > count(*) FILTER (WHERE t.played >= s.places_from)
	               OVER (PARTITION BY s.id) AS placed
	    FROM season s JOIN group_players t ON t.season_id = s.id WHERE NOT s.is_current AND t.played > 0)
	SELECT t.ranking, t.season, t.season_name AS name,
	       CASE WHEN t.placed THEN rank() OVER (PARTITION BY t.season_id, t.placed ORDER BY t.elo DESC) END AS place,
	       t.player_id AS player, t.elo AS rating, t.played, t.won, t.drawn, t.lost
	FROM standing t ORDER BY t.ladder_id, t.season, place, t.elo DESC, t.id`
)
