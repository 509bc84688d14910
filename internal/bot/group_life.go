package bot

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// GroupLife is the part of the ranking service that handles changes of groups and their members. Its calls are idempotent, like those of
// commands.
type GroupLife interface {
	BotAdded(ctx context.Context, o ranking.Origin, greeting notice.Notice) error
	BotBack(ctx context.Context, o ranking.Origin) error
	BotRemoved(ctx context.Context, o ranking.Origin) error
	Renamed(ctx context.Context, o ranking.Origin) error
	MembersSeen(ctx context.Context, o ranking.Origin) error
	MemberLeft(ctx context.Context, o ranking.Origin, who ranking.Person) error
}

// memberUpdate says that the membership of a person or of the bot in a chat has changed.
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

// isIn is true if somebody is in the chat. With an unknown status, both isIn and isOut are false.
func (m chatMember) isIn() bool {
	switch m.Status {
	case "creator", "administrator", "member":
		return true
	case "restricted":
		return m.IsMember
	default:
		return false
	}
}

func (m chatMember) isOut() bool {
	switch m.Status {
	case "left", "kicked":
		return true
	case "restricted":
		return !m.IsMember
	default:
		return false
	}
}

// WhenMembersChange sets the function that the router calls when the members of a chat or their rights have changed, before it handles the
// change. It must be called before the first update is handled.
func (r *Router) WhenMembersChange(forget func(ranking.ExternalChatID)) { r.forget = forget }

func (r *Router) membersChanged(c chat) {
	if r.forget != nil && c.ID != 0 {
		r.forget(ranking.ExternalChatID(c.ID))
	}
}

// botMember handles a change of the bot's own membership in a chat. Somebody who unblocks it in a private chat is not greeted.
func (r *Router) botMember(ctx context.Context, u *memberUpdate) error {
	r.membersChanged(u.Chat)
	o := u.origin("bot")
	switch {
	case !u.Chat.isKnownKind():
		return nil
	case u.New.isOut():
		return r.rankings.BotRemoved(ctx, o)
	case u.New.isIn() && o.Chat.IsGroup() && !u.Old.isIn():
		return r.rankings.BotAdded(ctx, o, Greeting{})
	case u.New.isIn():
		return r.rankings.BotBack(ctx, o)
	default:
		return nil
	}
}

// member handles a change of somebody's membership in a group. Telegram sends it only if the bot is an admin. Somebody who was out already,
// such as after a lifted ban, does not leave again.
func (r *Router) member(ctx context.Context, u *memberUpdate) error {
	r.membersChanged(u.Chat)
	if !u.Chat.isGroup() || !u.New.User.isPerson() {
		return nil
	}
	o, who := u.origin("member"), person(u.New.User.mentioned())
	switch {
	case u.New.isOut() && !u.Old.isOut():
		return r.rankings.MemberLeft(ctx, o, who)
	case u.New.isIn():
		o.VisibleUsers = []ranking.Person{who}
		return r.rankings.MembersSeen(ctx, o)
	default:
		return nil
	}
}

// origin returns the origin of the change. There is no message, so its key is built from who, where, when and what.
func (u *memberUpdate) origin(what string) ranking.Origin {
	var who int64
	if u.New.User != nil {
		who = u.New.User.ID
	}
	text := fmt.Appendf(nil, "%s %d %d %d %s %t %s %t", what, u.Chat.ID, who, u.Date, u.Old.Status, u.Old.IsMember, u.New.Status, u.New.IsMember)
	if u.Old.Status == u.New.Status { // only rights have changed, perhaps twice in a second
		text = fmt.Appendf(text, " %t %t", u.Old.MayPin, u.New.MayPin)
	}
	content := sha256.Sum256(text)
	o := ranking.Origin{Key: fmt.Sprintf("s:%x", content), Chat: u.Chat.seen(), SentAt: time.Unix(u.Date, 0).UTC()}
	if u.From != nil {
		o.Chat.Language = languageTag(u.From.LanguageCode)
	}
	return o
}

// isGroupLife is true if this is a service message: the group was renamed, or somebody joined or left.
func (m *message) isGroupLife() bool {
	return m.NewChatTitle != "" || m.LeftChatMember != nil || len(m.NewChatMembers) > 0
}

// groupLife handles a service message.
func (r *Router) groupLife(ctx context.Context, m *message) error {
	if !m.Chat.isGroup() || m.ID == 0 {
		return nil
	}
	o := ranking.Origin{
		Key: messageKey(m.Chat.ID, m.ID), Chat: m.Chat.seen(), SentAt: time.Unix(m.Date, 0).UTC(),
	}
	if m.NewChatTitle != "" {
		o.Chat.Title = cleanName(m.NewChatTitle)
		return r.rankings.Renamed(ctx, o)
	}
	r.membersChanged(m.Chat)
	for _, u := range m.NewChatMembers {
		if u.isPerson() {
			o.VisibleUsers = append(o.VisibleUsers, person(u.mentioned()))
		}
	}
	if len(o.VisibleUsers) > 0 {
		return r.rankings.MembersSeen(ctx, o)
	}
	if !m.LeftChatMember.isPerson() {
		return nil
	}
	return r.rankings.MemberLeft(ctx, o, person(m.LeftChatMember.mentioned()))
}

func (u *user) isPerson() bool { return u != nil && u.ID != 0 && !u.IsBot }

// seen returns the chat as the ranking service sees it.
func (c chat) seen() ranking.Chat {
	return ranking.Chat{ID: ranking.ExternalChatID(c.ID), Kind: ranking.ChatKind(c.Type), Title: cleanName(c.Title)}
}

// isKnownKind is true if the bot can write to this kind of chat.
func (c chat) isKnownKind() bool {
	return c.ID != 0 && (c.isGroup() || c.Type == string(ranking.Private))
}

func (c chat) isGroup() bool {
	return c.ID != 0 && (c.Type == string(ranking.Group) || c.Type == string(ranking.Supergroup))
}

// maxLanguageTag is the maximum length of an IETF language tag.
const maxLanguageTag = 35

// languageTag returns an IETF language tag in lower case, or an empty string if the code does not look like one: letters, then parts of
// letters and digits, as in "zh-hans".
func languageTag(code string) string {
	code = strings.ToLower(code)
	for i, part := range strings.Split(code, "-") {
		isForeign := func(r rune) bool { return (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') }
		if len(part) > 8 || part == "" || i == 0 && len(part) == 1 || strings.ContainsFunc(part, isForeign) {
			return ""
		}
	}
	if len(code) > maxLanguageTag {
		return ""
	}
	return code
}

// migration returns the two ids of a group that has become a supergroup. Two service messages say so: the last one of the old chat and the
// first one of the new chat. People cannot forge them. ok is false for all other messages.
func (m *message) migration() (from, to ranking.ExternalChatID, ok bool) {
	switch here := ranking.ExternalChatID(m.Chat.ID); {
	case here == 0:
		return 0, 0, false
	case m.MigrateTo != 0:
		return here, ranking.ExternalChatID(m.MigrateTo), true
	case m.MigrateFrom != 0:
		return ranking.ExternalChatID(m.MigrateFrom), here, true
	default:
		return 0, 0, false
	}
}

var _ = shows(view[ranking.GroupDetached]{text: words.groupDetached, line: words.groupDetached})

// groupDetached says that one of two rankings of the group goes on.
func (w words) groupDetached(n ranking.GroupDetached) string {
	return w.Text("merged.groups", args{"Kept": n.Kept, "Detached": n.Detached})
}
