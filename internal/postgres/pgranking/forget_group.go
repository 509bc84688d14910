package pgranking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// KnownGroup is what is known of a group's chat, with the groups that it had before.
type KnownGroup struct {
	Title                     string
	Ladders, Matches, Players int
}

// KnownGroup returns what is known of a group. It fails with ranking.ErrNoSuchGroup if the chat is
// not one of a group.
func (s *Store) KnownGroup(ctx context.Context, chat ranking.ExternalChatID) (k KnownGroup, err error) {
	const sql = `
		SELECT title, (SELECT count(*) FROM ladders WHERE group_id = ANY (g.ids)),
		       (SELECT count(*) FROM matches WHERE group_id = ANY (g.ids)), cardinality(` + peopleOf + `)
		FROM chats c, LATERAL (SELECT ARRAY(SELECT id FROM groups WHERE c.id IN (chat_id, former_chat_id)) AS ids) AS g
		WHERE c.id = ` + postgres.ThisChat + ` AND kind <> 'private'`
	err = s.db.QueryRow(ctx, sql, chat).Scan(&k.Title, &k.Ladders, &k.Matches, &k.Players)
	if errors.Is(err, pgx.ErrNoRows) {
		return k, ranking.ErrNoSuchGroup
	}
	return k, Translate(err)
}

// peopleOf selects the players of groups g.
const peopleOf = `ARRAY(
		    SELECT player_id FROM sightings WHERE group_id = ANY (g.ids)
		    UNION SELECT id FROM players WHERE group_id = ANY (g.ids)
		    UNION SELECT p.player_id FROM seasons s JOIN group_players p ON p.season_id = s.id
		        WHERE s.group_id = ANY (g.ids))`

// Abandoned returns the groups that removed the bot a year ago or earlier, and whose web board is
// off, the earliest first.
func (s *Store) Abandoned(ctx context.Context) ([]ranking.ExternalChatID, error) {
	return postgres.Collect(ctx, s.db, "find abandoned groups", pgx.RowTo[ranking.ExternalChatID], `
		SELECT telegram_chat_id FROM chats c JOIN groups g ON g.chat_id = c.id
		WHERE NOT is_active AND parked_at < now() - interval '1 year' AND NOT web_on ORDER BY parked_at`)
}

// ForgetGroup deletes everything of a group's chat, and the names and accounts of people whom no
// other group knows. It fails with ranking.ErrNoSuchGroup.
func (s *Store) ForgetGroup(ctx context.Context, chat ranking.ExternalChatID) error {
	return Translate(postgres.Transact(ctx, s.pool, s.lease, func(tx pgx.Tx) error {
		inside := s.inside(tx)
		row, _, err := inside.lockForMove(ctx, chat, 0)
		if err != nil {
			return err
		}
		known, err := inside.KnownGroup(ctx, chat)
		if err != nil {
			return err
		}
		groups, err := postgres.Collect(ctx, tx, "lock groups", pgx.RowTo[ranking.GroupID],
			`SELECT id FROM groups WHERE $1 IN (chat_id, former_chat_id) ORDER BY id FOR UPDATE`, row.ID)
		if err != nil {
			return err
		}
		// Everybody who is to be deleted is locked, so that no other group gets to know them.
		people, err := postgres.Collect(ctx, tx, "lock players", pgx.RowTo[int64], `
			SELECT p.id FROM (SELECT $1::bigint[] AS ids) AS g JOIN players p ON p.id = ANY (`+peopleOf+`)
			ORDER BY p.id FOR UPDATE OF p`, groups)
		if err != nil {
			return err
		}
		ids, err := postgres.Collect(ctx, tx, "read ids of a chat", pgx.RowTo[int64], `
			SELECT telegram_chat_id FROM chats WHERE id = $1 UNION SELECT telegram_chat_id FROM chat_aliases WHERE chat_id = $1`,
			row.ID)
		if err != nil {
			return err
		}
		var batch pgx.Batch
		for _, id := range ids {
			queueForgottenKeys(&batch, id, known.Title)
			if err := inside.queueWithoutLetters(ctx, &batch, traces{id: json.Number(fmt.Sprint(id))}); err != nil {
				return err
			}
		}
		if err := inside.queueShown(ctx, &batch, groups); err != nil {
			return err
		}
		batch.Queue(`DELETE FROM dead_letters WHERE outbox_id IN (SELECT id FROM outbox WHERE chat_id = $1)`, row.ID)
		queueDeletedGroups(&batch, groups, people)
		for _, table := range []string{
			"prompts", "timers", "outbox", "ensured_messages", "boards", "topics", "chat_aliases",
		} {
			batch.Queue(`DELETE FROM `+table+` WHERE chat_id = $1`, row.ID)
		}
		queueDeletedLadders(&batch, groups)
		batch.Queue(`DELETE FROM chats WHERE id = $1`, row.ID)
		return tx.SendBatch(ctx, &batch).Close()
	}))
}

