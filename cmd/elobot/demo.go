package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"time"

	"golang.org/x/term"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp"
)

const (
	// answerTimeout limits how long the demo waits for the bot to do something.
	answerTimeout = 15 * time.Second
	// awaitInterval is how often the demo checks the condition that it waits for.
	awaitInterval = 20 * time.Millisecond
	// shownAtFirst is the maximum number of lines of the scene shown before the user can type.
	shownAtFirst = 24
	// longestMessage is Telegram's limit for a message, in UTF-16 code units.
	longestMessage = 4096
	// longestLine is the limit for an input line, in bytes, unless the user types on a terminal.
	longestLine = 1 << 20
)

type demoCommand struct {
	Once bool `help:"Exit after the scene."`
}

// Run plays the scene and then, unless Once is set, lets the user join the conversation.
func (d *demoCommand) Run(ctx context.Context) error {
	if err := pgtemp.UnsetVariables(); err != nil {
		return err
	}
	onTerminal := isTerminal(os.Stdout)
	paper := newTranscript(os.Stdout, onTerminal && os.Getenv("NO_COLOR") == "")
	if onTerminal {
		paper.width = terminalWidth
	}
	paper.aside("Starting a temporary PostgreSQL server for this demo …")
	server, err := pgtemp.Start(ctx, pgtemp.Options{Log: func(msg string) { paper.aside("  %s", msg) }})
	if err != nil {
		return err
	}
	defer stopServer(server)

	clock := new(demoClock)
	sim, err := botsim.New(botsim.WithClock(clock.now), botsim.WithBotUsername(botName))
	if err != nil {
		return fmt.Errorf("start the simulated Telegram: %w", err)
	}
	defer sim.Close()
	s := newDemoGroup(sim, clock, paper)
	defer s.leave()
	if err := s.startBot(ctx, server.URL()); err != nil {
		return err
	}
	defer func() { _ = s.endBot() }() // close has returned this error, or Run fails anyway
	if d.Once {
		if err := s.play(ctx, scene, math.MaxInt); err != nil {
			return err
		}
		paper.aside("\nThat was the real bot on a real database. README.md explains how to run it in Telegram.")
		return s.close(ctx)
	}
	if err := s.play(ctx, scene, shownAtFirst); err != nil {
		return err
	}
	input := linesOf(os.Stdin)
	if isTerminal(os.Stdin) && onTerminal {
		var end func()
		if input, end, err = paper.startTyping(os.Stdin); err != nil {
			return err
		}
		defer end()
	}
	if err := s.converse(ctx, input); err != nil {
		return err
	}
	return s.close(ctx)
}

// terminalWidth returns the width of the terminal in columns, or 0 if that is unknown.
func terminalWidth() int {
	width, _, _ := term.GetSize(int(os.Stdout.Fd()))
	return width
}

func stopServer(server *pgtemp.Server) {
	if err := server.Stop(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "elobot:", err)
	}
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
