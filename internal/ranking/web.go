package ranking

import (
	"context"

	"elobot/internal/notice"
)

// WebBoard is what the link of a group's web board is made of. Whoever has the link can read the board as long as it is on, and admins have
// not asked for a new one.
type WebBoard struct {
	Group      GroupID `json:"group"`
	Generation int     `json:"generation"` // of the link
}

// NewLink is the value of SettingWeb by which the web board is on, with another link than before.
const NewLink = "new"

// webSetting turns the web board on and off. It has the same link when it is on again.
func webSetting() Setting {
	return Setting{
		Name: SettingWeb, Group: AboutWeb, Columns: []string{"web_generation"}, Choices: []string{Off, On, NewLink},
		get: func(g GroupSettings) string {
			if g.Web > 0 {
				return On
			}
			return Off
		},
		set: func(g *GroupSettings, value string) {
			generation := max(g.Web, -g.Web)
			switch value {
			case On:
				g.Web = max(generation, 1)
			case Off:
				g.Web = -generation
			case NewLink:
				g.Web = generation + 1
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

func (ShowWeb) do(ctx context.Context, s *Service, o Origin) error {
	show := func(snap Snapshot) Decision {
		n := WebShown{}
		if snap.Web > 0 {
			n.Web = &WebBoard{Group: snap.Group, Generation: snap.Web}
		}
		return Decision{Notice: n}
	}
	return s.handle(ctx, o, job{
		name: "show the web board", bucket: RateQuestion, ofGroup: true, operation: event{people: senderOf(o), fn: show},
	})
}
