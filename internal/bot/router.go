package bot

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"elobot/internal/command"
	"elobot/internal/intake"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/telegram"
)

// Rankings is the part of the ranking service that the router calls. Do commits the effect of a
// command, its idempotency key and its answer in one transaction. Repeating a recent call with the
// same arguments changes nothing.
type Rankings interface {
	Do(ctx context.Context, o ranking.Origin, op ranking.Operation) error
	MoveChat(ctx context.Context, from, to ranking.ExternalChatID) error
	BotAdded(ctx context.Context, o ranking.Origin, greeting notice.Notice) error
	BotBack(ctx context.Context, o ranking.Origin) error
	BotRemoved(ctx context.Context, o ranking.Origin) error
	Renamed(ctx context.Context, o ranking.Origin) error
	MembersSeen(ctx context.Context, o ranking.Origin) error
	MemberLeft(ctx context.Context, o ranking.Origin, who command.Person) error
}

// Router turns updates into calls of the ranking service.
type Router struct {
	rankings Rankings
	self     telegram.Self
	forget   func(ranking.ExternalChatID) // see WhenMembersChange; may be nil
}

// NewRouter returns a router for the bot account self.
func NewRouter(rankings Rankings, self telegram.Self) *Router {
	return &Router{rankings: rankings, self: self}
}

var _ intake.Handler = (*Router)(nil).Handle

// Handle implements intake.Handler. It turns an update decoded by [ReadUpdate] into at most one
// call of the ranking service, and ignores updates that do not concern the bot. It returns the
// error of the call, or an error that wraps intake.ErrUnreadable if some fields could not be
// decoded.
func (r *Router) Handle(ctx context.Context, in intake.Update) error {
	u := in.Content.(update)
	if u.err != nil {
		return fmt.Errorf("%w: %w", intake.ErrUnreadable, u.err)
	}
	switch {
	case u.CallbackQuery != nil:
		return r.press(ctx, in, u.CallbackQuery)
	case u.EditedMessage != nil:
		return r.edited(ctx, in, u.EditedMessage)
	case u.MyChatMember != nil:
		return r.botMember(ctx, u.MyChatMember)
	case u.ChatMember != nil:
		return r.member(ctx, u.ChatMember)
	}
	m := u.Message
	if m == nil {
		return nil
	}
	if from, to, ok := m.migration(); ok {
		return r.rankings.MoveChat(ctx, from, to)
	}
	if m.NewChatTitle != "" || m.LeftChatMember != nil || len(m.NewChatMembers) > 0 {
		return r.groupLife(ctx, m)
	}
	if !m.isFromPerson() && !m.isFromChannel() {
		return nil
	}
	c, ok := m.command(m.commandEntities(), r.self.Username)
	req := newRequest(m, m.origin(), c)
	req.origin.Update, req.origin.Retried = in.ID, in.Retried
	_, known := findCommand(c.Name)
	switch {
	case m.isFromChannel():
		if !ok || !known {
			return nil
		}
		return r.rankings.Do(ctx, req.origin, ranking.Say{Notice: ranking.Refusal{Code: ranking.SentAsChannel}})
	case ok:
		return r.dispatch(ctx, req)
	case req.origin.Chat.IsGroup(): // only replies to the bot's questions have an effect
		return r.reply(ctx, req)
	case m.Text != "": // every text in a private chat gets an answer
		req.origin.Command = "start"
		return r.do(ctx, req.origin, start(r, req))
	}
	return nil
}

// request is a command and the message that it came from.
type request struct {
	message *message
	origin  ranking.Origin
}

// newRequest returns a request for c, the command that m contains or stands for.
func newRequest(m *message, o ranking.Origin, c command.Command) request {
	o.Command, o.Said = loggedName(c.Name), c
	if !m.isAnonymousAdmin() {
		o.Said.Sender = m.From.mentioned()
	}
	o.Said.Reply = m.repliedPerson()
	return request{message: m, origin: o}
}

// isFromPerson reports whether a member of the chat wrote this message, possibly as an anonymous
// admin. It returns false for messages from bots and channels, for forwarded messages, and for
// messages sent via a bot.
func (m *message) isFromPerson() bool {
	return m.isWritten() && (m.isAnonymousAdmin() || m.SenderChat == nil && !m.From.IsBot)
}

// isFromChannel reports whether a member of the group wrote this message as a channel. Telegram
// does not reveal the member.
func (m *message) isFromChannel() bool {
	return m.isWritten() && m.SenderChat != nil && m.SenderChat.Type == "channel"
}

