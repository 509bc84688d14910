package bot

import (
	"cmp"
	"html"
	"slices"

	"elobot/internal/ranking"
)

// webLinks makes the links to web boards. A link is made when a message is sent, and is never
// stored.
type webLinks struct {
	link    func(ranking.WebBoard) string // nil if no address is configured
	buttons bool                          // Telegram accepts the links in buttons
}

// WithWeb sets the function that makes the links of web boards, and whether Telegram accepts the
// links in buttons. A nil link means that no address is configured. WithWeb returns s, and must be
// called before the first message is sent.
func (s *Sender) WithWeb(link func(ranking.WebBoard) string, buttons bool) *Sender {
	s.web = webLinks{link, buttons && link != nil}
	return s
}

// webLink returns the link of a web board. It is empty if the board is off or no address is
// configured.
func (w words) webLink(board *ranking.WebBoard) string {
	if board == nil || w.web == nil {
		return ""
	}
	salt := cmp.Or(board.Salt, w.salt)
	if salt == "" { // turned off since the notice was stored
		return ""
	}
	return w.web(ranking.WebBoard{Group: board.Group, Salt: salt})
}

// webButton returns a row with the button that opens a web board. A button without a link is
// dropped later.
func (w words) webButton(board *ranking.WebBoard) []button {
	return []button{{text: w.Text("button.web", nil), web: w.webLink(board)}}
}

// webLink returns the link to the web board in the message's buttons. It is empty if no button has
// a link.
func (o outgoing) webLink() string {
	for _, b := range slices.Concat(o.buttons...) {
		if b.web != "" {
			return b.web
		}
	}
	return ""
}

var _ = shows(view[ranking.WebShown]{text: words.webShown})

func (w words) webShown(n ranking.WebShown) string {
	link := w.webLink(n.Web)
	switch {
	case w.web == nil:
		return w.Text("web.no_address", nil)
	case link == "":
		return w.Text("web.off", nil)
	default:
		return w.Text("web.link", args{"Link": html.EscapeString(link)})
	}
}
