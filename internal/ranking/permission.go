package ranking

import "context"

// Permission says who may do what an operation does.
type Permission struct {
	Who Who
	// Involved is true if the sender is one of those involved. It matters only with Involved.
	Involved bool
	Refusal  Refusal // what all others are told
}

// Who is a circle of people who have permission.
type Who int

// The circles. Admins have permission for everything.
const (
	Anybody  Who = iota
	Involved     // those who are involved
	Admins       // nobody else
)

// AdminStatus tells whether the sender of a command is an admin of the chat.
type AdminStatus int

// The values of AdminStatus.
const (
	AdminUnknown AdminStatus = iota // the messenger was not asked, or did not answer
	IsAdmin
	NoAdmin
)

// refusal returns what the sender is told without permission, nil with it.
func (p Permission) refusal(snap Snapshot) Notice {
	switch {
	case p.Who == Anybody, p.Who == Involved && p.Involved, snap.Admin == IsAdmin:
		return nil
	case snap.Admin == AdminUnknown:
		return Refusal{Code: AdminsUnknown, Number: p.Refusal.Number}
	}
	return p.Refusal
}

// asAdmin reports whether only being an admin gives the sender permission.
func (p Permission) asAdmin() bool { return p.Who == Admins || p.Who == Involved && !p.Involved }

// adminStatus asks whether the sender of a command is an admin, if its operation needs to know.
func (s *Service) adminStatus(ctx context.Context, o Origin, c command) AdminStatus {
	if c.isAdmin == nil {
		return AdminUnknown
	}
	switch admin, err := c.isAdmin(ctx); {
	case err != nil:
		s.log.WarnContext(ctx, "failed to check whether the sender is an admin", "key", o.Key, "chat_id", o.Chat.ID, "error", err)
		return AdminUnknown
	case admin:
		return IsAdmin
	default:
		return NoAdmin
	}
}
