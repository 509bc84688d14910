package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"

	"elobot/internal/bot"
	"elobot/internal/botsim"
	"elobot/internal/ranking"
)

// you is who the user is at first.
const you = "you"

// converse lets the user take part in the group until the input ends or the user quits. Each
// message waits until the bot has done what the one before asks for, so the output is in order
// whether the lines are typed or come all at once.
func (s *demoGroup) converse(ctx context.Context, input lineReader) error {
	if err := s.openWebBoard(ctx); err != nil {
		return err
	}
	if s.rest != "" {
		s.paper.aside("\n… “scene” shows the rest of what the group has said.")
	}
	s.paper.print(s.paper.style("\nThe group as web pages: "+s.board, faint) + "\n") // in one line, to be copied
	s.paper.aside("\nNow you. You write as %s. %s is the group’s admin. What you type goes to the group: "+
		"try /match @alice 3:2, /ranking, /chart or /help. A number presses that button, “help” lists "+
		"what else you can do here, and “quit” ends it.",
		s.describe(s.user), s.members[0].FirstName)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	prompts, said := readMessages(ctx, input)
	for {
		if s.paper.typed {
			s.paper.print("\n")
		}
		prompts <- s.paper.style(column(plain(s.person(s.user).FirstName)), bold, cyan) + "  "
		for heard := false; !heard; {
			select {
			case m := <-said:
				if errors.Is(m.err, io.EOF) {
					return nil
				}
				if m.err != nil {
					return m.err
				}
				in := parseInput(m.text)
				if in.verb == verbQuit {
					return nil
				}
				if err := s.do(ctx, in); err != nil {
					return err
				}
				heard = true
			case m := <-s.messages:
				s.print(m)
			case <-s.ended:
				return s.unexpectedEnd(ctx)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// do does what a message asks for, and waits for what the bot does then.
func (s *demoGroup) do(ctx context.Context, in input) error {
	if in.who == "me" {
		in.who = you
	}
	who := s.person(cmp.Or(in.who, s.user))
	switch in.verb {
	case verbNothing:
	case verbHelp:
		s.paper.remark("You write as %s. What you type goes to the group. Apart from that:", s.describe(s.user))
		s.paper.list(inputHelp)
	case verbScene:
		if s.rest == "" {
			s.paper.aside("You have seen it all.")
			return nil
		}
		s.paper.print(s.rest)
		s.rest, s.heard = "", s.atEnd
	case verbBecome:
		s.user = cmp.Or(in.who, s.user)
		s.paper.remark("You write as %s.", s.describe(s.user))
	case verbPress:
		return s.press(ctx, who, in.button)
	case verbReply:
		to := s.repliable(in.text)
		if in.to != botName {
			to = s.last[s.person(in.to).ID]
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
	u := s.person(person)
	name := "“" + u.FirstName + "”"
	switch _, wrote := s.last[u.ID]; {
	case !wrote:
		return name + ", who is new here"
	case u.ID == s.members[0].ID:
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
func (s *demoGroup) ask(ctx context.Context, from botsim.User, text string, to botsim.Message) error {
	if len(utf16.Encode([]rune(text))) > longestMessage {
		s.paper.remark("Telegram does not accept messages of more than %d characters.", longestMessage)
		return nil
	}
	answers := s.answers
	s.say(from, text, to)
	if err := s.settle(ctx); err != nil {
		return err
	}
	if s.answers > answers {
		return nil
	}
	isTooMuch, err := s.asksTooMuch(ctx, from)
	switch {
	case err != nil:
		return err
	case isTooMuch && strings.HasPrefix(text, "/"):
		s.paper.aside("elobot has asked %s to slow down, and answers no more questions until a minute is over. "+
			"Results still count.", from.FirstName)
	default:
		s.paper.aside("elobot does not answer that. It takes the commands that /help lists, and replies: “reply TEXT”. See “help”.")
	}
	return nil
}

// asksTooMuch reports whether the bot has told somebody in the last minute to slow down.
func (s *demoGroup) asksTooMuch(ctx context.Context, who botsim.User) (is bool, err error) {
	const sql = `SELECT EXISTS (SELECT FROM handled_commands WHERE sender = $1 AND sent_at > $2 AND rate_class = $3)`
	since := s.clock.now().Add(-ranking.RateWindow)
	if err := s.pool.QueryRow(ctx, sql, who.ID, since, ranking.RateSlowed).Scan(&is); err != nil {
		return false, fmt.Errorf("look for the limit of questions: %w", err)
	}
	return is, nil
}
