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

// you is the name under which the user writes, until the user becomes somebody else.
const you = "you"

// converse lets the user take part in the group until the input ends or the user quits. Each
// message waits until the bot is done with the message before it, so the output is in order even if
// all lines arrive at once.
func (g *demoGroup) converse(ctx context.Context, input lineReader) error {
	if err := g.openWebBoard(ctx); err != nil {
		return err
	}
	if g.rest != "" {
		g.paper.aside("\n… “scene” shows the rest of what the group has said.")
	}
	// Keep the link on one line, so that it can be copied.
	g.paper.print(g.paper.style("\nThe group as web pages: "+g.board, faint) + "\n")
	g.paper.aside("\nNow you. You write as %s. %s is the group’s admin. What you type goes to the group: "+
		"try /match @alice 3:2, /ranking, /chart or /help. A number presses that button, “help” lists "+
		"what else you can do here, and “quit” ends it.",
		g.describe(g.user), g.members[0].FirstName)
	for {
		if g.paper.typed {
			g.paper.print("\n")
		}
		said := make(chan message, 1)
		prompt := g.paper.style(column(plain(g.person(g.user).FirstName)), bold, cyan) + "  "
		go func() {
			text, err := readMessage(input, prompt)
			said <- message{text, err}
		}()
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
				if err := g.do(ctx, in); err != nil {
					return err
				}
				heard = true
			case m := <-g.messages:
				g.print(m)
			case <-g.ended:
				return g.unexpectedEnd(ctx)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// do executes a line of input, and waits for what the bot does in response.
func (g *demoGroup) do(ctx context.Context, in input) error {
	if in.who == "me" {
		in.who = you
	}
	who := g.person(cmp.Or(in.who, g.user))
	switch in.verb {
	case verbNothing:
	case verbHelp:
		g.paper.remark("You write as %s. What you type goes to the group. Apart from that:", g.describe(g.user))
		g.paper.list(inputHelp)
	case verbScene:
		if g.rest == "" {
			g.paper.aside("You have seen it all.")
			return nil
		}
		g.paper.print(g.rest)
		g.rest, g.heard = "", g.atEnd
	case verbBecome:
		g.user = cmp.Or(in.who, g.user)
		g.paper.remark("You write as %s.", g.describe(g.user))
	case verbPress:
		return g.press(ctx, who, in.button)
	case verbReply:
		to := g.repliable(in.text)
		if in.to != botName {
			to = g.last[g.person(in.to).ID]
		}
		if to.ID == 0 {
			g.paper.remark("There is no message of %s to reply to.", in.to)
			return nil
		}
		return g.ask(ctx, who, in.text, to)
	case verbSay:
		return g.ask(ctx, who, in.text, botsim.Message{})
	}
	return nil
}

func (g *demoGroup) describe(person string) string {
	u := g.person(person)
	name := "“" + u.FirstName + "”"
	switch _, wrote := g.last[u.ID]; {
	case !wrote:
		return name + ", who is new here"
	case u.ID == g.members[0].ID:
		return name + ", the group’s admin"
	}
	return name
}

// repliable returns the message that a reply to the bot goes to. If there is an open prompt and
// text is not a command, that is the last open prompt. Otherwise, it is the bot's last message.
func (g *demoGroup) repliable(text string) botsim.Message {
	if !strings.HasPrefix(text, "/") {
		for _, m := range slices.Backward(g.withButtons) {
			if slices.ContainsFunc(buttonsOf(m), func(b botsim.Button) bool { return bot.AnswersPrompt(b.CallbackData) }) {
				return m
			}
		}
	}
	return g.lastOfBot
}

// ask sends a message, as a reply to another message unless to is the zero Message. It tells the
// user if the message is too long for Telegram or if the bot ignores it.
func (g *demoGroup) ask(ctx context.Context, from botsim.User, text string, to botsim.Message) error {
	if len(utf16.Encode([]rune(text))) > longestMessage {
		g.paper.remark("Telegram does not accept messages of more than %d characters.", longestMessage)
		return nil
	}
	answers := g.answers
	g.say(from, text, to)
	if err := g.settle(ctx); err != nil {
		return err
	}
	if g.answers > answers {
		return nil
	}
	isTooMuch, err := g.asksTooMuch(ctx, from)
	switch {
	case err != nil:
		return err
	case isTooMuch && strings.HasPrefix(text, "/"):
		g.paper.aside("elobot has asked %s to slow down, and answers no more questions until a minute is over. "+
			"Results still count.", from.FirstName)
	default:
		g.paper.aside("elobot does not answer that. It takes the commands that /help lists, " +
			"and replies: “reply TEXT”. See “help”.")
	}
	return nil
}

// asksTooMuch reports whether the bot has told the sender in the last minute to slow down.
func (g *demoGroup) asksTooMuch(ctx context.Context, who botsim.User) (is bool, err error) {
	const sql = `SELECT EXISTS (SELECT FROM handled_commands WHERE sender = $1 AND sent_at > $2 AND rate_class = $3)`
	since := g.clock.now().Add(-ranking.RateWindow)
	if err := g.pool.QueryRow(ctx, sql, who.ID, since, ranking.RateSlowed).Scan(&is); err != nil {
		return false, fmt.Errorf("look for the limit of questions: %w", err)
	}
	return is, nil
}
