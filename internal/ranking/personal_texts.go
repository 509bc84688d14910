package ranking

import "slices"

// personalTexts are the JSON fields of notices and stored prompts whose texts may have the name of
// a person, because people have typed them, or because a person who was no player is named.
var personalTexts = []string{
	"against", "command", "corrected", "detail", "file", "free", "mark", "merged", "name", "nick", "own", "similar",
	"username", "value", "was", "who", "word",
}

// IsPersonalText reports whether the field of a stored notice or prompt may have the name of a
// person in its text.
func IsPersonalText(field string) bool { return slices.Contains(personalTexts, field) }
