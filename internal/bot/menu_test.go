package bot

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/go-cmp/cmp"
)

// TestTheMenus: Telegram is told the menus of both kinds of chats in each language. docs/commands.md has their commands.
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
		if err := errors.Join(json.Unmarshal([]byte(c.Params["scope"]), &scope), json.Unmarshal([]byte(c.Params["commands"]), &commands)); err != nil {
			t.Fatalf("read %v: %v", c.Params, err)
		}
		got[scope.Type+c.Params["language_code"]] = commands
	}
	menus, want := Menus(), map[string][]models.BotCommand{}
	for i, code := range []string{"", "de", "es", "ru", "uk", "pt"} {
		want["all_group_chats"+code], want["all_private_chats"+code] = menus[2*i].Commands, menus[2*i+1].Commands
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("menus (-want +got):\n%s", diff)
	}
}
