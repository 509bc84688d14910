package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/sethvargo/go-retry"

	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

// Channels for notifications between instances.
const (
	outboxChannel = "elobot_outbox" // a lane, as lanePayload writes it
	adminsChannel = "elobot_admins" // Telegram's id of a chat
	webChannel    = "elobot_web"    // the id of a group
)

const (
	// notifyRetryDelay is the wait after a failure.
	notifyRetryDelay = time.Second
	// notifyTimeout limits one statement.
	notifyTimeout = time.Second
	// notifyCheck is the silence after which the connection is checked.
	notifyCheck = 30 * time.Second
)

// Events are called for what any instance publishes, including this one. They must not block.
type Events struct {
	Wake          func(outbox.Lane)            // the lane has something new to send
	AdminsChanged func(ranking.ExternalChatID) // the chat's admins may have changed
	// the group's web board may have to show something else
	WebChanged func(ranking.GroupID)
	// Began is called when listening begins, and again after each interruption that may have
	// lost notifications.
	Began func()
}

// Notifier shares events between all instances by LISTEN and NOTIFY. Notifications are not
// stored: an instance that is not listening, or has lost its connection, never gets them and must
// find out otherwise.
type Notifier struct {
	pool   *pgxpool.Pool
	events Events
	log    *slog.Logger

	mu      sync.Mutex
	pending map[notification]struct{}
	signal  chan struct{} // holds a value when pending is not empty

	listenFailing, publishFailing bool
}

type notification struct{ channel, payload string }

// NewNotifier returns a notifier in the pool's database. It does nothing until Run.
func NewNotifier(pool *pgxpool.Pool, events Events, log *slog.Logger) *Notifier {
	return &Notifier{
		pool: pool, events: events, log: log, pending: make(map[notification]struct{}), signal: make(chan struct{}, 1),
	}
}

// Wake notifies all instances, including this one, that a lane has something to send. It sends the
// notification soon after it returns, so it never blocks.
func (n *Notifier) Wake(lane outbox.Lane) { n.enqueue(notification{outboxChannel, lanePayload(lane)}) }

// AdminsChanged notifies all instances, like Wake, that a chat's admins may have changed.
func (n *Notifier) AdminsChanged(chat ranking.ExternalChatID) {
	n.enqueue(notification{adminsChannel, strconv.FormatInt(int64(chat), 10)})
}

// WebChanged notifies all instances, like Wake, that a group's web board may have to show something
// else.
func (n *Notifier) WebChanged(group ranking.GroupID) {
	n.enqueue(notification{webChannel, strconv.FormatInt(int64(group), 10)})
}

func (n *Notifier) enqueue(all ...notification) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, one := range all {
		n.pending[one] = struct{}{}
	}
	select {
	case n.signal <- struct{}{}:
	default:
	}
}

// Run publishes and listens until the context ends; then it publishes what is pending and returns
// nil. It listens on a separate connection outside the pool.
func (n *Notifier) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	parts.Go(func() {
		for ctx.Err() == nil {
			_ = n.retryUntilDone(ctx, &n.listenFailing, n.listen)
		}
	})
	parts.Go(func() {
		var err error
		for ctx.Err() == nil {
			select {
			case <-n.signal:
				err = n.retryUntilDone(ctx, &n.publishFailing, n.publish)
			case <-ctx.Done():
			}
		}
		if err == nil { // a stop does not wait for a second attempt
			_ = n.publish(ctx) // publish what came last
		}
	})
	parts.Wait()
	return nil
}

