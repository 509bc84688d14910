package command_test

import (
	"encoding/binary"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

// FuzzParse checks that for arbitrary text with arbitrary entities, no parser panics, and all
// results fit the text. Its corpus is in testdata.
func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, text, bot string, entities, people []byte) {
		marks := decodeEntities(entities)
		c, ok := command.Parse(text, marks, bot)
		if !ok {
			if c.Name != "" || c.Args != "" || c.Mentions != nil {
				t.Fatalf("not ok, but got %+v", c)
			}
			return
		}
		if c.Name == "" || c.Name != strings.ToLower(c.Name) {
			t.Fatalf("name %q", c.Name)
		}
		checkCut(t, text, marks, c)
		if strings.Count(c.Args, "\uFFFC") != len(c.Mentions) {
			t.Fatalf("%d mentions in %q", len(c.Mentions), c.Args)
		}
		from, reply := decodePeople(people)
		checkParsers(t, c, from, reply)
	})
}

// FuzzArgs checks the same as FuzzParse, for arbitrary arguments with up to four mentions. Its
// corpus is in testdata.
func FuzzArgs(f *testing.F) {
	f.Fuzz(func(t *testing.T, before, between, after, last string, mentions uint8) {
		var m message
		m.mark(command.KindBotCommand, "/match", nil)
		m.plain(" ")
		for i, text := range []string{before, between, after, last} {
			m.plain(text)
			if i < int(mentions%5) {
				m.mark(command.KindMention, "@player"+string("abcd"[i]), nil)
			}
		}
		c, ok := command.Parse(m.text, m.entities, botUsername)
		if !ok {
			return
		}
		checkParsers(t, c, sender(), &command.Person{ID: 11, Username: "rita"})
	})
}

// checkParsers parses a command with the parsers of reports, corrections, lineups and numbers, and
// checks what they return.
func checkParsers(t *testing.T, c command.Command, from command.Person, reply *command.Person) {
	t.Helper()
	if got, err := parseOne(c, from, reply); err == nil {
		checkMatch(t, c, got)
		checkNumbers(t, c.Args, 0, got.Scores)
	} else {
		checkFormError(t, err)
		checkCorrected(t, "/")(command.Correct(by(c, from, reply), nil, err))
		if got.A != nil || got.B != nil || got.Self || got.Scores != nil {
			t.Fatalf("%+v with error %v", got, err)
		}
	}
	checkReports(t, c, from, reply)
	if got, err := command.ParseFix(c); err == nil {
		checkNumbers(t, c.Args, got.Number, got.Scores)
	} else {
		checkFormError(t, err)
		fix := c
		fix.Name = command.NameFix
		checkCorrected(t, "/fix ")(command.CorrectAmendment(fix, err))
		if got.Number != 0 || got.Scores != nil {
			t.Fatalf("%+v with error %v", got, err)
		}
	}
	checkLineups(t, c, from, reply)
	if got, err := command.ParseNumber(c); err == nil {
		checkNumbers(t, c.Args, got, nil)
	} else {
		checkFormError(t, err)
		if got != 0 {
			t.Fatalf("%d with error %v", got, err)
		}
	}
}

// checkCorrected returns a function that checks a correction: a short command that begins with
// head, or an empty text if ok is false.
func checkCorrected(t *testing.T, head string) func(text string, ok bool) {
	t.Helper()
	return func(text string, ok bool) {
		t.Helper()
		if ok != strings.HasPrefix(text, head) || ok == (text == "") || utf8.RuneCountInString(text) > 256 {
			t.Fatalf("corrected: %q, %t", text, ok)
		}
	}
}

// checkNumbers checks that the arguments contain exactly the numbers that were parsed, apart from a
// total and the numbers of a list. It checks no numbers if words state the result.
func checkNumbers(t *testing.T, args string, match int, scores []ladder.Score) {
	t.Helper()
	var want []int
	if match != 0 {
		want = append(want, match)
	}
	if len(scores) == 1 && !scores[0].HasPoints() {
		return // the result is stated in words
	}
	for _, s := range scores {
		if s.A < 0 || s.A > 999 || s.B < 0 || s.B > 999 {
			t.Fatalf("score %+v", s)
		}
		want = append(want, s.A, s.B)
	}
	// List numbering, such as "1." or "2)", is not part of a score.
	args = regexp.MustCompile(`(?m)^[ \t]*[0-9]+[.)][ \t]+([^0-9\s]|$)`).ReplaceAllString(args, "$1")
	var got []int
	for _, digits := range regexp.MustCompile(`[0-9]+`).FindAllString(args, -1) {
		n, err := strconv.Atoi(digits)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, n)
	}
	// The first or the last score may be the total of the others.
	withTotal := len(scores) >= 2 && len(got) == len(want)+2
	if !slices.Equal(want, got) && (!withTotal || !slices.Equal(want, got[2:]) && !slices.Equal(want, got[:len(want)])) {
		t.Fatalf("%q was read as %v", args, want)
	}
	separated := regexp.MustCompile(`(?i)[0-9]\W*([:：–—−xх×-]|to|zu|a)\W*[0-9]`)
	if len(scores) > 1 && !separated.MatchString(strings.Join(words(args), " ")) || len(scores) > 25 {
		t.Fatalf("%q was read as %v", args, scores)
	}
}

