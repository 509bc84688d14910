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

// demoGroup is the group of the demo, in the simulated Telegram, with the real bot as a member. It
// prints messages in the order in which they arrive in the group.
type demoGroup struct {
	sim      *botsim.Server
	clock    *demoClock
	group    *botsim.Chat
	paper    *transcript
	messages <-chan botsim.Message
	leave    func()
	members  []botsim.User            // of the scene
	last     map[int64]botsim.Message // each person's last message, by Telegram id
	user     string                   // the name under which the user writes
	rest     string                   // the part of the scene not shown yet
	atEnd    heard                    // the state of heard once rest is shown

	seen     int           // number of messages and edits received from the channel messages
	answers  int           // number of messages and edits by the bot, except board and service messages
	heard                  // of the messages shown so far
	pool     *pgxpool.Pool // connections to the bot's database
	outbox   *pgoutbox.Store
	links    web.Links
	board    string // the link to the web board, empty while the board is off
	folder   string // where pictures are saved, empty before the first
	pictures int    // number of saved pictures
	stopBot  context.CancelFunc
	ended    chan struct{} // closed when the bot has ended and botErr is set
	botErr   error
}

// heard holds the bot's messages to which input can refer: the last one, for replies, and those
// with buttons.
type heard struct {
	lastOfBot   botsim.Message
	withButtons []botsim.Message // the bot's messages with buttons, in the order last shown
}

func newDemoGroup(sim *botsim.Server, clock *demoClock, paper *transcript) *demoGroup {
	g := &demoGroup{
		sim: sim, clock: clock, paper: paper, last: make(map[int64]botsim.Message), user: you, ended: make(chan struct{}),
	}
	for _, u := range sceneMembers {
		u.LanguageCode = "en"
		g.members = append(g.members, sim.AddUser(u))
	}
	g.group = sim.Group("Table tennis", g.members...)
	g.messages, g.leave = sim.Subscribe()
	return g
}

// person returns the member with this first name, or else the simulated Telegram's user of that
// name.
func (g *demoGroup) person(name string) botsim.User {
	for _, m := range g.members {
		if strings.EqualFold(m.FirstName, name) {
			return m
		}
	}
	return g.sim.User(name)
}

// startBot starts the real bot as an admin of the group. The bot logs only warnings and errors.
func (g *demoGroup) startBot(ctx context.Context, databaseURL string) error {
	var c app.Config
	c.Token, c.TelegramURL, c.DatabaseURL = g.sim.Token(), g.sim.URL(), databaseURL
	c.SendLimitPrivate, c.SendLimitGroup, c.SendLimitTotal = "off", "off", "off"
	free, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("find a free port: %w", err)
	}
	c.ListenAddr, c.PublicURL = free.Addr().String(), "http://"+free.Addr().String()
	_ = free.Close() // so that the bot can listen there
	g.links = web.NewLinks(c.PublicURL, c.Token)
	if err := c.Resolve(); err != nil {
		return err
	}
	g.group.Promote(g.sim.Bot()) // so that it may pin the board
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	pool, err := pgxpool.New(ctx, databaseURL)
	if err != nil {
		return fmt.Errorf("open the database of the demo: %w", err)
	}
	g.pool, g.outbox = pool, pgoutbox.NewStore(pool)
	ctx, g.stopBot = context.WithCancel(ctx)
	go func() {
		defer close(g.ended)
		g.botErr = app.Run(ctx, c, log)
	}()
	return nil
}

// openWebBoard turns on the group's web board, and sets g.board to its link.
func (g *demoGroup) openWebBoard(ctx context.Context) error {
	var b ranking.WebBoard
	const sql = `UPDATE groups SET web_on = true, web_salt = gen_random_uuid() RETURNING id, web_salt::text`
	if err := g.pool.QueryRow(ctx, sql).Scan(&b.Group, &b.Salt); err != nil {
		return fmt.Errorf("turn the web board of the demo on: %w", err)
	}
	g.board = g.links.Link(b)
	return nil
}