// retryUntilDone repeats do until it succeeds or the context ends. It logs errors, and
// returns the last one.
func (n *Notifier) retryUntilDone(ctx context.Context, failing *bool, do func(context.Context) error) error {
	return retry.Do(ctx, retry.NewConstant(notifyRetryDelay), func(ctx context.Context) error {
		err := do(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		n.report(ctx, failing, err)
		return retry.RetryableError(err)
	})
}

// report records whether an activity fails. It logs once when the trouble begins, and once when
// everything works again.
func (n *Notifier) report(ctx context.Context, failing *bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.listenFailing || n.publishFailing
	*failing = err != nil
	switch now := n.listenFailing || n.publishFailing; {
	case now && !before:
		n.log.WarnContext(ctx, "failed to exchange notifications with the other instances, retrying", "error", err)
	case before && !now:
		n.log.InfoContext(ctx, "exchanging notifications with the other instances again")
	}
}

// publish sends all pending notifications in a separate transaction, because a transaction that
// notifies blocks all others that notify until it commits.
func (n *Notifier) publish(ctx context.Context) error {
	const sql = `SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS n (channel, payload)`
	n.mu.Lock()
	pending := slices.Collect(maps.Keys(n.pending))
	clear(n.pending)
	n.mu.Unlock()
	if len(pending) == 0 {
		return nil
	}
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTimeout)
	defer cancel()
	_, err := n.pool.Exec(sending, sql, Column(pending, func(one notification) string { return one.channel }),
		Column(pending, func(one notification) string { return one.payload }))
	if err != nil {
		n.enqueue(pending...)
		return fmt.Errorf("notify: %w", err)
	}
	n.report(ctx, &n.publishFailing, nil)
	return nil
}

// listen receives notifications until the connection fails or the context ends. It returns nil when
// the session has reached the maximum lifetime of a pooled one.
func (n *Notifier) listen(ctx context.Context) error {
	conn, err := connect(ctx, n.pool)
	if err != nil {
		return fmt.Errorf("connect to listen: %w", err)
	}
	defer closeConn(ctx, conn)
	beginning, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	_, err = conn.Exec(beginning, `LISTEN `+outboxChannel+`; LISTEN `+adminsChannel+`; LISTEN `+webChannel)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	n.report(ctx, &n.listenFailing, nil)
	n.events.Began()
	for end := time.Now().Add(n.pool.Config().MaxConnLifetime); time.Now().Before(end); {
		notification, err := next(ctx, conn, min(notifyCheck, time.Until(end)))
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		if notification != nil {
			n.dispatch(notification)
		}
	}
	return nil
}

// next waits for the next notification. If none arrives within silence, it checks that the
// connection still works, and returns nil.
func next(ctx context.Context, conn *pgx.Conn, silence time.Duration) (*pgconn.Notification, error) {
	waiting, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	notification, err := conn.WaitForNotification(waiting)
	if err == nil || ctx.Err() != nil || waiting.Err() == nil {
		return notification, err
	}
	pinging, cancel := context.WithTimeout(ctx, PingTimeout)
	defer cancel()
	return notification, conn.Ping(pinging)
}

func closeConn(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	_ = conn.Close(ctx) // nothing depends on it
}

func (n *Notifier) dispatch(notification *pgconn.Notification) {
	lane, isLane := readLane(notification.Payload)
	id, err := strconv.ParseInt(notification.Payload, 10, 64)
	switch channel := notification.Channel; {
	case channel == outboxChannel && isLane:
		n.events.Wake(lane)
	case channel == webChannel && err == nil:
		n.events.WebChanged(ranking.GroupID(id))
	case channel == adminsChannel && err == nil:
		n.events.AdminsChanged(ranking.ExternalChatID(id))
	}
}

// laneMarks follow the chat in the payload of a lane.
var laneMarks = []string{outbox.CallbackAnswers: "t", outbox.Pages: "p", outbox.Boards: "b"}

// lanePayload formats a lane, such as 12 or 14t.
func lanePayload(l outbox.Lane) string {
	return strconv.FormatInt(int64(l.Chat), 10) + laneMarks[l.Kind]
}

// readLane parses the output of lanePayload, and reports whether it could.
func readLane(payload string) (outbox.Lane, bool) {
	digits := strings.TrimRight(payload, "tpb")
	chat, err := strconv.ParseInt(digits, 10, 64)
	kind := slices.Index(laneMarks, payload[len(digits):])
	return outbox.Lane{Chat: outbox.ChatID(chat), Kind: outbox.LaneKind(kind)}, err == nil && chat > 0 && kind >= 0
}
