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
	// answerTimeout is how long the demo waits for an answer that must come.
	answerTimeout = 15 * time.Second
	// optionalAnswerTimeout is how long it waits for an answer that may not come, after the bot has received the message.
	optionalAnswerTimeout = time.Second
	// longestMessage is the limit of Telegram, in UTF-16 code units.
	longestMessage = 4096
	// longestLine is the limit for a line of the input, in bytes.
	longestLine = 1 << 20
)

type demoCommand struct {
	Once bool `help:"Exit after the scene."`
}

// Run plays the scene, and then lets the user join the conversation.
func (d *demoCommand) Run(ctx context.Context) error {
	if err := pgtemp.UnsetVariables(); err != nil {
		return err
	}
	paper := newTranscript(os.Stdout, isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == "")
	paper.aside("Starting a temporary PostgreSQL server for this demo …")
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
	s := newDemoGroup(sim, paper)
	defer s.leave()
	if err := s.startBot(ctx, server.URL()); err != nil {
		return err
	}
	defer func() { _ = s.endBot() }() // its error has been returned already
	if err := s.play(ctx, scene); err != nil {
		return err
	}
	if d.Once {
		paper.aside("\nThat was the real bot on a real database. README.md explains how to run it in Telegram.")
	} else {
		if err := s.converse(ctx, os.Stdin, isTerminal(os.Stdin)); err != nil {
			return err
		}
	}
	return s.close(ctx)
}

func stopServer(server *pgtemp.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := server.Stop(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "elobot:", err)
	}
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// line is a message that a person sends to the group. With replyTo it replies to the last message of that person. With press,
// the person does not write, but presses the button with this label below the last message that has buttons.
type line struct {
	from, text, replyTo, press string
	edits                      int // number of messages that the bot edits in response
}

var namedLine = regexp.MustCompile(`^\s*(\pL[\pL\pN_ ]{0,30}?)\s*:\s*(\S.*)$`)

// parseLine parses a line such as "bob: /match @alice 3:2". Without a name, the line is from "you".
func parseLine(text string) (line, bool) {
	text = strings.TrimSpace(text)
	if m := namedLine.FindStringSubmatch(text); m != nil {
		return line{from: strings.ToLower(m[1]), text: m[2]}, true
	}
	return line{from: "you", text: text}, text != ""
}

// scene is the conversation that the demo plays: a newcomer's first minute.
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
	{from: "carol", text: "/match @bob 1:2"},
	{from: "carol", press: "Cancel"},
	{from: "alice", text: "/match @bob 1:3"},
	{from: "alice", text: "/fix 3:1", replyTo: "alice", edits: 1},
	{from: "dave", text: "/match @carol 3:0"},
	{from: "carol", text: "we have not even played!"},
	{from: "carol", text: "/undo", edits: 1},
	{from: "bob", text: "/ranking"},
}
