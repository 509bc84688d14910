package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp"
)

const (
	// answerTimeout is how long the demo waits for an answer that must come.
	answerTimeout = 15 * time.Second
	// awaitInterval is how often it looks whether what it waits for is reached.
	awaitInterval = 20 * time.Millisecond
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

	clock := new(demoClock)
	sim, err := botsim.New(botsim.WithClock(clock.now))
	if err != nil {
		return fmt.Errorf("start the simulated Telegram: %w", err)
	}
	defer sim.Close()
	s := newDemoGroup(sim, clock, paper)
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
		if err := s.converse(ctx, os.Stdin, isTerminal(os.Stdin) && isTerminal(os.Stdout)); err != nil {
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
