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

	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// instanceVariable in the environment makes the test binary an instance of the service instead of running tests.
const instanceVariable = "ELOBOT_TEST_INSTANCE"

const (
	instances    = 3
	clientsEach  = 16                     // of an instance
	startTimeout = 30 * time.Second       // with a database that is away at the start
	retryDelay   = 100 * time.Millisecond // before an order is given once more
)

// four are all who play.
var fourPlayers = []ranking.Person{alice, bob, carol, zoe}

// What an order can be.
const (
	recordRequest = "record"
	undoRequest   = "undo"
	fixRequest    = "fix"
)

// order is a command of a client, with all that it takes to give it once more.
type request struct {
	Message int64 // makes the key
	Kind    string
	Sender  int // the four are meant by their indexes
	SentAt  time.Time
	A, B    []int            // who plays, in a match to be recorded
	Score   ranking.Score    // of the match to be recorded or corrected
	Match   ranking.MatchRef // which match is taken back
}

func (o request) key() string { return messageKey(o.Message) }

func messageKey(message int64) string { return fmt.Sprintf("m:%d:%d", club.ID, message) }

func (o request) send(ctx context.Context, service *ranking.Service) error {
	origin := ranking.Origin{Key: o.key(), Chat: club, Sender: &fourPlayers[o.Sender], SentAt: o.SentAt, ReplyTo: o.Message}
	amendment := ranking.Amendment{Match: o.Match, IsAdmin: admin}
	switch o.Kind {
	case recordRequest:
		report := ranking.Report{Scores: []ranking.Score{o.Score}}
		for _, i := range o.A {
			report.A = append(report.A, fourPlayers[i])
		}
		for _, i := range o.B {
			report.B = append(report.B, fourPlayers[i])
		}
		return service.RecordMatch(ctx, origin, report)
	case undoRequest:
		return service.UndoMatch(ctx, origin, amendment)
	case fixRequest:
		return service.FixMatch(ctx, origin, amendment, []ranking.Score{o.Score})
	}
	return fmt.Errorf("an order of the kind %q", o.Kind)
}

// What an instance may be told after its assignment. When its standard input is closed without a word, whoever has
// started it is dead, and it ends at once.
const (
	stopMessage = "stop" // end what has been begun, and yourself
	killMessage = "die"  // kill yourself at the next commit
)

// assignment is what an instance is told first of all.
type assignment struct {
	URL         string
	Seed        uint64
	First       int64     // message, of those that belong to this instance alone
	Each        int       // how many orders a client gives, 0: until it is told to stop
	Amends      bool      // one client undoes and corrects instead of recording
	Recorded    int       // how many matches there are already, more or less
	Redelivered []request // what another instance has begun and perhaps not ended, at most one for each client
}

// event is what an instance tells on its standard output, in one line and in one write, so that no line is ever cut.
type event struct {
	Begin *request `json:",omitempty"` // told before it is given for the first time
	End   int64    `json:",omitempty"` // the message of the order that has been handled
	Tries int      // that it took
	Took  time.Duration
	Error string `json:",omitempty"`
}

// instance is one of the processes, from inside.
type instance struct {
	assignment
	service *ranking.Service
	store   *postgres.Store
	stop    chan struct{} // closed when nothing new shall be begun
	// condemned is set when the next commit shall be the last thing that the process does.
	killOnCommit atomic.Bool

	mu       sync.Mutex
	out      io.Writer
	recorded []int64 // the messages that have recorded a match
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

// runInstance is the whole life of an instance.
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
	i.store = postgres.NewStore(pool, i.committed)
	i.service = ranking.NewService(i.store, logger, ranking.Settings{ResultsPerMinute: -1})
	var clients errgroup.Group
	for c := range clientsEach {
		clients.Go(func() error { return i.client(ctx, c) })
	}
	return clients.Wait()
}

// committed ends a process that is condemned between the commit and whatever would follow it.
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

// client gives orders one after the other.
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

// invent makes an order up.
func (i *instance) newRequest(random *rand.Rand, message int64, amends bool) request {
	o := request{
		Message: message, Kind: recordRequest, Sender: random.IntN(len(fourPlayers)), SentAt: time.Now().UTC().Truncate(time.Second),
		Score: ranking.Score{A: random.IntN(4), B: random.IntN(4)},
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
	case 0: // the last one of the sender
	case 1: // the one that some command has made
		if n := len(i.recorded); n > 0 {
			made := i.recorded[random.IntN(n)]
			o.Match = ranking.MatchRef{Message: made, Key: messageKey(made)}
		}
	case 2: // one that was taken back before
		if n := len(i.amended); n > 0 {
			o.Match = i.amended[random.IntN(n)]
		}
	default: // any number, perhaps one that is not there
		o.Match.Number = 1 + random.IntN(i.Recorded+3*len(i.recorded)+1)
		i.amended = append(i.amended, o.Match)
	}
	return o
}

// carryOut gives the order until the database has been there for it, in time.
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
		case ctx.Err() != nil || !i.store.Unavailable(err) && !errors.Is(err, ranking.ErrTimeout):
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
