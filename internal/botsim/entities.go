package botsim

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"elobot/internal/botsim/markup"
)

// markUserText returns what Telegram makes of a text that a user types: the plain text and its
// entities. Tests write a mention of a user without a username as [Bob 2](tg://user?id=5); all
// other entities are detected in the text.
func (s *Server) markUserText(text string) (string, []Entity) {
	plain, mentions := markup.ParseMentions(text, s.userExists)
	return plain, withDetected(plain, s.entities(mentions))
}

func (s *Server) userExists(id int64) bool {
	_, ok := s.users[id]
	return ok
}

// entities returns entities as the Bot API encodes them, with the users that they mention.
func (s *Server) entities(marked []markup.Entity) []Entity {
	var all []Entity
	for _, e := range marked {
		full := Entity{
			Type: e.Type, Offset: e.Offset, Length: e.Length,
			URL: e.URL, Language: e.Language, CustomEmojiID: e.CustomEmojiID,
		}
		if u, ok := s.users[e.UserID]; ok {
			full.User = &u
		}
		all = append(all, full)
	}
	return all
}

// withDetected adds the entities that Telegram detects in a text to the explicit entities. Telegram
// detects nothing that overlaps explicit code, links, e-mail addresses, mentions, tags, commands or
// custom emoji.
func withDetected(text string, explicit []Entity) []Entity {
	all := slices.Clone(explicit)
	for _, found := range markup.Detect(text) {
		overlaps := slices.ContainsFunc(explicit, func(e Entity) bool {
			switch e.Type {
			case "code", "pre", "text_link", "text_mention", "custom_emoji",
				markup.Command, markup.Mention, markup.Hashtag, markup.Cashtag, markup.URL, markup.Email:
				return found.Offset < e.Offset+e.Length && e.Offset < found.Offset+found.Length
			}
			return false
		})
		if !overlaps {
			all = append(all, Entity{Type: found.Type, Offset: found.Offset, Length: found.Length})
		}
	}
	slices.SortStableFunc(all, func(a, b Entity) int { return cmp.Or(a.Offset-b.Offset, b.Length-a.Length) })
	return all
}

// trim removes white space from both ends, as Telegram does, and adjusts the entities.
func trim(text string, entities []Entity) (string, []Entity) {
	left := strings.TrimLeftFunc(text, unicode.IsSpace)
	cutUnits := markup.UTF16Len(text[:len(text)-len(left)])
	trimmed := strings.TrimRightFunc(left, unicode.IsSpace)
	length := markup.UTF16Len(trimmed)
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

// checkEntities refuses entities that end beyond the text, and invalid links.
func checkEntities(text string, entities []Entity) error {
	length := markup.UTF16Len(text)
	for _, e := range entities {
		switch {
		case e.Offset+e.Length > length:
			return badRequest("entity beginning or end is outside of the text")
		case e.Type == "text_link" && !markup.ValidURL(e.URL):
			return badRequest("entity URL '" + e.URL + "' is invalid: Wrong HTTP URL")
		}
	}
	return nil
}
