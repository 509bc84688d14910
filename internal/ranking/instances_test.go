package ranking_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// instanceVariable in the environment turns the test binary into an instance of the service.
const instanceVariable = "ELOBOT_TEST_INSTANCE"

const (
	instances    = 3
	clientsEach  = 16                     // clients per instance
	startTimeout = 30 * time.Second       // for the database to accept connections, or for sessions to block
	retryDelay   = 100 * time.Millisecond // before a request is repeated
)

var fourPlayers = []command.Person{alice, bob, carol, zoe}

const (
	recordRequest = "record"
	undoRequest   = "undo"
	fixRequest    = "fix"
)

// request is a command of a client, with everything needed to repeat it.
type request struct {
	Message int64 // id of its message, which determines the key
	Kind    string
	Sender  int // index into fourPlayers, as are A and B
	SentAt  time.Time
	A, B    []int            // players of the match to be recorded
	Score   ladder.Score     // of the match to be recorded or fixed
	Match   ranking.MatchRef // the match to be amended
}

func (o request) key() string { return messageKey(o.Message) }

func messageKey(message int64) string { return fmt.Sprintf("m:%d:%d", club.ID, message) }

func (o request) send(ctx context.Context, service *ranking.Service) error {
	origin := ranking.Origin{
		Key: o.key(), Chat: club, Sender: &fourPlayers[o.Sender], SentAt: o.SentAt, Place: ranking.Place{ReplyTo: o.Message},
	}
	amendment := ranking.Amendment{Match: o.Match}
	switch o.Kind {
	case recordRequest:
		report := command.Match{Scores: []ladder.Score{o.Score}}
		for _, i := range o.A {
			report.A = append(report.A, fourPlayers[i])
		}
		for _, i := range o.B {
			report.B = append(report.B, fourPlayers[i])
		}
		return service.RecordMatch(ctx, origin, report)
	case undoRequest:
		return service.Do(dbtest.AsAdmin(ctx), origin, ranking.UndoMatch{Amendment: amendment})
	case fixRequest:
		return service.Do(dbtest.AsAdmin(ctx), origin,
			ranking.FixMatch{Amendment: amendment, Scores: []ladder.Score{o.Score}})
	}
	return fmt.Errorf("unknown kind of request %q", o.Kind)
}

// These are the messages to an instance after its assignment. An instance exits when its standard
// input is closed, because then the test that started it has ended.
const (
	stopMessage = "stop" // finish open requests, then exit
	killMessage = "die"  // kill the process after the next commit
)

// assignment is the first message to an instance.
type assignment struct {
	URL         string
	Seed        uint64
	First       int64     // first of the message ids reserved for this instance
	Each        int       // requests per client; 0 for any number until stopMessage
	Amends      bool      // one client amends instead of recording
	Recorded    int       // roughly how many matches exist
	Redelivered []request // requests left open by another instance, at most one per client
}

// event is a line of an instance's output. It is written in one call, so that a kill does not
// truncate it.
type event struct {
	Begin *request `json:",omitempty"` // before a request is sent for the first time
	End   int64    `json:",omitempty"` // message of a handled request
	Tries int      // attempts that the request took
	Took  time.Duration
	Error string `json:",omitempty"`
}

// instance is a running instance from its own point of view.
type instance struct {
	assignment
	service *ranking.Service
	store   *pgranking.Store
	stop    chan struct{} // closed when no new requests may start
	// killOnCommit is set if the process must kill itself after the next commit.
	killOnCommit atomic.Bool

	mu       sync.Mutex
	out      io.Writer
	recorded []int64 // messages of handled reports
	amended  []ranking.MatchRef
}

