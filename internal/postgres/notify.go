package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/sethvargo/go-retry"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// The channels on which the instances talk.
const (
	outboxChannel = "elobot_outbox" // lanes, as laneLists writes them
	leaseChannel  = "elobot_lease"  // the name of a lease that was released
	adminsChannel = "elobot_admins" // the messenger's id of a chat
)

const (
	// maxUnsaid bounds how many lanes, and how many chats, are kept to be told of.
	maxUnsaid = 10_000
	// notifyAgain is how long to wait after a failure.
	notifyAgain = time.Second
	// notifyTimeout bounds a statement.
	notifyTimeout = time.Second
	// notifyCheck is how long it may be silent before the connection is tried out.
	notifyCheck = 30 * time.Second
)

// Heard is what to do about what an instance has said, this one included. The functions must not block; what is nil is
// ignored.
type Events struct {
	Wake          func(...outbox.Lane)         // there is something new to be sent
	LeaseReleased func()                       // the LeaderLease is to be had
	AdminsChanged func(ranking.ExternalChatID) // others than before may be the chat's admins
	// Began is called when hearing begins, and again when it does after an interruption in which anything may have been said.
	Began func()
}

// Notifier tells all instances what one of them knows first, by LISTEN and NOTIFY. Nothing that is said is kept: who does
// not listen at that moment, or has lost the connection, never hears of it and must find it out otherwise.
type Notifier struct {
	pool  *pgxpool.Pool
	heard Events
	log   *slog.Logger

	mu     sync.Mutex
	lanes  map[outbox.Lane]struct{} // that are to be told of
	chats  map[ranking.ExternalChatID]struct{}
	signal chan struct{} // there is something to be said

	deaf, mute bool // it does not hear anything, and cannot say anything; at first it is neither
}

// NewNotifier returns a notifier in the database of the pool that waits for Run.
func NewNotifier(pool *pgxpool.Pool, heard Events, log *slog.Logger) *Notifier {
	return &Notifier{
		pool: pool, heard: heard, log: log,
		lanes: make(map[outbox.Lane]struct{}), chats: make(map[ranking.ExternalChatID]struct{}),
		signal: make(chan struct{}, 1),
	}
}

// Wake tells the others that these lanes have something to be sent, soon after it returns. It never blocks. Of very many
// lanes at once some are left out.
func (n *Notifier) Wake(lanes ...outbox.Lane) { add(n, n.lanes, lanes) }

// AdminsChanged tells the others that the admins of a chat have changed, as Wake does.
func (n *Notifier) AdminsChanged(chat ranking.ExternalChatID) {
	add(n, n.chats, []ranking.ExternalChatID{chat})
}

func add[T comparable](n *Notifier, unsaid map[T]struct{}, more []T) {
	n.mu.Lock()
	for _, m := range more {
		if len(unsaid) < maxUnsaid {
			unsaid[m] = struct{}{}
		}
	}
	n.mu.Unlock()
	select {
	case n.signal <- struct{}{}:
	default:
	}
}

// Run says and hears until the context ends; then it returns nil. It listens on a connection of its own, which does not
// count as one of the pool.
func (n *Notifier) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	parts.Go(func() {
		for ctx.Err() == nil {
			n.insist(ctx, &n.deaf, n.listen)
		}
	})
	parts.Go(func() {
		for ctx.Err() == nil {
			select {
			case <-n.signal:
				n.insist(ctx, &n.mute, n.publish)
			case <-ctx.Done():
			}
		}
	})
	parts.Wait()
	return nil
}

// insist does something again and again until it succeeds or the context ends.
func (n *Notifier) insist(ctx context.Context, failing *bool, do func(context.Context) error) {
	//nolint:errcheck // the error is in the log, or that of the context
	retry.Do(ctx, retry.NewConstant(notifyAgain), func(ctx context.Context) error {
		err := do(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		n.report(ctx, failing, err)
		return retry.RetryableError(err)
	})
}

// report notes whether something fails, and says once that it begins to be so, and once that all is well again.
func (n *Notifier) report(ctx context.Context, failing *bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.deaf || n.mute
	*failing = err != nil
	switch now := n.deaf || n.mute; {
	case now && !before:
		n.log.WarnContext(ctx, "cannot talk to the other instances, trying again", "error", err)
	case before && !now:
		n.log.InfoContext(ctx, "talking to the other instances again")
	}
}

// publish says what there is to be said, in a transaction of its own: who notifies holds up everybody else who does until
// the commit.
func (n *Notifier) publish(ctx context.Context) error {
	const sql = `SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS said (channel, payload)`
	n.mu.Lock()
	lanes, chats := slices.Collect(maps.Keys(n.lanes)), slices.Collect(maps.Keys(n.chats))
	clear(n.lanes)
	clear(n.chats)
	n.mu.Unlock()
	payloads := laneLists(lanes)
	channels := column(payloads, func(string) string { return outboxChannel })
	for _, c := range chats {
		channels, payloads = append(channels, adminsChannel), append(payloads, strconv.FormatInt(int64(c), 10))
	}
	if len(payloads) == 0 {
		return nil
	}
	saying, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
	defer cancel()
	_, err := n.pool.Exec(saying, sql, channels, payloads)
	if err != nil {
		add(n, n.lanes, lanes)
		add(n, n.chats, chats)
		return fmt.Errorf("notify: %w", err)
	}
	n.report(ctx, &n.mute, nil)
	return nil
}

// listen hears what is said until the connection fails or the context ends. It returns nil when the session has lived for
// as long as one of the pool may.
func (n *Notifier) listen(ctx context.Context) error {
	connecting, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	config := n.pool.Config()
	conn, err := pgx.ConnectConfig(connecting, config.ConnConfig)
	if err != nil {
		return fmt.Errorf("connect to listen: %w", err)
	}
	defer hangUp(ctx, conn)
	if _, err := conn.Exec(connecting, `LISTEN `+outboxChannel+`; LISTEN `+leaseChannel+`; LISTEN `+adminsChannel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	n.report(ctx, &n.deaf, nil)
	if n.heard.Began != nil {
		n.heard.Began()
	}
	for end := time.Now().Add(config.MaxConnLifetime); time.Now().Before(end); {
		said, err := next(ctx, conn, min(notifyCheck, time.Until(end)))
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		if said != nil {
			n.hear(said)
		}
	}
	return nil
}

// next waits for what is said next. When it has been silent for so long, it makes sure that the connection is still there,
// and returns nil.
func next(ctx context.Context, conn *pgx.Conn, silence time.Duration) (*pgconn.Notification, error) {
	waiting, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	said, err := conn.WaitForNotification(waiting)
	if err == nil || ctx.Err() != nil || waiting.Err() == nil {
		return said, err
	}
	asking, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	return said, conn.Ping(asking)
}

func hangUp(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	_ = conn.Close(ctx) // nothing is lost with it
}

func (n *Notifier) hear(said *pgconn.Notification) {
	switch said.Channel {
	case outboxChannel:
		if lanes := readLanes(said.Payload); n.heard.Wake != nil && len(lanes) > 0 {
			n.heard.Wake(lanes...)
		}
	case leaseChannel:
		if n.heard.LeaseReleased != nil && said.Payload == LeaderLease {
			n.heard.LeaseReleased()
		}
	case adminsChannel:
		if chat, err := strconv.ParseInt(said.Payload, 10, 64); n.heard.AdminsChanged != nil && err == nil {
			n.heard.AdminsChanged(ranking.ExternalChatID(chat))
		}
	}
}
