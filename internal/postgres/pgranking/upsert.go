package pgranking

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// UpsertChatAndPlayers implements ranking.Store.
func (s *Store) UpsertChatAndPlayers(ctx context.Context, chat ranking.Chat, changes []ranking.PlayerChange) error {
	var batch pgx.Batch
	s.lease.Require(&batch)
	// an earlier id of a chat neither inserts a chat nor updates the current one
	batch.Queue(`
		INSERT INTO chats (telegram_chat_id, kind, title, language)
		SELECT $1::bigint, $2, $3, coalesce(nullif($4, ''), $5) WHERE NOT EXISTS (SELECT FROM chat_aliases WHERE telegram_chat_id = $1)
		ON CONFLICT (telegram_chat_id) DO UPDATE SET kind = excluded.kind, title = excluded.title`,
		chat.ID, chat.Kind, chat.Title, chat.Language, ranking.DefaultLanguage)
	QueueGroup(&batch, chat)
	queuePlayers(&batch, []ranking.Changes{{People: changes}})
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("upsert chat and players: %w", postgres.Translate(err))
	}
	return nil
}

// QueueGroup inserts the group and the ladder of a chat, unless the chat is private.
func QueueGroup(batch *pgx.Batch, chat ranking.Chat) {
	if !chat.IsGroup() {
		return
	}
	batch.Queue(`
		INSERT INTO groups (chat_id) SELECT id FROM chats WHERE id = `+postgres.ThisChat+`
		ON CONFLICT ON CONSTRAINT groups_chat_id_key DO NOTHING`, chat.ID)
	batch.Queue(`
		INSERT INTO ladders (group_id, is_default) SELECT id, true FROM groups WHERE chat_id = `+postgres.ThisChat+`
		ON CONFLICT (group_id) WHERE is_default DO NOTHING`, chat.ID)
}

// queuePlayers records the profile updates of commands.
func queuePlayers(batch *pgx.Batch, all []ranking.Changes) {
	var people []ranking.PlayerChange
	for _, c := range all {
		people = append(people, c.People...)
	}
	for _, change := range inLockOrder(people) {
		queuePlayer(batch, change)
	}
}

// inLockOrder puts known players first, by id, and new ones after them, so that two instances that see the same
// people lock their rows in the same order. A player who loses a username comes before the one who gets it, whatever
// their ids.
func inLockOrder(changes []ranking.PlayerChange) []ranking.PlayerChange {
	return slices.SortedStableFunc(slices.Values(changes), func(a, b ranking.PlayerChange) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Player.ID, b.Player.ID), cmp.Compare(a.Player.UserID, b.Player.UserID),
			cmp.Compare(a.Player.Username, b.Player.Username))
	})
}

func rank(c ranking.PlayerChange) int {
	switch {
	case c.Player.ID != 0 && c.Player.Username == "":
		return 0
	case c.Player.ID != 0:
		return 1
	default:
		return 2
	}
}

func queuePlayer(batch *pgx.Batch, c ranking.PlayerChange) {
	p := c.Player
	if p.ID == 0 {
		batch.Queue(`
			INSERT INTO players (id, telegram_user_id, username, display_name) OVERRIDING SYSTEM VALUE
			VALUES (coalesce(nullif($4::bigint, 0), nextval('players_id_seq')), nullif($1::bigint, 0), nullif($2, ''), $3)`,
			p.UserID, p.Username, p.Name, c.Reserved)
		return
	}
	// a player who was claimed by somebody else or merged in the meantime must not be claimed again
	batch.Queue(`
		WITH changed AS (
		    UPDATE players SET telegram_user_id = nullif($2::bigint, 0), username = nullif($3, ''), display_name = $4
		    WHERE id = $1 AND (telegram_user_id IS NULL OR telegram_user_id = $2) AND merged_into IS NULL
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM changed)::unchanged`, p.ID, p.UserID, p.Username, p.Name)
	if c.Standing != 0 {
		batch.Queue(`UPDATE group_players SET name = $2 WHERE id = $1`, c.Standing, p.Name)
	}
}
