package pgranking

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"elobot/internal/command"
	"elobot/internal/postgres"
)

// withMine precedes queries about the person @user: mine has the account and the players without an
// account that count as it, known the groups that know any of them, and here the chats of these
// groups and the private chat.
const withMine = `
	WITH account AS (SELECT id FROM players WHERE telegram_user_id = @user), mine AS (
	    SELECT id FROM account
	    UNION SELECT id FROM players WHERE merged_into IN (SELECT id FROM account)
	    UNION SELECT s.player_id FROM sightings s JOIN players p ON p.id = s.player_id AND p.telegram_user_id IS NULL
	    WHERE (s.group_id, s.counts_as) IN (
	        SELECT group_id, player_id FROM sightings WHERE player_id IN (SELECT id FROM account))
	), known AS (
	    SELECT group_id FROM sightings WHERE player_id IN (SELECT id FROM mine)
	    UNION SELECT n.group_id FROM group_players s JOIN seasons n ON n.id = s.season_id
	    WHERE s.player_id IN (SELECT id FROM mine)
	), here AS (
	    SELECT id, telegram_chat_id FROM chats WHERE telegram_chat_id = @user OR id IN (
	        SELECT coalesce(chat_id, former_chat_id) FROM groups WHERE id IN (SELECT group_id FROM known))
	), my_matches AS (
	    SELECT m.id, m.group_id, p.side FROM matches m JOIN match_players p ON p.match_id = m.id
	    WHERE m.group_id IN (SELECT group_id FROM known) AND ARRAY(SELECT id FROM mine) && ARRAY[p.player_id, p.named_id])
	`

// personal has the parts of a person's data, which have the names of tables but for groups and
// opponents, with their rows. In the tables, other people occur by their ids alone.
var personal = [][2]string{
	{"players", `to_jsonb(t) FROM players t WHERE id IN (SELECT id FROM mine)`},
	{"sightings", `to_jsonb(t) FROM sightings t WHERE player_id IN (SELECT id FROM mine)`},
	{"group_players", `to_jsonb(t) FROM group_players t WHERE player_id IN (SELECT id FROM mine)`},
	{"matches", `
		to_jsonb(t) FROM matches t WHERE group_id IN (SELECT group_id FROM known) AND (id IN (SELECT id FROM my_matches)
		    OR reported_by IN (SELECT id FROM mine) OR undone_by IN (SELECT id FROM mine))`},
	{"match_players", `to_jsonb(t) FROM match_players t WHERE match_id IN (SELECT id FROM my_matches)`},
	{"match_fixes", `to_jsonb(t) FROM match_fixes t WHERE match_id IN (SELECT id FROM my_matches)`},
	{"match_moves", `to_jsonb(t) FROM match_moves t WHERE match_id IN (SELECT id FROM my_matches)`},
	{"elo_history", `
		to_jsonb(t) FROM elo_history t
		WHERE match_id IN (SELECT id FROM my_matches) AND player_id IN (SELECT id FROM mine)`},
	{"chats", `to_jsonb(t) FROM chats t WHERE telegram_chat_id = @user`},
	{"handled_commands", `to_jsonb(t) FROM handled_commands t WHERE sender = @user OR key LIKE '%:' || @user || ':%'`},
	{"groups", `
		jsonb_build_object('group_id', g.id, 'title', c.title) FROM groups g
		JOIN chats c ON c.id = coalesce(g.chat_id, g.former_chat_id) WHERE g.id IN (SELECT group_id FROM known)`},
	{"opponents", `
		DISTINCT jsonb_build_object('player_id', p.id, 'name', coalesce(s.nick, p.display_name))
		FROM my_matches m JOIN match_players o ON o.match_id = m.id AND o.side <> m.side JOIN players p ON p.id = o.player_id
		LEFT JOIN sightings s ON s.group_id = m.group_id AND s.player_id = p.id`},
}

// searched has the tables whose texts may name a person, with the rows that may do so.
var searched = [][2]string{
	{"outbox", naming("outbox", "concat_ws(' ', supersede_key, payload)")},
	{"prompts", naming("prompts", "request::text")},
	{"dead_letters", `
		t.id, t.kind, t.payload, coalesce(o.chat_id IN (SELECT id FROM here), false)
		FROM dead_letters t LEFT JOIN outbox o ON o.id = t.outbox_id`},
}

// naming selects the rows of a table that may name the person: in the person's chats, all that
// matches @pattern, and elsewhere texts with the id or a handle. No index can find them.
func naming(table, text string) string {
	return `
		id, kind, to_jsonb(t)::text, chat_id IN (SELECT id FROM here) FROM ` + table + ` t
		WHERE chat_id IN (SELECT id FROM here) AND to_jsonb(t)::text ~ @pattern OR lower(` + text + `) LIKE ANY (@handles)`
}