// play plays the days, the last of which ends now. Below the title, it shows at most shown lines of
// the output, and keeps the remaining lines in g.rest.
func (g *demoGroup) play(ctx context.Context, days []day, shown int) error {
	g.paper.title("Table tennis", "a group of six and elobot")
	out, said := g.paper.out, new(strings.Builder)
	g.paper.out = said
	defer func() { g.paper.out = out }()
	var shownAlready heard
	for _, d := range days {
		g.clock.begin(d.ago)
		g.paper.date(g.clock.now())
		for _, l := range d.lines {
			if g.rest == "" {
				shownAlready = heard{g.lastOfBot, slices.Clone(g.withButtons)}
			}
			if err := g.playLine(ctx, l); err != nil {
				return err
			}
			if shown -= strings.Count(said.String(), "\n"); shown < 0 || g.rest != "" {
				g.rest += said.String()
			} else {
				_, _ = io.WriteString(out, said.String())
			}
			said.Reset()
		}
	}
	g.clock.finish()
	if g.rest != "" {
		g.atEnd, g.heard = g.heard, shownAlready
	}
	return nil
}

// playLine plays a line of the scene, and waits until the bot has responded.
func (g *demoGroup) playLine(ctx context.Context, l line) error {
	if l.later {
		g.clock.pause()
	}
	if l.press != "" {
		_, buttons := g.keyboard()
		at := slices.IndexFunc(buttons, func(b botsim.Button) bool { return b.Text == l.press })
		return g.press(ctx, g.person(l.from), 1+at)
	}
	var to botsim.Message
	if l.replyTo != "" {
		to = g.last[g.person(l.replyTo).ID]
	}
	g.say(g.person(l.from), l.text, to)
	if err := g.settle(ctx); err != nil || !l.pins {
		return err
	}
	if err := g.await(ctx, func(context.Context) (bool, error) { return len(g.group.AllPinned()) > 0, nil }); err != nil {
		return err
	}
	g.paper.aside(pinnedNote)
	return nil
}

// pinnedNote describes the board, which the demo does not show.
const pinnedNote = "elobot posts the ranking and pins it. From now on, it edits that message after every match."

