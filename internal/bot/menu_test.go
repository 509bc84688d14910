package bot

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/go-cmp/cmp"
)

// TestTheMenus: Telegram is told the menus of both kinds of chats. docs/commands.md has their commands.
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
		got[scope.Type] = commands
	}
	menus := Menus()
	want := map[string][]models.BotCommand{"all_group_chats": menus[0].Commands, "all_private_chats": menus[1].Commands}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("menus (-want +got):\n%s", diff)
	}
}
