package markup

import (
	"regexp"
	"strconv"
	"strings"
)

var mentionOfUser = regexp.MustCompile(`\[([^\]\[]+)\]\(tg://user\?id=(\d+)\)`)

// ParseMentions reads the mentions of users without a username, which tests write as [Bob 2](tg://user?id=5). It returns
// the text with the names alone, and the mentions. exists reports which users can be mentioned.
func ParseMentions(text string, exists func(user int64) bool) (plain string, mentions []Entity) {
	var out strings.Builder
	rest := 0
	for _, at := range mentionOfUser.FindAllStringSubmatchIndex(text, -1) {
		id, err := strconv.ParseInt(text[at[4]:at[5]], 10, 64)
		if err != nil || !exists(id) {
			continue
		}
		out.WriteString(text[rest:at[0]])
		offset := UTF16Len(out.String())
		name := text[at[2]:at[3]]
		out.WriteString(name)
		mentions = append(mentions, Entity{Type: textMention, Offset: offset, Length: UTF16Len(name), UserID: id})
		rest = at[1]
	}
	out.WriteString(text[rest:])
	return out.String(), mentions
}
