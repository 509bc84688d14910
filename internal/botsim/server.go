package botsim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"elobot/internal/botsim/parameters"
	"elobot/internal/botsim/updates"
	"elobot/internal/botsim/webhook"
)

// Server simulates Telegram for one bot.
type Server struct {
	opts       options
	bot        User
	url        string
	http       *http.Server
	client     *http.Client // delivers to the webhook
	methods    map[string]method
	parameters *parameters.Table
	done       chan struct{}  // closed when Close begins
	handlers   sync.WaitGroup // requests, the accept loop, webhook lanes and subscribers' pumps
	serveErr   error          // error of the accept loop; read only after handlers.Wait

	mu     sync.Mutex // guards everything below and the state of every Chat
	closed bool

	users      map[int64]User
	userByName map[string]int64 // by lower-case username, or first name for users without one
	former     map[User]bool    // earlier states of renamed users
	nextUser   int64

	chats          map[int64]*Chat
	nextSupergroup int64
	nextGroup      int64
	lastSharedID   int // private chats and basic groups share one sequence

	queue     *updates.Queue
	webhook   *activeWebhook // nil if none is set, so the bot uses getUpdates
	queries   map[string]*callbackQuery
	nextQuery int64
	commands  map[string][]botCommand
	photos    int                   // number of uploaded photos, for their file ids
	documents map[string]*Document  // by file id
	served    map[string]servedFile // by the path from getFile

	record      callRecord
	complaints  complaintList
	faults      []*activeFault
	onCall      hookList[Call]
	afterEffect hookList[Call]
	subscribers map[*subscriber]struct{}
	limiter     limiter

	deliveries []*Delivery // in the order in which they started
	onDelivery hookList[Delivery]

	confirmed signal // fires when updates are confirmed
	answered  signal // fires when a button press is answered
}

// TB is the part of testing.TB that Start needs. It keeps package testing out of programs that use
// the simulator outside tests.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Start is like New, for tests: an error fails the test, and the server is closed when the test
// ends.
func Start(t TB, opts ...Option) *Server {
	t.Helper()
	s, err := New(opts...)
	if err != nil {
		t.Fatalf("start botsim: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// New starts a server. The caller must close it.
func New(opts ...Option) (*Server, error) {
	o := defaultOptions()
	for _, opt := range opts {
		opt(&o)
	}
	bot, err := botUser(o)
	if err != nil {
		return nil, err
	}
	table, err := parameters.Load()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", o.address)
	if err != nil {
		return nil, fmt.Errorf("listen for the bot: %w", err)
	}
	s := &Server{
		opts:           o,
		bot:            bot,
		url:            "http://" + listener.Addr().String(),
		client:         webhook.NewClient(),
		methods:        methods(),
		parameters:     table,
		done:           make(chan struct{}),
		users:          map[int64]User{bot.ID: bot},
		userByName:     map[string]int64{},
		former:         map[User]bool{},
		nextUser:       firstUserID,
		chats:          map[int64]*Chat{},
		nextSupergroup: firstSupergroupID,
		nextGroup:      firstGroupID,
		queue:          updates.NewQueue(),
		queries:        map[string]*callbackQuery{},
		nextQuery:      firstQueryID,
		commands:       map[string][]botCommand{},
		documents:      map[string]*Document{},
		served:         map[string]servedFile{},
		record:         callRecord{limit: o.recordLimit},
		subscribers:    map[*subscriber]struct{}{},
		limiter:        limiter{limits: o.limits},
	}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}
	s.handlers.Go(func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.serveErr = err
		}
	})
	return s, nil
}

// URL returns the address that the bot uses in place of https://api.telegram.org.
func (s *Server) URL() string { return s.url }

// Token returns the bot's token. Requests with any other token get a 401.
func (s *Server) Token() string { return s.opts.token }

// Bot returns the bot's own user.
func (s *Server) Bot() User { return s.bot }