// isWritten reports whether this message has a sender and was written in its chat, which is not a
// channel. It returns false for forwarded messages and messages sent via a bot.
func (m *message) isWritten() bool {
	isForward := m.IsAutomaticForward || m.ForwardOrigin != nil
	return m.From != nil && m.ViaBot == nil && !isForward && m.Chat.Type != "channel"
}

// isAnonymousAdmin reports whether an admin wrote as the group itself. Telegram does not reveal the
// admin.
func (m *message) isAnonymousAdmin() bool {
	return m.SenderChat != nil && m.SenderChat.ID == m.Chat.ID
}

func (m *message) origin() ranking.Origin {
	o := m.replyTarget()
	o.Key, o.SentAt = m.key(m.Chat.ID), time.Unix(m.Date, 0).UTC()
	if to := m.replied(); to != nil {
		o.Replied = ranking.MatchRef{Message: to.ID, Key: to.key(m.Chat.ID)}
	}
	if m.SenderChat == nil {
		sender := m.From.mentioned()
		o.Sender, o.Chat.Language = &sender, languageTag(m.From.LanguageCode)
	}
	o.VisibleUsers = m.shown()
	return o
}

// shown returns the people other than the sender whose user ids this message reveals: the author of
// the replied-to message, and the people mentioned by id.
func (m *message) shown() (shown []command.Person) {
	if p := m.repliedPerson(); p != nil {
		shown = append(shown, *p)
	}
	for _, e := range m.Entities {
		if e.User.isPerson() {
			shown = append(shown, e.User.mentioned())
		}
	}
	return shown
}

// replyTarget returns an origin with only the fields that determine where the answer goes.
func (m *message) replyTarget() ranking.Origin {
	o := ranking.Origin{Chat: m.Chat.seen()}
	if o.Chat.IsGroup() {
		o.ReplyTo = m.ID
	}
	// Telegram usually sets neither field in the General topic.
	if m.IsTopicMessage && m.ThreadID != generalTopic {
		o.Thread = m.ThreadID
	}
	return o
}

// generalTopic is the id of the topic that every forum has. Telegram rejects messages with this
// thread id.
const generalTopic = 1

// key returns the idempotency key of the command in this message. It is built from the first id
// available: of the message, of the ephemeral message and its sender, or of the update. Without any
// of them, the key is a hash of the content.
func (m *message) key(chat int64) string {
	from := value(m.From).ID
	switch {
	case m.ID != 0:
		return messageKey(chat, m.ID)
	case m.EphemeralID != 0:
		// Without the hash, the id of the sender would be stored as long as the match.
		return fmt.Sprintf("u:%x", sha256.Sum256(fmt.Appendf(nil, "u:%d:%d:%d", chat, from, m.EphemeralID)))
	case m.update != 0:
		return fmt.Sprintf("u:%d", m.update)
	}
	content := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %s", chat, from, m.Date, m.Text))
	return fmt.Sprintf("h:%x", content)
}

func messageKey(chat, message int64) string { return fmt.Sprintf("m:%d:%d", chat, message) }

// replied returns the message that m replies to, or nil. In a forum topic, Telegram presents a
// message that is not a reply as a reply to the message that created the topic. For such a message,
// replied returns nil.
func (m *message) replied() *message {
	if m.ReplyTo == nil || m.ReplyTo.ForumTopicCreated != nil {
		return nil
	}
	return m.ReplyTo
}

// repliedPerson returns the author of the message that m replies to. It returns nil if m replies to
// no message, or if the author is not a person.
func (m *message) repliedPerson() *command.Person {
	to := m.replied()
	if to == nil || to.From == nil || to.From.IsBot || to.SenderChat != nil {
		return nil
	}
	p := to.From.mentioned()
	return &p
}

func (m *message) commandEntities() []command.Entity {
	entities := make([]command.Entity, len(m.Entities))
	for i, e := range m.Entities {
		entities[i] = command.Entity{Kind: command.EntityKind(e.Type), Offset: e.Offset, Length: e.Length}
		if e.User != nil {
			p := e.User.mentioned()
			entities[i].User = &p
		}
	}
	return entities
}

func (u *user) mentioned() command.Person {
	return command.Person{ID: ladder.UserID(u.ID), Username: u.Username, Name: displayName(*u), IsBot: u.IsBot}
}
