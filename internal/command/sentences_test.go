package command_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/sentences"
)

// TestSentences checks how the bot reads what people type when a game is over. The bot must not
// record a wrong winner, ask without the truth among the answers, or suggest another command. It
// must record the plain forms of each language. Of the other sentences that are clear to a native
// speaker, it may ask about at most a third. docs/dev/sentences.md has the outcomes; -update writes
// it.
func TestSentences(t *testing.T) {
	t.Parallel()
	var table, hardest strings.Builder
	for _, language := range sentences.Languages() {
		all, err := sentences.All(language)
		if err != nil {
			t.Fatal(err)
		}
		count, templates := make(map[string]int), make(map[string]bool)
		plain, asked := 0, 0
		fmt.Fprintf(&hardest, "\n| %s | means | what happens |\n| --- | --- | --- |\n", language)
		for _, s := range all {
			outcome, is := judgeSentence(t, language, s)
			count[outcome]++
			templates[s.Template] = true
			// A form may be clear only because a name is declined, which usernames are not.
			isForm := s.Mark == sentences.Form && (!s.Usernames || !strings.Contains(s.Template, "."))
			if outcome == "wrong" || outcome == "untrue" || outcome == "lossy" || isForm && outcome != "recorded" {
				t.Errorf("%s (%s): %s: %s", s.Text, s.Gloss, outcome, is)
			}
			if s.Mark == sentences.Clear || s.Mark == sentences.Form && !isForm {
				plain++
				if outcome == "asked" {
					asked++
				}
			}
			if s.IsHard && !s.Usernames {
				fmt.Fprintf(&hardest, "| %s | %s | %s |\n", s.Text, s.Gloss, outcome)
			}
			t.Logf("%s %s: %s", s.Mark, outcome, s.Text)
		}
		if 3*asked > plain {
			t.Errorf("%s: of %d clear sentences, %d are asked", language, plain, asked)
		}
		fmt.Fprintf(&table, "| %s | %d | %d | %d | %d | %d | %d | %d |\n", language, len(templates), len(all),
			count["recorded"], count["asked"], count["refused"], count["wrong"]+count["untrue"], count["lossy"])
	}
	checkSentencesPage(t, table.String(), hardest.String())
}

var username = regexp.MustCompile(`@\w+`)

// judgeSentence returns the outcome of a sentence, and a description of how the bot reads it.
func judgeSentence(t *testing.T, language string, s sentences.Sentence) (outcome, is string) {
	t.Helper()
	var m message
	m.mark(command.KindBotCommand, "/match", nil)
	m.plain(" ")
	end := 0
	for _, at := range username.FindAllStringIndex(s.Text, -1) {
		m.plain(s.Text[end:at[0]])
		m.mark(command.KindMention, s.Text[at[0]:at[1]], nil)
		end = at[1]
	}
	m.plain(s.Text[end:])
	c, ok := command.Parse(m.text, m.entities, botUsername)
	if !ok {
		t.Fatalf("%s is no command", s.Text)
	}
	sender := command.Person{ID: 1, Username: "the_sender", Name: "The Sender"}
	var people []command.Person
	for i, p := range sentences.People(language) {
		people = append(people,
			command.Person{ID: ladder.UserID(100 + i), Username: p.Username, Name: p.Name, Player: ladder.PlayerID(i + 1)})
	}
	names := command.NewNames(people)
	report, err := command.ParseMatch(by(c, sender, nil), names)
	if err != nil {
		if text, ok := command.Correct(by(c, sender, nil), names, err); ok {
			return "lossy", text
		}
		return "refused", err.Error()
	}
	isTrue := func(r command.Reading) bool { return len(r) == 1 && isResult(r[0], s, people) }
	var ways []string
	for _, r := range report.Readings {
		ways = append(ways, describeMatch(r[0]))
	}
	is = fmt.Sprintf("%s %s", strings.Join(ways, " or "), report.Doubt)
	switch {
	case report.Doubt == command.DoubtNone && (s.Mark == sentences.Unclear || !isTrue(report.Readings[0])):
		return "wrong", is
	case report.Doubt == command.DoubtNone:
		return "recorded", is
	case s.Mark != sentences.Unclear && !slices.ContainsFunc(report.Readings, isTrue):
		return "untrue", is
	default:
		return "asked", is
	}
}

// isResult reports whether a match has the players, the winner and the scores that a sentence
// states.
func isResult(m command.Match, s sentences.Sentence, people []command.Person) bool {
	side := func(of []command.Person) []string {
		var names []string
		for _, p := range of {
			name := ""
			for _, known := range people {
				if p.ID == known.ID || p.Username == known.Username {
					name = known.Name
				}
			}
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	won, lost := slices.Sorted(slices.Values(s.Won)), slices.Sorted(slices.Values(s.Lost))
	straight := slices.Equal(side(m.A), won) && slices.Equal(side(m.B), lost)
	turned := slices.Equal(side(m.A), lost) && slices.Equal(side(m.B), won)
	if len(s.Scores) == 0 { // there is a winner, but no score
		s.Scores = [][2]int{{0, ladder.NoPoints}}
	}
	if !straight && !turned || len(m.Scores) != len(s.Scores) {
		return false
	}
	for i, score := range m.Scores {
		if !straight {
			score.A, score.B = score.B, score.A
		}
		if s.Scores[i] != [2]int{score.A, score.B} {
			return false
		}
	}
	return true
}

var updateSentences = flag.Bool("update", false, "write docs/dev/sentences.md instead of comparing with it")

// checkSentencesPage checks that docs/dev/sentences.md has the given outcomes. With -update, it
// writes the page instead.
func checkSentencesPage(t *testing.T, table, hardest string) {
	t.Helper()
	const file = "../../docs/dev/sentences.md"
	page := `# What people type

The parser reads results in six languages. This page says what becomes of the sentences in
internal/sentences, each tried with first names and with usernames.
` + "`go test ./internal/command -run TestSentences -update`" + ` writes it.

*Recorded* sentences have the true winner. *Asked* ones are answered with a question whose buttons
include the truth. *Refused* ones have a word that the bot does not know, and its answer names it.
*Wrong* would be a false winner, or a question without the truth, and *lossy* the offer of a command
that says something else.

| language | templates | sentences | recorded | asked | refused | wrong | lossy |
| --- | --- | --- | --- | --- | --- | --- | --- |
` + table + `
The ten sentences of each language that readers found hardest, with first names; in their meaning,
{W} is the winner and {L} the loser:
` + hardest
	if *updateSentences {
		if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if is, err := os.ReadFile(file); err != nil || string(is) != page {
		t.Errorf("%s is out of date, %v", file, err)
	}
}
