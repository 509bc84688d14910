package command_test

import (
	"encoding/binary"
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"elobot/internal/command"
)

// FuzzParse reads any text with any entities; its corpus is in testdata.
func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, text, bot string, entities, people []byte) {
		marks := decodeEntities(entities)
		c, ok := command.Parse(text, marks, bot)
		if !ok {
			if c.Name != "" || c.Args != "" || c.Mentions != nil {
				t.Fatalf("something although not ok: %+v", c)
			}
			return
		}
		if c.Name == "" || c.Name != strings.ToLower(c.Name) {
			t.Fatalf("name %q", c.Name)
		}
		checkCut(t, text, marks, c)
		from, reply := decodePeople(people)
		got, err := command.ParseMatch(c, from, reply)
		if err != nil {
			checkFormError(t, err)
			return
		}
		checkMatch(t, got)
	})
}

// entitySize is the number of bytes that make an entity: kind, user, offset, length.
const entitySize = 6

// decodeEntities makes an entity of every six bytes. The user of a text mention
// is numbered by its place, so that it tells which entity a mention came from.
func decodeEntities(data []byte) []command.Entity {
	kinds := []command.EntityKind{
		command.KindBotCommand, command.KindMention, command.KindTextMention, "bold", "",
	}
	var entities []command.Entity
	for i := 0; (i+1)*entitySize <= len(data); i++ {
		b := data[i*entitySize:]
		e := command.Entity{
			Kind:   kinds[int(b[0])%len(kinds)],
			Offset: int(int16(binary.BigEndian.Uint16(b[2:]))),
			Length: int(int16(binary.BigEndian.Uint16(b[4:]))),
		}
		usernames := []string{"", "alice", "Alice", "EloBot"}
		if b[1] > 0 {
			e.User = &command.Person{UserID: int64(i + 1), Username: usernames[int(b[1])%len(usernames)]}
		}
		entities = append(entities, e)
	}
	return entities
}

func decodePeople(data []byte) (command.Person, *command.Person) {
	pool := []command.Person{
		{}, {UserID: 1}, {UserID: 2, Username: "ALICE"}, {UserID: 50, Username: "sam"}, {Username: "sam"},
		{UserID: 51, Username: "EloBot", IsBot: true}, {UserID: 50},
	}
	if len(data) < 2 {
		return pool[3], nil
	}
	reply := pool[int(data[1])%len(pool)]
	return pool[int(data[0])%len(pool)], &reply
}

// checkCut takes the mentions out of the text in its own way, on UTF-16, and
// compares what is left. Which entities are good it takes from the mentions.
func checkCut(t *testing.T, text string, entities []command.Entity, c command.Command) {
	t.Helper()
	encoded := utf16.Encode([]rune(text))
	left := append([]uint16(nil), encoded...)
	end := 0
	for _, p := range c.Mentions {
		e, found := entityOf(p, encoded, entities, end)
		if !found {
			t.Fatalf("%+v is mentioned nowhere after %d in %q, %+v", p, end, text, entities)
		}
		end = e.Offset + e.Length
		for i := e.Offset; i < end; i++ {
			left[i] = ' '
		}
		piece := string(utf16.Decode(encoded[e.Offset:end]))
		isUnique := strings.Count(string(utf16.Decode(encoded)), piece) == 1
		if isUnique && strings.IndexFunc(piece, unicode.IsSpace) < 0 && strings.Contains(c.Args, piece) {
			t.Fatalf("args %q hold the mention %q", c.Args, piece)
		}
	}
	all, args := words(string(utf16.Decode(left))), words(string([]rune(c.Args)))
	if !strings.HasSuffix(strings.Join(all, " "), strings.Join(args, " ")) {
		t.Fatalf("args %q, text without mentions %q", args, all)
	}
	head, _ := strings.CutSuffix(strings.Join(all, ""), strings.Join(args, ""))
	if !regexp.MustCompile(`^/\w+(@\w+)?$`).MatchString(head) {
		t.Fatalf("args %q, text without mentions %q", args, all)
	}
}

// words splits at white space and at what nobody sees.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf)
	})
}

// entityOf finds the first entity from the place on that names p.
func entityOf(p command.Person, text []uint16, entities []command.Entity, from int) (command.Entity, bool) {
	var best command.Entity
	found := false
	for i, e := range entities {
		if e.Offset < from || e.Length <= 0 || e.Offset+e.Length > len(text) || found && e.Offset >= best.Offset {
			continue
		}
		isTextMention := e.Kind == command.KindTextMention && e.User != nil && p.UserID == int64(i+1)
		isMention := e.Kind == command.KindMention && p.UserID == 0 &&
			string(utf16.Decode(text[e.Offset:e.Offset+e.Length])) == "@"+p.Username
		if isTextMention || isMention {
			best, found = e, true
		}
	}
	return best, found
}

func checkFormError(t *testing.T, err error) {
	t.Helper()
	var form *command.FormError
	if !errors.As(err, &form) || form.Reason == "" {
		t.Fatalf("%v is no form error", err)
	}
	if !utf8.ValidString(form.Detail) || utf8.RuneCountInString(form.Detail) > 32 {
		t.Fatalf("detail %q", form.Detail)
	}
	if strings.IndexFunc(form.Detail, unicode.IsControl) >= 0 {
		t.Fatalf("detail %q", form.Detail)
	}
}

func checkMatch(t *testing.T, m command.Match) {
	t.Helper()
	for _, p := range []command.Person{m.A, m.B} {
		if p.UserID == 0 && p.Username == "" || p.IsBot {
			t.Fatalf("%+v plays", p)
		}
	}
	isSameID := m.A.UserID != 0 && m.A.UserID == m.B.UserID
	if isSameID || m.A.Username != "" && strings.EqualFold(m.A.Username, m.B.Username) {
		t.Fatalf("%+v plays against %+v", m.A, m.B)
	}
	if m.Score.A < 0 || m.Score.A > 999 || m.Score.B < 0 || m.Score.B > 999 {
		t.Fatalf("score %+v", m.Score)
	}
}
