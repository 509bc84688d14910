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
func (s *Store) UpsertChatAndPlayers(
	ctx context.Context, q ranking.Query, chat *ranking.Chat, changes []ranking.PlayerChange,
) (ranking.Snapshot, error) {
	var snap ranking.Snapshot
	var batch pgx.Batch
	s.lease.Require(&batch)
	if chat != nil {
		queueChatAndGroup(&batch, *chat)
	}
	for _, change := range inLockOrder(changes) {
		queuePlayer(&batch, q.Chat.ID, change)
	}
	queueRead(&batch, q, &snap)
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return ranking.Snapshot{}, fmt.Errorf("upsert chat and players: %w", postgres.Translate(err))
	}
	return snap, nil
}

// queueChatAndGroup stores a chat with its group. A former id of a chat neither inserts a chat nor updates the current one.
func queueChatAndGroup(batch *pgx.Batch, chat ranking.Chat) {
	batch.Queue(`
		INSERT INTO chats (telegram_chat_id, kind, title, language)
		SELECT $1::bigint, $2, $3, coalesce(nullif($4, ''), $5) WHERE NOT EXISTS (SELECT FROM chat_aliases WHERE telegram_chat_id = $1)
		ON CONFLICT (telegram_chat_id) DO UPDATE SET kind = excluded.kind, title = excluded.title`,
		chat.ID, chat.Kind, chat.Title, chat.Language, ranking.DefaultLanguage)
	QueueGroup(batch, chat)
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

// inLockOrder puts known players first, by id, and new ones after them, so that two instances that see the same
// people lock their rows in the same order.
func inLockOrder(changes []ranking.PlayerChange) []ranking.PlayerChange {
	known := func(c ranking.PlayerChange) int {
		if c.Player.ID != 0 {
			return 0
		}
		return 1
	}
	return slices.SortedStableFunc(slices.Values(changes), func(a, b ranking.PlayerChange) int {
		return cmp.Or(known(a)-known(b), cmp.Compare(a.Player.ID, b.Player.ID), cmp.Compare(a.Player.UserID, b.Player.UserID),
			cmp.Compare(a.Player.Username, b.Player.Username))
	})
}

// queuePlayer stores a change of a player, which a command in the chat has shown.
func queuePlayer(batch *pgx.Batch, chat ranking.ExternalChatID, c ranking.PlayerChange) {
	p := c.Player
	if p.ID == 0 {
		batch.Queue(`
			INSERT INTO players (telegram_user_id, group_id, username, display_name)
			SELECT nullif($2::bigint, 0), CASE WHEN $2 = 0 THEN `+postgres.ThisGroup+` END, nullif($3, ''), $4`,
			chat, p.UserID, p.Username, p.Name)
	} else {
		// a player who was claimed by somebody else or merged in the meantime must not be claimed again
		batch.Queue(`
			WITH changed AS (
			    UPDATE players SET telegram_user_id = nullif($2::bigint, 0), username = nullif($3, ''), display_name = $4,
			        group_id = CASE WHEN $2 = 0 THEN group_id END
			    WHERE id = $1 AND (telegram_user_id IS NULL OR telegram_user_id = $2) AND merged_into IS NULL
			    RETURNING 1)
			SELECT EXISTS (SELECT FROM changed)::unchanged`, p.ID, p.UserID, p.Username, p.Name)
	}
	if c.Standing != 0 {
		batch.Queue(`UPDATE group_players SET name = $2 WHERE id = $1`, c.Standing, p.Name)
	}
	if c.Sighting != nil {
		queueSighting(batch, chat, p.UserID, *c.Sighting)
	}
}

// queueSighting records with which username an account was seen in the group of a chat. Nobody else has that username there
// from then on, except for somebody who was seen with it later.
func queueSighting(batch *pgx.Batch, chat ranking.ExternalChatID, account ranking.UserID, s ranking.Sighting) {
	batch.Queue(`
		UPDATE sightings SET username = NULL
		WHERE group_id = `+postgres.ThisGroup+` AND lower(username) = lower($3) AND player_id <> `+postgres.ThisPlayer+`
		  AND seen_at <= $4`, chat, account, s.Username, s.At)
	batch.Queue(`
		INSERT INTO sightings AS known (group_id, player_id, username, seen_at)
		SELECT here.id, `+postgres.ThisPlayer+`, nullif($3, ''), $4 FROM (SELECT `+postgres.ThisGroup+` AS id) AS here
		WHERE NOT EXISTS (SELECT FROM sightings later WHERE later.group_id = here.id AND lower(later.username) = lower($3))
		ON CONFLICT ON CONSTRAINT sightings_pkey DO UPDATE SET username = excluded.username, seen_at = excluded.seen_at
		WHERE known.seen_at <= excluded.seen_at`, chat, account, s.Username, s.At)
}
