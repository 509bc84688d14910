package ranking

import "elobot/internal/notice"

// WebBoard determines the link of a group's web board. The link gives read access to the board
// while the board is on and the bot is in the chat, until an admin requests a new link.
type WebBoard struct {
	Group GroupID `json:"group"`
	// Salt is random and secret. It is empty in a stored notice, and set to the current salt when
	// the notice is sent.
	Salt string `json:"-"`
}

// NewLink is the value of SettingWeb that turns the web board on with a new link.
const NewLink = "new"

// webSetting returns the setting that turns the web board on and off. A board that is turned off
// and on again keeps its link.
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

// WebShown is a notice that shows the link of the group's web board, or that the board is off.
type WebShown struct {
	Web *WebBoard `json:"web,omitempty"` // nil if the board is off
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
