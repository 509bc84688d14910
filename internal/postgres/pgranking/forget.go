package pgranking

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// Forget forgets a person like [ranking.ForgetMe].
func (s *Store) Forget(ctx context.Context, who ranking.Forgotten) error {
	return Translate(postgres.Transact(ctx, s.pool, s.lease, func(tx pgx.Tx) error {
		err := s.inside(tx).forget(ctx, who)
		if err == nil {
			_, err = tx.Exec(ctx, forgetChat, who.User)
		}
		return err
	}))
}

// forgetChat marks the private chat of a person for its deletion by postgres.Purge.
const forgetChat = `UPDATE chats SET forgotten = true WHERE telegram_chat_id = $1`

// WhoIs completes a person of whom only the account or only the username is known. A username means
// the account that was last seen with it. It also returns how many groups know the person, how many
// players they are, and how many matches these have.
func (s *Store) WhoIs(ctx context.Context, who *ranking.Forgotten) (groups, players, matches int, err error) {
	accounts, err := postgres.Collect(ctx, s.db, "find an account", pgx.RowToStructByPos[ranking.Forgotten], `
		SELECT telegram_user_id, coalesce(username, ''), NULL::text[] FROM players p
		WHERE telegram_user_id = $1 OR telegram_user_id IS NOT NULL AND lower(username) = lower($2)
		ORDER BY (SELECT max(seen_at) FROM sightings WHERE player_id = p.id) DESC NULLS LAST LIMIT 1`, who.User, who.Username)
	if err != nil {
		return 0, 0, 0, err
	}
	if len(accounts) > 0 {
		*who = accounts[0]
	}
	f, err := s.findForgotten(ctx, *who)
	if err == nil {
		err = s.db.QueryRow(ctx, `
			SELECT cardinality($1::bigint[]), count(DISTINCT id), (
			    SELECT count(DISTINCT match_id) FROM match_players WHERE player_id = ANY ($2))
			FROM unnest($2::bigint[]) AS players (id)`, f.groups(), f.players).Scan(&groups, &players, &matches)
	}
	return groups, players, matches, Translate(err)
}

// forgotten are the players who are forgotten together, each with a group that knows the player, or
// with 0. A player may be there several times.
type forgotten struct {
	in      []ranking.GroupID
	players []ladder.PlayerID
}

func (f forgotten) groups() []ranking.GroupID {
	all := slices.Compact(slices.Sorted(slices.Values(f.in)))
	return slices.DeleteFunc(all, func(g ranking.GroupID) bool { return g == 0 })
}

// theForgotten are the players in groups that statements get as $1 and $2.
const theForgotten = `unnest($1::bigint[], $2::bigint[]) AS f (group_id, player_id)`

func (s *Store) findForgotten(ctx context.Context, who ranking.Forgotten) (f forgotten, err error) {
	err = s.db.QueryRow(ctx, `
		WITH own AS (
		    SELECT id, group_id FROM players WHERE telegram_user_id = $1
		    UNION ALL SELECT id, group_id FROM players WHERE group_id IS NOT NULL AND lower(username) = lower($2)
		), known AS (
		    SELECT s.group_id, own.id FROM own JOIN sightings s ON s.player_id = own.id
		    UNION SELECT e.group_id, own.id FROM own JOIN group_players g ON g.player_id = own.id
		        JOIN seasons e ON e.id = g.season_id
		    UNION SELECT coalesce(group_id, 0), id FROM own
		), everybody AS (
		    SELECT * FROM known
		    UNION SELECT s.group_id, s.player_id FROM known
		        JOIN sightings s ON s.group_id = known.group_id AND s.counts_as = known.id)
		SELECT array_agg(group_id ORDER BY group_id, id), array_agg(id ORDER BY group_id, id) FROM everybody`,
		who.User, who.Username).Scan(&f.in, &f.players)
	if err != nil {
		err = fmt.Errorf("find a person: %w", Translate(err))
	}
	return f, err
}

