package botsim

import (
	"encoding/json"
	"slices"
)

const (
	maxCallbackData = 64 // bytes
	maxButtons      = 100
)

// buttonActions are the fields that give a button of an inline keyboard an action.
var buttonActions = []string{
	"url", "callback_data", "web_app", "login_url", "switch_inline_query", "switch_inline_query_current_chat",
	"switch_inline_query_chosen_chat", "copy_text", "callback_game", "pay",
}

// readMarkup reads and checks reply_markup. Without an inline keyboard it returns no rows, as Telegram ignores objects
// that are not keyboards.
func readMarkup(p params) ([][]Button, error) {
	var markup struct {
		Rows json.RawMessage `json:"inline_keyboard"`
	}
	given, err := p.object("reply_markup", &markup)
	if err != nil {
		return nil, badRequest("object expected as reply markup")
	}
	if !given || markup.Rows == nil {
		return nil, nil
	}
	var rows [][]map[string]json.RawMessage
	if json.Unmarshal(markup.Rows, &rows) != nil {
		return nil, badRequest("field \"inline_keyboard\" must be of type Array")
	}
	var keyboard [][]Button
	count := 0
	for _, row := range rows {
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

func readButton(fields map[string]json.RawMessage) (Button, error) {
	var b Button
	for name, into := range map[string]*string{"text": &b.Text, "callback_data": &b.CallbackData, "url": &b.URL} {
		raw, ok := fields[name]
		if !ok {
			continue
		}
		if json.Unmarshal(raw, into) != nil {
			return b, badRequest("can't parse inline keyboard button: Field \"" + name + "\" must be of type String")
		}
	}
	_, hasText := fields["text"]
	_, hasURL := fields["url"]
	switch {
	case !hasText:
		return b, badRequest("can't parse inline keyboard button: Can't find field \"text\"")
	case b.Text == "":
		return b, badRequest("BUTTON_TEXT_EMPTY")
	case hasURL && !validURL(b.URL):
		return b, badRequest("inline keyboard button URL '" + b.URL + "' is invalid: Wrong HTTP URL")
	case len(b.CallbackData) > maxCallbackData:
		return b, badRequest("BUTTON_DATA_INVALID")
	}
	if !slices.ContainsFunc(buttonActions, func(name string) bool { return hasAction(fields, name) }) {
		return b, badRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
	}
	return b, nil
}

// hasAction reports whether a button has the named action. An empty value does not count.
func hasAction(fields map[string]json.RawMessage, name string) bool {
	raw, ok := fields[name]
	switch name {
	case "callback_data":
		return ok && string(raw) != `""`
	case "copy_text":
		var copied struct {
			Text string `json:"text"`
		}
		return ok && json.Unmarshal(raw, &copied) == nil && copied.Text != ""
	}
	return ok
}
