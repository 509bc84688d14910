package bot

import (
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// parseOffWeb reads the argument of the button below the settings of a person. ok is false for any
// other argument.
func parseOffWeb(args string) (off, ok bool) {
	return args == ranking.Off, args == ranking.Off || args == ranking.On
}

func pressOffWeb(_ *Router, _ *press, off bool) ranking.Operation {
	return ranking.StayOffWeb{Off: off}
}

var _ = shows(view[ranking.PersonSettings]{text: words.personSettings, buttons: personSettingsButtons})

func (w words) personSettings(n ranking.PersonSettings) string {
	if n.OffWeb {
		return w.Text("person_settings.off_web", nil)
	}
	return w.Text("person_settings.on_web", nil)
}

func personSettingsButtons(n ranking.PersonSettings, _ outbox.Item, w words) [][]button {
	label, value := "button.stay_off_web", ranking.Off
	if n.OffWeb {
		label, value = "button.be_on_web", ranking.On
	}
	return [][]button{{{text: w.Text(label, nil), data: callbackData(offWebCode, value)}}}
}

// PrivateOnly says that a command works only in the private chat with the bot, and has a button
// that opens it.
type PrivateOnly struct {
	Command string `json:"command"`
}

var _ = notice.Register[PrivateOnly](notice.Kind{
	Name: "private_only", Purpose: notice.Answer, Alone: true, Refuses: true,
})

var _ = shows(view[PrivateOnly]{text: words.privateOnly, buttons: privateOnlyButtons})

func (w words) privateOnly(n PrivateOnly) string {
	return w.Text("command.private_only", args{"Command": n.Command})
}

func privateOnlyButtons(n PrivateOnly, _ outbox.Item, w words) [][]button {
	return [][]button{{{text: w.Text("button.private_chat", nil), starts: n.Command}}}
}