// forget forgets a person in the open transaction. It locks the groups that know the person, and
// then the players, so that nothing new can refer to these.
func (s *Store) forget(ctx context.Context, who ranking.Forgotten) error {
	f, err := s.findForgotten(ctx, who)
	if err != nil {
		return err
	}
	var lock pgx.Batch
	lock.Queue(`SELECT FROM groups WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE`, f.groups())
	lock.Queue(`SELECT FROM players WHERE id = ANY ($1) ORDER BY id FOR UPDATE`, f.players)
	if err := s.db.SendBatch(ctx, &lock).Close(); err != nil {
		return fmt.Errorf("lock a person: %w", Translate(err))
	}
	switch now, err := s.findForgotten(ctx, who); {
	case err != nil:
		return err
	case !slices.Equal(f.in, now.in) || !slices.Equal(f.players, now.players):
		return fmt.Errorf("%w: another group has seen the person", ranking.ErrConflict)
	}
	chats, err := postgres.Collect(ctx, s.db, "find the chats of a person", pgx.RowTo[ranking.ChatID], `
		SELECT coalesce(chat_id, former_chat_id) FROM groups WHERE id = ANY ($1)
		UNION SELECT c.id FROM handled_commands h JOIN chats c ON c.telegram_chat_id = split_part(h.key, ':', 2)::bigint
		    WHERE h.sender = $2 AND h.key ~ '^[em]:-?\d+:'`, f.groups(), who.User)
	if err != nil {
		return err
	}
	t, err := s.tracesOf(ctx, f, who)
	if err != nil {
		return err
	}
	var batch pgx.Batch
	queueForgotten(&batch, f, who.User)
	if err := s.queueWithoutTraces(ctx, &batch, t, f, chats); err != nil {
		return err
	}
	queueShownFormer(&batch, f, chats)
	if err := s.queueShown(ctx, &batch, f.groups()); err != nil {
		return err
	}
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("forget a person: %w", Translate(err))
	}
	return nil
}

// queueForgotten replaces the names of players by Former with a number, which is the next one in
// each group, and takes the account from them. The versions of their standings change, so that a
// result whose command has read the person conflicts.
func queueForgotten(batch *pgx.Batch, f forgotten, user ladder.UserID) {
	batch.Queue(`
		INSERT INTO sightings AS known (group_id, player_id, nick)
		SELECT f.group_id, f.player_id, '`+ranking.Former+`' || 1 + coalesce((
		    SELECT max(substr(nick, 2)::integer) FROM sightings
		    WHERE group_id = f.group_id AND starts_with(nick, '`+ranking.Former+`')), 0)
		FROM `+theForgotten+` WHERE f.group_id <> 0
		ON CONFLICT ON CONSTRAINT sightings_pkey DO UPDATE SET username = NULL, former = NULL,
		    nick = CASE WHEN starts_with(known.nick, '`+ranking.Former+`') THEN known.nick ELSE excluded.nick END`,
		f.in, f.players)
	batch.Queue(`
		UPDATE players p SET telegram_user_id = NULL, username = NULL, folded = NULL, display_name = coalesce((
		    SELECT nick FROM sightings WHERE group_id = p.group_id AND player_id = p.id), '`+ranking.Former+`')
		WHERE (telegram_user_id = $1 OR group_id IS NOT NULL) AND id = ANY ($2)`, user, f.players)
	batch.Queue(`UPDATE players SET display_name = '`+ranking.Former+`' WHERE merged_into = ANY ($1)`, f.players)
	batch.Queue(`
		UPDATE group_players g SET name = s.nick, version = version + 1
		FROM `+theForgotten+` JOIN sightings s USING (group_id, player_id) JOIN seasons e USING (group_id)
		WHERE g.season_id = e.id AND g.player_id = f.player_id`, f.in, f.players)
	batch.Queue(`UPDATE handled_commands SET sender = NULL, sent_at = NULL, rate_class = NULL WHERE sender = $1`, user)
}

