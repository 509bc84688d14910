package ranking

import "elobot/internal/notice"

// WebBoard is what the link of a group's web board is made of. Whoever has the link can read the board as long as it is on, and admins have
// not asked for a new one.
type WebBoard struct {
	Group GroupID `json:"group"`
	Salt  string  `json:"-"` // random and secret; empty in a stored notice, which gets the current one when it is sent
}

// NewLink is the value of SettingWeb by which the web board is on, with another link than before.
const NewLink = "new"

// webSetting turns the web board on and off. It has the same link when it is on again.
func webSetting() Setting {
	return Setting{
		Name: SettingWeb, Group: AboutWeb, Columns: []string{"web_on"}, Choices: []string{Off, On, NewLink},
		get: func(g GroupSettings) string {
			if g.Web {
				return On
			}
			return Off
		},
		set: func(g *GroupSettings, value string) {
			switch value {
			case Off:
				g.Web = false
			case On, NewLink:
				g.Web = true
			}
		},
	}
}

// WebShown tells the link of the group's web board.
type WebShown struct {
	Web *WebBoard `json:"web,omitempty"` // nil if it is off
}

var _ = notice.Register[WebShown](notice.Kind{Name: "web_shown", Purpose: notice.Answer, Alone: true})

// ShowWeb asks for the link of the group's web board.
type ShowWeb struct{}

func (ShowWeb) plan(_ *Service, c *call) *call {
	show := func(snap *Snapshot) Decision {
		n := WebShown{}
		if snap.Web {
			n.Web = &WebBoard{Group: snap.Group}
		}
		return Decision{Notice: n}
	}
	return c.with(job{
		name: "show the web board", bucket: RateQuestion, ofGroup: true,
		operation: event{people: senderOf(c.Origin), fn: show},
	})
}