// instanceMain is the main function of an instance. It returns the exit code.
func instanceMain() int {
	if err := runInstance(os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// runInstance reads the assignment and runs the clients until they are done.
func runInstance(in io.Reader, out, log io.Writer) error {
	i := &instance{out: out, stop: make(chan struct{})}
	input := json.NewDecoder(in)
	if err := input.Decode(&i.assignment); err != nil {
		return fmt.Errorf("read the assignment: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		var word string
		for input.Decode(&word) == nil {
			switch word {
			case stopMessage:
				close(i.stop)
			case killMessage:
				i.killOnCommit.Store(true)
			}
		}
		cancel()
	}()
	logger := slog.New(slog.NewJSONHandler(log, nil))
	pool, err := postgres.Open(ctx, i.URL, startTimeout, logger)
	if err != nil {
		return err
	}
	defer postgres.Close(pool)
	i.store = pgranking.NewStore(pool, i.committed)
	i.service = ranking.NewService(i.store, nil, dbtest.Admins{}, logger, ranking.Settings{ResultsPerMinute: -1})
	var clients errgroup.Group
	for c := range clientsEach {
		clients.Go(func() error { return i.client(ctx, c) })
	}
	return clients.Wait()
}

// committed is called when something to be sent has been committed. It kills the process if
// killOnCommit is set.
func (i *instance) committed(outbox.Lane) {
	if !i.killOnCommit.Load() {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

// client repeats one of the redelivered requests, if any, and then sends new requests one after the
// other.
func (i *instance) client(ctx context.Context, c int) error {
	if c < len(i.Redelivered) {
		if err := i.execute(ctx, i.Redelivered[c]); err != nil {
			return err
		}
	}
	random := rand.New(rand.NewPCG(i.Seed, uint64(i.First)+uint64(c)))
	for n := 0; i.Each == 0 || n < i.Each; n++ {
		select {
		case <-i.stop:
			return nil
		default:
		}
		o := i.newRequest(random, i.First+int64(c+n*clientsEach), i.Amends && c == 0)
		if err := i.write(event{Begin: &o}); err != nil {
			return err
		}
		if err := i.execute(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// newRequest returns a random report, or a random undo or fix if amends is set.
func (i *instance) newRequest(random *rand.Rand, message int64, amends bool) request {
	o := request{
		Message: message, Kind: recordRequest, Sender: random.IntN(len(fourPlayers)),
		SentAt: time.Now().UTC().Truncate(time.Second),
		Score:  ladder.Score{A: random.IntN(4), B: random.IntN(4)},
	}
	if !amends {
		size := 1 + random.IntN(2)
		who := random.Perm(len(fourPlayers))
		o.A, o.B = who[:size], who[size:2*size]
		return o
	}
	o.Kind = []string{undoRequest, fixRequest}[message/clientsEach%2]
	i.mu.Lock()
	defer i.mu.Unlock()
	switch random.IntN(6) {
	case 0: // the sender's last match
	case 1: // a match, by the message that reported it
		if n := len(i.recorded); n > 0 {
			made := i.recorded[random.IntN(n)]
			o.Match = ranking.MatchRef{Message: made, Key: messageKey(made)}
		}
	case 2: // a match that an earlier request has named by number
		if n := len(i.amended); n > 0 {
			o.Match = i.amended[random.IntN(n)]
		}
	default: // any number, perhaps of no match
		o.Match.Number = 1 + random.IntN(i.Recorded+3*len(i.recorded)+1)
		i.amended = append(i.amended, o.Match)
	}
	return o
}

// execute sends the request, and repeats it as long as the database is unavailable or too slow.
func (i *instance) execute(ctx context.Context, o request) error {
	started := time.Now()
	for tries := 1; ; tries++ {
		err := o.send(ctx, i.service)
		switch {
		case err == nil:
			i.mu.Lock()
			if o.Kind == recordRequest {
				i.recorded = append(i.recorded, o.Message)
			}
			i.mu.Unlock()
			return i.write(event{End: o.Message, Tries: tries, Took: time.Since(started)})
		case ctx.Err() != nil || !i.store.RetryLater(err) && !errors.Is(err, ranking.ErrTimeout):
			err = fmt.Errorf("%s %s: %w", o.Kind, o.key(), err)
			return errors.Join(err, i.write(event{Error: err.Error()}))
		}
		timer := time.NewTimer(retryDelay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

func (i *instance) write(e event) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	_, err = i.out.Write(append(line, '\n'))
	return err
}
