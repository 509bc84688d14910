package main_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// telegramHistory is the history of a group, which json writes in the form of Telegram Desktop's
// export. It is made of the description of that form alone, so that it can judge a reader.
//
// A message of an anonymous admin is the group's, one without an author that of nobody. Deleted
// messages are missing, of edited ones there is the last text, and people have their latest names.
type telegramHistory struct {
	title    string
	before   []botsim.Message // of the basic group that became this one; nil for none
	messages []botsim.Message // not empty
	zone     *time.Location   // of the computer that exports
	gone     []int64          // accounts that have been deleted since
}

// The bare id of a supergroup or channel is firstChannel minus its id in the Bot API.
const firstChannel = -1_000_000_000_000

// beforeSupergroup is subtracted from the ids of messages of the former basic group.
const beforeSupergroup = 1_000_000_000

// groupAnonymousBot is the author of messages of anonymous admins in the Bot API.
const groupAnonymousBot = 1087968824

const notIncluded = "(File not included. Change data exporting settings to download.)"

type exportedChat struct {
	Name     string            `json:"name"`
	Type     string            `json:"type"`
	ID       int64             `json:"id"`
	Messages []exportedMessage `json:"messages"`
}

// exportedMessage has its fields in the order of the export. A null name is a nil *string.
type exportedMessage struct {
	ID         int64              `json:"id"`
	Type       string             `json:"type"`
	Date       string             `json:"date"`
	Unix       string             `json:"date_unixtime"`
	Edited     string             `json:"edited,omitempty"`
	EditedUnix string             `json:"edited_unixtime,omitempty"`
	Actor      any                `json:"actor,omitempty"`
	ActorID    string             `json:"actor_id,omitempty"`
	Action     string             `json:"action,omitempty"`
	Title      string             `json:"title,omitempty"`
	Members    []any              `json:"members,omitempty"`
	From       any                `json:"from,omitempty"`
	FromID     string             `json:"from_id,omitempty"`
	ReplyTo    int64              `json:"reply_to_message_id,omitempty"`
	Photo      string             `json:"photo,omitempty"`
	File       string             `json:"file,omitempty"`
	FileName   string             `json:"file_name,omitempty"`
	FileSize   int                `json:"file_size,omitempty"`
	MIME       string             `json:"mime_type,omitempty"`
	Width      int                `json:"width,omitempty"`
	Height     int                `json:"height,omitempty"`
	Text       any                `json:"text,omitempty"` // a string, or strings and entities
	Entities   []exportedEntity   `json:"text_entities,omitzero"`
	Buttons    [][]exportedButton `json:"inline_bot_buttons,omitempty"`
	Rich       *exportedRich      `json:"rich_message,omitempty"`
}

type exportedEntity struct {
	Type       string `json:"type"`
	Text       string `json:"text"`
	UserID     int64  `json:"user_id,omitempty"`
	Href       string `json:"href,omitempty"`
	Language   string `json:"language,omitempty"`
	Collapsed  *bool  `json:"collapsed,omitempty"`
	DocumentID string `json:"document_id,omitempty"`
}

type exportedButton struct {
	Type       string `json:"type"`
	Text       string `json:"text"`
	Data       string `json:"data"`
	DataBase64 string `json:"dataBase64,omitempty"`
}

type exportedRich struct {
	RTL    bool                `json:"rtl"`
	Part   bool                `json:"part"`
	Blocks []map[string]string `json:"blocks"`
}

// json returns the content of result.json.
func (h telegramHistory) json(t testing.TB) []byte {
	t.Helper()
	id := h.messages[0].ChatID
	chat := exportedChat{Name: h.title, Type: "private_group", ID: -id}
	if id < firstChannel {
		chat.Type, chat.ID = "private_supergroup", firstChannel-id
	}
	names := map[int64]string{}
	for _, m := range slices.Concat(h.before, h.messages) {
		names[m.From.ID] = m.From.FirstName
		if m.From.LastName != "" {
			names[m.From.ID] += " " + m.From.LastName
		}
	}
	for _, m := range h.before {
		if !m.Deleted {
			chat.Messages = append(chat.Messages, h.message(m, chat, names, beforeSupergroup))
		}
	}
	for _, m := range h.messages {
		if !m.Deleted {
			chat.Messages = append(chat.Messages, h.message(m, chat, names, 0))
		}
	}
	var file bytes.Buffer
	encoder := json.NewEncoder(&file)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(chat); err != nil {
		t.Fatalf("write an export: %v", err)
	}
	return withControlCharacters(bytes.TrimSuffix(file.Bytes(), []byte("\n")))
}

