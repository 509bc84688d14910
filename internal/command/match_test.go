package command_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

func TestParseMatch(t *testing.T) {
	t.Parallel()
	replied := command.Person{ID: 11, Username: "rita", Name: "Rita"}
	const reply, me = "{reply}", "{sender}"
	for _, tc := range []struct {
		template string
		a, b     string
		score    ladder.Score
	}{
		{"/match {a} {b} 3 1", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} 3:1", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} 3-1", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {b} {a} 3–1", "{b}", "{a}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} 3—1", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} 3−1", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} ３:１", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} ٣ ١", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} 3️⃣:1️⃣", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} 𝟛:𝟙", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} 3/1", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} 7-6(5)", "{a}", "{b}", ladder.Score{A: 7, B: 6}},
		{"/match {a} {b} 3：1", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} 3 ： 1", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} 3 : 1", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} 3 :1", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} 3: 1", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} 3 - 1", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} 3- 1", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} 3 – 1", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/Match@EloBot {a}\n{b}\n3\n1\n", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a}{b} 3:1", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} 3:1.", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a}, {b}, 3:1;", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match \u200f{a} {b} \u2068 3\u200e:1\u2069", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b}\u00a03\u30001", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match 3:1 {a} {b}", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} 3:1 {b}", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} 3 {b} 1", "{a}", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {a} {b} 2:2", "{a}", "{b}", ladder.Score{A: 2, B: 2}},
		{"/match {a} {b} 0:0", "{a}", "{b}", ladder.Score{}},
		{"/match {a} {b} 0:999", "{a}", "{b}", ladder.Score{B: 999}},
		{"/match {a} {b} 007:010", "{a}", "{b}", ladder.Score{A: 7, B: 10}},
		{"/match {a} {me} 3:1", "{a}", me, ladder.Score{A: 3, B: 1}},
		{"/match {me} {b} 3:1", me, "{b}", ladder.Score{A: 3, B: 1}},
		{"/match {b} 3:1", "", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match 3:1 {b}", "", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match 3 {b} 1", "", "{b}", ladder.Score{A: 3, B: 1}},
		{"/match 3:1", "", reply, ladder.Score{A: 3, B: 1}},
		{"/match 3 1", "", reply, ladder.Score{A: 3, B: 1}},
	} {
		for _, n := range namings() {
			t.Run(n.name+" "+tc.template, func(t *testing.T) {
				t.Parallel()
				person := func(key string) command.Person {
					switch key {
					case reply:
						return replied
					case me, "":
						return sender()
					default:
						return n.people[key].person
					}
				}
				m := n.fill(tc.template)
				c, ok := command.Parse(m.text, m.entities, botUsername)
				if !ok {
					t.Fatal("no command")
				}
				// A reply to a third person has no effect if people are mentioned.
				got, err := parseOne(c, sender(), &replied)
				if err != nil {
					t.Fatalf("%v, %+v", err, err)
				}
				want := command.Match{
					A: []command.Person{person(tc.a)}, B: []command.Person{person(tc.b)},
					Self: tc.a == "", Scores: []ladder.Score{tc.score},
				}
				equal(t, got, want, "result")
			})
		}
	}
}

func TestParseMatchScoreErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		score  string
		reason command.Reason
		detail string
	}{
		{"", command.ReasonNoScore, ""},
		{"-", command.ReasonNoScore, ""},
		{"3", command.ReasonIncompleteScore, "3"},
		{"3:", command.ReasonIncompleteScore, "3"},
		{":1", command.ReasonIncompleteScore, "1"},
		{"3 1 2", command.ReasonThirdNumber, "2"},
		{"3:1:2", command.ReasonThirdNumber, "2"},
		{"-3:1", command.ReasonNegativeNumber, "-3"},
		{"3 -1", command.ReasonNegativeNumber, "-1"},
		{"3 –1", command.ReasonNegativeNumber, "–1"},
		{"3:-1", command.ReasonNegativeNumber, "-1"},
		{"3--1", command.ReasonNegativeNumber, "-1"},
		{"3 - -1", command.ReasonNegativeNumber, "-1"},
		{"-3 -1", command.ReasonNegativeNumber, "-3"},
		{"3 −1000", command.ReasonNegativeNumber, "−1000"},
		{"3.5:1", command.ReasonDecimalNumber, "3.5:1"},
		{"3 1.0", command.ReasonDecimalNumber, "1.0"},
		{"3,5 1", command.ReasonDecimalNumber, "3,5"},
		{".3:1", command.ReasonDecimalNumber, ".3:1"},
		{"1000:1", command.ReasonScoreTooLarge, "1000"},
		{"3 0000", command.ReasonScoreTooLarge, "0000"},
		{"3:" + strings.Repeat("9", 4000), command.ReasonScoreTooLarge, strings.Repeat("9", 32)},
		{"3:1²", command.ReasonUnexpectedWord, "3:1²"},
		{"3::1", command.ReasonUnexpectedWord, ":"},
		{"3 - - 1", command.ReasonUnexpectedWord, "-"},
		{"3:1 -", command.ReasonUnexpectedWord, "-"},
		{"vss 3:1", command.ReasonUnexpectedWord, "vss"},
		{"near 3:1", command.ReasonUnexpectedWord, "near"},
		{"v-s 3:1", command.ReasonUnexpectedWord, "v-s"},
		{"v\u017f 3:1", command.ReasonUnexpectedWord, "v\u017f"},
		{"#3:1", command.ReasonUnexpectedWord, "#3:1"},
		{"3:1 gg foo", command.ReasonUnexpectedWord, "foo"},
		{"three one", command.ReasonUnexpectedWord, "three"},
		{"3:x", command.ReasonUnexpectedWord, "3:x"},
		{"+3:1", command.ReasonUnexpectedWord, "+3:1"},
		{"...3", command.ReasonDecimalNumber, "...3"},
		{".-", command.ReasonUnexpectedWord, ".-"},
		{"...", command.ReasonNoScore, ""},
		{"נגד 3:1", command.ReasonUnexpectedWord, "נגד"},
		{"3:1 \xff\x00", command.ReasonUnexpectedWord, "\ufffd"},
		{strings.Repeat("ж", 40) + " 3:1", command.ReasonUnexpectedWord, strings.Repeat("ж", 32)},
		{"@xyz 3:1", command.ReasonUnknownMention, "@xyz"},
		{"3:1@alice", command.ReasonUnknownMention, "3:1@alice"},
		{"@ 3:1", command.ReasonUnknownMention, "@"},
		{"@דוד 3:1", command.ReasonUnknownMention, "@דוד"},
		{"@1 3", command.ReasonUnknownMention, "@1"},
	} {
		for _, n := range namings() {
			for _, template := range []string{"/match {a} {b} " + tc.score, "/match {b} " + tc.score,
				"/match " + tc.score + " {b}"} {
				t.Run(n.name, func(t *testing.T) {
					t.Parallel()
					wantFormError(t, n.fill(template), sender(), nil, tc.reason, tc.detail)
				})
			}
		}
	}
}

