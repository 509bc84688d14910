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

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/app"
	"elobot/internal/botsim"
	"elobot/internal/outbox"
	"elobot/internal/postgres/pgoutbox"
	"elobot/internal/postgres/pgtally"
)

// demoGroup is the group of the demo, between the simulated Telegram and the real bot. It shows only messages that have arrived
// in the group.
type demoGroup struct {
	sim      *botsim.Server
	clock    *demoClock
	group    *botsim.Chat
	paper    *transcript
	messages <-chan botsim.Message
	leave    func()
	last     map[string]botsim.Message // the last message of each person

	seen     int // number of messages and edits that have arrived
	pictured []botsim.Message
	pool     *pgxpool.Pool // of connections to the bot's database
	tallies  *pgtally.Store
	outbox   *pgoutbox.Store
	stopBot  context.CancelFunc
	ended    chan struct{} // closed when the bot has ended; botErr is set then
	botErr   error
}

func newDemoGroup(sim *botsim.Server, clock *demoClock, paper *transcript) *demoGroup {
	s := &demoGroup{sim: sim, clock: clock, paper: paper, last: make(map[string]botsim.Message), ended: make(chan struct{})}
	var members []botsim.User
	for _, name := range sceneMembers {
		members = append(members, sim.User(name))
	}
	s.group = sim.Group("Table tennis", members...)
	s.messages, s.leave = sim.Subscribe()
	return s
}

// startBot starts the real bot, which logs only warnings and errors.
func (s *demoGroup) startBot(ctx context.Context, databaseURL string) error {
	c := app.Config{TelegramConfig: app.TelegramConfig{Token: s.sim.Token(), TelegramURL: s.sim.URL()}, DatabaseConfig: app.DatabaseConfig{DatabaseURL: databaseURL}}
	c.SimulatedTelegram = true // which has no rate limits
	c.SendLimitPrivate, c.SendLimitGroup, c.SendLimitTotal = "off", "off", "off"
	if err := c.Resolve(); err != nil {
		return err
	}
	s.group.Promote(s.sim.Bot()) // so that it may pin the board
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	pool, err := pgxpool.New(ctx, databaseURL)
	if err != nil {
		return fmt.Errorf("open the database of the demo: %w", err)
	}
	s.pool, s.tallies, s.outbox = pool, pgtally.NewStore(pool), pgoutbox.NewStore(pool)
	ctx, s.stopBot = context.WithCancel(ctx)
	go func() {
		defer close(s.ended)
		s.botErr = app.Run(ctx, c, log)
	}()
	return nil
}

// play plays the days, which end now.
func (s *demoGroup) play(ctx context.Context, days []day) error {
	s.paper.title("Table tennis", "a group of six and elobot")
	for _, d := range days {
		s.clock.begin(d.ago)
		s.paper.date(s.clock.now())
		for _, l := range d.lines {
			if err := s.playLine(ctx, l); err != nil {
				return err
			}
		}
		// The day begins with matches that are counted, and the clock of the bot follows that of its messages.
		if err := s.awaitCounted(ctx); err != nil {
			return err
		}
	}
	s.clock.finish()
	return nil
}

// playLine sends a line or presses a button, and waits for what the bot does about it.
func (s *demoGroup) playLine(ctx context.Context, l line) error {
	if l.later {
		if err := s.awaitCounted(ctx); err != nil {
			return err
		}
		s.clock.pause()
	}
	if l.press != "" {
		return s.press(ctx, l.from, l.press)
	}
	if l.pictured {
		defer func(before int) { s.pictured = append(s.pictured, s.group.Messages()[before:]...) }(len(s.group.Messages()))
	}
	s.say(l)
	if err := s.settle(ctx); err != nil || !l.pins {
		return err
	}
	if err := s.await(ctx, func(context.Context) (bool, error) { return len(s.group.AllPinned()) > 0, nil }); err != nil {
		return err
	}
	s.paper.aside(pinnedNote)
	return nil
}

// pinnedNote says what people see of a board.
const pinnedNote = "elobot posts the ranking and pins it. From now on, it edits that message after every match."

// awaitCounted waits until the bot has counted all matches for questions, which it does a second after they were recorded.
func (s *demoGroup) awaitCounted(ctx context.Context) error {
	return s.await(ctx, func(ctx context.Context) (bool, error) { return s.tallies.IsCurrent(ctx, s.clock.now()) })
}

// settle shows what the bot does until it has handled everything that happened in the group and sent all its answers. Only the board
// may follow later.
func (s *demoGroup) settle(ctx context.Context) error {
	return s.await(ctx, func(ctx context.Context) (bool, error) {
		if s.sim.Pending() > 0 {
			return false, nil
		}
		waiting, err := s.outbox.Waiting(ctx)
		answering := slices.ContainsFunc(waiting, func(b outbox.Backlog) bool { return b.Lane.Kind != outbox.Boards })
		return !answering && s.seen >= arrivals(s.group), err
	})
}

