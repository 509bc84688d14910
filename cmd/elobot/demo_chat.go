package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"

	"elobot/internal/bot"
	"elobot/internal/botsim"
)

// converse lets the user take part in the group until the input ends or the user quits. Each line waits until the bot has done what the one
// before asks for, so the output is in order whether the lines are typed on a terminal or come all at once. A terminal shows typed lines
// itself, behind a prompt that looks like the name before a message.
func (s *demoGroup) converse(ctx context.Context, input io.Reader, typed bool) error {
	s.paper.typed = typed
	link, err := s.webBoard(ctx)
	if err != nil {
		return err
	}
	s.paper.aside("\nThe group as web pages: %s", link)
	s.paper.aside("\nNow you. You write as %s. %s is the group’s admin.\n%s", s.describe(s.user), s.sim.User(sceneMembers[0]).FirstName, inputHelp)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines, failed := readLines(ctx, input)
	defer s.paper.leavePrompt()
	for {
		s.paper.prompt(s.sim.User(s.user))
		select {
		case text, ok := <-lines:
			if !ok {
				return <-failed
			}
			s.paper.prompted = false // the terminal is on the next line
			in := parseInput(text)
			if in.verb == verbQuit {
				return nil
			}
			if err := s.do(ctx, in); err != nil {
				return err
			}
		case m := <-s.messages:
			s.print(m)
		case <-s.ended:
			return s.unexpectedEnd(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// do does what a line asks for, and waits for what the bot does then.
func (s *demoGroup) do(ctx context.Context, in input) error {
	who := cmp.Or(in.who, s.user)
	switch in.verb {
	case verbNothing:
	case verbHelp:
		s.paper.remark("You write as %s.\n%s", s.describe(s.user), inputHelp)
	case verbBecome:
		s.user = who
		s.paper.remark("You write as %s.", s.describe(who))
	case verbPress:
		return s.press(ctx, who, in.button)
	case verbReply:
		to := s.last[in.to]
		if in.to == botName {
			to = s.repliable(in.text)
		}
		if to.ID == 0 {
			s.paper.remark("There is no message of %s to reply to.", in.to)
			return nil
		}
		return s.ask(ctx, who, in.text, to)
	case verbSay:
		return s.ask(ctx, who, in.text, botsim.Message{})
	}
	return nil
}

func (s *demoGroup) describe(person string) string {
	name := "“" + s.sim.User(person).FirstName + "”"
	if _, wrote := s.last[person]; !wrote {
		return name + ", who is new here"
	}
	if person == sceneMembers[0] {
		return name + ", the group’s admin"
	}
	return name
}

// repliable returns the message of the bot that a reply is meant for: commands are about what was said last, and all else answers the last
// open question.
func (s *demoGroup) repliable(text string) botsim.Message {
	if !strings.HasPrefix(text, "/") {
		for _, m := range slices.Backward(s.withButtons) {
			if slices.ContainsFunc(buttonsOf(m), func(b botsim.Button) bool { return bot.AnswersPrompt(b.CallbackData) }) {
				return m
			}
		}
	}
	return s.lastOfBot
}

// ask sends a message, and says so if the bot ignores it.
func (s *demoGroup) ask(ctx context.Context, from, text string, to botsim.Message) error {
	if len(utf16.Encode([]rune(text))) > longestMessage {
		s.paper.remark("Telegram does not accept messages of more than %d characters.", longestMessage)
		return nil
	}
	answers := s.answers
	s.say(from, text, to)
	if err := s.settle(ctx); err != nil {
		return err
	}
	if s.answers == answers {
		s.paper.aside("elobot does not answer that. It takes the commands that /help lists, and replies: “reply TEXT”. See “help”.")
	}
	return nil
}

// readLines sends the lines of the input and closes the channel at the end. Then the second channel yields the error of reading, or nil.
func readLines(ctx context.Context, input io.Reader) (<-chan string, <-chan error) {
	lines, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(input)
		scanner.Buffer(nil, longestLine)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				failed <- ctx.Err()
				return
			}
		}
		if err := scanner.Err(); err != nil {
			failed <- fmt.Errorf("read input: %w", err)
			return
		}
		failed <- nil
	}()
	return lines, failed
}
