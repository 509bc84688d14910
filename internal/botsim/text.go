package botsim

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// chatIDText returns the chat_id of a nested object, which may be a number or a string.
func chatIDText(v any) string {
	switch id := v.(type) {
	case float64:
		return strconv.FormatInt(int64(id), 10)
	case string:
		return id
	}
	return "?"
}

// trim removes white space from both ends, as Telegram does, and adjusts the entities.
func trim(text string, entities []Entity) (string, []Entity) {
	left := strings.TrimLeftFunc(text, unicode.IsSpace)
	cutUnits := utf16Len(text[:len(text)-len(left)])
	trimmed := strings.TrimRightFunc(left, unicode.IsSpace)
	length := utf16Len(trimmed)
	var kept []Entity
	for _, e := range entities {
		from := min(max(e.Offset-cutUnits, 0), length)
		to := min(max(e.Offset-cutUnits+e.Length, 0), length)
		if from < to {
			e.Offset, e.Length = from, to-from
			kept = append(kept, e)
		}
	}
	return trimmed, kept
}

// checkEntities refuses entities that lie outside the text or are no links.
func checkEntities(text string, entities []Entity) error {
	length := utf16Len(text)
	for _, e := range entities {
		switch {
		case e.Offset+e.Length > length:
			return badRequest("entity beginning or end is outside of the text")
		case e.Type == "text_link" && !validURL(e.URL):
			return badRequest("entity URL '" + e.URL + "' is invalid: Wrong HTTP URL")
		}
	}
	return nil
}

// validURL reports whether Telegram accepts an address as a link: a host with a dot, or one of Telegram's own schemes.
func validURL(address string) bool {
	if strings.HasPrefix(address, "tg://") || strings.HasPrefix(address, "ton://") {
		return true
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "tonsite" {
		return false
	}
	return strings.Contains(strings.Trim(u.Hostname(), "."), ".")
}

// sameContent reports whether an edit from a to b would change nothing.
func sameContent(a, b *message) bool {
	sameEntity := func(x, y Entity) bool {
		xUser, yUser := x.User, y.User
		x.User, y.User = nil, nil
		return x == y && (xUser == nil) == (yUser == nil) && (xUser == nil || xUser.ID == yUser.ID)
	}
	return a.Text == b.Text && slices.EqualFunc(a.Entities, b.Entities, sameEntity) &&
		slices.EqualFunc(a.Buttons, b.Buttons, slices.Equal)
}
