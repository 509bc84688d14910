package command_test

import (
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
	for _, n := range namings() {
		m := n.fill("/match {a} {b} 3:1")
		c, ok := command.Parse(m.text, m.entities, botUsername)
		if !ok {
			b.Fatal("no command")
		}
		from := sender()
		b.Run(n.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := command.ParseMatch(c, from, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