func (h telegramHistory) message(
	m botsim.Message, chat exportedChat, names map[int64]string, shift int64,
) exportedMessage {
	out := exportedMessage{ID: int64(m.ID) - shift, Type: "message"}
	out.Date, out.Unix = h.time(m.Date)
	from, fromID := h.author(m, chat, names)
	if m.Service != "" {
		out.Type, out.Actor, out.ActorID, out.Text, out.Entities = "service", from, fromID, "", []exportedEntity{}
		out.Action, out.Title, out.Members = h.action(m, from)
		return out
	}
	if !m.EditDate.IsZero() {
		out.Edited, out.EditedUnix = h.time(m.EditDate)
	}
	out.From, out.FromID = from, fromID
	// What is no reply replies to the message that created the topic.
	if target := cmp.Or(m.ReplyTo, m.ThreadID); target != 0 {
		out.ReplyTo = int64(target) - shift
	}
	if m.Photo != nil {
		out.Photo, out.Width, out.Height = notIncluded, m.Photo.Width, m.Photo.Height
	}
	if d := m.Document; d != nil {
		out.File, out.FileName, out.FileSize, out.MIME = notIncluded, d.Name, len(d.Content), d.MIME
	}
	if m.Rich {
		out.Rich = &exportedRich{Blocks: []map[string]string{{"type": "paragraph", "text": exportedText(m.Text)}}}
	} else {
		out.Text, out.Entities = exportedTexts(m)
	}
	out.Buttons = exportedButtons(m.Buttons)
	return out
}

// author returns the name of a message's author, nil for a deleted account, and the id with its
// kind.
func (h telegramHistory) author(m botsim.Message, chat exportedChat, names map[int64]string) (name any, id string) {
	switch {
	case m.From.ID == groupAnonymousBot:
		return chat.Name, fmt.Sprintf("channel%d", chat.ID)
	case m.From.ID == 0:
		return (*string)(nil), ""
	case slices.Contains(h.gone, m.From.ID):
		return (*string)(nil), fmt.Sprintf("user%d", m.From.ID)
	}
	return names[m.From.ID], fmt.Sprintf("user%d", m.From.ID)
}

// action returns what a service message says. The name of a topic is not known.
func (h telegramHistory) action(m botsim.Message, from any) (action, title string, members []any) {
	switch m.Service {
	case "forum_topic_created":
		return "topic_created", fmt.Sprintf("Topic %d", m.ID), nil
	case "new_chat_members":
		return "invite_members", "", []any{from}
	case "left_chat_member":
		return "remove_members", "", []any{from}
	case "new_chat_title":
		return "edit_group_title", h.title, nil
	case "migrate_to_chat_id":
		return "migrate_to_supergroup", "", nil
	case "migrate_from_chat_id":
		return "migrate_from_group", h.title, nil
	case "pinned_message":
		return "pin_message", "", nil
	}
	return m.Service, "", nil
}

// time returns the time on the clock of the exporting computer, and the seconds since 1970.
func (h telegramHistory) time(at time.Time) (local, unix string) {
	return at.In(h.zone).Format("2006-01-02T15:04:05"), strconv.FormatInt(at.Unix(), 10)
}

// exportedTexts returns a text in its two forms. An entity inside another one is dropped.
func exportedTexts(m botsim.Message) (any, []exportedEntity) {
	entities, mixed, done := []exportedEntity{}, []any{}, 0
	plain := func(e botsim.Entity) {
		if text := exportedText(m.EntityText(e)); text != "" {
			entities = append(entities, exportedEntity{Type: "plain", Text: text})
			mixed = append(mixed, text)
		}
	}
	marked := slices.Clone(m.Entities)
	slices.SortStableFunc(marked, func(a, b botsim.Entity) int {
		return cmp.Or(a.Offset-b.Offset, b.Length-a.Length)
	})
	for _, e := range marked {
		if e.Offset < done {
			continue
		}
		plain(botsim.Entity{Offset: done, Length: e.Offset - done})
		done = e.Offset + e.Length
		entity := exportedEntityOf(e)
		entity.Text = exportedText(m.EntityText(e))
		entities, mixed = append(entities, entity), append(mixed, entity)
	}
	plain(botsim.Entity{Offset: done, Length: 2 * len(m.Text)})
	if len(entities) == 0 {
		return "", entities
	}
	if len(entities) == 1 && entities[0].Type == "plain" {
		return entities[0].Text, entities
	}
	return mixed, entities
}

// exportedEntityOf returns an entity without its text.
func exportedEntityOf(e botsim.Entity) exportedEntity {
	out := exportedEntity{Type: e.Type, Href: e.URL, Language: e.Language, DocumentID: e.CustomEmojiID}
	switch e.Type {
	case "text_mention":
		out.Type, out.UserID = "mention_name", e.User.ID
	case "url":
		out.Type = "link"
	case "phone_number":
		out.Type = "phone"
	case "blockquote", "expandable_blockquote":
		out.Type, out.Collapsed = "blockquote", new(e.Type == "expandable_blockquote")
	}
	return out
}

