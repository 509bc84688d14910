package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/intake"
	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/telegram"
)

// fakeLetters records the stored letters, and fails on demand.
type fakeLetters struct {
	kept   []intake.DeadLetter
	origin ranking.Origin
	notice notice.Notice
	alone  bool // the last letter was stored without a notice

	notifyErr, keepErr error
}

func (f *fakeLetters) Save(_ context.Context, l intake.DeadLetter) error {
	f.kept, f.alone = append(f.kept, l), true
	return f.keepErr
}

func (f *fakeLetters) SaveAndNotify(_ context.Context, l intake.DeadLetter, o ranking.Origin, n notice.Notice) error {
	if f.notifyErr != nil {
		return f.notifyErr
	}
	f.kept, f.origin, f.notice, f.alone = append(f.kept, l), o, n, false
	return nil
}

var errAway = errors.New("the database is away")

// storeLetter makes a DeadLetterHandler store a dead letter with this update.
func storeLetter(t *testing.T, f *fakeLetters, raw string) error {
	t.Helper()
	h := NewDeadLetterHandler(f, telegram.Self{ID: 7000000001, Username: "elo_bot"},
		func(err error) bool { return errors.Is(err, errAway) }, slog.New(slog.DiscardHandler))
	letter := intake.DeadLetter{Update: decoded(intake.Update{ID: 5, Raw: []byte(raw), SentAt: worldTime}),
		LastError: "why", Attempts: 3, FirstSeen: worldTime}
	return h.Save(testContext(t), letter)
}

// deadMessage returns an update with a message of Alice in a group. more adds or replaces fields of
// the message.
func deadMessage(more string) string {
	return `{"update_id":5,"message":{"message_id":7,"date":1700000000,` +
		`"chat":{"id":-100,"type":"supergroup","title":"Club"},` +
		`"from":{"id":1001,"first_name":"Alice","username":"alice"}` + more + `}}`
}

// deadEdit returns an update with an edit made the given number of seconds after the message.
func deadEdit(after int) string {
	return fmt.Sprintf(
		`{"update_id":5,"edited_message":{"message_id":7,"date":1700000000,"edit_date":%d,"text":"/top","entities":5,`+
			`"chat":{"id":-100,"type":"supergroup","title":"Club"},`+
			`"from":{"id":1001,"first_name":"Alice","username":"alice"}}}`, 1_700_000_000+after)
}

func TestWhoIsNotifiedOfADeadLetter(t *testing.T) {
	t.Parallel()
	const entity = `,"entities":[{"type":"bot_command","offset":0,"length":6}]`
	const damaged = `,"entities":[{"type":"bot_command","offset":0,"length":"six"}]`
	for what, tc := range map[string]struct{ raw, command string }{
		"a result":               {deadMessage(`,"text":"/match @bob 3:1"` + entity), "/match @bob 3:1"},
		"in a topic":             {deadMessage(`,"text":"/match @bob 3:1","is_topic_message":true,"message_thread_id":9` + entity), "/match @bob 3:1"},
		"entities damaged":       {deadMessage(`,"text":"/match @bob 3:1"` + damaged), "/match @bob 3:1"},
		"entities no list":       {deadMessage(`,"entities":5,"text":"/match@Elo_Bot @bob\n3:1"`), "/match@Elo_Bot @bob 3:1"},
		"a reply damaged":        {deadMessage(`,"text":"/fix 3:2","reply_to_message":{"message_id":"x"},"entities":[{"type":"bot_command","length":4}]`), "/fix 3:2"},
		"addressed, not known":   {deadMessage(`,"text":"/foo@elo_bot","entities":5`), "/foo@elo_bot"},
		"an alias":               {deadMessage(`,"text":"/top","entities":5`), "/top"},
		"where one stands":       {deadMessage(`,"text":"/me","entities":5`), "/me"},
		"help":                   {deadMessage(`,"text":"/help","entities":5`), "/help"},
		"long":                   {deadMessage(`,"text":"/match @bob 3:1 and then some more words","entities":5`), "/match @bob 3:1 and then some m…"},
		"a sender damaged":       {`{"message":{"message_id":7,"date":1700000000,"chat":{"id":-100,"type":"group"},"from":5,"text":"/top"}}`, "/top"},
		"the group itself":       {deadMessage(`,"sender_chat":{"id":-100},"text":"/top","entities":5`), "/top"},
		"unknown, in private":    {`{"message":{"message_id":7,"date":1,"chat":{"id":1001,"type":"private"},"from":{"id":1001},"text":"/foo","entities":5}}`, "/foo"},
		"no command":             {deadMessage(`,"text":"hello"`), ""},
		"a command in the text":  {deadMessage(`,"text":"I said /match","entities":5`), ""},
		"marked as none":         {deadMessage(`,"text":"/match","entities":[]`), ""},
		"to another bot":         {deadMessage(`,"text":"/match@other_bot 3:1","entities":5`), ""},
		"not known":              {deadMessage(`,"text":"/foo","entities":5`), ""},
		"a part of a name":       {deadMessage(`,"text":"/topical","entities":5`), ""},
		"a path":                 {deadMessage(`,"text":"/top/secret","entities":5`), ""},
		"text damaged":           {deadMessage(`,"text":5`), ""},
		"nothing":                {deadMessage(""), ""},
		"of a bot":               {`{"message":{"message_id":7,"chat":{"id":-100,"type":"group"},"from":{"id":1,"is_bot":true},"text":"/top","entities":5}}`, ""},
		"of nobody":              {`{"message":{"message_id":7,"chat":{"id":-100,"type":"group"},"text":"/top","entities":5}}`, ""},
		"forwarded":              {deadMessage(`,"forward_origin":{},"text":"/top","entities":5`), ""},
		"of a channel":           {deadMessage(`,"sender_chat":{"id":-300},"text":"/top","entities":5`), ""},
		"in no chat":             {`{"message":{"message_id":7,"chat":"x","from":{"id":1},"text":"/top","entities":5}}`, ""},
		"in a channel":           {`{"message":{"message_id":7,"chat":{"id":-1,"type":"channel"},"from":{"id":1},"text":"/top","entities":5}}`, ""},
		"in something new":       {`{"message":{"message_id":7,"chat":{"id":-1,"type":"hall"},"from":{"id":1},"text":"/top","entities":5}}`, ""},
		"edited":                 {deadEdit(300), "/top"},
		"edited too late":        {deadEdit(301), ""},
		"edited without dates":   {`{"edited_message":{"message_id":7,"chat":{"id":-100,"type":"group"},"from":{"id":1},"text":"/top","entities":5}}`, ""},
		"no JSON":                {"{\x1b", ""},
		"a press without a chat": {`{"callback_query":{"id":"9","from":{"id":1},"data":"1u:1"}}`, ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var f fakeLetters
			if err := storeLetter(t, &f, tc.raw); err != nil || len(f.kept) != 1 {
				t.Fatalf("error %v, stored %d", err, len(f.kept))
			}
			switch {
			case f.alone != (tc.command == ""):
				t.Errorf("stored alone: %t, notice %+v", f.alone, f.notice)
			case !f.alone && f.notice != CommandFailed{Command: tc.command}:
				t.Errorf("notice %+v, want %q", f.notice, tc.command)
			}
		})
	}
}

