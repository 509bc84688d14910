package pgranking

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// Translate extends postgres.Translate to the constraints of this package. A key that exists
// already becomes ranking.ErrHandled. A violation that a concurrent transaction may have caused
// becomes ranking.ErrConflict.
func Translate(err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return postgres.Translate(err)
	}
	switch pg.ConstraintName {
	case "handled_commands_pkey", "matches_idempotency_key_key":
		return fmt.Errorf("%w: %w", ranking.ErrHandled, err)
	case
		// another transaction inserted the same person
		"players_telegram_user_id_key", "players_unclaimed_key", "sightings_pkey", "sightings_username_key",
		"players_guest_key", "group_players_season_id_player_id_key",
		// another transaction inserted a match at the same place
		"matches_ladder_id_position_key",
		// another transaction inserted the same chat, or is moving it
		"chats_telegram_chat_id_key", "chats_no_alias", "chat_aliases_pkey", "chat_aliases_no_chat",
		"groups_chat_id_key", "ladders_default_key",
		// the chat was merged with another chat
		"outbox_chat_id_fkey", "chat_aliases_chat_id_fkey", "groups_chat_id_fkey", "ladders_group_id_fkey",
		"group_players_season_id_fkey", "players_group_id_fkey", "sightings_group_id_fkey":
		return fmt.Errorf("%w: %w", ranking.ErrConflict, err)
	default:
		return postgres.Translate(err)
	}
}
