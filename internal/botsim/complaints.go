package botsim

import (
	"fmt"
	"slices"
	"strings"

	"elobot/internal/botsim/markup"
)

const maxComplaints = 1000

// complaintList keeps the first maxComplaints complaints, each once, in order of occurrence. The
// server's lock guards it.
type complaintList struct {
	list []string
	seen map[string]bool
}

func (l *complaintList) add(text string) {
	if l.seen[text] || len(l.list) == maxComplaints {
		return
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	l.seen[text] = true
	l.list = append(l.list, text)
}

// Complaints returns the bot's mistakes, each once, at most 1000. They are wrong parameters,
// requests that are not simulated, and texts that Telegram accepts but does not show as intended.
// For example, a name may become a mention or a link, or markup may be shown literally. Failures of
// the server itself are listed as well.
func (s *Server) Complaints() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.complaints.list)
}

func (s *Server) complain(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.complaints.add(fmt.Sprintf(format, args...))
}

// complainOfDetected complains about mentions, tags and addresses that Telegram detects in the
// bot's text but that the bot did not mark. It allows URLs with a scheme and the bot's own
// username.
func (s *Server) complainOfDetected(method string, m *message, explicit []Entity) {
	for _, e := range m.Entities {
		if slices.ContainsFunc(explicit, func(x Entity) bool {
			return x.Type == e.Type && x.Offset == e.Offset && x.Length == e.Length
		}) {
			continue
		}
		text := m.EntityText(e)
		switch e.Type {
		case markup.URL:
			if markup.HasScheme(text) {
				continue // written out in full, so meant as a link
			}
		case markup.Mention:
			if strings.EqualFold(text, "@"+s.bot.Username) {
				continue
			}
		case markup.Hashtag, markup.Cashtag, markup.Email:
		default:
			continue
		}
		s.complaints.add(fmt.Sprintf("%s: %q in the text became a %s", method, text, e.Type))
	}
}