// settle shows what the bot does until it has handled everything that happened in the group and
// sent all its answers. Only the board may follow later.
func (g *demoGroup) settle(ctx context.Context) error {
	return g.await(ctx, func(ctx context.Context) (bool, error) {
		if g.sim.Pending() > 0 {
			return false, nil
		}
		waiting, err := g.outbox.Waiting(ctx, outbox.Bounds{})
		answering := slices.ContainsFunc(waiting, func(b outbox.Backlog) bool { return b.Lane.Kind != outbox.Boards })
		return !answering && g.seen >= arrivals(g.group), err
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

// await shows what arrives in the group until reached returns true. It fails after answerTimeout,
// or when the bot ends.
func (g *demoGroup) await(ctx context.Context, reached func(context.Context) (bool, error)) error {
	waiting, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	tick := time.NewTicker(awaitInterval)
	defer tick.Stop()
	for {
		if ok, err := reached(waiting); ok || err != nil {
			return errors.Join(err, ctx.Err())
		}
		select {
		case m := <-g.messages:
			g.print(m)
		case <-tick.C:
		case <-g.ended:
			return g.unexpectedEnd(ctx)
		case <-waiting.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return errors.New("the bot does not answer")
		}
	}
}

// say sends a message to the group, as a reply to another message unless to is the zero Message.
func (g *demoGroup) say(from botsim.User, text string, to botsim.Message) {
	g.last[from.ID] = g.group.Post(botsim.Post{From: from, Text: text, ReplyTo: to.ID})
}

// press presses a button of the keyboard, counted from 1, and shows what happens. If there is no
// such button, it tells the user.
func (g *demoGroup) press(ctx context.Context, who botsim.User, number int) error {
	m, buttons := g.keyboard()
	if len(buttons) == 0 {
		g.paper.remark("There is no button to press.")
		return nil
	}
	if number < 1 || number > len(buttons) {
		g.paper.remark("There is no button %d below %s. The last one is %d.", number, excerpt(m), len(buttons))
		return nil
	}
	button := buttons[number-1]
	if button.CallbackData == "" {
		g.paper.pressed(who, button, m, "")
		return nil
	}
	waiting, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	answer, err := g.sim.WaitAnswer(waiting, g.sim.Press(who, m, button.CallbackData))
	if err != nil {
		return err
	}
	g.paper.pressed(who, button, m, answer.Text)
	return g.settle(ctx)
}

// keyboard returns the message last shown with buttons, and its buttons.
func (g *demoGroup) keyboard() (botsim.Message, []botsim.Button) {
	if len(g.withButtons) == 0 {
		return botsim.Message{}, nil
	}
	m := g.withButtons[len(g.withButtons)-1]
	return m, buttonsOf(m)
}

// buttonsOf returns the buttons below a message. The demo numbers them from 1.
func buttonsOf(m botsim.Message) []botsim.Button { return slices.Concat(m.Buttons...) }

// print shows a message or edit that has arrived in the group, unless it is the board or a service
// message.
func (g *demoGroup) print(m botsim.Message) {
	g.seen++
	switch {
	case isBoard(m), m.Service != "": // not shown; pinnedNote describes the board
	case m.From.IsBot:
		g.answers++
		if m.Edits == 0 {
			g.lastOfBot = m
		}
		g.withButtons = slices.DeleteFunc(g.withButtons, func(shown botsim.Message) bool { return shown.ID == m.ID })
		if len(m.Buttons) > 0 {
			g.withButtons = append(g.withButtons, m)
		}
		g.paper.bot(m, g.picture(m))
	default:
		g.paper.person(m, g.repliedTo(m))
	}
}

// picture describes the message's picture: where it is saved and, while the web board is on, which
// page of the board shows the same chart. It returns "" for a message without a picture.
func (g *demoGroup) picture(m botsim.Message) string {
	if m.Photo == nil {
		return ""
	}
	shown := "[picture, " + g.savePicture(m.Photo.Content) + "]"
	if g.board == "" {
		return shown
	}
	page := g.board
	for _, b := range buttonsOf(m) {
		if charted, ok := bot.ChartOf(b.CallbackData); ok && len(charted.Players) == 1 {
			page = fmt.Sprintf("%splayer/%d", g.board, charted.Players[0].Player)
		}
	}
	return shown + "\n[as a page: " + page + "]"
}

// savePicture saves a picture, so that the user can look at it even after the demo. It returns the
// path or, on failure, the message of the error.
func (g *demoGroup) savePicture(content []byte) string {
	if g.folder == "" {
		folder, err := os.MkdirTemp("", "elobot-demo-")
		if err != nil {
			return err.Error()
		}
		g.folder = folder
	}
	g.pictures++
	path := filepath.Join(g.folder, fmt.Sprintf("%d.png", g.pictures))
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return err.Error()
	}
	return path
}

// isBoard reports whether a message is the group's board. It recognizes the board by the link in
// it.
func isBoard(m botsim.Message) bool { return strings.Contains(m.HTML, "object=board") }

// repliedTo returns the name of the author of the message that m replies to, or "" if m is not a
// reply.
func (g *demoGroup) repliedTo(m botsim.Message) string {
	to, ok := g.group.Message(m.ReplyTo)
	switch {
	case m.ReplyTo == 0 || !ok:
		return ""
	case to.From.IsBot:
		return botName
	}
	return to.From.FirstName
}

// close waits until the bot has confirmed all updates, for at most answerTimeout. Then it stops the
// bot and, unless the demo was interrupted, shows the bot's last answers.
func (g *demoGroup) close(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	err := errors.Join(g.sim.WaitConfirmed(waiting), g.endBot())
	if ctx.Err() != nil {
		return ctx.Err() // interrupted: do not show the rest
	}
	for g.seen < arrivals(g.group) {
		g.print(<-g.messages)
	}
	return err
}

func (g *demoGroup) endBot() error {
	g.stopBot()
	<-g.ended
	g.pool.Close()
	return g.botErr
}

// unexpectedEnd returns why the bot ended although the demo did not stop it, or the error of ctx if
// the demo was interrupted.
func (g *demoGroup) unexpectedEnd(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("the bot ended unexpectedly: %w", g.botErr)
}
