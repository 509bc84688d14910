package botsim

import "strings"

const (
	kindOfBotUpdate   = "my_chat_member"
	serviceNewMembers = "new_chat_members"
)

// WithoutBot takes the bot out of a new group as if it had never been in it, and returns the group. The bot hears
// of the group when it is added.
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
		c.s.messageUpdate(kindOfMessageUpdate, m) // the last that the bot hears
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

// CreateWithBot tells the bot of a basic group that was created with it among the members.
func (c *Chat) CreateWithBot(by User) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.join(by)
	c.setStatus(c.s.bot.ID, "")
	c.changeBotStatus(by, statusMember)
	c.serviceMessage(by, serviceNote("group_chat_created", true))
}

// AddBotByLink adds the bot by its link t.me/elo_bot?startgroup=parameter: after what AddBot tells comes "/start"
// with the parameter, if there is one, from who has followed the link.
func (c *Chat) AddBotByLink(by User, parameter string) Message {
	return c.addByLink(by, parameter, false)
}

// AddBotByLinkStartFirst is AddBotByLink with the /start coming before the news that the bot was added.
func (c *Chat) AddBotByLinkStartFirst(by User, parameter string) Message {
	return c.addByLink(by, parameter, true)
}

func (c *Chat) addByLink(by User, parameter string, startFirst bool) Message {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.join(by)
	old := c.status[c.s.bot.ID]
	c.setStatus(c.s.bot.ID, statusMember)
	note, start := serviceNote(serviceNewMembers, []User{c.s.bot}), &message{}
	note.From, start.From = c.s.current(by), c.s.current(by)
	start.Text, start.Entities = c.s.markUserText(strings.TrimSpace("/start@" + c.s.bot.Username + " " + parameter))
	c.add(note)
	c.add(start)
	if startFirst {
		c.s.messageUpdate(kindOfMessageUpdate, start)
	}
	c.memberUpdate(kindOfBotUpdate, by, c.s.bot, old, statusMember)
	c.s.messageUpdate(kindOfMessageUpdate, note)
	if !startFirst {
		c.s.messageUpdate(kindOfMessageUpdate, start)
	}
	return start.Message
}

// Migrate turns the group into a supergroup with a new id, which it returns. The old chat tells of it first, then the
// bot hears that it is in the new one as if it had been added there, and then the new one tells of it. Whatever is
// written to the old id from now on is refused with the new one.
func (c *Chat) Migrate() *Chat {
	return c.migrate((*migration).tellOld, (*migration).tellJoin, (*migration).tellNew)
}

// MigrateNewFirst is Migrate with the new chat's message coming first and the old one's last.
func (c *Chat) MigrateNewFirst() *Chat {
	return c.migrate((*migration).tellNew, (*migration).tellJoin, (*migration).tellOld)
}

// MigrateJoinFirst is Migrate with the bot hearing that it is in the new chat before it can know why.
func (c *Chat) MigrateJoinFirst() *Chat {
	return c.migrate((*migration).tellJoin, (*migration).tellOld, (*migration).tellNew)
}

// migration is a group that becomes a supergroup. Telegram promises no order of what it tells of it.
type migration struct{ old, next *Chat }

func (m *migration) tellOld() {
	m.old.serviceMessage(m.old.owner(), serviceNote("migrate_to_chat_id", m.next.id))
}

func (m *migration) tellNew() {
	m.next.serviceMessage(groupAnonymousBot(), serviceNote("migrate_from_chat_id", m.old.id))
}

func (m *migration) tellJoin() {
	if bot := m.next.s.bot; m.next.hasBot() {
		m.next.memberUpdate(kindOfBotUpdate, m.old.owner(), bot, statusLeft, m.next.status[bot.ID])
	}
}

func (c *Chat) migrate(tell ...func(*migration)) *Chat {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	next := c.s.newGroup(kindSupergroup, c.title, c.isForum)
	for _, id := range c.order {
		next.setStatus(id, c.status[id])
	}
	for _, t := range tell {
		t(&migration{old: c, next: next})
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
	c.memberUpdate(kindOfBotUpdate, by, c.s.bot, old, status)
}

func (c *Chat) memberUpdate(kind string, by, whom User, from, to string) {
	c.s.sendUpdate(laneOfChat(c.id), kind, map[string]any{
		"chat": c.wire(), "from": c.s.current(by), "date": c.s.now().Unix(),
		"old_chat_member": chatMember(c.s.current(whom), from), "new_chat_member": chatMember(c.s.current(whom), to),
	})
}

// serviceNote is a service message that says one thing.
func serviceNote(field string, what any) *message {
	m := &message{extra: map[string]any{field: what}}
	m.Service = field
	return m
}

// serviceMessage adds a service message and its update, which comes even in privacy mode.
func (c *Chat) serviceMessage(by User, m *message) {
	m.From = c.s.current(by)
	c.add(m)
	if c.hasBot() {
		c.s.messageUpdate(kindOfMessageUpdate, m)
	}
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
	case statusRestricted:
		m["is_member"], m["until_date"] = true, 0
		for _, right := range []string{
			"can_send_messages", "can_send_audios", "can_send_documents", "can_send_photos", "can_send_videos",
			"can_send_video_notes", "can_send_voice_notes", "can_send_polls", "can_send_other_messages",
			"can_add_web_page_previews", "can_change_info", "can_invite_users", "can_pin_messages", "can_manage_topics",
		} {
			m[right] = false
		}
	case statusKicked:
		m["until_date"] = 0
	case "":
		m["status"] = statusLeft
	}
	return m
}