// queueForgottenKeys deletes the keys of a chat, and what private chats were told about it.
func queueForgottenKeys(batch *pgx.Batch, id int64, title string) {
	batch.Queue(`
		DELETE FROM handled_commands USING unnest(ARRAY['m:', 'e:']) AS begin
		WHERE key > begin || $1::bigint || ':' AND key < begin || $1::bigint || ';'`, id)
	batch.Queue(`UPDATE handled_commands SET sender = NULL, sent_at = NULL, rate_class = NULL WHERE sender = $1`, id)
	batch.Queue(`
		DELETE FROM outbox o USING chats c WHERE c.id = o.chat_id AND c.kind = 'private' AND (
		    jsonb_path_exists(payload, '$.** ? (@ == $id)', jsonb_build_object('id', $1::bigint))
		    OR jsonb_path_exists(payload, '$.**.title ? (@ == $title)', jsonb_build_object('title', nullif($2::text, ''))))`,
		id, title)
}

// queueDeletedGroups deletes the matches and the people of groups. Of people, the rows stay: to
// delete them, the server would have to search all matches for references.
func queueDeletedGroups(batch *pgx.Batch, groups []ranking.GroupID, people []int64) {
	const matches = `(SELECT id FROM matches WHERE group_id = ANY ($1))`
	for _, table := range []string{
		"prompts", "outbox", "match_messages", "match_fixes", "match_moves", "elo_history", "match_players",
	} {
		batch.Queue(`DELETE FROM `+table+` WHERE match_id IN `+matches, groups)
	}
	for _, table := range []string{"matches", "start_ratings", "imports", "sightings"} {
		batch.Queue(`DELETE FROM `+table+` WHERE group_id = ANY ($1)`, groups)
	}
	batch.Queue(`DELETE FROM group_players WHERE season_id IN (SELECT id FROM seasons WHERE group_id = ANY ($1))`, groups)
	batch.Queue(`
		WITH gone AS (
		    UPDATE players p SET telegram_user_id = NULL, username = NULL, folded = NULL, group_id = NULL,
		        display_name = '`+ranking.Former+`'
		    WHERE id = ANY ($1) AND NOT EXISTS (SELECT FROM sightings WHERE player_id = p.id)
		      AND NOT EXISTS (SELECT FROM group_players WHERE player_id = p.id)
		    RETURNING id)
		UPDATE players SET display_name = '`+ranking.Former+`' WHERE merged_into = ANY (ARRAY(SELECT id FROM gone))`, people)
}

// queueDeletedLadders deletes the groups with their ladders, to which nothing refers anymore.
func queueDeletedLadders(batch *pgx.Batch, groups []ranking.GroupID) {
	batch.Queue(`DELETE FROM ladders WHERE group_id = ANY ($1)`, groups)
	batch.Queue(`DELETE FROM groups WHERE id = ANY ($1)`, groups)
}
