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

	shown    int // number of messages shown
	answers  int // number of the bot's messages among them
	edits    int // number of edits shown
	hidden   int // number of edits of the board, which are not shown
	pictured []botsim.Message
	pool     *pgxpool.Pool // of connections to the bot's database
	tallies  *pgtally.Store
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
	s.pool, s.tallies = pool, pgtally.NewStore(pool)
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

// playLine sends a line, and waits for the bot's answer to a command or press.
func (s *demoGroup) playLine(ctx context.Context, l line) error {
	if l.later {
		if err := s.awaitCounted(ctx); err != nil {
			return err
		}
		s.clock.pause()
	}
	if l.press != "" {
		edits := s.edits
		if err := s.press(ctx, l.from, l.press); err != nil {
			return err
		}
		return s.show(ctx, func() bool { return s.edits > edits }, nil)
	}
	if l.pictured {
		defer func(before int) { s.pictured = append(s.pictured, s.group.Messages()[before:]...) }(len(s.group.Messages()))
	}
	answered, edits := s.answers, s.edits+l.edits
	s.say(l)
	if !strings.HasPrefix(l.text, "/") {
		answered-- // wait for the line itself only
	}
	enough := func() bool {
		return s.answers > answered && s.edits >= edits && (l.pins || s.shown >= len(s.group.Messages()))
	}
	if err := s.show(ctx, enough, nil); err != nil || !l.pins {
		return err
	}
	if err := s.show(ctx, func() bool { return len(s.group.AllPinned()) > 0 }, nil); err != nil {
		return err
	}
	s.paper.aside(pinnedNote)
	return nil
}

// pinnedNote says what people see of a board.
const pinnedNote = "elobot posts the ranking and pins it. From now on, it edits that message after every match."

// awaitCounted waits until the bot has counted all matches for questions, which it does a second after they were recorded.
func (s *demoGroup) awaitCounted(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	tick := time.NewTicker(countedInterval)
	defer tick.Stop()
	for {
		if current, err := s.tallies.IsCurrent(ctx, s.clock.now()); current || err != nil {
			return errors.Join(err, ctx.Err())
		}
		select {
		case <-tick.C:
		case <-s.ended:
			return s.unexpectedEnd(ctx)
		case <-ctx.Done():
			return fmt.Errorf("wait for the bot to count the matches: %w", ctx.Err())
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

// show prints new messages of the group until enough returns true or giveUp is closed.
func (s *demoGroup) show(ctx context.Context, enough func() bool, giveUp <-chan struct{}) error {
	timeout := time.NewTimer(answerTimeout)
	defer timeout.Stop()
	for !enough() {
		select {
		case m := <-s.messages:
			s.print(m)
		case <-giveUp:
			return nil
		case <-s.ended:
			return s.unexpectedEnd(ctx)
		case <-timeout.C:
			return errors.New("the bot does not answer")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (s *demoGroup) print(m botsim.Message) {
	switch {
	case isBoard(m) && m.Edits > 0:
		s.hidden++
		return
	case isBoard(m), m.Service != "": // pinned is what matters of the board
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

// converse sends the lines of the input to the group until the input ends. Lines typed on a terminal are visible there
// already, so they are not printed. Lines from elsewhere come all at once, so each command waits for its answer.
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
	answered := s.answers
	s.say(l)
	if s.paper.typed || !strings.HasPrefix(l.text, "/") {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return s.show(ctx, func() bool { return s.answers > answered }, s.noAnswer(ctx))
}

// press presses a button below the last message that has some, and shows the callback answer, which only that person sees. With no
// label it is the first button.
func (s *demoGroup) press(ctx context.Context, from, label string) error {
	cards := slices.DeleteFunc(s.group.BotMessages(), func(m botsim.Message) bool { return len(m.Buttons) == 0 })
	if len(cards) == 0 {
		s.paper.aside("There is no button to press.")
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	card, who, edits := cards[len(cards)-1], s.sim.User(from), s.edits
	button := card.Buttons[0][0]
	for _, b := range slices.Concat(card.Buttons...) {
		if b.Text == label {
			button = b
		}
	}
	answer, err := s.sim.WaitAnswer(ctx, s.sim.Press(who, card, button.CallbackData))
	if err != nil {
		return err
	}
	s.paper.callbackAnswer(who, button.Text, answer.Text)
	if s.paper.typed {
		return nil
	}
	return s.show(ctx, func() bool { return s.edits > edits }, s.noAnswer(ctx))
}

// noAnswer returns a channel that is closed when the bot has received everything and has had time to answer. The bot ignores
// some commands.
func (s *demoGroup) noAnswer(ctx context.Context) <-chan struct{} {
	giveUp := make(chan struct{})
	go func() {
		if err := s.sim.WaitConfirmed(ctx); err != nil {
			return // ctx has ended
		}
		select {
		case <-time.After(optionalAnswerTimeout):
			close(giveUp)
		case <-ctx.Done():
		}
	}()
	return giveUp
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
	for s.shown < len(s.group.Messages()) || s.edits+s.hidden < editsIn(s.group) {
		s.print(<-s.messages)
	}
	return err
}

// editsIn returns the number of edits in a group.
func editsIn(group *botsim.Chat) int {
	n := 0
	for _, m := range group.BotMessages() {
		n += m.Edits
	}
	return n
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
