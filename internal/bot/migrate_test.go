package bot

import (
	"encoding/json"
	"fmt"
	"testing"

	"elobot/internal/botsim"
)

// TestMigration checks that the router reports that a group has become a supergroup, once for each
// of the two service messages. The messages and the update about the bot's membership may arrive in
// any order. The router handles commands before and after as usual.
func TestMigration(t *testing.T) {
	t.Parallel()
	const moved, added = "move", "added greeting {}"
	for name, tc := range map[string]struct {
		migrate func(*botsim.Chat) *botsim.Chat
		want    []string
	}{
		"old chat first": {(*botsim.Chat).Migrate, []string{moved, added, moved}},
		"new chat first": {(*botsim.Chat).MigrateNewFirst, []string{moved, added, moved}},
		"join first":     {(*botsim.Chat).MigrateJoinFirst, []string{added, moved, moved}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			old := w.sim.BasicGroup("Chess", w.alice, w.bob)
			old.Say(w.alice, "/ranking")
			supergroup := tc.migrate(old)
			supergroup.Say(w.alice, "/join")
			want := []string{"ranking"}
			for _, call := range tc.want {
				if call == moved {
					call = fmt.Sprintf("move %d to %d", old.ID(), supergroup.ID())
				}
				want = append(want, call)
			}
			w.expect(name, append(want, "join")...)
		})
	}
}

func TestMigrationMessages(t *testing.T) {
	t.Parallel()
	const (
		oldChat = `"chat":{"id":-4000000001,"type":"group","title":"Chess"}`
		newChat = `"chat":{"id":-1002000000001,"type":"supergroup","title":"Chess"}`
		alice   = `"from":{"id":1001,"first_name":"Alice"}`
		group   = `"from":{"id":1087968824,"is_bot":true,"first_name":"Group"},` +
			`"sender_chat":{"id":-1002000000001,"type":"supergroup"}`
		command = `,"text":"/ranking","entities":[{"type":"bot_command","offset":0,"length":8}]`
		move    = "move -4000000001 to -1002000000001"
		first   = `{"message_id":1,"date":1,` + group + `,` + newChat + `,"migrate_from_chat_id":-4000000001}`
	)
	for name, tc := range map[string]struct {
		message string
		want    []string
	}{
		"in the old chat": {
			`{"message_id":9,"date":1,` + alice + `,` + oldChat + `,"migrate_to_chat_id":-1002000000001}`, []string{move},
		},
		"in the new chat": {first, []string{move}},
		"of nobody":       {`{"message_id":1,"date":1,` + newChat + `,"migrate_from_chat_id":-4000000001}`, []string{move}},
		"without a chat":  {`{"message_id":1,"date":1,` + alice + `,"migrate_from_chat_id":-4000000001}`, nil},
		"a reply to it": {
			`{"message_id":2,"date":1,` + alice + `,` + newChat + command + `,"reply_to_message":` + first + `}`,
			[]string{"ranking"},
		},
		"a reply without words": {
			`{"message_id":2,"date":1,` + alice + `,` + newChat + `,"reply_to_message":` + first + `}`, nil,
		},
		"another one": {`{"message_id":2,"date":1,` + alice + `,` + newChat + `,"new_chat_photo":[]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.sim.Update(json.RawMessage(`{"message":` + tc.message + `}`))
			w.expect(name, tc.want...)
		})
	}
}
