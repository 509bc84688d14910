// Command composetest simulates Telegram for run.sh. It listens on the address in its argument and
// prints the bot's settings as lines of a .env file. Then it sends each line of its input to a
// group as Alice, and prints the bot's messages.
package main

import (
	"bufio"
	"fmt"
	"os"

	"elobot/internal/botsim"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "composetest:", err)
		os.Exit(1)
	}
}

func run(address string) error {
	sim, err := botsim.New(botsim.WithAddress(address))
	if err != nil {
		return fmt.Errorf("start the simulated Telegram: %w", err)
	}
	defer sim.Close()
	alice, bob := sim.User("alice"), sim.User("bob")
	group := sim.Group("Table tennis", alice, bob)
	messages, leave := sim.Subscribe()
	defer leave()
	fmt.Printf("TELEGRAM_BOT_TOKEN=%s\nTELEGRAM_API_URL=%s\n", sim.Token(), sim.URL())
	go func() {
		for m := range messages {
			if m.From.IsBot {
				fmt.Println(m.Text)
			}
		}
	}()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		group.Say(alice, lines.Text())
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read what Alice says: %w", err)
	}
	return nil
}
