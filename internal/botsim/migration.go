package botsim

// Migrate upgrades the group to a supergroup with a new id and returns the supergroup. The bot gets three updates: the
// service message in the old chat, its membership in the new chat, and the service message in the new chat. From then
// on, calls with the old id are refused with an error that contains the new id.
func (c *Chat) Migrate() *Chat {
	return c.migrate((*migration).announceOld, (*migration).announceJoin, (*migration).announceNew)
}

// MigrateNewFirst is Migrate with the new chat's service message first and the old chat's last.
func (c *Chat) MigrateNewFirst() *Chat {
	return c.migrate((*migration).announceNew, (*migration).announceJoin, (*migration).announceOld)
}

// MigrateJoinFirst is Migrate with the membership update first, before either service message.
func (c *Chat) MigrateJoinFirst() *Chat {
	return c.migrate((*migration).announceJoin, (*migration).announceOld, (*migration).announceNew)
}

// migration is the upgrade of a group to a supergroup. Telegram guarantees no order of its updates.
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
