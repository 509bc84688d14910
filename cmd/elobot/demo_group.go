package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"elobot/internal/app"
	"elobot/internal/botsim"
)

// stage is the group in which the demo plays: a simulated Telegram on one side, the real bot on the other. What it
// shows of the bot is what has arrived in the group.
type stage struct {
	sim      *botsim.Server
	group    *botsim.Chat
	paper    *transcript
	messages <-chan botsim.Message
	leave    func()
	last     map[string]botsim.Message // what each person said last

	shown   int // messages of the group
	answers int // the bot's among them
	edits   int // of messages of the bot
	stopBot context.CancelFunc
	ended   chan struct{} // closed when the bot has ended, with botErr
	botErr  error
}

func newStage(sim *botsim.Server, paper *transcript) *stage {
	s := &stage{sim: sim, paper: paper, last: make(map[string]botsim.Message), ended: make(chan struct{})}
	s.group = sim.Group("Table tennis", sim.User("alice"), sim.User("bob"), sim.User("carol"), sim.User("dave"))
	s.messages, s.leave = sim.Subscribe()
	return s
}

// startBot starts the bot as it runs anywhere, but for its log, which shows nothing less than warnings.
func (s *stage) startBot(ctx context.Context, databaseURL string) error {
	c := app.Config{TelegramConfig: app.TelegramConfig{Token: s.sim.Token(), TelegramURL: s.sim.URL()}, DatabaseConfig: app.DatabaseConfig{DatabaseURL: databaseURL}}
	// this Telegram bears any pace, and nobody wants to wait for a scene
	c.SendLimitPrivate, c.SendLimitGroup, c.SendLimitTotal = "off", "off", "off"
	if err := c.Resolve(); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ctx, s.stopBot = context.WithCancel(ctx)
	go func() {
		defer close(s.ended)
		s.botErr = app.Run(ctx, c, log)
	}()
	return nil
}

// play says the lines, and after each that is a command waits for the bot's answer.
func (s *stage) play(ctx context.Context, lines []line) error {
	s.paper.title("Table tennis", "a group of four and elobot")
	for _, l := range lines {
		answered, edits := s.answers, s.edits+l.edits
		s.say(l)
		if !strings.HasPrefix(l.text, "/") {
			answered-- // nothing to wait for but the line itself
		}
		enough := func() bool {
			return s.answers > answered && s.edits >= edits && s.shown >= len(s.group.Messages())
		}
		if err := s.show(ctx, enough, nil); err != nil {
			return err
		}
	}
	return nil
}

// say lets somebody say a line in the group.
func (s *stage) say(l line) {
	from := s.sim.User(l.from)
	if to, ok := s.last[l.replyTo]; ok {
		s.last[l.from] = s.group.Reply(from, to, l.text)
		return
	}
	s.last[l.from] = s.group.Say(from, l.text)
}

// show prints what appears in the group until there is enough of it, or the silence is over.
func (s *stage) show(ctx context.Context, enough func() bool, silence <-chan struct{}) error {
	patience := time.NewTimer(answerPatience)
	defer patience.Stop()
	for !enough() {
		select {
		case m := <-s.messages:
			s.print(m)
		case <-silence:
			return nil
		case <-s.ended:
			return s.early(ctx)
		case <-patience.C:
			return errors.New("the bot does not answer")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (s *stage) print(m botsim.Message) {
	switch {
	case m.Edits > 0:
		s.edits++
		s.paper.edited(m)
		return
	case m.From.IsBot:
		s.answers++
		s.paper.bot(m)
	default:
		s.paper.person(m, s.repliedTo(m))
	}
	s.shown++
}

// repliedTo returns whose message m replies to.
func (s *stage) repliedTo(m botsim.Message) string {
	to, ok := s.group.Message(m.ReplyTo)
	if m.ReplyTo == 0 || !ok {
		return ""
	}
	return to.From.FirstName
}

// converse lets the reader say lines until the input ends. What is typed on a terminal stands there already; what comes
// from elsewhere comes all at once, so that each command waits for its answer.
func (s *stage) converse(ctx context.Context, input io.Reader, typed bool) error {
	s.paper.aside("\nNow you. Try:  /match @alice 3:2   bob: /match @carol 3:1   /undo   /ranking   /help")
	s.paper.aside("Without a name it is you who speaks; “press” presses the button of the last card. Ctrl-D ends the demo.")
	s.paper.typed = typed
	lines, failed := readLines(ctx, input)
	for {
		select {
		case text, ok := <-lines:
			if !ok {
				return <-failed
			}
			if err := s.hear(ctx, text); err != nil {
				return err
			}
		case m := <-s.messages:
			s.print(m)
		case <-s.ended:
			return s.early(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// hear takes a line of the reader to the group.
func (s *stage) hear(ctx context.Context, text string) error {
	l, ok := parseLine(text)
	if !ok {
		return nil
	}
	if len(utf16.Encode([]rune(l.text))) > longestMessage {
		s.paper.aside("Telegram takes no message of more than %d characters.", longestMessage)
		return nil
	}
	if strings.EqualFold(l.text, "press") {
		return s.press(ctx, l.from)
	}
	answered := s.answers
	s.say(l)
	if s.paper.typed || !strings.HasPrefix(l.text, "/") {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return s.show(ctx, func() bool { return s.answers > answered }, s.silence(ctx))
}

// press lets somebody press the last button that there is in the group, and shows what only they are told.
func (s *stage) press(ctx context.Context, from string) error {
	cards := slices.DeleteFunc(s.group.BotMessages(), func(m botsim.Message) bool { return len(m.Buttons) == 0 })
	if len(cards) == 0 {
		s.paper.aside("There is no button to press.")
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	card, who, edits := cards[len(cards)-1], s.sim.User(from), s.edits
	button := card.Buttons[0][0]
	answer, err := s.sim.WaitAnswer(ctx, s.sim.Press(who, card, button.CallbackData))
	if err != nil {
		return err
	}
	s.paper.toast(who, button.Text, answer.Text)
	if s.paper.typed {
		return nil
	}
	return s.show(ctx, func() bool { return s.edits > edits }, s.silence(ctx))
}

// silence is closed when the bot has taken all that was said and had time to answer: some commands it ignores.
func (s *stage) silence(ctx context.Context) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		if err := s.sim.WaitConfirmed(ctx); err != nil {
			return // nobody waits any more
		}
		select {
		case <-time.After(silencePatience):
			close(over)
		case <-ctx.Done():
		}
	}()
	return over
}

// readLines hands out the lines of the input and closes the channel at its end; then failed has why it could not be
// read to its end, or nil.
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
			failed <- fmt.Errorf("read what you say: %w", err)
			return
		}
		failed <- nil
	}()
	return lines, failed
}

// close stops the bot once it has taken everything that was said, and shows what it still answers.
func (s *stage) close(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	err := errors.Join(s.sim.WaitConfirmed(waiting), s.endBot())
	if ctx.Err() != nil {
		return ctx.Err() // whoever interrupts the demo has seen enough
	}
	for s.shown < len(s.group.Messages()) || s.edits < editsIn(s.group) {
		s.print(<-s.messages)
	}
	return err
}

// editsIn returns how often messages of a group were edited.
func editsIn(group *botsim.Chat) int {
	n := 0
	for _, m := range group.BotMessages() {
		n += m.Edits
	}
	return n
}

// endBot stops the bot and returns how it ended.
func (s *stage) endBot() error {
	s.stopBot()
	<-s.ended
	return s.botErr
}

// early says why the bot has ended before it was told to.
func (s *stage) early(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("the bot has ended: %w", s.botErr)
}
