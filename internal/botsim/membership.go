package botsim

// Kick removes the bot from a group. In a private chat the user blocks the bot.
func (c *Chat) Kick() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	by := c.owner()
	c.changeBotStatus(by, statusKicked)
	if c.kind != kindPrivate {
		m := &message{extra: map[string]any{"left_chat_member": c.s.bot, "left_chat_participant": c.s.bot}}
		m.Service = "left_chat_member"
		c.serviceMessage(by, m)
	}
}

// AddBot puts the bot into the group again. In a private chat the user unblocks the bot.
func (c *Chat) AddBot(by User) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.know(by)
	c.changeBotStatus(by, statusMember)
	if c.kind != kindPrivate {
		m := &message{extra: map[string]any{"new_chat_members": []User{c.s.bot}}}
		m.Service = "new_chat_members"
		c.serviceMessage(by, m)
	}
}

// Promote makes somebody, or the bot, an admin of the group.
func (c *Chat) Promote(u User) { c.setRole(u, statusAdministrator) }

// Demote makes an admin an ordinary member again.
func (c *Chat) Demote(u User) { c.setRole(u, statusMember) }

func (c *Chat) setRole(u User, status string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.know(u)
	if u.ID == c.s.bot.ID {
		c.changeBotStatus(c.owner(), status)
		return
	}
	old := c.status[u.ID]
	c.setStatus(u.ID, status)
	if c.isAdmin(c.s.bot.ID) {
		c.memberUpdate("chat_member", c.owner(), u, old, status)
	}
}

// Leave removes somebody from the group, with the service message.
func (c *Chat) Leave(u User) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	old := c.status[u.ID]
	c.setStatus(u.ID, statusLeft)
	if c.isAdmin(c.s.bot.ID) {
		c.memberUpdate("chat_member", u, u, old, statusLeft)
	}
	m := &message{extra: map[string]any{"left_chat_member": u}}
	m.Service = "left_chat_member"
	c.serviceMessage(u, m)
}

// Migrate turns the group into a supergroup with a new id, which it returns. The old chat tells of it first.
// Whatever is written to the old id from now on is refused with the new one.
func (c *Chat) Migrate() *Chat { return c.migrate(false) }

// MigrateNewFirst is Migrate with the new chat's message coming before the old one's.
func (c *Chat) MigrateNewFirst() *Chat { return c.migrate(true) }

func (c *Chat) migrate(newFirst bool) *Chat {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	next := c.s.newGroup(kindSupergroup, c.title, c.isForum)
	for _, id := range c.order {
		next.setStatus(id, c.status[id])
	}
	by := c.owner()
	tellOld := func() {
		m := &message{extra: map[string]any{"migrate_to_chat_id": next.id}}
		m.Service = "migrate_to_chat_id"
		c.serviceMessage(by, m)
	}
	tellNew := func() {
		m := &message{extra: map[string]any{"migrate_from_chat_id": c.id}}
		m.Service = "migrate_from_chat_id"
		next.serviceMessage(groupAnonymousBot(), m)
	}
	if newFirst {
		tellNew()
		tellOld()
	} else {
		tellOld()
		tellNew()
	}
	c.migratedTo = next.id
	return next
}

// owner is who a service message names when the test does not say: the creator, else any person of the chat.
func (c *Chat) owner() User {
	var someone User
	for _, id := range c.order {
		u := c.s.users[id]
		if c.status[id] == statusCreator {
			return u
		}
		if someone.ID == 0 && !u.IsBot {
			someone = u
		}
	}
	return someone
}

func (c *Chat) changeBotStatus(by User, status string) {
	old := c.status[c.s.bot.ID]
	c.setStatus(c.s.bot.ID, status)
	c.memberUpdate("my_chat_member", by, c.s.bot, old, status)
}

func (c *Chat) memberUpdate(kind string, by, whom User, from, to string) {
	c.s.sendUpdate(kind, map[string]any{
		"chat": c.wire(), "from": by, "date": c.s.now().Unix(),
		"old_chat_member": chatMember(whom, from), "new_chat_member": chatMember(whom, to),
	})
}

// serviceMessage adds a service message and its update, which comes even in privacy mode.
func (c *Chat) serviceMessage(by User, m *message) {
	m.From = by
	c.add(m)
	c.s.messageUpdate(kindOfMessageUpdate, m)
}

// chatMember is a member as the Bot API writes it, with the fields that its status requires.
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