// queueShownFormer edits the cards of the last day that name one of the players, and the messages
// about the last season in which one of them played.
func queueShownFormer(batch *pgx.Batch, f forgotten, chats []ranking.ChatID) {
	batch.Queue(`
		INSERT INTO outbox (chat_id, key, kind, purpose, payload, action, match_id, supersede_key, expires_at)
		SELECT DISTINCT ON (m.id) o.chat_id, o.key, o.kind, o.purpose, o.payload, 'edit', m.id, 'card:' || m.id,
		       now() + $3::interval
		FROM ladders l JOIN matches m ON m.ladder_id = l.id AND m.played_at > now() - interval '1 day'
		JOIN outbox o ON o.match_id = m.id
		WHERE l.group_id = ANY ($1) AND o.kind = $4 AND o.action = 'send' AND o.finished_at > now() - interval '1 day'
		  AND jsonb_path_exists(o.payload, '$.**.player ? (@ == $p[*])', jsonb_build_object('p', $2::bigint[]))
		ON CONFLICT (chat_id, supersede_key) WHERE supersede_key IS NOT NULL DO NOTHING`,
		f.groups(), f.players, postgres.EditLifetime, notice.KindOf(ranking.MatchRecorded{}).Name)
	batch.Queue(`
		INSERT INTO outbox (chat_id, key, kind, purpose, payload, action, object, thread_id, supersede_key, alone)
		SELECT e.chat_id, '', $3, $4, '{"corrected": true}', 'ensure', e.object,
		       nullif(split_part(e.object, ':', 3), '')::bigint, e.object, true
		FROM ensured_messages e JOIN seasons s ON s.id = split_part(e.object, ':', 2)::bigint
		JOIN ladders l ON l.id = s.ladder_id JOIN seasons now ON now.id = l.season_id
		WHERE e.chat_id = ANY ($1) AND starts_with(e.object, 'season:') AND now.number = s.number + 1
		  AND EXISTS (SELECT FROM group_players WHERE season_id = s.id AND player_id = ANY ($2))
		ON CONFLICT (chat_id, supersede_key) WHERE supersede_key IS NOT NULL DO NOTHING`,
		chats, f.players, ranking.KindSeason, notice.Notification)
}

// queueShown tells all instances that the boards and pages of groups are outdated.
func (s *Store) queueShown(ctx context.Context, batch *pgx.Batch, groups []ranking.GroupID) error {
	type shown struct {
		Group ranking.GroupID
		Chat  ranking.ChatID
	}
	all, err := postgres.Collect(ctx, s.db, "find chats", pgx.RowToStructByPos[shown],
		`SELECT id, chat_id FROM groups WHERE id = ANY ($1) AND chat_id IS NOT NULL`, groups)
	for _, one := range all {
		postgres.QueueChanged(batch, one.Chat, one.Group, true)
	}
	return err
}

// traces finds the names and the id of a person in JSON.
type traces struct {
	names []string
	name  *regexp.Regexp // matches a text with one of the names as a word or words; nil without names
	id    json.Number    // Telegram's id of the person, or of a chat; empty for none
}

// tracesOf returns the traces of a person, whose players must still have their names.
func (s *Store) tracesOf(ctx context.Context, f forgotten, who ranking.Forgotten) (t traces, err error) {
	t.names, err = postgres.Collect(ctx, s.db, "read the names of a person", pgx.RowTo[string], `
		SELECT DISTINCT lower(name) FROM (
		    SELECT unnest(ARRAY[display_name, username]) AS name FROM players
		    WHERE id = ANY ($2) OR merged_into = ANY ($2)
		    UNION ALL SELECT unnest(ARRAY[nick, username] || former)
		        FROM sightings JOIN `+theForgotten+` USING (group_id, player_id)
		    UNION ALL SELECT g.name FROM `+theForgotten+` JOIN seasons e USING (group_id)
		        JOIN group_players g ON g.season_id = e.id AND g.player_id = f.player_id
		    UNION ALL SELECT unnest($3::text[])) AS named
		WHERE name NOT IN ('', '`+ranking.Nameless+`') AND NOT starts_with(name, '`+ranking.Former+`')`,
		f.in, f.players, append(who.Names, who.Username))
	if len(t.names) > 0 {
		quoted := postgres.Column(t.names, regexp.QuoteMeta)
		t.name = regexp.MustCompile(`(?i)(^|[^\pL\pN_])(` + strings.Join(quoted, "|") + `)($|[^\pL\pN_])`)
	}
	if who.User != 0 {
		t.id = json.Number(strconv.FormatInt(int64(who.User), 10))
	}
	return t, err
}

