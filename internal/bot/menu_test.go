package bot

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheMenus(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	if err := client.PublishMenus(testContext(t), Menus()...); err != nil {
		t.Fatalf("publish menu: %v", err)
	}
	got := map[string][]string{}
	for _, c := range sim.CallsOf("setMyCommands") {
		var scope struct {
			Type string `json:"type"`
		}
		var commands []struct {
			Command     string `json:"command"`
			Description string `json:"description"`
		}
		if err := errors.Join(json.Unmarshal([]byte(c.Params["scope"]), &scope), json.Unmarshal([]byte(c.Params["commands"]), &commands)); err != nil {
			t.Fatalf("read %v: %v", c.Params, err)
		}
		for _, command := range commands {
			got[scope.Type] = append(got[scope.Type], command.Command)
			if command.Description == "" {
				t.Errorf("%s has no description", command.Command)
			}
		}
	}
	want := map[string][]string{"all_group_chats": {"match", "ranking", "me", "undo", "fix", "join", "help"}, "all_private_chats": {"start", "me", "help"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("menus (-want +got):\n%s", diff)
	}
}