// arrivals returns how many messages and edits there have been in a group.
func arrivals(group *botsim.Chat) int {
	messages := group.Messages()
	n := len(messages)
	for _, m := range messages {
		n += m.Edits
	}
	return n
}

// await shows what arrives in the group until something is reached.
func (s *demoGroup) await(ctx context.Context, reached func(context.Context) (bool, error)) error {
	waiting, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	tick := time.NewTicker(awaitInterval)
	defer tick.Stop()
	for {
		if ok, err := reached(waiting); ok || err != nil {
			return errors.Join(err, ctx.Err())
		}
		select {
		case m := <-s.messages:
			s.print(m)
		case <-tick.C:
		case <-s.ended:
			return s.unexpectedEnd(ctx)
		case <-waiting.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return errors.New("the bot does not answer")
		}
	}
}

// say sends a line to the group.
func (s *demoGroup) say(l line) {
	from := s.sim.User(l.from)
	if to, ok := s.last[l.replyTo]; ok {
		s.last[l.from] = s.group.Reply(from, to, l.text)
		return
	}
	s.last[l.from] = s.group.Say(from, l.text)
}

// print shows what has arrived in the group.
func (s *demoGroup) print(m botsim.Message) {
	s.seen++
	switch {
	case isBoard(m), m.Service != "": // pinned is what matters of the board
	case m.Edits > 0:
		s.paper.edited(m)
	case m.From.IsBot:
		s.paper.bot(m)
	default:
		s.paper.person(m, s.repliedTo(m))
	}
}

// isBoard reports whether a message is the group's board. A link in it says so.
func isBoard(m botsim.Message) bool { return strings.Contains(m.HTML, "object=board") }

// repliedTo returns the name of the person to whose message m replies, or "".
func (s *demoGroup) repliedTo(m botsim.Message) string {
	to, ok := s.group.Message(m.ReplyTo)
	if m.ReplyTo == 0 || !ok {
		return ""
	}
	return to.From.FirstName
}

// converse sends the lines of the input to the group until the input ends, one after the other: each waits for what the bot does about
// the one before. Lines typed on a terminal are visible there already, so they are not printed.
func (s *demoGroup) converse(ctx context.Context, input io.Reader, typed bool) error {
	s.paper.aside("\nNow you. Try:  /match @alice 3:2   bob: /match @carol 3:1   /undo   /ranking   /stats   /help")
	s.paper.aside("Begin a line with a name to write as that person. Type “press” to press the button on the last card. Ctrl-D ends the demo.")
	s.paper.typed = typed
	lines, failed := readLines(ctx, input)
	for {
		select {
		case text, ok := <-lines:
			if !ok {
				return <-failed
			}
			if err := s.handleLine(ctx, text); err != nil {
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

// handleLine sends a line of the input to the group, or presses a button.
func (s *demoGroup) handleLine(ctx context.Context, text string) error {
	l, ok := parseLine(text)
	if !ok {
		return nil
	}
	if len(utf16.Encode([]rune(l.text))) > longestMessage {
		s.paper.aside("Telegram does not accept messages of more than %d characters.", longestMessage)
		return nil
	}
	if strings.EqualFold(l.text, "press") {
		return s.press(ctx, l.from, "")
	}
	s.say(l)
	return s.settle(ctx)
}

// press presses a button below the last message that has some, and shows the callback answer, which only that person sees. With no
// label it is the first button.
func (s *demoGroup) press(ctx context.Context, from, label string) error {
	cards := slices.DeleteFunc(s.group.BotMessages(), func(m botsim.Message) bool { return len(m.Buttons) == 0 })
	if len(cards) == 0 {
		s.paper.aside("There is no button to press.")
		return nil
	}
	card, who := cards[len(cards)-1], s.sim.User(from)
	button := card.Buttons[0][0]
	for _, b := range slices.Concat(card.Buttons...) {
		if b.Text == label {
			button = b
		}
	}
	waiting, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	answer, err := s.sim.WaitAnswer(waiting, s.sim.Press(who, card, button.CallbackData))
	if err != nil {
		return err
	}
	s.paper.callbackAnswer(who, button.Text, answer.Text)
	return s.settle(ctx)
}

// readLines sends the lines of the input and closes the channel at the end. Then the second channel yields the error of
// reading, or nil.
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

// close stops the bot after it has received everything, and shows its last answers.
func (s *demoGroup) close(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	err := errors.Join(s.sim.WaitConfirmed(waiting), s.endBot())
	if ctx.Err() != nil {
		return ctx.Err() // interrupted: do not show the rest
	}
	for s.seen < arrivals(s.group) {
		s.print(<-s.messages)
	}
	return err
}

// endBot stops the bot and returns how it ended.
func (s *demoGroup) endBot() error {
	s.stopBot()
	<-s.ended
	s.pool.Close()
	return s.botErr
}

// unexpectedEnd explains why the bot ended although nobody stopped it.
func (s *demoGroup) unexpectedEnd(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("the bot ended unexpectedly: %w", s.botErr)
}
