package botsim

import (
	"encoding/json"
	"time"
	"unicode/utf16"
)

// User is a Telegram user or bot.
type User struct {
	ID           int64  `json:"id"`
	IsBot        bool   `json:"is_bot"`
	FirstName    string `json:"first_name"`
	LastName     string `json:"last_name,omitempty"`
	Username     string `json:"username,omitempty"`
	LanguageCode string `json:"language_code,omitempty"`
}

// Message is a message in a chat: a user's, the bot's, or a service message.
type Message struct {
	ID        int
	ChatID    int64
	From      User
	Text      string // without markup
	HTML      string // the text as the bot sent it; empty for messages of others
	ParseMode string
	Photo     *Photo    // nil for none; otherwise the text is its caption
	Document  *Document // nil for none; otherwise the text is its caption
	Rich      bool      // a rich message: HTML holds its source, and Text its visible text
	Entities  []Entity  // marked and detected entities
	ReplyTo   int       // id of the message replied to, 0 for none
	ThreadID  int       // forum topic; 0 for General and for chats without topics
	Silent    bool      // sent with disable_notification
	NoPreview bool      // sent with link previews disabled
	Buttons   [][]Button
	Date      time.Time
	EditDate  time.Time // zero if never edited
	Edits     int
	Service   string // field of a service message, such as "new_chat_members"; empty for other messages
	Deleted   bool
}

// Photo is a photo that the bot has sent.
type Photo struct {
	FileID        string
	Width, Height int
	Content       []byte // read-only
}

// EntityText returns the part of the text that e covers.
func (m Message) EntityText(e Entity) string {
	units := utf16.Encode([]rune(m.Text))
	from, to := min(max(e.Offset, 0), len(units)), min(max(e.Offset+e.Length, 0), len(units))
	if from >= to {
		return ""
	}
	return string(utf16.Decode(units[from:to]))
}

// Entity marks a part of a text, such as a command, a mention or a link, as the Bot API encodes it.
// Offset and Length are in UTF-16 code units.
type Entity struct {
	Type          string `json:"type"`
	Offset        int    `json:"offset"`
	Length        int    `json:"length"`
	URL           string `json:"url,omitempty"`
	User          *User  `json:"user,omitempty"`
	Language      string `json:"language,omitempty"`
	CustomEmojiID string `json:"custom_emoji_id,omitempty"`
}

// Button is a button of an inline keyboard.
type Button struct {
	Text         string `json:"text"`
	CallbackData string `json:"callback_data,omitempty"`
	URL          string `json:"url,omitempty"`
	// CopyText is the text that a press copies to the clipboard.
	CopyText CopyText `json:"copy_text,omitzero"`
}

// CopyText is a text for the clipboard.
type CopyText struct {
	Text string `json:"text"`
}

// SenderChat is the chat in whose name a message is written: the group itself for an anonymous
// admin, the channel for a channel's post.
type SenderChat struct {
	ID       int64  `json:"id"`
	Type     string `json:"type"`
	Title    string `json:"title,omitempty"`
	Username string `json:"username,omitempty"`
}

// Post is a message whose fields the caller chooses.
type Post struct {
	From       User
	Text       string
	Entities   []Entity // if nil, found in the text as Say does
	ReplyTo    int      // id of a message in the same chat
	ThreadID   int
	Document   *Document // the text is its caption
	SenderChat *SenderChat
	Date       time.Time // zero: now
	// EphemeralID makes the message ephemeral: the bot sees it with this id and the message_id 0,
	// and cannot reply to it.
	EphemeralID int
	// Extra holds more fields of the message object, for example {"via_bot": …} or
	// {"forward_origin": …}.
	Extra map[string]any
}

// wireChat is a chat as it appears inside other objects.
type wireChat struct {
	ID        int64  `json:"id"`
	Type      string `json:"type"`
	Title     string `json:"title,omitempty"`
	Username  string `json:"username,omitempty"`
	FirstName string `json:"first_name,omitempty"`
	LastName  string `json:"last_name,omitempty"`
	IsForum   bool   `json:"is_forum,omitempty"`
}

// wireMessage is a message as the Bot API encodes it.
type wireMessage struct {
	MessageID       int             `json:"message_id"`
	EphemeralID     int             `json:"ephemeral_message_id,omitempty"`
	MessageThreadID int             `json:"message_thread_id,omitempty"`
	From            *User           `json:"from,omitempty"`
	SenderChat      *SenderChat     `json:"sender_chat,omitempty"`
	Date            int64           `json:"date"`
	Chat            wireChat        `json:"chat"`
	IsTopicMessage  bool            `json:"is_topic_message,omitempty"`
	ReplyToMessage  json.RawMessage `json:"reply_to_message,omitempty"`
	EditDate        int64           `json:"edit_date,omitempty"`
	Text            string          `json:"text,omitempty"`
	Entities        []Entity        `json:"entities,omitempty"`
	Photo           []wirePhoto     `json:"photo,omitempty"`
	Document        *wireDocument   `json:"document,omitempty"`
	Caption         string          `json:"caption,omitempty"`
	CaptionEntities []Entity        `json:"caption_entities,omitempty"`
	Rich            *wireRich       `json:"rich_message,omitempty"`
	ReplyMarkup     *inlineKeyboard `json:"reply_markup,omitempty"`
}

// wirePhoto is a photo in one size.
type wirePhoto struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	Width        int    `json:"width"`
	Height       int    `json:"height"`
	FileSize     int    `json:"file_size"`
}

// wireRich is a rich message. All its blocks are encoded as one paragraph: pieces of text, and
// links.
type wireRich struct {
	Blocks []wireBlock `json:"blocks"`
}

type wireBlock struct {
	Type string `json:"type"`
	Text []any  `json:"text"` // string or wireLink
}

type wireLink struct {
	Type string `json:"type"`
	Text string `json:"text"`
	URL  string `json:"url"`
}

type inlineKeyboard struct {
	Rows [][]Button `json:"inline_keyboard"`
}
