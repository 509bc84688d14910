package botsim

// Promote makes a user, or the bot, an admin of the group.
func (c *Chat) Promote(u User) { c.setRole(u, statusAdministrator) }

// Demote makes an admin an ordinary member again.
func (c *Chat) Demote(u User) { c.setRole(u, statusMember) }

func (c *Chat) setRole(u User, status string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.ensureUser(u)
	if u.ID == c.s.bot.ID {
		c.changeBotStatus(c.owner(), status)
		return
	}
	c.changeStatus(c.owner(), u, status)
}

// Join adds a user to the group by a link, with the service message. A user who writes to the group joins it without one.
func (c *Chat) Join(u User) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.ensureUser(u)
	c.changeStatus(u, u, statusMember)
	c.serviceMessage(u, serviceNote(serviceNewMembers, []User{c.s.current(u)}))
}

// Leave removes a user who leaves the group, with the service message.
func (c *Chat) Leave(u User) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.ensureUser(u)
	c.changeStatus(u, u, statusLeft)
	c.serviceMessage(u, serviceNote("left_chat_member", c.s.current(u)))
}

// Rename changes the group's title, with the service message, which already shows the new title.
func (c *Chat) Rename(by User, title string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.ensureUser(by)
	c.title = title
	c.serviceMessage(by, serviceNote("new_chat_title", title))
}

// changeStatus sets a member's status. The bot gets an update if it is an admin and allows chat_member.
func (c *Chat) changeStatus(by, u User, status string) {
	old := c.status[u.ID]
	c.setStatus(u.ID, status)
	if c.isAdmin(c.s.bot.ID) {
		c.memberUpdate("chat_member", by, u, old, status)
	}
}
