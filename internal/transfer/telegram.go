package transfer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/transform"
)

// The limits of an export of chats. They limit the memory.
const (
	maxMessage = 1 << 19 // bytes of a message
	maxText    = 3 << 12 // bytes of a command, which has up to 4,096 UTF-16 code units
	maxSaid    = 1 << 22 // bytes of all commands
	chatDepth  = 5       // account, chats, list, chat, messages
	maxChats   = 1000    // that are told
	maxSeen    = 3_000_000
	maxMembers = 100_000
)

// supergroups is what Bot API ids of supergroups are below the ids in exports, and migrated is what
// the ids of messages from before a supergroup are below those that they had in the basic group.
const (
	supergroups = -1_000_000_000_000
	migrated    = -1_000_000_000
)

// BasicGroup begins the Row.ID of a match in a basic group.
const BasicGroup = "basic:"

// ChatOptions say how to read Telegram's export of chats.
type ChatOptions struct {
	Options
	// HasZone means that times without an offset are in the Zone. Without it, only the days that
	// people name are.
	HasZone bool
	Chat    string // the chat to read in the export of an account: its id, Bot API id or name
	// Bots are the usernames of the bots whose commands are read. A command may name none of them.
	Bots  []string
	BotID int64 // the account of this bot, 0 if unknown
	Group int64 // the Bot API id of the chat into which the results go
	// Commands has the meanings of all names of commands.
	Commands map[string]CommandName
	Ladders  []string         // the names of the group's ladders
	Topics   map[int64]string // the names of the ladders to which the group's topics are bound
	Accounts map[string]int64 // the accounts of typed names, as far as somebody has decided
	Talk     bool             // whether lines without a command may be results
}

// CommandName is the meaning of the name of a command, as in command.Command.
type CommandName struct{ Name, Written string }

// Chat is a chat of an export.
type Chat struct {
	ID          int64
	Kind, Name  string
	Messages    int
	First, Last time.Time // of the messages
}

// IsChats reports whether a file is Telegram's export of chats, by its beginning.
func IsChats(head []byte) bool { return exportedChats.Match(head) }

var exportedChats = regexp.MustCompile(`^\s*\{\s*(("name"\s*:\s*("([^"\\]|\\.)*"|null)\s*,\s*)?` +
	`"type"\s*:\s*"[a-z]|"(about|personal_information|chats|left_chats)"\s*:)`)

// ReadChat reads results from the commands in Telegram's export of a chat. Names that people have
// typed are names of the file. Each account has one more, as in File.Accounts. The Line of a row or
// fault is the id of a message. The error is a Fault if the whole file is refused, and otherwise
// the error of in.
func ReadChat(in io.Reader, o ChatOptions) (File, error) {
	r := &chatReader{ChatOptions: o, people: make(map[int64]int32), cards: make(map[int32]int32)}
	r.text = &budget{in: transform.NewReader(in, repair{})}
	r.json = json.NewDecoder(r.text)
	err := r.read(chatDepth)
	if err == nil {
		if _, err = r.next(); err == nil { // such as another export behind it
			err = r.broken()
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	var fault Fault
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &fault):
		return File{}, fault
	case errors.As(err, &syntax), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return File{}, r.broken()
	case err != nil:
		return File{}, err
	case len(r.chats) == 0:
		return File{}, Fault{Reason: NoSuchChat}
	case len(r.meant) > 1:
		return File{Ask: AskChat, Chats: r.meant}, nil
	case len(r.meant) == 0:
		return File{Ask: AskChat, Chats: r.chats}, nil
	}
	return r.results()
}

// broken returns a Fault behind the last message that could be read.
func (r *chatReader) broken() Fault {
	return Fault{Line: r.line, Message: r.line != 0, Reason: BadChat}
}

// repair turns the escapes of control characters that Telegram Desktop writes, such as \x0F, into
// those of JSON.
type repair struct{ transform.NopResetter }

