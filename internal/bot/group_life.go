package bot

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// WhenMembersChange sets the function that the router calls before it handles a change of a chat's
// members or of their rights. WhenMembersChange must be called before the first update is handled.
func (r *Router) WhenMembersChange(forget func(ranking.ExternalChatID)) { r.forget = forget }

func (r *Router) membersChanged(c chat) {
	if r.forget != nil && c.ID != 0 {
		r.forget(ranking.ExternalChatID(c.ID))
	}
}

// botMember handles a change of the bot's own membership in a chat. A person who unblocks the bot
// in a private chat is not greeted.
func (r *Router) botMember(ctx context.Context, u *memberUpdate) error {
	r.membersChanged(u.Chat)
	o := u.origin("bot")
	switch {
	case u.Chat.ID == 0, !u.Chat.isGroup() && u.Chat.Type != string(ranking.Private):
		// The bot does not serve such a chat.
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

// member handles a change of a person's membership in a group. Telegram reports such changes only
// if the bot is an admin. member does not call the service if the person was not in the group
// before and still is not, as when a ban is lifted.
func (r *Router) member(ctx context.Context, u *memberUpdate) error {
	r.membersChanged(u.Chat)
	if !u.Chat.isGroup() || !u.New.User.isPerson() {
		return nil
	}
	o, who := u.origin("member"), u.New.User.mentioned()
	switch {
	case u.New.isOut() && !u.Old.isOut():
		return r.rankings.MemberLeft(ctx, o, who)
	case u.New.isIn():
		o.VisibleUsers = []command.Person{who}
		return r.rankings.MembersSeen(ctx, o)
	default:
		return nil
	}
}

// origin returns the origin of a change of members. Such a change has no message, so the key is
// built from the chat, the person, the time and the change. what distinguishes the two kinds of
// updates about members, "bot" and "member".
func (u *memberUpdate) origin(what string) ranking.Origin {
	who := value(u.New.User).ID
	text := fmt.Appendf(nil, "%s %d %d %d %s %t %s %t",
		what, u.Chat.ID, who, u.Date, u.Old.Status, u.Old.IsMember, u.New.Status, u.New.IsMember)
	if u.Old.Status == u.New.Status { // only rights have changed, perhaps twice in one second
		text = fmt.Appendf(text, " %t %t", u.Old.MayPin, u.New.MayPin)
	}
	content := sha256.Sum256(text)
	o := ranking.Origin{Key: fmt.Sprintf("s:%x", content), Chat: u.Chat.seen(), SentAt: time.Unix(u.Date, 0).UTC()}
	o.Chat.Language = languageTag(value(u.From).LanguageCode)
	return o
}

// groupLife handles a service message about a group's title or its members.
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
			o.VisibleUsers = append(o.VisibleUsers, u.mentioned())
		}
	}
	if len(o.VisibleUsers) > 0 {
		return r.rankings.MembersSeen(ctx, o)
	}
	if !m.LeftChatMember.isPerson() {
		return nil
	}
	return r.rankings.MemberLeft(ctx, o, m.LeftChatMember.mentioned())
}

var _ = shows(view[ranking.GroupDetached]{text: words.groupDetached, line: words.groupDetached})

// groupDetached says that a chat had two groups, and how many matches the kept group and the
// detached group have.
func (w words) groupDetached(n ranking.GroupDetached) string {
	return w.Text("merged.groups", args{"Kept": n.Kept, "Detached": n.Detached})
}
