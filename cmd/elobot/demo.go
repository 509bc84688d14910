package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"golang.org/x/term"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp"
)

const (
	// answerPatience is how long the demo waits for an answer that must come.
	answerPatience = 15 * time.Second
	// silencePatience is how long it waits for one that need not come, from when the bot has taken what was said.
	silencePatience = time.Second
	// longestMessage is what Telegram takes, in UTF-16 code units.
	longestMessage = 4096
	// longestLine is what the demo reads at once, in bytes.
	longestLine = 1 << 20
)

type demoCommand struct {
	Once bool `help:"End after the scene."`
}

// Run plays the scene, and then lets whoever sits at the terminal join in.
func (d *demoCommand) Run(ctx context.Context) error {
	if err := forgetDatabaseSettings(); err != nil {
		return err
	}
	paper := newTranscript(os.Stdout, isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == "")
	paper.aside("Starting a PostgreSQL of its own for this demo …")
	server, err := pgtemp.Start(ctx, pgtemp.Options{Log: func(msg string) { paper.aside("  %s", msg) }})
	if err != nil {
		return err
	}
	defer stopServer(server)

	sim, err := botsim.New()
	if err != nil {
		return fmt.Errorf("start the simulated Telegram: %w", err)
	}
	defer sim.Close()
	s := newStage(sim, paper)
	defer s.leave()
	if err := s.startBot(ctx, server.URL()); err != nil {
		return err
	}
	defer func() { _ = s.endBot() }() // how it ended is known by then
	if err := s.play(ctx, scene); err != nil {
		return err
	}
	if d.Once {
		paper.aside("\nThat was the real bot on a real database. README.md says how to run it in Telegram.")
	} else {
		if err := s.converse(ctx, os.Stdin, isTerminal(os.Stdin)); err != nil {
			return err
		}
	}
	return s.close(ctx)
}

// forgetDatabaseSettings removes the variables of PostgreSQL's programs from this process: they mean the reader's own
// server, and would otherwise complete the address of the demo's.
func forgetDatabaseSettings() error {
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "PG") {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return fmt.Errorf("forget %s: %w", name, err)
		}
	}
	return nil
}

func stopServer(server *pgtemp.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := server.Stop(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "elobot:", err)
	}
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// line is what somebody says, perhaps as a reply to what somebody else has said last.
type line struct {
	from, text, replyTo string
	edits               int // how many messages the bot edits because of it
}

var named = regexp.MustCompile(`^\s*(\pL[\pL\pN_ ]{0,30}?)\s*:\s*(\S.*)$`)

// parseLine reads "bob: /match @alice 3:2". Without a name it is "you" who speaks.
func parseLine(text string) (line, bool) {
	text = strings.TrimSpace(text)
	if m := named.FindStringSubmatch(text); m != nil {
		return line{from: strings.ToLower(m[1]), text: m[2]}, true
	}
	return line{from: "you", text: text}, text != ""
}

// scene is what the demo plays: a newcomer's first minute.
var scene = []line{
	{from: "alice", text: "/start"},
	{from: "alice", text: "/match @bob 3:1"},
	{from: "carol", text: "/match @dave 2:3"},
	{from: "bob", text: "Revenge!"},
	{from: "bob", text: "/match @alice 3:2"},
	{from: "dave", text: "/match @alice @carol 3:0"},
	{from: "carol", text: "best of three, anyone?"},
	{from: "alice", text: "/match 3-1", replyTo: "carol"},
	{from: "bob", text: "/match @dave 2:2"},
	{from: "dave", text: "/match @carol 3"},
	{from: "dave", text: "/match @carol 3:1"},
	{from: "carol", text: "/match @carol @dave vs @alice @bob 10:8"},
	{from: "bob", text: "/match @carol 11:7 9:11 11:5"},
	{from: "alice", text: "/match @bob 1:3"},
	{from: "alice", text: "/fix 3:1", replyTo: "alice", edits: 1},
	{from: "dave", text: "/match @carol 3:0"},
	{from: "carol", text: "we have not even played!"},
	{from: "carol", text: "/undo", edits: 1},
	{from: "bob", text: "/ranking"},
}