// Transform implements transform.Transformer.
func (repair) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		at := bytes.IndexByte(src[nSrc:], '\\')
		if at < 0 {
			at = len(src) - nSrc
		}
		n := copy(dst[nDst:], src[nSrc:nSrc+at])
		nDst, nSrc = nDst+n, nSrc+n
		switch {
		case n < at:
			return nDst, nSrc, transform.ErrShortDst
		case nSrc == len(src):
			return nDst, nSrc, nil
		case nSrc+1 == len(src) && !atEOF:
			return nDst, nSrc, transform.ErrShortSrc
		}
		escape := src[nSrc:min(nSrc+2, len(src))]
		to := escape
		if string(escape) == `\x` {
			to = []byte(`\u00`)
		}
		if len(dst)-nDst < len(to) {
			return nDst, nSrc, transform.ErrShortDst
		}
		nDst, nSrc = nDst+copy(dst[nDst:], to), nSrc+len(escape)
	}
	return nDst, nSrc, nil
}

// budget is a reader that fails with a Fault if left bytes are used up.
type budget struct {
	in   io.Reader
	read int64
	most int64 // the limit of read
}

func (b *budget) Read(p []byte) (int, error) {
	if b.read > b.most {
		return 0, Fault{Reason: LongMessage, Value: strconv.Itoa(maxMessage >> 10)}
	}
	n, err := b.in.Read(p)
	b.read += int64(n)
	return n, err
}

// chatReader reads an export. It keeps little of each message, because there may be millions.
type chatReader struct {
	ChatOptions
	text *budget
	json *json.Decoder

	chats []Chat // of an account
	meant []Chat // those of chats that ChatOptions.Chat may mean
	chat  Chat   // the one being read
	line  int    // the id of the current message

	accounts []account
	people   map[int64]int32 // indexes of accounts, by id
	// seen has the messages of both halves, in pages, because growing a slice needs more memory.
	seen  [2][][]seenMessage
	last  [2]int32        // the ids of the last messages of both halves
	cards map[int32]int32 // what messages of the bot reply to
	said  []saidMessage
	size  int // bytes of said
}

// account is a Telegram account. The name is empty if it is deleted.
type account struct {
	id   int64
	name string
}

// seenMessage is what later messages may refer to.
type seenMessage struct {
	id     int32
	author int32 // an index of accounts, or nobody
	topic  int32 // the id of the message that created the topic, 0 for General, or lost
}

const (
	nobody  = -1
	lost    = -1
	pageLen = 1 << 13
)

// saidMessage is a message that may have a result.
type saidMessage struct {
	*chatMessage
	author, topic int32
	to            seenMessage // what it replies to, if the file has that
	isReply       bool        // it replies to a message, and not only to its topic
}

// next returns the next token.
func (r *chatReader) next() (json.Token, error) {
	r.text.most = r.json.InputOffset() + maxMessage
	return r.json.Token()
}

// decode decodes the next value. It skips parts of the wrong type.
func (r *chatReader) decode(v any) error {
	r.text.most = r.json.InputOffset() + maxMessage
	err := r.json.Decode(v)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return nil
	}
	return err
}

// items reads a list up to its end, whose beginning has been read. It calls each for each item.
func (r *chatReader) items(each func() error) error {
	for {
		r.text.most = r.json.InputOffset() + maxMessage
		if !r.json.More() {
			_, err := r.next()
			return err
		}
		if err := each(); err != nil {
			return err
		}
	}
}

// read reads a value, which may be longer than a message if it consists of lists, up to a depth. An
// object with messages is a chat.
func (r *chatReader) read(depth int) error {
	if depth == 0 {
		return r.decode(&ignored{})
	}
	token, err := r.next()
	begins, isList := token.(json.Delim)
	if err != nil || !isList {
		return err
	}
	var c Chat
	return r.items(func() error {
		if begins == '[' {
			return r.read(depth - 1)
		}
		switch key, err := r.next(); {
		case err != nil:
			return err
		case key == "name":
			return r.decode(&c.Name)
		case key == "type":
			return r.decode(&c.Kind)
		case key == "id":
			return r.decode(&c.ID)
		case key == "messages":
			return r.readChat(c, depth)
		}
		return r.read(depth - 1)
	})
}

type ignored struct{}

func (*ignored) UnmarshalJSON([]byte) error { return nil }

