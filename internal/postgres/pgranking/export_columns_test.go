package pgranking_test

import (
	"slices"
	"strings"
	"testing"

	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
)

// leftOut has the columns that an export does not have.
const leftOut = `
	ids, which an export numbers anew, and what follows from the place of a row:
	chats.id groups.id groups.chat_id groups.former_chat_id ladders.id ladders.group_id ladders.season_id seasons.id
	seasons.group_id players.id players.group_id sightings.group_id group_players.id matches.id matches.group_id
	match_fixes.id match_moves.id elo_history.id

	of the chat, or of the database alone:
	chats.telegram_chat_id chats.kind chats.title chats.is_active chats.frozen_until chats.parked_at chats.parked_until
	chats.parkings chats.forgotten chats.added_at chats.greeted_at chats.created_at groups.created_at players.created_at
	players.added_by group_players.version

	secrets, and what is made of them:
	groups.web_on groups.web_salt groups.import_secret matches.idempotency_key

	tables:
	boards bot chat_aliases dead_letters ensured_messages handled_commands imports leases match_messages outbox prompts
	schema_migrations start_ratings timers topics update_attempts`

// TestColumnsOfExport checks that each column of the database either is in an export, or was left
// out on purpose: in leftOut.
func TestColumnsOfExport(t *testing.T) {
	t.Parallel()
	exported := pgranking.ExportedColumns()
	left := strings.Fields(leftOut)
	w := newWorld(t)
	for _, c := range dbtest.Values[string](t, w.Pool, `
		SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1`) {
		table, _, _ := strings.Cut(c, ".")
		isLeft := slices.Contains(left, c) || slices.Contains(left, table)
		if slices.Contains(exported, c) == isLeft {
			t.Errorf("%s has to be either in exportTables or in leftOut", c)
		}
	}
}
