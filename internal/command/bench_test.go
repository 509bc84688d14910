package command_test

import (
	"fmt"
	"strings"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
)

func parsed(tb testing.TB, m message) command.Command {
	tb.Helper()
	c, ok := command.Parse(m.text, m.entities, botUsername)
	if !ok {
		tb.Fatalf("%q is no command", m.text)
	}
	return c
}

// BenchmarkParse measures Parse for reports with each way to name people, for a question, for a
// command to another bot, and for text that is not a command, like most messages of a group.
func BenchmarkParse(b *testing.B) {
	run := func(name string, m message, want bool) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := command.Parse(m.text, m.entities, botUsername); ok != want {
					b.Fatalf("%q is a command: %t", m.text, ok)
				}
			}
		})
	}
	for _, n := range namings() {
		run("match/names="+n.name, n.fill("/match {a} {b} 3:1"), true)
	}
	run("teams", namings()[0].fill("/match {a} {b} vs {c} {me} 11:7 9:11 11:5"), true)
	run("ranking", namings()[0].fill("/ranking"), true)
	run("ranking of another bot", namings()[0].fill("/ranking@OtherBot"), false)
	run("chat", message{text: strings.Repeat("Who is up for a game tonight? ", 10)}, false)
}

// BenchmarkParseMatch measures ParseMatch for the common forms of reports, for a malformed report,
// and for a very long one.
func BenchmarkParseMatch(b *testing.B) {
	from, usernames := sender(), namings()[0]
	for _, c := range []struct {
		form, template string
		valid          bool
	}{
		{"score", "/match {a} {b} 3:1", true},
		{"sender", "/match {b} 3 1", true},
		{"sets", "/match {a} {b} 11:7 9:11 11:5", true},
		{"sets with commas", "/match {a} {b} 11-7,9-11,11-5", true},
		{"teams", "/match {a} and {b} vs {c} and {me} 3:1", true},
		{"wrong", "/match {a} {b} three to one", false},
		{"longest", "/match {a} {b} " + strings.Repeat("1:1,", 1000), false},
	} {
		read := parsed(b, usernames.fill(c.template))
		b.Run("form="+c.form, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if m, err := parseOne(read, from, nil); (err == nil) != c.valid {
					b.Fatal(m, err)
				}
			}
		})
	}
}

// BenchmarkNames measures the cost of plain names in a large group: building the index of names,
// reading reports, and checking whether a report may contain plain names.
func BenchmarkNames(b *testing.B) {
	people := make([]command.Person, 10_000)
	for i := range people {
		people[i] = command.Person{ID: ladder.UserID(i + 1), Username: fmt.Sprintf("user_%d", i),
			Name: fmt.Sprintf("Ädam Müller %d", i)}
	}
	people[0].Name = "Bob"
	b.Run("dictionary", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			command.NewNames(people)
		}
	})
	names := command.NewNames(people)
	for _, text := range []string{"/match bob 3:1", "/match @alice vs bob 3:1 gg", "/match bobb 3:1", "/match @bob 3:1"} {
		c, _ := parseDoc(text)
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if r, err := command.ParseMatch(by(c, sender(), nil), names); err != nil {
					b.Fatal(r, err)
				}
			}
		})
		b.Run("may name players: "+text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.MayNamePlayers()
			}
		})
	}
}

func BenchmarkParseFix(b *testing.B) {
	for _, c := range []struct{ form, template string }{
		{"score", "/fix 42 3:1"}, {"sets", "/fix #42 11:7 9:11 11:5"},
	} {
		read := parsed(b, namings()[0].fill(c.template))
		b.Run("form="+c.form, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if f, err := command.ParseFix(read); err != nil {
					b.Fatal(f, err)
				}
			}
		})
	}
}
