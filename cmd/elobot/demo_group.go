package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/app"
	"elobot/internal/bot"
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
	members  []botsim.User            // in the scene
	last     map[int64]botsim.Message // the last message of each person, by their ids
	user     string                   // who the user writes as
	rest     string                   // of the scene, which is not shown yet
	atEnd    heard                    // what has been heard when it is shown

	seen     int           // number of messages and edits that have arrived
	answers  int           // number of the bot's among them that are shown
	heard                  // from the bot, as far as it is shown
	pool     *pgxpool.Pool // of connections to the bot's database
	outbox   *pgoutbox.Store
	links    web.Links
	board    string // the link of the web board, empty while it is off
	folder   string // of the pictures that are saved, empty while there are none
	pictures int    // that are saved
	stopBot  context.CancelFunc
	ended    chan struct{} // closed when the bot has ended; botErr is set then
	botErr   error
}

// heard is what people can answer.
type heard struct {
	lastOfBot   botsim.Message   // the bot's last message
	withButtons []botsim.Message // the bot's messages as they are shown with buttons, the one shown last at the end
}

func newDemoGroup(sim *botsim.Server, clock *demoClock, paper *transcript) *demoGroup {
	s := &demoGroup{
		sim: sim, clock: clock, paper: paper, last: make(map[int64]botsim.Message), user: you, ended: make(chan struct{}),
	}
	for _, u := range sceneMembers {
		u.LanguageCode = "en"
		s.members = append(s.members, sim.AddUser(u))
	}
	s.group = sim.Group("Table tennis", s.members...)
	s.messages, s.leave = sim.Subscribe()
	return s
}

// person returns the member with a first name, or else whoever the simulated Telegram knows by it.
func (s *demoGroup) person(name string) botsim.User {
	for _, m := range s.members {
		if strings.EqualFold(m.FirstName, name) {
			return m
		}
	}
	return s.sim.User(name)
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

// openWebBoard turns the web board of the group on.
func (s *demoGroup) openWebBoard(ctx context.Context) error {
	var b ranking.WebBoard
	const sql = `UPDATE groups SET web_on = true, web_salt = gen_random_uuid() RETURNING id, web_salt::text`
	if err := s.pool.QueryRow(ctx, sql).Scan(&b.Group, &b.Salt); err != nil {
		return fmt.Errorf("turn the web board of the demo on: %w", err)
	}
	s.board = s.links.Link(b)
	return nil
}

// play plays the days, which end now, and shows as many of their lines as given; the rest can be
// shown later.
func (s *demoGroup) play(ctx context.Context, days []day, shown int) error {
	s.paper.title("Table tennis", "a group of six and elobot")
	out, said := s.paper.out, new(strings.Builder)
	s.paper.out = said
	defer func() { s.paper.out = out }()
	var shownAlready heard
	for _, d := range days {
		s.clock.begin(d.ago)
		s.paper.date(s.clock.now())
		for _, l := range d.lines {
			if s.rest == "" {
				shownAlready = heard{s.lastOfBot, slices.Clone(s.withButtons)}
			}
			if err := s.playLine(ctx, l); err != nil {
				return err
			}
			if shown -= strings.Count(said.String(), "\n"); shown < 0 || s.rest != "" {
				s.rest += said.String()
			} else {
				_, _ = io.WriteString(out, said.String())
			}
			said.Reset()
		}
	}
	s.clock.finish()
	if s.rest != "" {
		s.atEnd, s.heard = s.heard, shownAlready
	}
	return nil
}

// playLine sends a line or presses a button, and waits for what the bot does about it.
func (s *demoGroup) playLine(ctx context.Context, l line) error {
	if l.later {
		s.clock.pause()
	}
	if l.press != "" {
		_, buttons := s.keyboard()
		at := slices.IndexFunc(buttons, func(b botsim.Button) bool { return b.Text == l.press })
		return s.press(ctx, s.person(l.from), 1+at)
	}
	var to botsim.Message
	if l.replyTo != "" {
		to = s.last[s.person(l.replyTo).ID]
	}
	s.say(s.person(l.from), l.text, to)
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
func (s *demoGroup) say(from botsim.User, text string, to botsim.Message) {
	s.last[from.ID] = s.group.Post(botsim.Post{From: from, Text: text, ReplyTo: to.ID})
}

// press presses a button of the keyboard, and shows the callback answer, which only that person sees.
func (s *demoGroup) press(ctx context.Context, who botsim.User, number int) error {
	m, buttons := s.keyboard()
	if len(buttons) == 0 {
		s.paper.remark("There is no button to press.")
		return nil
	}
	if number < 1 || number > len(buttons) {
		s.paper.remark("There is no button %d below %s. The last one is %d.", number, excerpt(m), len(buttons))
		return nil
	}
	button := buttons[number-1]
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
		s.paper.bot(m, s.picture(m))
	default:
		s.paper.person(m, s.repliedTo(m))
	}
}

// picture describes the picture of a message: where it is saved, and where the web board shows the
// same. It is empty if there is none.
func (s *demoGroup) picture(m botsim.Message) string {
	if m.Photo == nil {
		return ""
	}
	shown := "[picture, " + s.savePicture(m.Photo.Content) + "]"
	if s.board == "" {
		return shown
	}
	page := s.board
	for _, b := range buttonsOf(m) {
		if charted, ok := bot.ChartOf(b.CallbackData); ok && len(charted.Players) == 1 {
			page = fmt.Sprintf("%splayer/%d", s.board, charted.Players[0].Player)
		}
	}
	return shown + "\n[as a page: " + page + "]"
}

// savePicture saves a picture for people who want to look at it, also after the demo, and returns
// its path or why there is none.
func (s *demoGroup) savePicture(content []byte) string {
	if s.folder == "" {
		folder, err := os.MkdirTemp("", "elobot-demo-")
		if err != nil {
			return err.Error()
		}
		s.folder = folder
	}
	s.pictures++
	path := filepath.Join(s.folder, fmt.Sprintf("%d.png", s.pictures))
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return err.Error()
	}
	return path
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
