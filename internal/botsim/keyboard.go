package botsim

import (
	"slices"

	"elobot/internal/botsim/markup"
	"elobot/internal/botsim/parameters"
)

const maxButtons = 100

// buttonActions are the fields that give a button of an inline keyboard an action.
var buttonActions = []string{
	"url", "callback_data", "web_app", "login_url", "switch_inline_query", "switch_inline_query_current_chat",
	"switch_inline_query_chosen_chat", "copy_text", "callback_game", "pay",
}

// readKeyboard reads the inline keyboard in reply_markup. Other kinds of reply_markup have no effect.
func readKeyboard(p parameters.Values) ([][]Button, error) {
	var markup struct {
		Rows [][]map[string]any `json:"inline_keyboard"`
	}
	if _, err := p.Object("reply_markup", &markup); err != nil {
		return nil, err
	}
	var keyboard [][]Button
	count := 0
	for _, row := range markup.Rows {
		var buttons []Button
		for _, fields := range row {
			b, err := readButton(fields)
			if err != nil {
				return nil, err
			}
			buttons = append(buttons, b)
		}
		if len(buttons) > 0 {
			keyboard = append(keyboard, buttons)
			count += len(buttons)
		}
	}
	if count > maxButtons {
		return nil, badRequest("REPLY_MARKUP_TOO_LONG")
	}
	return keyboard, nil
}

func readButton(fields map[string]any) (Button, error) {
	var b Button
	for name, into := range map[string]*string{"text": &b.Text, "callback_data": &b.CallbackData, "url": &b.URL} {
		*into, _ = fields[name].(string)
	}
	if copied, ok := fields["copy_text"].(map[string]any); ok {
		b.CopyText.Text, _ = copied["text"].(string)
	}
	if fields["url"] != nil && !markup.ValidURL(b.URL) {
		return b, badRequest("inline keyboard button URL '" + b.URL + "' is invalid: Wrong HTTP URL")
	}
	if !slices.ContainsFunc(buttonActions, func(name string) bool { return fields[name] != nil }) {
		return b, badRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
	}
	return b, nil
}
