package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"elobot/internal/outbox/queuemodel"
)

// record is a row of the database.
type record struct {
	Item
	addition
	lane      Lane
	object    string // what the item is about
	expires   time.Time
	notBefore time.Time
	state     queuemodel.State
	batch     int64 // first row of the message that covers it, 0 while it waits
	summary   bool  // it tells of others, too
}

func (r *record) open() bool { return r.state == queuemodel.Waits || r.state == queuemodel.Sending }

// account is the database's state of a chat.
type account struct {
	to          int64
	parked      time.Time // until when nothing is sent; zero: the last request was not refused
	frozen      time.Time
	frozenEpoch int64 // the epoch that persisted frozen
}

func (a *account) isParked() bool { return a.parked.After(time.Now()) }

// shownMessage is a message that the chat shows.
type shownMessage struct {
	id          int64
	rows        []*record
	fingerprint string
}

// requestRecord is a request, from the take of its items until its result is persisted.
type requestRecord struct {
	lane  Lane
	epoch int64
	begun time.Time
	ended time.Time // zero: not known to have ended
}

// database is a correct Store that notifies the model of its changes. It also holds the lease.
type database struct {
	model    *queuemodel.Model
	counts   *tally
	parksFor time.Duration // how long a chat is parked after a refusal

	mu          sync.Mutex
	epoch       int64
	expires     time.Time // of the lease
	rows        []*record // in the order of their ids
	chats       map[ChatID]*account
	messages    map[string]*shownMessage // by object
	requests    []*requestRecord
	lastRequest map[Lane]*requestRecord
}

// modelLane returns the lane as the model identifies it.
func modelLane(l Lane) queuemodel.Lane {
	return queuemodel.Lane{Chat: int64(l.Chat), Kind: queuemodel.LaneKind(l.Kind)}
}

func isPrivate(c ChatID) bool { return c <= 2 }

func newDatabase(model *queuemodel.Model, counts *tally) *database {
	db := &database{
		model: model, counts: counts, chats: make(map[ChatID]*account), messages: make(map[string]*shownMessage),
		lastRequest: make(map[Lane]*requestRecord),
	}
	for c := range ChatID(6) {
		db.chats[c] = &account{to: -int64(c)}
	}
	return db
}

// put adds a row.
func (db *database) put(a addition) {
	db.mu.Lock()
	defer db.mu.Unlock()
	id := int64(len(db.rows) + 1)
	r := &record{
		Item:     Item{ID: id, Kind: "test", Payload: []byte(cmp.Or(a.content, "a"))},
		addition: a, lane: a.lane(), state: queuemodel.Waits,
	}
	if a.deadline > 0 {
		r.expires = time.Now().Add(a.deadline)
	}
	switch a.action {
	case Send:
		r.object, r.content = fmt.Sprint("row ", id), "a"
	case Page:
		r.object = fmt.Sprint("page ", a.editIndex, " of ", a.chat)
		if db.replace(r) {
			return
		}
	case Edit:
		r.object = cmp.Or(db.editTarget(a), "nothing")
	case Ensure:
		r.object = fmt.Sprint("board of ", a.chat)
	}
	db.rows = append(db.rows, r)
	db.model.Put(queuemodel.Item{
		ID: id, Lane: modelLane(r.lane), Private: isPrivate(a.chat),
		Deadline: r.expires, Object: r.object, Says: r.content, Harmless: a.action == Edit || a.action == Page,
	})
}

// replace puts a page into the place of one of the same message that was never taken, and says whether there was one.
func (db *database) replace(r *record) bool {
	for _, older := range db.rows {
		if older.lane == r.lane && older.object == r.object && older.state == queuemodel.Waits && older.Attempts == 0 {
			older.Payload, older.content, older.expires = r.Payload, r.content, r.expires
			db.counts.add("a newer page replaced an older one")
			db.model.Replaced(older.ID, r.content, r.expires)
			return true
		}
	}
	return false
}

// editTarget returns the object of an edit, "" if the chat has none.
func (db *database) editTarget(a addition) string {
	var objects []string
	for _, r := range db.rows {
		if r.chat == a.chat && r.action == Send {
			objects = append(objects, r.object)
		}
	}
	if len(objects) == 0 {
		return ""
	}
	return objects[max(0, len(objects)-1-a.editIndex)]
}

// open returns how many rows have not ended.
func (db *database) open() int {
	db.mu.Lock()
	defer db.mu.Unlock()
	n := 0
	for _, r := range db.rows {
		if r.open() {
			n++
		}
	}
	return n
}

// unpark marks every chat as active, and returns the lanes that may be sent again.
func (db *database) unpark() []Lane {
	db.mu.Lock()
	defer db.mu.Unlock()
	var lanes []Lane
	for c, a := range db.chats {
		if !a.parked.IsZero() {
			a.parked = time.Time{}
			db.model.Unpark(int64(c))
			lanes = append(lanes, Lane{c, Messages}, Lane{c, Pages}, Lane{c, Boards})
		}
	}
	return lanes
}