// readChat reads the messages of a chat, unless another one is meant. An account has its chats at a
// lower depth.
func (r *chatReader) readChat(c Chat, depth int) error {
	isMeant := depth == chatDepth || r.Chat != "" && slices.Contains(
		[]string{c.Name, strconv.FormatInt(c.ID, 10), strconv.FormatInt(c.BotAPI(), 10)}, r.Chat)
	c.Name = excerpt(c.Name)
	if isMeant {
		r.meant = append(r.meant, c)
	}
	if len(r.chats) < maxChats {
		r.chats = append(r.chats, c)
	}
	if !isMeant || len(r.meant) > 1 {
		return r.read(depth - 1)
	}
	if !strings.HasSuffix(c.Kind, "group") {
		return Fault{Reason: NotGroup, Value: excerpt(c.Kind)}
	}
	r.chat = c
	if token, err := r.next(); err != nil || token != json.Delim('[') {
		return cmp.Or(err, error(r.broken()))
	}
	return r.items(r.readMessage)
}

// BotAPI returns the id that the Bot API has for the chat.
func (c Chat) BotAPI() int64 {
	switch c.Kind {
	case "private_supergroup", "public_supergroup", "private_channel", "public_channel":
		return supergroups - c.ID
	case "private_group":
		return -c.ID
	}
	return c.ID
}

// chatMessage is a message of an export.
type chatMessage struct {
	ID        int32       `json:"id"`
	Type      string      `json:"type"`
	Action    string      `json:"action"`
	Date      string      `json:"date"`
	Unix      json.Number `json:"date_unixtime"`
	From      string      `json:"from"`
	FromID    peer        `json:"from_id"`
	Reply     int32       `json:"reply_to_message_id"`
	ReplyPeer present     `json:"reply_to_peer_id"`
	Forwarded present     `json:"forwarded_from"`
	ForwardID present     `json:"forwarded_from_id"`
	ViaBot    present     `json:"via_bot"`
	Text      pieces      `json:"text"`
}

// isForeign reports whether somebody else may have written the message, or a bot.
func (m *chatMessage) isForeign() bool { return bool(m.Forwarded || m.ForwardID || m.ViaBot) }

// present reports whether there is such a field, even if it is null.
type present bool

func (p *present) UnmarshalJSON([]byte) error {
	*p = true
	return nil
}

// peer is an account, or a chat that a message was written as.
type peer struct {
	id     int64 // 0 if unknown
	isChat bool
}

// UnmarshalJSON reads a peer such as "user123". Before April 2021, it was a number whose bits above
// the lowest 32 say what the peer is.
func (p *peer) UnmarshalJSON(text []byte) error {
	kind := strings.TrimRight(strings.Trim(string(text), `"`), "0123456789")
	id, _ := strconv.ParseInt(strings.Trim(string(text), `"`)[len(kind):], 10, 64)
	p.id, p.isChat = id&math.MaxInt64, kind != "" && kind != "user"
	if kind == "" && text[0] != '"' {
		p.id, p.isChat = id&math.MaxUint32, id > math.MaxUint32
	}
	return nil
}

// piece is a part of a text with the same entity, or without one.
type piece struct {
	Type string `json:"type"`
	Text string `json:"text"`
	User int64  `json:"user_id"`
}

type pieces []piece

// UnmarshalJSON reads a text, which is a string or a list of strings and pieces.
func (p *pieces) UnmarshalJSON(text []byte) error {
	if text[0] != '[' {
		one := make(pieces, 1)
		*p = one
		return json.Unmarshal(text, &one[0].Text)
	}
	return json.Unmarshal(text, (*[]piece)(p))
}

// UnmarshalJSON reads a piece, which is a string if it has no entity.
func (p *piece) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, &p.Text)
	}
	type plain piece
	return json.Unmarshal(text, (*plain)(p))
}

func (p pieces) String() string {
	var all strings.Builder
	for _, one := range p {
		all.WriteString(one.Text)
	}
	return all.String()
}

// mayBeScore matches two numbers that may be a score.
var mayBeScore = regexp.MustCompile(`\d\s*[^\s\w]\s*\d`)

