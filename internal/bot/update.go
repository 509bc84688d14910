package bot

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/language"

	"elobot/internal/intake"
	"elobot/internal/ranking"
)

// update has the parts of a Telegram update that the bot reads. It does not use the library's
// models: they reject the whole update if a field that the bot never reads has an unknown type, so
// a result in reply to a new kind of attachment would be lost.
type update struct {
	ID            int64          `json:"update_id"`
	Message       *message       `json:"message"`
	EditedMessage *message       `json:"edited_message"`
	CallbackQuery *callbackQuery `json:"callback_query"`
	MyChatMember  *memberUpdate  `json:"my_chat_member"`
	ChatMember    *memberUpdate  `json:"chat_member"`

	err error // the first error in decoding; nil if all fields were readable
}

var _ intake.Reader = ReadUpdate

// ReadUpdate decodes an update for intake and for [Router.Handle]. Its only error is a missing id.
// Handle reports all other faults. ReadUpdate skips fields of the wrong type and reads all others.
// A message without a text gets its caption as its text, so a command may be the caption of a
// photo.
func ReadUpdate(raw []byte) (intake.Update, error) {
	var u update
	u.err = json.Unmarshal(raw, &u)
	press := value(u.CallbackQuery)
	for _, m := range []*message{u.Message, u.EditedMessage, press.Message} {
		if m != nil {
			m.update = u.ID
		}
		for ; m != nil; m = m.ReplyTo {
			if m.Text == "" {
				m.Text, m.Entities = m.Caption, m.CaptionEntities
			}
		}
	}
	in := intake.Update{ID: u.ID, Raw: raw, Content: u}
	if u.ID == 0 {
		return in, fmt.Errorf("read update id: %w", cmp.Or(u.err, errors.New("no update id")))
	}
	message, edited, own, member := value(u.Message), value(u.EditedMessage), value(u.MyChatMember), value(u.ChatMember)
	// A press without a message goes to the lane of the user who pressed.
	in.Lane = cmp.Or(message.Chat.ID, edited.Chat.ID, own.Chat.ID, member.Chat.ID,
		value(press.Message).Chat.ID, value(press.From).ID)
	if sent := cmp.Or(message.Date, edited.EditDate, own.Date, member.Date); sent > 0 {
		in.SentAt = time.Unix(sent, 0)
	}
	return in, nil
}

// value returns *p, or the zero value if p is nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// callbackQuery is a button press. If the message is too old, Telegram sends only the message's id
// and chat. If the message was sent via the bot in inline mode, Telegram sends no message at all.
type callbackQuery struct {
	ID      string   `json:"id"`
	From    *user    `json:"from"`
	Message *message `json:"message"`
	Data    string   `json:"data"`
}

type message struct {
	update             int64           // the id of its update; 0 for a replied-to message
	ID                 int64           `json:"message_id"` // 0 for an ephemeral message
	EphemeralID        int64           `json:"ephemeral_message_id"`
	ThreadID           int64           `json:"message_thread_id"`
	IsTopicMessage     bool            `json:"is_topic_message"`
	From               *user           `json:"from"`
	SenderChat         *chat           `json:"sender_chat"`
	Date               int64           `json:"date"`
	EditDate           int64           `json:"edit_date"`
	Chat               chat            `json:"chat"`
	ViaBot             any             `json:"via_bot"`
	ForwardOrigin      any             `json:"forward_origin"`
	IsAutomaticForward bool            `json:"is_automatic_forward"`
	ReplyTo            *message        `json:"reply_to_message"`
	ForumTopicCreated  json.RawMessage `json:"forum_topic_created"`
	Text               string          `json:"text"`
	Entities           []entity        `json:"entities"`
	Caption            string          `json:"caption"`
	CaptionEntities    []entity        `json:"caption_entities"`
	Document           *document       `json:"document"`
	ReplyMarkup        json.RawMessage `json:"reply_markup"`
	MigrateTo          int64           `json:"migrate_to_chat_id"`
	MigrateFrom        int64           `json:"migrate_from_chat_id"`
	NewChatTitle       string          `json:"new_chat_title"`
	NewChatMembers     []*user         `json:"new_chat_members"`
	LeftChatMember     *user           `json:"left_chat_member"`
}

// document is a file in a message. Name and MIME are chosen by its sender, and Size is in bytes.
// All three may be missing.
type document struct {
	ID   string `json:"file_id"`
	Name string `json:"file_name"`
	MIME string `json:"mime_type"`
	Size int64  `json:"file_size"`
}

type user struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Username  string `json:"username"`

	LanguageCode string `json:"language_code"` // IETF tag of the person's app language
}

type chat struct {
	ID    int64  `json:"id"`
	Type  string `json:"type"`
	Title string `json:"title"`
}

type entity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
	User   *user  `json:"user"`
}

// memberUpdate is a change of a user's or the bot's membership in a chat.
type memberUpdate struct {
	Chat chat       `json:"chat"`
	From *user      `json:"from"`
	Date int64      `json:"date"`
	Old  chatMember `json:"old_chat_member"`
	New  chatMember `json:"new_chat_member"`
}

type chatMember struct {
	Status   string `json:"status"`
	IsMember bool   `json:"is_member"` // only for the status "restricted"
	MayPin   bool   `json:"can_pin_messages"`
	User     *user  `json:"user"`
}

// isIn reports whether the member is in the chat. For an unknown status, both isIn and isOut return
// false.
func (m chatMember) isIn() bool {
	return slices.Contains([]string{"creator", "administrator", "member"}, m.Status) ||
		m.Status == "restricted" && m.IsMember
}

func (m chatMember) isOut() bool {
	return m.Status == "left" || m.Status == "kicked" || m.Status == "restricted" && !m.IsMember
}

func (u *user) isPerson() bool { return u != nil && u.ID != 0 && !u.IsBot }

// seen converts c to a chat of the ranking service, with a clean title.
func (c chat) seen() ranking.Chat {
	return ranking.Chat{ID: ranking.ExternalChatID(c.ID), Kind: ranking.ChatKind(c.Type), Title: cleanName(c.Title)}
}

func (c chat) isGroup() bool {
	return c.ID != 0 && (c.Type == string(ranking.Group) || c.Type == string(ranking.Supergroup))
}

// maxLanguageTag is the maximum length of a language tag in bytes. RFC 5646 recommends supporting
// at least 35.
const maxLanguageTag = 35

// languageTag returns code as a normalized IETF language tag in lower case, such as "zh-hans". It
// returns an empty string if code is invalid or too long.
func languageTag(code string) string {
	tag, err := language.Parse(code)
	if err != nil || len(code) > maxLanguageTag {
		return ""
	}
	return strings.ToLower(tag.String())
}

// migration returns the old and the new id of a group that has become a supergroup. Telegram sends
// them in two service messages, which people cannot forge: the last message of the old chat and the
// first message of the new chat. ok is false for all other messages.
func (m *message) migration() (from, to ranking.ExternalChatID, ok bool) {
	from = ranking.ExternalChatID(cmp.Or(m.MigrateFrom, m.Chat.ID))
	to = ranking.ExternalChatID(cmp.Or(m.MigrateTo, m.Chat.ID))
	return from, to, m.Chat.ID != 0 && from != to
}