// Close interrupts long polls, deliveries and connections, and returns when all of them have ended.
// It must not be called from a hook. A second call does nothing.
func (s *Server) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	close(s.done)
	if s.webhook != nil {
		s.webhook.end()
	}
	s.mu.Unlock()
	err := s.http.Close()
	s.handlers.Wait()
	s.client.CloseIdleConnections()
	if err = errors.Join(err, s.serveErr); err != nil {
		s.complain("close: %v", err)
	}
}

// enter registers a request in progress, unless the server is closed. It reports whether the server
// is open.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.handlers.Add(1)
	return true
}

func (s *Server) now() time.Time { return s.opts.clock() }

// ErrClosed is the error of a Wait method that was interrupted by Close.
var ErrClosed = errors.New("botsim is closed")

// wait waits until condition returns true. It fails if ctx is done or the server is closed first.
// It calls condition with the lock held. sig must fire whenever the result of condition may have
// changed.
func (s *Server) wait(ctx context.Context, sig *signal, condition func() bool) error {
	for {
		s.mu.Lock()
		if condition() {
			s.mu.Unlock()
			return nil
		}
		changed := sig.next()
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.done:
			return ErrClosed
		}
	}
}

// signal wakes all goroutines that wait for a change. The server's lock guards it.
type signal struct{ ch chan struct{} }

func (g *signal) next() <-chan struct{} {
	if g.ch == nil {
		g.ch = make(chan struct{})
	}
	return g.ch
}

func (g *signal) fire() {
	if g.ch != nil {
		close(g.ch)
		g.ch = nil
	}
}

// Option configures a Server.
type Option func(*options)

type options struct {
	address     string
	token       string
	botUsername string
	clock       func() time.Time
	recordLimit int
	limits      Limits
	privacy     bool

	webhookDelays func(attempt int) time.Duration
}

func defaultOptions() options {
	return options{
		address:     "127.0.0.1:0",
		token:       "7000000001:AAsimulated_bot_token_opens_nothing",
		botUsername: "elo_bot",
		clock:       time.Now,

		webhookDelays: webhook.RetryDelay,
	}
}

// WithAddress sets the address to listen on. The default is a free port of the loopback interface.
// Only the token protects the server, so the address must not be reachable from other machines.
func WithAddress(address string) Option { return func(o *options) { o.address = address } }

// WithToken sets the bot's token. The number before the colon is the bot's user id.
func WithToken(token string) Option { return func(o *options) { o.token = token } }

// WithBotUsername sets the bot's username, without the @. The default is elo_bot.
func WithBotUsername(name string) Option { return func(o *options) { o.botUsername = name } }

// WithClock sets the clock of the server. It determines, for example, the dates of messages, the
// limits, and the lifetimes of updates and button presses. Long polls, delays, and the timeouts and
// retries of deliveries always use real time.
func WithClock(now func() time.Time) Option { return func(o *options) { o.clock = now } }

// WithPrivacyMode turns the bot's privacy mode on. By default, the bot sees all messages of its
// groups.
func WithPrivacyMode() Option { return func(o *options) { o.privacy = true } }

// WithRecordLimit limits the record to the last n calls and the last n deliveries. The default, 0,
// means no limit.
func WithRecordLimit(n int) Option { return func(o *options) { o.recordLimit = n } }

// WithLimits makes the server respond 429 to sends and edits beyond the limits. By default there
// are no limits.
func WithLimits(l Limits) Option { return func(o *options) { o.limits = l } }

// WithWebhookDelays sets a function that returns the delay after a failed attempt to deliver an
// update. The argument is the number of the attempt: 1, 2, 3 … A positive Retry-After in the
// response replaces the delay. The default delays are 0, 2, 4, 8 … seconds, at most 60.
func WithWebhookDelays(after func(attempt int) time.Duration) Option {
	return func(o *options) { o.webhookDelays = after }
}

func botUser(o options) (User, error) {
	prefix, _, ok := strings.Cut(o.token, ":")
	id, err := strconv.ParseInt(prefix, 10, 64)
	if !ok || err != nil || id <= 0 {
		return User{}, fmt.Errorf("bot token %q does not begin with the bot's id and a colon", o.token)
	}
	return User{ID: id, IsBot: true, FirstName: "Elo", Username: o.botUsername}, nil
}
