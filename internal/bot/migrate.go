package bot

import "elobot/internal/ranking"

// migration returns the two ids of a group that has become a supergroup. Two service messages say so: the last one of the old
// chat and the first one of the new chat. People cannot forge them. ok is false for all other messages.
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
