package ranking

import (
	"context"
	"fmt"
)

// MoveChat records that the messenger changed a chat's id. Both ids then refer to the same chat. If
// the new id already has a chat, because an update with that id came first, the two chats become
// one. If both chats have groups with matches, the group with fewer matches is detached or, in a
// tie, the group of the newer chat. MoveChat is idempotent, and does nothing if neither id belongs
// to a stored chat.
func (s *Service) MoveChat(ctx context.Context, from, to ExternalChatID) error {
	if from == to {
		return nil
	}
	var detached *DetachedGroup
	err := s.retryOnConflict(ctx, from, func(ctx context.Context, _ int) (err error) {
		detached, err = s.store.Move(ctx, from, to)
		return err
	}, "command", "move chat", "chat_id", from, "to_chat_id", to)
	if err != nil {
		return fmt.Errorf("move chat: %w", err)
	}
	if d := detached; d != nil {
		s.log.WarnContext(ctx, "detached a group, because its chat has a new id and another group with matches",
			"chat_id", d.Chat, "group_id", d.Group, "matches", d.Matches)
	}
	return nil
}

// DetachedGroup is a group without a chat, because its chat turned out to be the chat of another
// group with at least as many matches. A detached group stays in the store, but no command applies
// to it.
type DetachedGroup struct {
	Group   GroupID
	Matches int
	Chat    ExternalChatID // the group's former chat, with its current id
	Title   string         // the title of that chat; Store.Move leaves it empty
}

func (d DetachedGroup) String() string {
	return fmt.Sprintf("group %d of %d %q", d.Group, d.Chat, d.Title)
}