func exportedButtons(rows [][]botsim.Button) [][]exportedButton {
	var out [][]exportedButton
	for _, row := range rows {
		var buttons []exportedButton
		for _, b := range row {
			button := exportedButton{Type: "callback", Text: exportedText(b.Text)}
			switch {
			case b.URL != "":
				button.Type, button.Data = "url", b.URL
			case b.CopyText.Text != "":
				button.Type, button.Data = "copy_text", b.CopyText.Text
			default:
				button.DataBase64 = base64.RawURLEncoding.EncodeToString([]byte(b.CallbackData))
			}
			buttons = append(buttons, button)
		}
		out = append(out, buttons)
	}
	return out
}

// firstControl stands for the control character 0 until the JSON is written.
const firstControl = '\U000F0000'

// exportedText replaces control characters, which the export does not write as JSON does, by others
// that withControlCharacters finds.
func exportedText(text string) string {
	runes := []rune(text)
	for i, r := range runes {
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' {
			runes[i] = firstControl + r
		}
	}
	return string(runes)
}

// withControlCharacters writes control characters as the export does: \x0F, which is no JSON.
func withControlCharacters(file []byte) []byte {
	var out []byte
	for _, r := range string(file) {
		if r >= firstControl && r < firstControl+' ' {
			out = fmt.Appendf(out, `\x%02X`, r-firstControl)
		} else {
			out = append(out, string(r)...)
		}
	}
	return out
}

func TestTelegramHistory(t *testing.T) {
	t.Parallel()
	ann := botsim.User{ID: 111, FirstName: "Ann", LastName: "A"}
	at := time.Date(2022, 7, 9, 19, 14, 5, 0, time.UTC)
	history := telegramHistory{
		title: "Our <Club>",
		before: []botsim.Message{{
			ID: 12, ChatID: -4000000077, From: botsim.User{ID: 333, FirstName: "Cid"}, ReplyTo: 10, Text: "hi\x0f", Date: at,
		}},
		messages: []botsim.Message{{
			ID: 10, ChatID: -1002000000077, From: botsim.User{ID: groupAnonymousBot}, Service: "forum_topic_created",
			ThreadID: 10, Date: at,
		}, {
			ID: 11, ChatID: -1002000000077, Deleted: true,
		}, {
			ID: 12, ChatID: -1002000000077, From: ann, ThreadID: 10, Text: "/match 😀 Bob 3:1", Date: at,
			EditDate: at.Add(time.Hour),
			Entities: []botsim.Entity{
				{Type: "bold", Offset: 11, Length: 2}, {Type: "bot_command", Length: 6},
				{Type: "text_mention", Offset: 10, Length: 3, User: &botsim.User{ID: 222}},
			},
			Buttons: [][]botsim.Button{{{Text: "Undo", CallbackData: "u:~?"}}},
		}},
		zone: time.FixedZone("", 2*60*60),
		gone: []int64{333},
	}
	equal(t, string(history.json(t)), `{
 "name": "Our <Club>",
 "type": "private_supergroup",
 "id": 2000000077,
 "messages": [
  {
   "id": -999999988,
   "type": "message",
   "date": "2022-07-09T21:14:05",
   "date_unixtime": "1657394045",
   "from": null,
   "from_id": "user333",
   "reply_to_message_id": -999999990,
   "text": "hi\x0F",
   "text_entities": [
    {
     "type": "plain",
     "text": "hi\x0F"
    }
   ]
  },
  {
   "id": 10,
   "type": "service",
   "date": "2022-07-09T21:14:05",
   "date_unixtime": "1657394045",
   "actor": "Our <Club>",
   "actor_id": "channel2000000077",
   "action": "topic_created",
   "title": "Topic 10",
   "text": "",
   "text_entities": []
  },
  {
   "id": 12,
   "type": "message",
   "date": "2022-07-09T21:14:05",
   "date_unixtime": "1657394045",
   "edited": "2022-07-09T22:14:05",
   "edited_unixtime": "1657397645",
   "from": "Ann A",
   "from_id": "user111",
   "reply_to_message_id": 10,
   "text": [
    {
     "type": "bot_command",
     "text": "/match"
    },
    " 😀 ",
    {
     "type": "mention_name",
     "text": "Bob",
     "user_id": 222
    },
    " 3:1"
   ],
   "text_entities": [
    {
     "type": "bot_command",
     "text": "/match"
    },
    {
     "type": "plain",
     "text": " 😀 "
    },
    {
     "type": "mention_name",
     "text": "Bob",
     "user_id": 222
    },
    {
     "type": "plain",
     "text": " 3:1"
    }
   ],
   "inline_bot_buttons": [
    [
     {
      "type": "callback",
      "text": "Undo",
      "data": "",
      "dataBase64": "dTp-Pw"
     }
    ]
   ]
  }
 ]
}`, "the export")
}
