// Command composetest checks that the Compose file does what README.md says. It runs the README's command in the current
// folder, which must be the root of a clone without a .env file, reports a match in a simulated group, and waits for the
// bot's card. It does so with each version of Compose on the machine, v1 and v2, and removes everything afterwards.
//
// It simulates Telegram on the address of Docker's bridge, which containers can reach. Do not run it where that address can
// be reached from outside the machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "composetest:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	up, err := readmeCommand("README.md")
	if err != nil {
		return err
	}
	programs := installed(ctx)
	if len(programs) == 0 {
		return errors.New("neither docker compose nor docker-compose is installed")
	}
	for _, program := range programs {
		if err := play(ctx, newProject(program, up)); err != nil {
			return fmt.Errorf("with %s: %w", strings.Join(program, " "), err)
		}
	}
	return nil
}

// readmeCommand returns the README's command, without the words "docker compose" at its beginning.
func readmeCommand(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the command: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) > 2 && words[0] == "docker" && words[1] == "compose" && slices.Contains(words, "up") {
			return words[2:], nil
		}
	}
	return nil, fmt.Errorf("%s has no line that begins with docker compose and contains up", path)
}

// installed returns the commands that run Compose on this machine.
func installed(ctx context.Context) [][]string {
	var found [][]string
	for _, program := range [][]string{{"docker", "compose"}, {"docker-compose"}} {
		version, err := exec.CommandContext(ctx, program[0], slices.Concat(program[1:], []string{"version", "--short"})...).Output()
		if err != nil {
			fmt.Printf("%s: not installed\n", strings.Join(program, " "))
			continue
		}
		fmt.Printf("%s: %s\n", strings.Join(program, " "), strings.TrimSpace(string(version)))
		found = append(found, program)
	}
	return found
}

// play starts a project, reports a match, waits for the card, and removes the project.
func play(ctx context.Context, p project) (err error) {
	sim, err := startTelegram()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sim.close()) }()
	if err := writeEnv(sim.url, sim.Token()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(envFile)) }()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
		defer cancel()
		if err != nil {
			err = errors.Join(err, p.compose(ctx, "logs", "--no-color", "--tail", "50"))
		}
		err = errors.Join(err, p.compose(ctx, "down", "--volumes", "--rmi", "local"))
	}()
	if err := p.up(ctx); err != nil {
		return err
	}
	alice, bob := sim.User("alice"), sim.User("bob")
	group := sim.Group("Table tennis", alice, bob)
	report := group.Say(alice, "/match @bob 3:1")
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	answers, err := group.WaitBot(ctx, 1)
	if err != nil {
		return err
	}
	card := answers[0]
	fmt.Printf("alice: %s\nbot: %s\n", report.Text, card.Text)
	if card.ReplyTo != report.ID || !strings.Contains(card.Text, "1516") || !strings.Contains(card.Text, "1484") {
		return errors.New("the card is not a reply with the ratings 1516 and 1484")
	}
	return p.compose(ctx, "exec", "-T", "bot", "/elobot", "health")
}
