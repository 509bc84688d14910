package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/app"
	"elobot/internal/botsim"
	"elobot/internal/outbox"
	"elobot/internal/postgres/pgoutbox"
	"elobot/internal/ranking"
	"elobot/internal/web"
)

// demoGroup is the group of the demo, between the simulated Telegram and the real bot. It shows only messages that have arrived in the
// group.
type demoGroup struct {
	sim      *botsim.Server
	clock    *demoClock
	group    *botsim.Chat
	paper    *transcript
	messages <-chan botsim.Message
	leave    func()
	last     map[string]botsim.Message // the last message of each person
	user     string                    // who the user writes as

	seen        int              // number of messages and edits that have arrived
	answers     int              // number of the bot's among them that are shown
	lastOfBot   botsim.Message   // the bot's last message
	withButtons []botsim.Message // the bot's messages as they are shown with buttons, the one shown last at the end
	pool        *pgxpool.Pool    // of connections to the bot's database
	outbox      *pgoutbox.Store
	links       web.Links
	stopBot     context.CancelFunc
	ended       chan struct{} // closed when the bot has ended; botErr is set then
	botErr      error
}

func newDemoGroup(sim *botsim.Server, clock *demoClock, paper *transcript) *demoGroup {
	s := &demoGroup{sim: sim, clock: clock, paper: paper, last: make(map[string]botsim.Message), user: "you", ended: make(chan struct{})}
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
	c.SendLimitPrivate, c.SendLimitGroup, c.SendLimitTotal = "off", "off", "off"
	free, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("find a free port: %w", err)
	}
	c.ListenAddr, c.PublicURL = free.Addr().String(), "http://"+free.Addr().String()
	_ = free.Close() // the bot listens there
	s.links = web.NewLinks(c.PublicURL, c.Token)
	if err := c.Resolve(); err != nil {
		return err
	}
	s.group.Promote(s.sim.Bot()) // so that it may pin the board
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	pool, err := pgxpool.New(ctx, databaseURL)
	if err != nil {
		return fmt.Errorf("open the database of the demo: %w", err)
	}
	s.pool, s.outbox = pool, pgoutbox.NewStore(pool)
	ctx, s.stopBot = context.WithCancel(ctx)
	go func() {
		defer close(s.ended)
		s.botErr = app.Run(ctx, c, log)
	}()
	return nil
}

// webBoard turns the web board of the group on, and returns its link.
func (s *demoGroup) webBoard(ctx context.Context) (string, error) {
	var b ranking.WebBoard
	const sql = `UPDATE groups SET web_on = true, web_salt = gen_random_uuid() RETURNING id, web_salt::text`
	if err := s.pool.QueryRow(ctx, sql).Scan(&b.Group, &b.Salt); err != nil {
		return "", fmt.Errorf("turn the web board of the demo on: %w", err)
	}
	return s.links.Link(b), nil
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
	}
	s.clock.finish()
	return nil
}

// playLine sends a line or presses a button, and waits for what the bot does about it.
func (s *demoGroup) playLine(ctx context.Context, l line) error {
	if l.later {
		s.clock.pause()
	}
	if l.press != "" {
		_, buttons := s.keyboard()
		return s.press(ctx, l.from, 1+slices.IndexFunc(buttons, func(b botsim.Button) bool { return b.Text == l.press }))
	}
	s.say(l.from, l.text, s.last[l.replyTo])
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

// settle shows what the bot does until it has handled everything that happened in the group and sent all its answers. Only the board may
// follow later.
func (s *demoGroup) settle(ctx context.Context) error {
	return s.await(ctx, func(ctx context.Context) (bool, error) {
		if s.sim.Pending() > 0 {
			return false, nil
		}
		waiting, err := s.outbox.Waiting(ctx, outbox.Bounds{})
		answering := slices.ContainsFunc(waiting, func(b outbox.Backlog) bool { return b.Lane.Kind != outbox.Boards })
		return !answering && s.seen >= arrivals(s.group), err
	})
}

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

// say sends a message to the group, which replies to another unless that is the zero message.
func (s *demoGroup) say(from, text string, to botsim.Message) {
	s.last[from] = s.group.Post(botsim.Post{From: s.sim.User(from), Text: text, ReplyTo: to.ID})
}

// press presses a button of the keyboard, and shows the callback answer, which only that person sees.
func (s *demoGroup) press(ctx context.Context, from string, number int) error {
	m, buttons := s.keyboard()
	if len(buttons) == 0 {
		s.paper.remark("There is no button to press.")
		return nil
	}
	if number < 1 || number > len(buttons) {
		s.paper.remark("There is no button %d below %s. The last one is %d.", number, excerpt(m), len(buttons))
		return nil
	}
	who, button := s.sim.User(from), buttons[number-1]
	if button.CallbackData == "" {
		s.paper.pressed(who, button, m, "")
		return nil
	}
	waiting, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	answer, err := s.sim.WaitAnswer(waiting, s.sim.Press(who, m, button.CallbackData))
	if err != nil {
		return err
	}
	s.paper.pressed(who, button, m, answer.Text)
	return s.settle(ctx)
}

// keyboard returns the message that was last shown with buttons, and these.
func (s *demoGroup) keyboard() (botsim.Message, []botsim.Button) {
	if len(s.withButtons) == 0 {
		return botsim.Message{}, nil
	}
	m := s.withButtons[len(s.withButtons)-1]
	return m, buttonsOf(m)
}

// buttonsOf returns the buttons below a message, numbered from 1 as people see them.
func buttonsOf(m botsim.Message) []botsim.Button { return slices.Concat(m.Buttons...) }

// print shows what has arrived in the group.
func (s *demoGroup) print(m botsim.Message) {
	s.seen++
	switch {
	case isBoard(m), m.Service != "": // pinned is what matters of the board
	case m.From.IsBot:
		s.answers++
		if m.Edits == 0 {
			s.lastOfBot = m
		}
		s.withButtons = slices.DeleteFunc(s.withButtons, func(shown botsim.Message) bool { return shown.ID == m.ID })
		if len(m.Buttons) > 0 {
			s.withButtons = append(s.withButtons, m)
		}
		s.paper.bot(m)
	default:
		s.paper.person(m, s.repliedTo(m))
	}
}

// isBoard is true if a message is the group's board. A link in it says so.
func isBoard(m botsim.Message) bool { return strings.Contains(m.HTML, "object=board") }

// repliedTo returns the name of whoever wrote the message that m replies to, or "".
func (s *demoGroup) repliedTo(m botsim.Message) string {
	to, ok := s.group.Message(m.ReplyTo)
	switch {
	case m.ReplyTo == 0 || !ok:
		return ""
	case to.From.IsBot:
		return botName
	}
	return to.From.FirstName
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
