package pgranking_test

import (
	"slices"
	"strings"
	"testing"

	"elobot/internal/postgres/dbtest"
)

// fates has each column with the id of a chat, a group, a ladder, a player, a match or an
// account, or with a name, and what becomes of it in a merge or split of players, when a person is
// forgotten, when a group is deleted, when a chat moves, and in an export. A hyphen, or "id alone",
// means that there is nothing to do: the id stays valid, and tells nothing of a person by itself.
const fates = `
boards: chat_id ladder_id | - | edited | deleted | passes on | of the chat
bot: telegram_user_id | - | the bot itself | the bot itself | - | of the database
chat_aliases: telegram_chat_id chat_id | - | groups only | deleted | added | of the chat
chats: id telegram_chat_id title | - | the private chat is deleted | deleted | changed | of the chat
dead_letters: payload last_error outbox_id | - | deleted if the person is in them | likewise, for
    the group | - | of the database
elo_history: match_id player_id | replayed | id alone | deleted | - | exported
ensured_messages: chat_id object | edited | edited | deleted | deleted | of the chat
group_players: season_id player_id named_id name | mapped | former | deleted | - | exported
groups: id chat_id former_chat_id web_salt import_secret | - | id alone | deleted | passes on |
    exported without secrets
handled_commands: key sender | - | the sender is gone, keys of the private chat are deleted |
    deleted | keys have the former id | of the database
imports: group_id ladder_id standings | - | id alone | deleted | - | of the database
ladders: id group_id season_id name | - | names no person | deleted | - | exported
match_fixes: match_id fixed_by | - | id alone | deleted | - | exported
match_messages: telegram_chat_id match_id outbox_id | edited | edited | deleted | have the former id
    | of the chat
match_moves: match_id old_ladder_id new_ladder_id moved_by | - | id alone | deleted | - | exported
match_players: match_id player_id named_id | mapped | id alone | deleted | - | exported
matches: id group_id ladder_id season_id reported_by undone_by idempotency_key | replayed | id
    alone, keys name nobody | deleted | keys have the former id | exported without keys
outbox: chat_id key payload addressee_id addressee match_id object supersede_key batch | names are
    looked up | cleaned | deleted | passes on | of the chat
players: id telegram_user_id added_by group_id username display_name folded merged_into | claimed ones lose
    the username | former | former, if no other group knows them | - | exported
prompts: id chat_id match_id request answerer_id | answers check the players again | closed and
    emptied | deleted | passes on | of the chat
seasons: id group_id ladder_id name | - | names no person | deleted | - | exported
sightings: group_id player_id username former nick counts_as | mapped | former | deleted | passes on
    | exported
start_ratings: group_id standing_id | - | id alone | deleted | - | of the database
timers: key chat_id | - | those of closed prompts are deleted | deleted | passes on | of the chat
topics: chat_id ladder_id | - | id alone | deleted | deleted | of the chat`

// neither lists the other columns that might have an id or a name.
const neither = `
boards.thread_id boards.pin chats.kind chats.language chats.time_zone dead_letters.id dead_letters.kind
dead_letters.update_id elo_history.id elo_history.reason ensured_messages.telegram_message_id
ensured_messages.fingerprint group_players.id group_players.version handled_commands.trigger
handled_commands.outcome handled_commands.rate_class leases.name leases.holder leases.epoch match_fixes.id
match_fixes.old_sets match_fixes.new_sets match_messages.telegram_message_id match_messages.fingerprint
match_messages.language match_moves.id matches.sets matches.games matches.position outbox.id outbox.kind
outbox.purpose outbox.language outbox.action outbox.reply_to outbox.thread_id outbox.callback_query_id
outbox.edited_message_id outbox.state outbox.last_error outbox.telegram_message_id prompts.kind
prompts.telegram_message_id prompts.closed_as topics.thread_id update_attempts.update_id`

// TestPersonalColumns checks that each column that might have an id or a name is in fates, or
// listed as having neither, and that fates says what becomes of rows that refer to chats,
// groups and players. TestPersonalTexts does the same for what is in JSON.
func TestPersonalColumns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	listed := strings.Fields(neither)
	became := make(map[string][]string) // by table
	for line := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(fates), "\n    ", " "), "\n") {
		head, rest, _ := strings.Cut(line, " | ")
		table, columns, _ := strings.Cut(head, ": ")
		became[table] = strings.Split(rest, " | ")
		dbtest.Equal(t, "decisions about "+table, 5, len(became[table]))
		for column := range strings.FieldsSeq(columns) {
			listed = append(listed, table+"."+column)
		}
	}
	slices.Sort(listed)
	dbtest.Equal(t, "columns", listed, dbtest.Values[string](t, w.Pool, `
		SELECT table_name || '.' || column_name FROM information_schema.columns
		WHERE table_schema = 'public' AND table_name <> 'schema_migrations'
		  AND data_type IN ('bigint', 'text', 'jsonb', 'bytea', 'uuid', 'ARRAY')
		ORDER BY (table_name || '.' || column_name) COLLATE "C"`))
	for decision, to := range map[int]string{1: "players", 2: "groups", 3: "chats"} {
		for _, table := range dbtest.Values[string](t, w.Pool, `
			SELECT DISTINCT conrelid::regclass::text FROM pg_constraint WHERE contype = 'f' AND confrelid = $1::regclass`, to) {
			if what := became[table]; what == nil || what[decision] == "-" {
				t.Errorf("%s refers to %s, and fates does not say what becomes of it: %q", table, to, what)
			}
		}
	}
}