type searchedRow struct {
	ID     int64
	Kind   string
	Text   []byte
	IsHere bool // of a chat that the person is in
}

// selectTerms selects what stands for a person in texts.
const selectTerms = `
	SELECT ARRAY(SELECT id::text FROM mine) AS players, ARRAY(SELECT telegram_chat_id::text FROM here) AS chats,
	       array_remove(ARRAY(
	           SELECT username FROM players WHERE id IN (SELECT id FROM mine) UNION SELECT nullif(@username, '')
	           UNION SELECT unnest(array_append(former, username)) FROM sightings WHERE player_id IN (SELECT id FROM mine)
	       ), NULL) AS handles,
	       array_remove(ARRAY(
	           SELECT nullif(display_name, '…') FROM players WHERE id IN (SELECT id FROM mine)
	           UNION SELECT nick FROM sightings WHERE player_id IN (SELECT id FROM mine)
	           UNION SELECT name FROM group_players WHERE player_id IN (SELECT id FROM mine) AND name <> '…'
	       ), NULL) AS names`

type terms struct{ Players, Chats, Handles, Names []string }

// patterns returns what matches the person in a text of one of the person's chats, and anywhere.
// Outside of these chats, a name may be that of somebody else.
func (t terms) patterns(user string) (here, anywhere *regexp.Regexp) {
	handles := anyOf(append(t.Handles, user))
	here = regexp.MustCompile(`(?i)` + handles + `|` + anyOf(t.Names) +
		`|"(?:player|addressee_id|answerer_id)": ` + anyOf(t.Players) + `[,}]`)
	return here, regexp.MustCompile(`(?i)"` + handles + `"|@` + handles + `\b|\b` + user + `\b`)
}

// anyOf returns a pattern for each of the texts, as it is in JSON. Without texts, nothing matches.
func anyOf(texts []string) string {
	patterns := []string{`\x00`}
	for _, t := range texts {
		patterns = append(patterns, regexp.QuoteMeta(string(bytes.Trim(plainJSON(t), "\"\n"))))
	}
	return `(?:` + strings.Join(patterns, "|") + `)`
}

// plainJSON returns a value as JSON in which only what must be is escaped.
func plainJSON(value any) []byte {
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	_ = out.Encode(value) // never fails for what was decoded
	return text.Bytes()
}

// MyData writes all that is stored about a person, as a JSON object. Of rows that may also be about
// others, it has only what matches the person. It reads one snapshot of the database.
func (s *Store) MyData(ctx context.Context, who command.Person, w io.Writer) error {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("begin to read a person's data: %w", Translate(err))
	}
	defer postgres.Rollback(ctx, tx)
	args := pgx.NamedArgs{"user": int64(who.ID), "username": who.Username}
	all := make(map[string]any)
	for _, t := range personal {
		all[t[0]], err = postgres.Collect(ctx, tx, "read "+t[0], pgx.RowTo[json.RawMessage], withMine+"SELECT "+t[1], args)
		if err != nil {
			return err
		}
	}
	of, err := postgres.Collect(ctx, tx, "read names", pgx.RowToStructByName[terms], withMine+selectTerms, args)
	if err != nil {
		return err
	}
	here, anywhere := of[0].patterns(strconv.FormatInt(int64(who.ID), 10))
	handles := []string{fmt.Sprintf("%%%d%%", who.ID)}
	for _, handle := range of[0].Handles {
		handles = append(handles, "%"+strings.ToLower(handle)+"%")
	}
	args["pattern"], args["handles"] = here.String(), handles
	for _, t := range searched {
		rows, err := postgres.Collect(ctx, tx, "search "+t[0], pgx.RowToStructByPos[searchedRow],
			withMine+"SELECT "+t[1], args)
		if err != nil {
			return err
		}
		var found []any
		for _, r := range rows {
			var content any
			if json.Unmarshal(r.Text, &content) == nil && t[0] == "dead_letters" { // the messenger escapes more
				r.Text = plainJSON(content)
			}
			pattern, hasChat := anywhere, func(chat string) bool { return bytes.Contains(r.Text, []byte(chat)) }
			if r.IsHere || slices.ContainsFunc(of[0].Chats, hasChat) {
				pattern = here
			}
			if own := pattern.FindAllString(string(r.Text), -1); own != nil {
				found = append(found, map[string]any{"id": r.ID, "kind": r.Kind, "found": own})
			}
		}
		all[t[0]] = found
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", " ")
	return out.Encode(all)
}
