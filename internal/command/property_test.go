package command_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"elobot/internal/command"
)

// TestParseMatchProperty writes down a match that it has made up and reads it
// back: whoever is named how and where, among entities that do not matter, it is
// the same match.
func TestParseMatchProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		people := rapid.IntRange(0, 2).Draw(t, "people")
		replied := command.Person{UserID: 11, Username: "rita", Name: "Rita"}
		want := command.Match{
			A: sender(), B: replied, Self: true,
			Score: command.Score{
				A: rapid.IntRange(0, 999).Draw(t, "score of a"),
				B: rapid.IntRange(0, 999).Draw(t, "score of b"),
			},
		}
		from := want.A
		var m message
		m.mark(command.KindBotCommand, rapid.SampledFrom([]string{
			"/match", "/Match", "/MATCH@elobot", "/match@EloBot",
		}).Draw(t, "command"), nil)
		scoreAt := rapid.IntRange(0, people).Draw(t, "score after so many people")
		score := drawScore(t, want.Score)
		for i := range people + 1 {
			if i == scoreAt {
				m.plain(drawSpace(t) + score)
			}
			if i == people {
				break
			}
			m.plain(drawSpace(t))
			p := drawMention(t, &m, i)
			if people == 2 && i == 0 {
				want.A, want.Self = p, false
				if rapid.Bool().Draw(t, "anonymous") {
					from = command.Person{}
				}
			} else {
				want.B = p
			}
		}
		m.plain(rapid.SampledFrom([]string{"", " ", "\n", " \u200f"}).Draw(t, "end"))
		addNoise(t, &m)
		m.entities = rapid.Permutation(m.entities).Draw(t, "entities")

		c, ok := command.Parse(m.text, m.entities, botUsername)
		if !ok {
			t.Fatalf("%q: no command", m.text)
		}
		got, err := command.ParseMatch(c, from, &replied)
		if err != nil {
			t.Fatalf("%q: %v, %+v", m.text, err, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: -want +got:\n%s", m.text, diff)
		}
	})
}

func drawSpace(t *rapid.T) string {
	return rapid.SampledFrom([]string{" ", "  ", "\n", "\t ", "\u00a0", " \u200e", " \u2067"}).Draw(t, "space")
}

func drawScore(t *rapid.T, score command.Score) string {
	separator := rapid.SampledFrom([]string{
		":", "-", "–", "：", " : ", " - ", " – ", " ： ", ": ", "- ", " ", "\n",
	}).Draw(t, "separator")
	return strconv.Itoa(score.A) + separator + strconv.Itoa(score.B)
}

// drawMention adds a mention of person i to the message and returns whom it is of.
func drawMention(t *rapid.T, m *message, i int) command.Person {
	// The first letter tells the two from each other, from the sender, the one
	// replied to, and from bots.
	username := string("xy"[i]) + rapid.StringMatching(`[A-Za-z0-9_]{3,31}`).Draw(t, "username")
	if rapid.Bool().Draw(t, "by username") {
		m.mark(command.KindMention, "@"+username, nil)
		return command.Person{Username: username}
	}
	p := command.Person{UserID: int64(100 + i), Name: drawName(t)}
	if rapid.Bool().Draw(t, "user has a username") {
		p.Username = username
	}
	user := p
	m.mark(command.KindTextMention, p.Name, &user)
	return p
}

func drawName(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom([]string{
			"Bob 2", "3:1", "-5", "@zoe", "🏓", "👨‍👩‍👧", "🇩🇪", "❤️", "𝔅𝔬𝔟", "أحمد", "דוד", "\u202eabc", "ü", " ", "\n",
		}),
		rapid.StringN(1, 5, -1),
	), 1, 4).Draw(t, "name")
	return strings.Join(parts, "")
}

// addNoise adds entities that must not matter: of other kinds, not fitting the
// text, without a user, or inside a mention that began before them.
func addNoise(t *rapid.T, m *message) {
	user := &command.Person{UserID: 777, Name: "Nobody"}
	end := units(m.text)
	noise := []command.Entity{
		{Kind: "bold", Offset: 0, Length: end},
		{Kind: "hashtag", Offset: end / 2, Length: 1},
		{Kind: command.KindTextMention, Offset: -1, Length: 5, User: user},
		{Kind: command.KindTextMention, Offset: 1, Length: end - 1, User: user},
		{Kind: command.KindTextMention, Offset: end - 1, Length: 2, User: user},
		{Kind: command.KindTextMention, Offset: end, Length: 1, User: user},
		{Kind: command.KindTextMention, Offset: end - 1, Length: math.MaxInt, User: user},
		{Kind: command.KindTextMention, Offset: end - 1, Length: -1, User: user},
		{Kind: command.KindTextMention, Offset: 7, Length: end - 7},
		{Kind: command.KindMention, Offset: 7, Length: end - 7},
		{Kind: command.KindBotCommand, Offset: 0, Length: 2},
	}
	for _, e := range m.entities[1:] {
		if e.Length > 1 {
			inside := command.Entity{Kind: command.KindTextMention, Offset: e.Offset + 1, Length: e.Length, User: user}
			noise = append(noise, inside)
		}
	}
	m.entities = append(m.entities, rapid.SliceOfN(rapid.SampledFrom(noise), 0, 5).Draw(t, "noise")...)
}
