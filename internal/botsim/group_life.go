package botsim

import "elobot/internal/botsim/updates"

const (
	kindOfBotUpdate   = "my_chat_member"
	serviceNewMembers = "new_chat_members"
)

// WithoutBot turns a new group into one that the bot has never been in, and returns it. The bot
// gets its first update from the group when it is added.
func (c *Chat) WithoutBot() *Chat {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.setStatus(c.s.bot.ID, "")
	return c
}

// Kick removes the bot from a group. In a private chat, the user blocks the bot.
func (c *Chat) Kick() { c.removeBot(statusKicked) }

// DeleteGroup deletes a group. The bot gets no service message, only the update about its own
// membership.
func (c *Chat) DeleteGroup() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.deleted = true
	c.changeBotStatus(c.owner(), statusLeft)
}

func (c *Chat) removeBot(status string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	by := c.owner()
	c.changeBotStatus(by, status)
	if c.kind != kindPrivate {
		m := serviceNote("left_chat_member", c.s.bot)
		m.extra["left_chat_participant"] = c.s.bot
		m.From = by
		c.add(m)
		c.s.messageUpdate(kindOfMessageUpdate, m) // the last update from this group
	}
}

// AddBot makes a person add the bot to a group, for the first time or again. In a private chat, the
// user unblocks the bot.
func (c *Chat) AddBot(by User) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.join(by)
	c.changeBotStatus(by, statusMember)
	if c.kind != kindPrivate {
		c.serviceMessage(by, serviceNote(serviceNewMembers, []User{c.s.bot}))
	}
}

// owner returns the default author of service messages: the creator, or else the human who joined
// first, even if that person has left.
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
	c.membership(kind, by, c.memberOf(member, from), c.memberOf(member, to))
}

func (c *Chat) membership(kind string, by User, before, after map[string]any) {
	c.s.sendUpdate(updates.LaneOfChat(c.id), kind, map[string]any{
		"chat": c.wire(), "from": c.s.current(by), "date": c.s.now().Unix(),
		"old_chat_member": before, "new_chat_member": after,
	})
}

// memberOf returns the ChatMember of the Bot API for a user, or for the bot, with the given status
// in the chat.
func (c *Chat) memberOf(u User, status string) map[string]any {
	m := chatMember(c.s.current(u), status)
	if u.ID == c.s.bot.ID && status == statusAdministrator && c.noPins {
		m["can_pin_messages"] = false
	}
	return m
}

func (s *Server) getChatAdministrators(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.readableChat(r.params)
	if err != nil {
		return nil, err
	}
	if c.kind == kindPrivate {
		return nil, badRequest("there are no administrators in the private chat")
	}
	admins := []any{}
	for _, id := range c.order {
		u := s.users[id]
		if c.isAdmin(id) && (!u.IsBot || id == s.bot.ID) {
			admins = append(admins, c.memberOf(u, c.status[id]))
		}
	}
	return admins, nil
}

// serviceNote returns a service message in which the given field has the value.
func serviceNote(field string, value any) *message {
	m := &message{extra: map[string]any{field: value}}
	m.Service = field
	return m
}

// serviceMessage adds the service message m, whose author is by, and sends its update if the bot is
// in the chat.
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

// Join makes a user join the group through a link, and adds the service message. A user who only
// writes to the group joins it without a service message.
func (c *Chat) Join(u User) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.ensureUser(u)
	c.changeStatus(u, u, statusMember)
	c.serviceMessage(u, serviceNote(serviceNewMembers, []User{c.s.current(u)}))
}

// Leave makes a user or the bot leave the group, and adds the service message.
func (c *Chat) Leave(u User) {
	if u.ID == c.s.bot.ID {
		c.removeBot(statusLeft)
		return
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.ensureUser(u)
	c.changeStatus(u, u, statusLeft)
	c.serviceMessage(u, serviceNote("left_chat_member", c.s.current(u)))
}

// Rename changes the group's title, and adds the service message. In that message, the chat already
// has the new title.
func (c *Chat) Rename(by User, title string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.ensureUser(by)
	c.title = title
	c.serviceMessage(by, serviceNote("new_chat_title", title))
}

// changeStatus sets the status of u, on behalf of by. The bot gets an update if it is an admin and
// allows chat_member updates.
func (c *Chat) changeStatus(by, u User, status string) {
	old := c.status[u.ID]
	c.setStatus(u.ID, status)
	if c.isAdmin(c.s.bot.ID) {
		c.memberUpdate("chat_member", by, u, old, status)
	}
}

// Migrate upgrades the group to a supergroup with a new id and returns the supergroup. The bot, if
// it is a member, gets three updates: the service message in the old chat, its membership in the
// new chat, and the service message in the new chat. From then on, calls with the old id are
// refused with an error that contains the new id.
func (c *Chat) Migrate() *Chat {
	return c.migrate((*migration).announceOld, (*migration).announceJoin, (*migration).announceNew)
}

// MigrateNewFirst is like Migrate, with the new chat's service message first and the old chat's
// last.
func (c *Chat) MigrateNewFirst() *Chat {
	return c.migrate((*migration).announceNew, (*migration).announceJoin, (*migration).announceOld)
}

// MigrateJoinFirst is like Migrate, but the membership update comes first, before either service
// message.
func (c *Chat) MigrateJoinFirst() *Chat {
	return c.migrate((*migration).announceJoin, (*migration).announceOld, (*migration).announceNew)
}

// migration is the upgrade of a group to a supergroup. Telegram does not guarantee the order of the
// three updates about it.
type migration struct{ old, next *Chat }

func (m *migration) announceOld() {
	m.old.serviceMessage(m.old.owner(), serviceNote("migrate_to_chat_id", m.next.id))
}

func (m *migration) announceNew() {
	m.next.serviceMessage(groupAnonymousBot(), serviceNote("migrate_from_chat_id", m.old.id))
}

func (m *migration) announceJoin() {
	if bot := m.next.s.bot; m.next.hasBot() {
		m.next.memberUpdate(kindOfBotUpdate, m.old.owner(), bot, statusLeft, m.next.status[bot.ID])
	}
}

func (c *Chat) migrate(announcements ...func(*migration)) *Chat {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	next := c.s.newGroup(kindSupergroup, c.title, c.isForum)
	for _, id := range c.order {
		next.setStatus(id, c.status[id])
	}
	for _, announce := range announcements {
		announce(&migration{old: c, next: next})
	}
	c.migratedTo = next.id
	return next
}
