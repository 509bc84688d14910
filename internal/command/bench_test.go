package command_test

import (
	"strings"
	"testing"

	"elobot/internal/command"
)

func BenchmarkParse(b *testing.B) {
	for _, n := range namings() {
		m := n.fill("/match {a} {b} 3:1")
		b.Run(n.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := command.Parse(m.text, m.entities, botUsername); !ok {
					b.Fatal("no command")
				}
			}
		})
	}
}

func BenchmarkParseMatch(b *testing.B) {
	for _, template := range []string{
		"/match {a} {b} 3:1", "/match {a} {b} 11:7 9:11 11:5", "/match {a} {b} vs {c} {me} 3:1",
		"/match {a} {b} " + strings.Repeat("1:1,", 1000),
	} {
		m := namings()[0].fill(template)
		c, ok := command.Parse(m.text, m.entities, botUsername)
		if !ok {
			b.Fatal("no command")
		}
		from := sender()
		b.Run(template[:min(len(template), 40)], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m, err := command.ParseMatch(c, from, nil)
				if (err == nil) == (m.Scores == nil) {
					b.Fatal(m, err)
				}
			}
		})
	}
}
