package botsim

// Promote makes somebody, or the bot, an admin of the group.
func (c *Chat) Promote(u User) { c.setRole(u, statusAdministrator) }

// Demote makes an admin, or somebody restricted, an ordinary member again.
func (c *Chat) Demote(u User) { c.setRole(u, statusMember) }

// Restrict forbids somebody, or the bot, to send anything to the group. They stay in it.
func (c *Chat) Restrict(u User) { c.setRole(u, statusRestricted) }

func (c *Chat) setRole(u User, status string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.know(u)
	if u.ID == c.s.bot.ID {
		c.changeBotStatus(c.owner(), status)
		return
	}
	c.changeStatus(c.owner(), u, status)
}

// Join brings somebody into the group by a link, with the service message. Whoever writes there joins silently.
func (c *Chat) Join(u User) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.know(u)
	c.changeStatus(u, u, statusMember)
	c.serviceMessage(u, serviceNote(serviceNewMembers, []User{c.s.current(u)}))
}

// Leave removes somebody from the group by their own will, with the service message.
func (c *Chat) Leave(u User) { c.part(u, u, statusLeft) }

// KickMember removes somebody from the group by an admin's will, with the service message. Kick is for the bot.
func (c *Chat) KickMember(by, u User) { c.part(by, u, statusKicked) }

func (c *Chat) part(by, u User, status string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.know(by)
	c.s.know(u)
	c.changeStatus(by, u, status)
	c.serviceMessage(by, serviceNote("left_chat_member", c.s.current(u)))
}

// Rename gives the group another title, with the service message, which bears the new one already.
func (c *Chat) Rename(by User, title string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.know(by)
	c.title = title
	c.serviceMessage(by, serviceNote("new_chat_title", title))
}

// changeStatus is told to a bot that is an admin and has asked for chat_member.
func (c *Chat) changeStatus(by, u User, status string) {
	old := c.status[u.ID]
	c.setStatus(u.ID, status)
	if c.isAdmin(c.s.bot.ID) {
		c.memberUpdate("chat_member", by, u, old, status)
	}
}