func TestParseMatchPeopleErrors(t *testing.T) {
	t.Parallel()
	samReplied := sender()
	bot := command.Person{ID: 5, Username: botUsername, IsBot: true}
	nobody := command.Person{}
	for _, tc := range []struct {
		template string
		sender   command.Person
		reply    *command.Person
		reason   command.Reason
		detail   string // a key, or the text itself
	}{
		{"/match", sender(), nil, command.ReasonEmpty, ""},
		{"/match@elobot \n\u200f", sender(), nil, command.ReasonEmpty, ""},
		{"/match", nobody, nil, command.ReasonEmpty, ""},
		{"/match", sender(), &bot, command.ReasonEmpty, ""},
		{"/match 3:1", sender(), nil, command.ReasonNoOpponent, ""},
		{"/match 3:1", sender(), &nobody, command.ReasonNoOpponent, ""},
		{"/match ,", sender(), nil, command.ReasonNoOpponent, ""},
		{"/match @bob 3:1", sender(), nil, command.ReasonUnknownMention, "@bob"},
		{"/match bob 3:1", sender(), nil, command.ReasonUnexpectedWord, "bob"},
		{"/match {b} 3:1", nobody, nil, command.ReasonNameBothPlayers, ""},
		{"/match 3:1", nobody, nil, command.ReasonNameBothPlayers, ""},
		{"/match 3:1", nobody, &samReplied, command.ReasonNameBothPlayers, ""},
		{"/match {b} 3:1", command.Person{ID: 1087968824, IsBot: true}, nil, command.ReasonNameBothPlayers, ""},
		{"/match {a} {b} {c} 3:1", sender(), nil, command.ReasonNoVersus, ""},
		{"/match {a} {b} {a} 3:1", nobody, nil, command.ReasonNoVersus, ""},
		{"/match {b} {b} 3:1", sender(), nil, command.ReasonSamePerson, "{b}"},
		{"/match {b} {b}", nobody, nil, command.ReasonSamePerson, "{b}"},
		{"/match {me} 3:1", sender(), nil, command.ReasonOnlyYourself, ""},
		{"/match {me} {me} 3:1", sender(), nil, command.ReasonSamePerson, "@Sam"},
		{"/match 3:1", sender(), &samReplied, command.ReasonSamePerson, "@Sam"},
		{"/match {bot} 3:1", sender(), nil, command.ReasonBot, "{bot}"},
		{"/match {bot} {a} 3:1", sender(), nil, command.ReasonBot, "{bot}"},
		{"/match {a} {bot} 3:1", nobody, nil, command.ReasonBot, "{bot}"},
		{"/match {bot} {bot} 3:1", nobody, nil, command.ReasonBot, "{bot}"},
		{"/match 3:1", sender(), &bot, command.ReasonBot, "@EloBot"},
		{"/match {me} 3:1", sender(), &bot, command.ReasonOnlyYourself, ""},
	} {
		for _, n := range namings() {
			t.Run(n.name+" "+tc.template, func(t *testing.T) {
				t.Parallel()
				detail := tc.detail
				if c, ok := n.people[tc.detail]; ok {
					detail = label(c.person)
				}
				wantFormError(t, n.fill(tc.template), tc.sender, tc.reply, tc.reason, detail)
			})
		}
	}
}

