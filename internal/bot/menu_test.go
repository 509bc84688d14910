package bot

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/go-telegram/bot/models"

	"elobot/internal/catalog"
)

// TestTheMenus checks that PublishMenus sends Telegram the menus of members, admins and private
// chats in each language.
func TestTheMenus(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	if err := client.PublishMenus(testContext(t), Menus()...); err != nil {
		t.Fatalf("publish menus: %v", err)
	}
	got := map[string][]models.BotCommand{}
	for _, c := range sim.CallsOf("setMyCommands") {
		var scope struct {
			Type string `json:"type"`
		}
		var commands []models.BotCommand
		if err := errors.Join(json.Unmarshal([]byte(c.Params["scope"]), &scope),
			json.Unmarshal([]byte(c.Params["commands"]), &commands)); err != nil {
			t.Fatalf("read %v: %v", c.Params, err)
		}
		got[scope.Type+c.Params["language_code"]] = commands
	}
	menus, want := Menus(), map[string][]models.BotCommand{}
	for i, l := range catalog.All() {
		code := l.Tag()[:2] // Telegram's code has no region
		if i == 0 {
			code = "" // for people whose language has no menus
		}
		for j, scope := range []string{"all_group_chats", "all_chat_administrators", "all_private_chats"} {
			want[scope+code] = menus[3*i+j].Commands
		}
	}
	equal(t, got, want, "menus")
}
