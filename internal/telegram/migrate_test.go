package telegram

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"elobot/internal/botsim"
	"elobot/internal/intake"
)

// TestMigration has a group become a supergroup, of which both chats tell, in either order and between commands.
func TestMigration(t *testing.T) {
	t.Parallel()
	for name, migrate := range map[string]func(*botsim.Chat) *botsim.Chat{
		"old chat first": (*botsim.Chat).Migrate, "new chat first": (*botsim.Chat).MigrateNewFirst,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			old := w.sim.BasicGroup("Chess", w.alice, w.bob)
			old.Say(w.alice, "/ranking")
			supergroup := migrate(old)
			supergroup.Say(w.alice, "/join")
			move := fmt.Sprintf("move %d to %d", old.ID(), supergroup.ID())
			w.expect(name, "ranking", move, move, "join")
		})
	}
}

func TestMigrationMessages(t *testing.T) {
	t.Parallel()
	const (
		oldChat = `"chat":{"id":-4000000001,"type":"group","title":"Chess"}`
		newChat = `"chat":{"id":-1002000000001,"type":"supergroup","title":"Chess"}`
		alice   = `"from":{"id":1001,"first_name":"Alice"}`
		group   = `"from":{"id":1087968824,"is_bot":true,"first_name":"Group"},"sender_chat":{"id":-1002000000001,"type":"supergroup"}`
		command = `,"text":"/ranking","entities":[{"type":"bot_command","offset":0,"length":8}]`
		move    = "move -4000000001 to -1002000000001"
	)
	for name, tc := range map[string]struct {
		message string
		want    []string
	}{
		"in the old chat":       {`{"message_id":9,"date":1,` + alice + `,` + oldChat + `,"migrate_to_chat_id":-1002000000001}`, []string{move}},
		"in the new chat":       {`{"message_id":1,"date":1,` + group + `,` + newChat + `,"migrate_from_chat_id":-4000000001}`, []string{move}},
		"of nobody":             {`{"message_id":1,"date":1,` + newChat + `,"migrate_from_chat_id":-4000000001}`, []string{move}},
		"without a chat":        {`{"message_id":1,"date":1,` + alice + `,"migrate_from_chat_id":-4000000001}`, nil},
		"a reply to it":         {`{"message_id":2,"date":1,` + alice + `,` + newChat + command + `,"reply_to_message":{"message_id":1,` + group + `,` + newChat + `,"migrate_from_chat_id":-4000000001}}`, []string{"ranking"}},
		"a reply without words": {`{"message_id":2,"date":1,` + alice + `,` + newChat + `,"reply_to_message":{"message_id":1,` + group + `,` + newChat + `,"migrate_from_chat_id":-4000000001}}`, nil},
		"another one":           {`{"message_id":2,"date":1,` + alice + `,` + newChat + `,"new_chat_title":"Chess 2"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.sim.Update(json.RawMessage(`{"message":` + tc.message + `}`))
			w.expect(name, tc.want...)
		})
	}
	for _, raw := range []string{
		`{"message":{"migrate_to_chat_id":"-5"}}`, `{"message":{"migrate_from_chat_id":99999999999999999999}}`,
	} {
		rankings := &fakeRankings{}
		err := newRouter(rankings).Handle(t.Context(), intake.Update{ID: 1, Raw: json.RawMessage(raw)})
		if !errors.Is(err, intake.ErrUnreadable) || len(rankings.calls) > 0 {
			t.Errorf("%s: error %v, calls %v", raw, err, rankings.calls)
		}
	}
}

func TestErrorsOfTheServiceForMigrationsAreReturned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rankings.err = errors.New("the database is away")
	w.sim.BasicGroup("Chess", w.alice).Migrate()
	for _, u := range w.fetch() {
		if err := w.router.Handle(testContext(t), u); !errors.Is(err, w.rankings.err) {
			t.Errorf("%s: %v", u.Raw, err)
		}
	}
}