// TestParseMatchSameByTwoNames checks that a mention by username and a mention by id mean the same
// person if the sender, the reply or the username connects them. A lone mention of the sender is
// recognized in either form.
func TestParseMatchSameByTwoNames(t *testing.T) {
	t.Parallel()
	known := sender()
	byID := command.Person{ID: known.ID, Name: "🏓"}
	byUsername := command.Person{Username: "SAM"}
	other := command.Person{ID: 10, Username: "other"}
	for name, tc := range map[string]struct {
		mentions []command.Person
		sender   command.Person
		reply    *command.Person
		want     command.Reason
	}{
		"through the sender":     {[]command.Person{byID, byUsername}, known, nil, command.ReasonSamePerson},
		"through the reply":      {[]command.Person{byUsername, byID}, other, &known, command.ReasonSamePerson},
		"through the username":   {[]command.Person{byUsername, {ID: 9, Username: "sam"}}, other, nil, command.ReasonSamePerson},
		"the sender by id":       {[]command.Person{byID}, known, nil, command.ReasonOnlyYourself},
		"the sender by username": {[]command.Person{byUsername}, known, nil, command.ReasonOnlyYourself},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := command.Command{Name: command.NameMatch,
				Args: strings.Repeat("\uFFFC", len(tc.mentions)) + "3:1", Mentions: tc.mentions}
			got, err := parseOne(c, tc.sender, tc.reply)
			var form *command.FormError
			if !errors.As(err, &form) || form.Reason != tc.want {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestParseMatchRepliedBotByUsername(t *testing.T) {
	t.Parallel()
	var m message
	m.mark(command.KindBotCommand, "/match", nil)
	m.plain(" ")
	m.mark(command.KindMention, "@helper", nil)
	m.plain(" 3:1")
	helper := command.Person{ID: 6, Username: "Helper", IsBot: true}
	wantFormError(t, m, sender(), &helper, command.ReasonBot, "@Helper")

	// Parse recognizes its own bot even if the reply does not mark the person as a bot.
	var own message
	own.mark(command.KindBotCommand, "/match", nil)
	own.plain(" ")
	own.mark(command.KindMention, "@elobot", nil)
	own.plain(" 3:1")
	replied := command.Person{ID: 5, Username: botUsername}
	wantFormError(t, own, sender(), &replied, command.ReasonBot, "@EloBot")
}

func TestFormErrorKeepsTextOutOfLogs(t *testing.T) {
	t.Parallel()
	err := &command.FormError{Reason: command.ReasonUnexpectedWord, Detail: "secret"}
	if got, want := err.Error(), "command form: unexpected_word"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func wantFormError(
	t *testing.T, m message, from command.Person, reply *command.Person, reason command.Reason, detail string,
) {
	t.Helper()
	c, ok := command.Parse(m.text, m.entities, botUsername)
	if !ok {
		t.Fatalf("%q: no command", m.text)
	}
	got, err := parseOne(c, from, reply)
	var form *command.FormError
	if !errors.As(err, &form) {
		t.Fatalf("%q: got %+v, %v, want %s", m.text, got, err, reason)
	}
	equal(t, form, &command.FormError{Reason: reason, Detail: detail}, "%q", m.text)
	if utf8.RuneCountInString(form.Detail) > 32 || !utf8.ValidString(form.Detail) {
		t.Errorf("detail %q", form.Detail)
	}
	equal(t, got, command.Match{}, "%q: a match with an error", m.text)
}

// TestPlaceholder checks that a placeholder character typed by the sender is read as a space.
func TestPlaceholder(t *testing.T) {
	t.Parallel()
	c, _ := parseDoc("/match \uFFFC@bob \uFFFC3:1\uFFFC")
	equal(t, describeReadings(c, nil, group("Alice")), "sam 3:1 bob", "a report")
	if c, _ := parseDoc("/match \uFFFC3:1"); c.Args != "3:1" ||
		command.Text("match", "\uFFFC3:1", nil, botUsername).Args != "3:1" {
		t.Errorf("the arguments are %q", c.Args)
	}
	if c, _ := parseDoc("/fix 1 3:\uFFFC1"); c.Args != "1 3: 1" {
		t.Errorf("the arguments of a fix are %q", c.Args)
	}
}

// TestPast checks that a word for an earlier day applies to each result on its line, and to all
// results if it has a line of its own.
func TestPast(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]bool{
		"/match @bob 3:1": {false}, "/match @bob 3:1 yesterday": {true}, "/match Gestern: @bob 3:1, @carol 3:2": {true, true},
		"/match @bob 3:1 вчера\n@carol 3:2": {true, false}, "/match @bob 3:1 today": {false},
		"/match Yesterday:\n@bob 3:1\n@carol 3:2": {true, true}, "/match @bob 3:1\n@carol 3:2\nlast night": {true, true},
	} {
		c, _ := parseDoc(text)
		report, err := command.ParseMatch(by(c, sender(), nil), nil)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var got []bool
		for _, m := range report.Readings[0] {
			got = append(got, m.Past)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// by returns c as a command of the given sender, in reply to a message of reply unless reply is
// nil.
func by(c command.Command, sender command.Person, reply *command.Person) command.Command {
	c.Sender, c.Reply = sender, reply
	return c
}