// clean removes a person from decoded JSON: from all texts if isPersonal is set, and otherwise from
// those of the fields that have names. It reports whether it found the person.
func (t traces) clean(value any, isPersonal bool) (cleaned any, found bool) {
	switch v := value.(type) {
	case string:
		if isPersonal && t.name != nil && t.name.MatchString(v) {
			return ranking.Nameless, true
		}
	case json.Number:
		if v == t.id {
			return 0, true
		}
	case []any:
		for i := range v {
			cleaned, here := t.clean(v[i], isPersonal)
			v[i], found = cleaned, found || here
		}
	case map[string]any:
		for key := range v {
			cleaned, here := t.clean(v[key], isPersonal || ranking.IsPersonalText(strings.ToLower(key)))
			v[key], found = cleaned, found || here
		}
	}
	return value, found
}

// eachTrace reads rows with an id and JSON, and calls do for those in which clean finds the person.
// What is no JSON counts as a text.
func (s *Store) eachTrace(
	ctx context.Context, t traces, isPersonal bool, do func(id int64, cleaned any), sql string, args ...any,
) error {
	type row struct {
		ID   int64
		JSON []byte
	}
	rows, err := postgres.Collect(ctx, s.db, "look for a person", pgx.RowToStructByPos[row], sql, args...)
	for _, r := range rows {
		decoder := json.NewDecoder(bytes.NewReader(r.JSON))
		decoder.UseNumber()
		var value any
		if decoder.Decode(&value) != nil {
			value = string(r.JSON)
		}
		if cleaned, found := t.clean(value, isPersonal); found {
			do(r.ID, cleaned)
		}
	}
	return err
}

// queueWithoutTraces removes a person from the notices of chats, deletes the dead letters that have
// the person or come from them, and ends the prompts that name the person or ask only them. The
// timers of these prompts are due, and so their messages say that they are over.
func (s *Store) queueWithoutTraces(
	ctx context.Context, batch *pgx.Batch, t traces, f forgotten, chats []ranking.ChatID,
) error {
	err := s.eachTrace(ctx, t, false, func(id int64, cleaned any) {
		batch.Queue(`UPDATE outbox SET payload = $2 WHERE id = $1`, id, cleaned)
	}, `SELECT id, payload FROM outbox WHERE chat_id = ANY ($1) ORDER BY id`, chats)
	if err != nil {
		return err
	}
	batch.Queue(`
		UPDATE outbox SET addressee = CASE WHEN lower(addressee) = ANY ($2) THEN '' ELSE addressee END,
		    supersede_key = CASE WHEN starts_with(supersede_key, $3) THEN NULL ELSE supersede_key END
		WHERE chat_id = ANY ($1) AND (lower(addressee) = ANY ($2) OR starts_with(supersede_key, $3))`,
		chats, t.names, "refused:"+t.id.String()+":")
	if err := s.queueWithoutLetters(ctx, batch, t); err != nil {
		return err
	}
	prompts, err := postgres.Collect(ctx, s.db, "find prompts", pgx.RowTo[int64], `
		SELECT id FROM prompts p WHERE chat_id = ANY ($1) AND (answerer_id = ANY ($2)
		    OR jsonb_path_exists(request, '$.**.player ? (@ == $p[*])', jsonb_build_object('p', $2::bigint[]))
		    OR EXISTS (SELECT FROM match_players WHERE player_id = ANY ($2) AND match_id = ANY (
		        ARRAY(SELECT jsonb_path_query(request, '$.**.match')::bigint) || p.match_id)))`, chats, f.players)
	if err != nil {
		return err
	}
	err = s.eachTrace(ctx, t, false, func(id int64, _ any) { prompts = append(prompts, id) },
		`SELECT id, request FROM prompts WHERE chat_id = ANY ($1) AND request IS NOT NULL`, chats)
	batch.Queue(`UPDATE prompts SET request = '{}' WHERE id = ANY ($1) AND request IS NOT NULL`, prompts)
	batch.Queue(`
		UPDATE timers SET due_at = now() WHERE key IN (SELECT `+promptTimer+` FROM unnest($1::bigint[]) AS id)`, prompts)
	return err
}

// queueWithoutLetters deletes the dead letters in which somebody is.
func (s *Store) queueWithoutLetters(ctx context.Context, batch *pgx.Batch, t traces) error {
	return s.eachTrace(ctx, t, true, func(id int64, _ any) {
		batch.Queue(`DELETE FROM dead_letters WHERE id = $1`, id)
	}, `SELECT id, payload FROM dead_letters`)
}
