package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"time"
	"unicode/utf16"

	"golang.org/x/term"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp"
)

const (
	// answerPatience is how long the demo waits for an answer that must come.
	answerPatience = 15 * time.Second
	// silencePatience is how long it waits for one that need not come, from when the bot has taken what was said.
	silencePatience = time.Second
	// longestMessage is what Telegram takes, in UTF-16 code units.
	longestMessage = 4096
	// longestLine is what the demo reads at once, in bytes.
	longestLine = 1 << 20
)

type demoCommand struct {
	Once bool `help:"End after the scene."`
}

// Run plays the scene, and then lets whoever sits at the terminal join in.
func (d *demoCommand) Run(ctx context.Context) error {
	if err := forgetDatabaseSettings(); err != nil {
		return err
	}
	paper := newTranscript(os.Stdout, isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == "")
	paper.aside("Starting a PostgreSQL of its own for this demo …")
	server, err := pgtemp.Start(ctx, pgtemp.Options{})
	if err != nil {
		return err
	}
	defer stopServer(server)
	paper.aside("%s is ready.", server.Kind())

	sim, err := botsim.New()
	if err != nil {
		return fmt.Errorf("start the pretended Telegram: %w", err)
	}
	defer sim.Close()
	s := newStage(sim, paper)
	defer s.leave()
	if err := s.startBot(ctx, server.URL()); err != nil {
		return err
	}
	defer func() { _ = s.endBot() }() // how it ended is known by then
	if err := s.play(ctx, scene); err != nil {
		return err
	}
	if d.Once {
		paper.aside("\nThat was the real bot on a real database. README.md says how to run it in Telegram.")
	} else {
		if err := s.converse(ctx, os.Stdin, isTerminal(os.Stdin)); err != nil {
			return err
		}
	}
	return s.close(ctx)
}

// forgetDatabaseSettings removes the variables of PostgreSQL's programs from this process: they mean the reader's own
// server, and would otherwise complete the address of the demo's.
func forgetDatabaseSettings() error {
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "PG") {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return fmt.Errorf("forget %s: %w", name, err)
		}
	}
	return nil
}

func stopServer(server *pgtemp.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := server.Stop(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "elobot:", err)
	}
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// stage is the group in which the demo plays: a pretended Telegram on one side, the real bot on the other. What it
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
	c := config{Token: s.sim.Token(), DatabaseURL: databaseURL, TelegramURL: s.sim.URL()}
	if err := c.complete(); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ctx, s.stopBot = context.WithCancel(ctx)
	go func() {
		defer close(s.ended)
		s.botErr = runBot(ctx, c, log)
	}()
	return nil
}

// play says the lines, and after each that is a command waits for the bot's answer.
func (s *stage) play(ctx context.Context, lines []line) error {
	s.paper.title("Table tennis", "a group of four and elobot")
	for _, l := range lines {
		answered := s.answers
		s.say(l)
		if !strings.HasPrefix(l.text, "/") {
			answered-- // nothing to wait for but the line itself
		}
		enough := func() bool { return s.answers > answered && s.shown >= len(s.group.Messages()) }
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
	s.shown++
	if m.From.IsBot {
		s.answers++
		s.paper.bot(m)
		return
	}
	s.paper.person(m, s.repliedTo(m))
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
	s.paper.aside("\nNow you. Try:  /match @alice 3:2   bob: /match @carol 3:1   /ranking   /help")
	s.paper.aside("Without a name it is you who speaks. Ctrl-D ends the demo.")
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
	answered := s.answers
	s.say(l)
	if s.paper.typed || !strings.HasPrefix(l.text, "/") {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return s.show(ctx, func() bool { return s.answers > answered }, s.silence(ctx))
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
	for s.shown < len(s.group.Messages()) {
		s.print(<-s.messages)
	}
	return err
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

// line is what somebody says, perhaps as a reply to what somebody else has said last.
type line struct {
	from, text, replyTo string
}

var named = regexp.MustCompile(`^\s*(\pL[\pL\pN_ ]{0,30}?)\s*:\s*(\S.*)$`)

// parseLine reads "bob: /match @alice 3:2". Without a name it is "you" who speaks.
func parseLine(text string) (line, bool) {
	text = strings.TrimSpace(text)
	if m := named.FindStringSubmatch(text); m != nil {
		return line{from: strings.ToLower(m[1]), text: m[2]}, true
	}
	return line{from: "you", text: text}, text != ""
}

// scene is what the demo plays: a newcomer's first minute.
var scene = []line{
	{from: "alice", text: "/start"},
	{from: "alice", text: "/match @bob 3:1"},
	{from: "carol", text: "/match @dave 2:3"},
	{from: "bob", text: "Revenge!"},
	{from: "bob", text: "/match @alice 3:2"},
	{from: "dave", text: "/match @alice @carol 3:0"},
	{from: "carol", text: "best of three, anyone?"},
	{from: "alice", text: "/match 3-1", replyTo: "carol"},
	{from: "bob", text: "/match @dave 2:2"},
	{from: "dave", text: "/match @carol 3"},
	{from: "dave", text: "/match @carol 3:1"},
	{from: "alice", text: "/match @dave 1:3"},
	{from: "bob", text: "/match @carol 3:0"},
	{from: "carol", text: "/match @alice 3:2"},
	{from: "dave", text: "/match @bob 0:3"},
	{from: "carol", text: "/match @dave 3:1"},
	{from: "alice", text: "/match @bob 3:2"},
	{from: "bob", text: "/ranking"},
}
