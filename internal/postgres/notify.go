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

// Channels for notifications between instances, each with its payload.
const (
	outboxChannel = "elobot_outbox" // a lane, as lanePayload writes it
	adminsChannel = "elobot_admins" // Telegram's id of a chat
	WebChannel    = "elobot_web"    // the id of a group
)

const (
	// notifyRetryDelay is the pause after a failure to listen or publish.
	notifyRetryDelay = time.Second
	// notifyTimeout limits each LISTEN and each NOTIFY.
	notifyTimeout = time.Second
	// notifyCheck is how long to wait for a notification before checking the connection.
	notifyCheck = 30 * time.Second
)

// Events holds the functions that a Notifier calls. Wake, AdminsChanged and WebChanged are called
// for the notifications of all instances, including this one. None of the functions may block.
type Events struct {
	Wake          func(outbox.Lane)            // the lane has something new to send
	AdminsChanged func(ranking.ExternalChatID) // the chat's admins may have changed
	// WebChanged means that the group's web board may be outdated.
	WebChanged func(ranking.GroupID)
	// Began is called when listening begins, and again after each interruption, during which
	// notifications may have been lost.
	Began func()
}

// Notifier sends events to all instances with LISTEN and NOTIFY. Notifications are not stored: an
// instance that is not listening, or has lost its connection, misses them and must find out in
// another way, for example by polling.
type Notifier struct {
	pool   *pgxpool.Pool
	events Events
	log    *slog.Logger

	mu      sync.Mutex
	pending map[notification]struct{}
	signal  chan struct{} // tells Run that pending has new notifications

	listenFailing, publishFailing bool
}

type notification struct{ channel, payload string }

// NewNotifier returns a notifier for the instances that use the pool's database. It does nothing
// until Run is called.
func NewNotifier(pool *pgxpool.Pool, events Events, log *slog.Logger) *Notifier {
	return &Notifier{
		pool: pool, events: events, log: log, pending: make(map[notification]struct{}), signal: make(chan struct{}, 1),
	}
}

// Wake notifies all instances, including this one, that a lane has something to send. It never
// blocks: Run sends the notification a moment later.
func (n *Notifier) Wake(lane outbox.Lane) { n.enqueue(notification{outboxChannel, lanePayload(lane)}) }

// AdminsChanged notifies all instances, like Wake, that a chat's admins may have changed.
func (n *Notifier) AdminsChanged(chat ranking.ExternalChatID) {
	n.enqueue(notification{adminsChannel, strconv.FormatInt(int64(chat), 10)})
}

// WebChanged notifies all instances, like Wake, that a group's web board may be outdated.
func (n *Notifier) WebChanged(group ranking.GroupID) {
	n.enqueue(notification{WebChannel, strconv.FormatInt(int64(group), 10)})
}

// QueueChanged notifies all instances, once the batch has committed, that the boards of a chat, and
// the web board of its group if it has one, may be outdated.
func QueueChanged(batch *pgx.Batch, chat ranking.ChatID, group ranking.GroupID, web bool) {
	const notify = `SELECT pg_notify($1, $2)`
	batch.Queue(notify, outboxChannel, lanePayload(outbox.Lane{Chat: outbox.ChatID(chat), Kind: outbox.Boards}))
	if web {
		batch.Queue(notify, WebChannel, strconv.FormatInt(int64(group), 10))
	}
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

// Run publishes and listens until the context ends. Then it tries once to publish what is pending,
// unless the last attempt failed, and returns nil. It listens on a separate connection outside the
// pool.
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
		if err == nil { // after a failure, do not try again while stopping
			_ = n.publish(ctx) // publish what came last
		}
	})
	parts.Wait()
	return nil
}

// retryUntilDone repeats do until do succeeds or the context ends. It passes each error that occurs
// before the context ends to report, together with failing. It returns nil only if do has
// succeeded.
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

// report records the outcome of an attempt to listen or publish in the field that failing points
// to. err is nil if the attempt succeeded. report logs when the first of the two begins to fail,
// and when both work again.
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

// publish sends all pending notifications. After an error, they are pending again. Notifications
// are not sent in the transactions that cause them, because the commit of a transaction with NOTIFY
// waits for all other such commits.
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
// the session has reached the pool's MaxConnLifetime.
func (n *Notifier) listen(ctx context.Context) error {
	conn, err := connect(ctx, n.pool)
	if err != nil {
		return fmt.Errorf("connect to listen: %w", err)
	}
	defer closeConn(ctx, conn)
	beginning, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	_, err = conn.Exec(beginning, `LISTEN `+outboxChannel+`; LISTEN `+adminsChannel+`; LISTEN `+WebChannel)
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

// next waits for the next notification. If none arrives within silence, next pings the server. It
// then returns no notification, and an error if the connection no longer works.
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
	_ = conn.Close(ctx) // the connection is not used again
}

func (n *Notifier) dispatch(notification *pgconn.Notification) {
	lane, isLane := readLane(notification.Payload)
	id, err := strconv.ParseInt(notification.Payload, 10, 64)
	switch channel := notification.Channel; {
	case channel == outboxChannel && isLane:
		n.events.Wake(lane)
	case channel == WebChannel && err == nil:
		n.events.WebChanged(ranking.GroupID(id))
	case channel == adminsChannel && err == nil:
		n.events.AdminsChanged(ranking.ExternalChatID(id))
	}
}

// laneMarks holds the suffix for each kind of lane in a payload; Messages has none.
var laneMarks = []string{outbox.CallbackAnswers: "t", outbox.Pages: "p", outbox.Boards: "b"}

// lanePayload formats a lane as the chat's id and the mark of its kind, such as 12 or 14t.
func lanePayload(l outbox.Lane) string {
	return strconv.FormatInt(int64(l.Chat), 10) + laneMarks[l.Kind]
}

// readLane parses the output of lanePayload, and reports whether the payload is valid.
func readLane(payload string) (outbox.Lane, bool) {
	digits := strings.TrimRight(payload, "tpb")
	chat, err := strconv.ParseInt(digits, 10, 64)
	kind := slices.Index(laneMarks, payload[len(digits):])
	return outbox.Lane{Chat: outbox.ChatID(chat), Kind: outbox.LaneKind(kind)}, err == nil && chat > 0 && kind >= 0
}
