package telegram

import (
	"encoding/json"
	"slices"
	"testing"
)

const typical = `{"update_id":900000001,"message":{"message_id":4711,"from":{"id":1001,"is_bot":false,"first_name":"Alice",` +
	`"username":"alice","language_code":"en"},"chat":{"id":-1001234567890,"title":"Table tennis","type":"supergroup"},` +
	`"date":1777897815,"text":"/match @bob 11:7 9:11 11:5","entities":[{"offset":0,"length":6,"type":"bot_command"},` +
	`{"offset":7,"length":4,"type":"mention"}]}}`

// BenchmarkReadUpdates reads an answer with the maximum number of updates.
func BenchmarkReadUpdates(b *testing.B) {
	raws := slices.Repeat([]json.RawMessage{json.RawMessage(typical)}, 100)
	answer, err := json.Marshal(raws)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(answer)))
	for b.Loop() {
		var raws []json.RawMessage
		if err := json.Unmarshal(answer, &raws); err != nil {
			b.Fatal(err)
		}
		if updates, err := readUpdates(raws); err != nil || len(updates) != 100 {
			b.Fatal(len(updates), err)
		}
	}
}
