package botsim

import "elobot/internal/botsim/updates"

const (
	kindOfBotUpdate   = "my_chat_member"
	serviceNewMembers = "new_chat_members"
)

// WithoutBot makes a new group one that the bot has never been in, and returns it. The bot gets its first update from
// the group when it is added.
func (c *Chat) WithoutBot() *Chat {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.setStatus(c.s.bot.ID, "")
	return c
}

// Kick removes the bot from a group. In a private chat the user blocks the bot.
func (c *Chat) Kick() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	by := c.owner()
	c.changeBotStatus(by, statusKicked)
	if c.kind != kindPrivate {
		m := serviceNote("left_chat_member", c.s.bot)
		m.extra["left_chat_participant"] = c.s.bot
		m.From = by
		c.add(m)
		c.s.messageUpdate(kindOfMessageUpdate, m) // the last update from this group
	}
}

// AddBot puts the bot into a group, for the first time or again. In a private chat the user unblocks the bot.
func (c *Chat) AddBot(by User) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.join(by)
	c.changeBotStatus(by, statusMember)
	if c.kind != kindPrivate {
		c.serviceMessage(by, serviceNote(serviceNewMembers, []User{c.s.bot}))
	}
}

// owner returns the default author of service messages: the creator, or else the first human member.
func (c *Chat) owner() User {
	var firstHuman User
	for _, id := range c.order {
		u := c.s.users[id]
		if c.status[id] == statusCreator {
			return u
		}
		if firstHuman.ID == 0 && !u.IsBot {
			firstHuman = u
		}
	}
	return firstHuman
}

func (c *Chat) changeBotStatus(by User, status string) {
	old := c.status[c.s.bot.ID]
	c.setStatus(c.s.bot.ID, status)
	c.memberUpdate(kindOfBotUpdate, by, c.s.bot, old, status)
}

func (c *Chat) memberUpdate(kind string, by, member User, from, to string) {
	if member.ID == c.s.bot.ID {
		c.membership(kind, by, c.botMember(from, c.noPins), c.botMember(to, c.noPins))
		return
	}
	c.membership(kind, by, chatMember(c.s.current(member), from), chatMember(c.s.current(member), to))
}

func (c *Chat) membership(kind string, by User, before, after map[string]any) {
	c.s.sendUpdate(updates.LaneOfChat(c.id), kind, map[string]any{
		"chat": c.wire(), "from": c.s.current(by), "date": c.s.now().Unix(), "old_chat_member": before, "new_chat_member": after,
	})
}

// memberOf returns a user, or the bot, as a member of the chat.
func (c *Chat) memberOf(u User) map[string]any {
	if u.ID == c.s.bot.ID {
		return c.botMember(c.status[u.ID], c.noPins)
	}
	return chatMember(u, c.status[u.ID])
}

// botMember returns the bot as a member of the chat.
func (c *Chat) botMember(status string, noPins bool) map[string]any {
	m := chatMember(c.s.bot, status)
	if status == statusAdministrator && noPins {
		m["can_pin_messages"] = false
	}
	return m
}

// serviceNote returns a service message with a single field.
func serviceNote(field string, value any) *message {
	m := &message{extra: map[string]any{field: value}}
	m.Service = field
	return m
}

// serviceMessage adds a service message and sends its update.
func (c *Chat) serviceMessage(by User, m *message) {
	m.From = c.s.current(by)
	c.add(m)
	if c.hasBot() {
		c.s.messageUpdate(kindOfMessageUpdate, m)
	}
}

// chatMember returns a ChatMember of the Bot API, with the fields that its status requires.
func chatMember(u User, status string) map[string]any {
	m := map[string]any{"user": u, "status": status}
	switch status {
	case statusCreator:
		m["is_anonymous"] = false
	case statusAdministrator:
		for _, right := range []string{
			"can_be_edited", "is_anonymous", "can_promote_members", "can_post_stories", "can_edit_stories",
			"can_delete_stories",
		} {
			m[right] = false
		}
		for _, right := range []string{
			"can_manage_chat", "can_delete_messages", "can_manage_video_chats", "can_restrict_members",
			"can_change_info", "can_invite_users", "can_pin_messages",
		} {
			m[right] = true
		}
	case statusKicked:
		m["until_date"] = 0
	case "":
		m["status"] = statusLeft
	}
	return m
}