func TestWhereADeadLetterIsAnnounced(t *testing.T) {
	t.Parallel()
	club := ranking.Chat{ID: -100, Kind: ranking.Supergroup, Title: "Club"}
	alice := &command.Person{ID: 1001, Username: "alice", Name: "Alice"}
	sent := time.Unix(1_700_000_000, 0).UTC()
	const text = `,"text":"/top","entities":5`
	for what, tc := range map[string]struct {
		raw  string
		want ranking.Origin
	}{
		"in reply": {deadMessage(text), ranking.Origin{Logged: ranking.Logged{Update: 5, Command: "ranking"}, Place: ranking.Place{ReplyTo: 7}, Key: "m:-100:7", Chat: club, Sender: alice, SentAt: sent}},
		"in a topic": {deadMessage(text + `,"is_topic_message":true,"message_thread_id":9`),
			ranking.Origin{Logged: ranking.Logged{Update: 5, Command: "ranking"}, Place: ranking.Place{ReplyTo: 7, Thread: 9},
				Key: "m:-100:7", Chat: club, Sender: alice, SentAt: sent}},
		"in reply to an edited message": {deadEdit(60), ranking.Origin{Logged: ranking.Logged{Update: 5, Command: "ranking"}, Place: ranking.Place{ReplyTo: 7},
			Key: "e:-100:7:1700000060:bb3d4f36", Trigger: ranking.ByEdit, Message: "m:-100:7",
			Chat: club, Sender: alice, SentAt: sent.Add(time.Minute),
		}},
		"to somebody who cannot be read": {
			`{"message":{"message_id":7,"date":"x","chat":{"id":-100,"type":"supergroup","title":5},"from":[]` + text + `}}`,
			ranking.Origin{Logged: ranking.Logged{Update: 5, Command: "ranking"}, Place: ranking.Place{ReplyTo: 7},
				Key: "m:-100:7", Chat: ranking.Chat{ID: -100, Kind: ranking.Supergroup}, SentAt: worldTime}},
		"to the person who pressed": {
			`{"callback_query":{"id":"9","from":{"id":1001,"first_name":"Alice","username":"alice"},"data":5,
				"message":{"message_id":7,"chat":{"id":-100,"type":"supergroup","title":"Club"}}}}`,
			ranking.Origin{Logged: ranking.Logged{Update: 5, Command: "unknown"}, Place: ranking.Place{ReplyTo: 7},
				Press: ranking.Press{Button: "9", Pressed: 7}, Key: "c:9", Chat: club, Sender: alice, SentAt: worldTime}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var f fakeLetters
			if err := storeLetter(t, &f, tc.raw); err != nil || f.alone {
				t.Fatalf("error %v, stored alone: %t", err, f.alone)
			}
			equal(t, f.origin, tc.want, "origin")
			if tc.want.Button != "" && f.notice != (CommandFailed{}) {
				t.Errorf("notice %+v", f.notice)
			}
		})
	}
}

// TestNoticeOfADeadLetterFails checks that a dead letter is stored alone if it cannot be stored
// with its notice, unless the database is unavailable.
func TestNoticeOfADeadLetterFails(t *testing.T) {
	t.Parallel()
	raw := deadMessage(`,"text":"/top","entities":5`)
	f := fakeLetters{notifyErr: errors.New("the chat cannot be stored")}
	if err := storeLetter(t, &f, raw); err != nil || len(f.kept) != 1 || !f.alone {
		t.Errorf("error %v, stored %+v", err, f.kept)
	}
	f.keepErr = errors.New("nor can the letter")
	if err := storeLetter(t, &f, raw); !errors.Is(err, f.keepErr) {
		t.Errorf("error %v", err)
	}
	f = fakeLetters{notifyErr: fmt.Errorf("keep: %w", errAway)}
	if err := storeLetter(t, &f, raw); !errors.Is(err, errAway) || len(f.kept) > 0 {
		t.Errorf("error %v, stored %+v", err, f.kept)
	}
}