// move gives a chat a new address.
func (db *database) move(from, to int64) {
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, a := range db.chats {
		if a.to == from {
			a.to = to
		}
	}
}

// rowsOf returns the ids of the rows that a message covers.
func (db *database) rowsOf(m Message, covered int) []int64 {
	if m.Action != Send {
		return []int64{m.Row.ID}
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	var ids []int64
	for _, i := range m.Items[:covered] {
		ids = append(ids, i.ID)
	}
	return ids
}

func (db *database) fatesOf(id int64) []fate {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.rows[id-1].fates
}

// fits returns how many items of a message fit into one request.
func (db *database) fits(m Message, capacity int) int {
	db.mu.Lock()
	defer db.mu.Unlock()
	size := 0
	for n, i := range m.Items {
		r := db.rows[i.ID-1]
		size += r.size
		if n > 0 && (size > capacity || r.alone || db.rows[m.Items[0].ID-1].alone) {
			return n
		}
	}
	return len(m.Items)
}

func (db *database) waiting(bounds Bounds) []Backlog {
	db.mu.Lock()
	defer db.mu.Unlock()
	seen := make(map[Lane]bool)
	var backlogs []Backlog
	for _, r := range db.rows {
		chat := db.chats[r.chat]
		if !r.open() || seen[r.lane] || chat.isParked() && r.lane.Kind != CallbackAnswers {
			continue
		}
		seen[r.lane] = true
		if chat.frozen.After(time.Now()) && chat.frozenEpoch != db.epoch {
			db.counts.add("a freeze was taken over")
		}
		backlogs = append(backlogs, Backlog{
			Lane: r.lane, To: chat.to, Private: isPrivate(r.chat), Purpose: r.purpose, Wait: db.wait(r),
			Overfull: len(db.openIn(r.lane)) > bounds.MaxWaiting,
		})
	}
	return backlogs
}

// wait returns how long a lane may not send because of its chat or its first row.
func (db *database) wait(head *record) time.Duration {
	until := head.notBefore
	if frozen := db.chats[head.chat].frozen; head.lane.Kind != CallbackAnswers && frozen.After(until) {
		until = frozen
	}
	return max(0, time.Until(until))
}

func (db *database) recent(within time.Duration) []Request {
	db.mu.Lock()
	defer db.mu.Unlock()
	var requests []Request
	for _, a := range db.requests {
		age := time.Duration(0)
		if !a.ended.IsZero() {
			age = time.Since(a.ended)
		}
		if age < within {
			requests = append(requests, Request{Chat: a.lane.Chat, Private: isPrivate(a.lane.Chat), Age: age})
		}
	}
	return requests
}

var errLost = errors.New("the answer was lost")

// connection is the store as seen by one instance.
type connection struct {
	*instance
}

func (c connection) Waiting(ctx context.Context, bounds Bounds) (backlogs []Backlog, err error) {
	_, err = c.call(ctx, &c.w.polls, func() error {
		backlogs = c.w.db.waiting(bounds)
		return nil
	})
	return backlogs, err
}

func (c connection) Recent(ctx context.Context, within time.Duration) (requests []Request, err error) {
	c.trigger(whenStarted)
	_, err = c.call(ctx, &c.w.recents, func() error {
		requests = c.w.db.recent(within)
		return nil
	})
	return requests, err
}

// Resume has nothing to put back: all instances are of the same release.
func (c connection) Resume(ctx context.Context, epoch int64) error {
	c.w.db.mu.Lock()
	defer c.w.db.mu.Unlock()
	if epoch != c.w.db.epoch {
		c.leaseRefused(epoch)
		return ErrLeaseLost
	}
	return ctx.Err()
}

func (c connection) Summarize(ctx context.Context, epoch int64, lanes []Lane, bounds Bounds) (s Summarized, err error) {
	c.w.checkCallRate()
	_, err = c.call(ctx, &c.w.summaries, func() error {
		s, err = c.w.db.summarize(epoch, lanes, bounds)
		if errors.Is(err, ErrLeaseLost) {
			c.leaseRefused(epoch)
		}
		return err
	})
	return s, err
}

func (c connection) Survey(ctx context.Context, _ int) (Survey, error) {
	return Survey{Waiting: c.w.db.open()}, ctx.Err()
}

func (c connection) Advance(
	ctx context.Context, epoch int64, results []Result, lanes []Lane, bounds Bounds,
) (turns []Turn, err error) {
	c.w.checkCallRate()
	done, err := c.call(ctx, &c.w.advances, func() error {
		turns, err = c.w.db.advance(epoch, results, lanes, bounds)
		if errors.Is(err, ErrLeaseLost) {
			c.leaseRefused(epoch)
		}
		c.trigger(whenTaken)
		return err
	})
	if err == nil {
		return turns, nil
	}
	if done {
		c.w.counts.add("a lost answer of the store")
		for _, turn := range turns {
			if turn.Message != nil {
				c.w.model.TurnLost(epoch, modelLane(turn.Lane))
			}
		}
	}
	return nil, err
}