// entitySize is the number of bytes that encode an entity: one each for its kind and user, and two
// each for its offset and length.
const entitySize = 6

// decodeEntities decodes each group of entitySize bytes as an entity. The user of an entity, if it
// has one, gets the entity's index, counted from 1, as id, so that entityOf can find the entity.
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
			e.User = &command.Person{ID: ladder.UserID(i + 1), Username: usernames[int(b[1])%len(usernames)]}
		}
		entities = append(entities, e)
	}
	return entities
}

func decodePeople(data []byte) (command.Person, *command.Person) {
	pool := []command.Person{
		{}, {ID: 1}, {ID: 2, Username: "ALICE"}, {ID: 50, Username: "sam"}, {Username: "sam"},
		{ID: 51, Username: "EloBot", IsBot: true}, {ID: 50},
	}
	if len(data) < 2 {
		return pool[3], nil
	}
	reply := pool[int(data[1])%len(pool)]
	return pool[int(data[0])%len(pool)], &reply
}

// checkCut removes the valid mentions from the text by a second algorithm, on UTF-16, and compares
// the words that remain. It takes the valid mentions from c.
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
		if isUnique && strings.IndexFunc(piece, unicode.IsSpace) < 0 && strings.Contains(c.Typed(), piece) {
			t.Fatalf("args %q hold the mention %q", c.Args, piece)
		}
	}
	// Parse rewrites digits of other scripts and keycaps, so the comparison omits all digits.
	withoutDigits := func(s string) string {
		return strings.Map(func(r rune) rune {
			switch {
			case unicode.Is(unicode.Nd, r), r == '\uFE0F', r == '\u20E3':
				return -1
			case r == '\uFFFC': // a person, or a placeholder that the sender typed
				return ' '
			}
			return r
		}, s)
	}
	all, args := words(withoutDigits(string(utf16.Decode(left)))), words(withoutDigits(c.Args))
	if !strings.HasSuffix(strings.Join(all, " "), strings.Join(args, " ")) {
		t.Fatalf("args %q, text without mentions %q", args, all)
	}
	head, _ := strings.CutSuffix(strings.Join(all, ""), strings.Join(args, ""))
	if !regexp.MustCompile(`^/\w*(@\w*)?$`).MatchString(head) {
		t.Fatalf("args %q, text without mentions %q", args, all)
	}
}

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf)
	})
}

// entityOf returns the first entity at or after position from that mentions p.
func entityOf(p command.Person, text []uint16, entities []command.Entity, from int) (command.Entity, bool) {
	var best command.Entity
	found := false
	for i, e := range entities {
		if e.Offset < from || e.Length <= 0 || e.Offset+e.Length > len(text) || found && e.Offset >= best.Offset {
			continue
		}
		isTextMention := e.Kind == command.KindTextMention && e.User != nil && p.ID == ladder.UserID(i+1)
		isMention := e.Kind == command.KindMention && p.ID == 0 &&
			string(utf16.Decode(text[e.Offset:e.Offset+e.Length])) == "@"+p.Username
		if isTextMention || isMention {
			best, found = e, true
		}
	}
	return best, found
}

func checkFormError(t rapid.TB, err error) {
	t.Helper()
	var form *command.FormError
	if !errors.As(err, &form) || form.Reason == "" {
		t.Fatalf("%v is not a *FormError", err)
	}
	if !utf8.ValidString(form.Detail) || utf8.RuneCountInString(form.Detail) > 32 {
		t.Fatalf("detail %q", form.Detail)
	}
	if strings.IndexFunc(form.Detail, unicode.IsControl) >= 0 {
		t.Fatalf("detail %q", form.Detail)
	}
}

func checkMatch(t *testing.T, c command.Command, m command.Match) {
	t.Helper()
	if len(m.A) == 0 || len(m.A) > 10 || len(m.B) == 0 || len(m.B) > 10 || len(m.Scores) == 0 {
		t.Fatalf("%+v", m)
	}
	people := slices.Concat(m.A, m.B)
	named := max(2, len(c.Mentions)) // not counting words such as "me"
	if len(people) != named && len(people) != named+1 || m.Self && len(people) != 2 {
		t.Fatalf("%d players, %d mentions, %+v", len(people), len(c.Mentions), m)
	}
	for i, p := range people {
		if p.ID == 0 && p.Username == "" || p.IsBot {
			t.Fatalf("%+v plays", p)
		}
		for _, q := range people[:i] {
			isSameID := p.ID != 0 && p.ID == q.ID
			if isSameID || p.Username != "" && strings.EqualFold(p.Username, q.Username) {
				t.Fatalf("%+v and %+v play", p, q)
			}
		}
	}
	versus := regexp.MustCompile(`[\pL×–—−:：<>=🆚-]`)
	isScoreBetween := len(m.A) == len(m.B) && len(m.A) > 1 // as in "@a @b 10 @c @d 8"
	if isTeam := len(people) > 2; isTeam && !isScoreBetween && !slices.ContainsFunc(words(c.Typed()), versus.MatchString) {
		t.Fatalf("teams in %q, %+v", c.Args, m)
	}
}