func (r *chatReader) readMessage() error {
	m := new(chatMessage)
	if err := r.decode(m); err != nil {
		return err
	}
	r.line = int(m.ID)
	at, _, _ := m.time(r.Zone)
	r.chat.count(at)
	s := saidMessage{chatMessage: m, author: nobody}
	if m.Type == "message" && !m.FromID.isChat && m.FromID.id != 0 {
		s.author = r.account(m.FromID.id, m.From)
	}
	for _, p := range m.Text {
		if p.Type == "mention_name" && p.User > 0 {
			_ = r.account(p.User, "")
		}
	}
	if s.to.author = nobody; m.Reply != 0 {
		isFound := false
		if !m.ReplyPeer { // otherwise it replies to a message of another chat
			s.to, isFound = r.find(m.Reply)
		}
		if s.topic, s.isReply = s.to.topic, !isFound || s.to.topic != s.to.id; !isFound {
			s.topic = lost
		}
	}
	if m.Action == "topic_created" {
		s.topic = m.ID
	}
	if err := r.keep(seenMessage{id: m.ID, author: s.author, topic: s.topic}); err != nil {
		return err
	}
	if r.chat.Messages > maxSeen || len(r.accounts) > maxMembers {
		return Fault{Reason: TooManyRows, Value: strconv.Itoa(maxSeen)}
	}
	if s.author >= 0 && r.accounts[s.author].id == r.BotID {
		r.cards[m.ID] = m.Reply
		return nil
	}
	text := m.Text.String()
	isTalk := r.Talk && len(text) < 256 && mayBeScore.MatchString(text)
	if m.Type != "message" || !strings.HasPrefix(text, "/") && !isTalk {
		return nil
	}
	if len(text) > maxText {
		return Fault{Line: r.line, Message: true, Reason: LongMessage, Value: strconv.Itoa(maxText >> 10)}
	}
	if r.size += len(text); len(r.said) >= MaxRows || r.size > maxSaid {
		return Fault{Reason: TooManyRows, Value: strconv.Itoa(MaxRows)}
	}
	r.said = append(r.said, s)
	return nil
}

// count counts a message that was sent at the given time, if that is known.
func (c *Chat) count(at time.Time) {
	if c.Messages++; at.IsZero() {
		return
	}
	if c.First.IsZero() || at.Before(c.First) {
		c.First = at
	}
	if at.After(c.Last) {
		c.Last = at
	}
}

// account returns the index of an account.
func (r *chatReader) account(id int64, name string) int32 {
	i, ok := r.people[id]
	if !ok {
		i = int32(len(r.accounts)) //nolint:gosec // there are fewer messages
		r.people[id], r.accounts = i, append(r.accounts, account{id: id})
	}
	if a := &r.accounts[i]; a.name == "" {
		a.name = cleanName(name)
	}
	return i
}

// halfOf returns the index of the half that has a message: before or after the chat became a
// supergroup. The ids in each half rise.
func halfOf(id int32) int {
	if id < 0 {
		return 0
	}
	return 1
}

func (r *chatReader) keep(m seenMessage) error {
	pages := &r.seen[halfOf(m.id)]
	last := len(*pages) - 1
	if last < 0 || len((*pages)[last]) == pageLen {
		*pages = append(*pages, make([]seenMessage, 0, pageLen))
		last++
	}
	page := &(*pages)[last]
	if m.id == 0 || m.id <= r.last[halfOf(m.id)] && r.last[halfOf(m.id)] != 0 {
		return Fault{Line: int(m.id), Message: true, Reason: BadChat}
	}
	r.last[halfOf(m.id)] = m.id
	*page = append(*page, m)
	return nil
}

// find finds an earlier message.
func (r *chatReader) find(id int32) (m seenMessage, ok bool) {
	pages := r.seen[halfOf(id)]
	byID := func(m seenMessage, id int32) int { return cmp.Compare(m.id, id) }
	at, isFirst := slices.BinarySearchFunc(pages, id, func(p []seenMessage, id int32) int { return byID(p[0], id) })
	if !isFirst {
		at--
	}
	if at < 0 {
		return seenMessage{author: nobody}, false
	}
	i, ok := slices.BinarySearchFunc(pages[at], id, byID)
	if !ok {
		return seenMessage{author: nobody}, false
	}
	return pages[at][i], true
}

// cleanName returns a display name without what no name may have.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	return strings.TrimSpace(fmt.Sprintf("%.100s", name))
}
