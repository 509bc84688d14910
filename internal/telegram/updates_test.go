package telegram

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"elobot/internal/intake"
)

// readUpdate is an intake.Reader that reads only the id of an update and the chat of its message.
func readUpdate(raw []byte) (intake.Update, error) {
	var u struct {
		ID      int64 `json:"update_id"`
		Message struct {
			Chat struct{ ID int64 }
		}
	}
	err := json.Unmarshal(raw, &u)
	in := intake.Update{ID: u.ID, Lane: u.Message.Chat.ID, Raw: raw}
	if u.ID == 0 {
		return in, cmp.Or(err, errors.New("no update id"))
	}
	return in, nil
}

// TestReadUpdates checks that an update without an id gets the id that follows from its neighbors.
// If there are updates, but none has an id, readUpdates fails.
func TestReadUpdates(t *testing.T) {
	t.Parallel()
	for list, want := range map[string][]int64{
		`[]`: {},
		`["a", 1, {"update_id":7}, null, [], {"update_id":12}, {}, {"update_id":14}, "z"]`: {5, 6, 7, 8, 9, 12, 13, 14, 15},
	} {
		var raws []json.RawMessage
		if err := json.Unmarshal([]byte(list), &raws); err != nil {
			t.Fatal(err)
		}
		updates, err := readUpdates(raws, readUpdate)
		if got := ids(updates); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: the updates have the numbers %d, want %d; error %v", list, got, want, err)
		}
		for i, u := range updates {
			if string(u.Raw) != string(raws[i]) {
				t.Errorf("%s: update %d is %s", list, i, u.Raw)
			}
		}
	}
	if updates, err := readUpdates([]json.RawMessage{[]byte(`"a"`), []byte(`1`)}, readUpdate); err == nil {
		t.Errorf("without any number there are %+v", updates)
	}
}
