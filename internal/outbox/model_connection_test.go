package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"elobot/internal/outbox/queuemodel"
)

func modelLane(l Lane) queuemodel.Lane {
	return queuemodel.Lane{Chat: int64(l.Chat), Kind: queuemodel.LaneKind(l.Kind)}
}

// script adds a row for an item of a scenario, or replaces the content of a waiting page.
func (m *memory) script(a addition) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &row{
		script: a, chat: a.chat, action: a.action, purpose: a.purpose, thread: a.thread,
		Item: Item{Payload: []byte(cmp.Or(a.content, "a"))},
	}
	if a.deadline > 0 {
		r.expires = time.Now().Add(a.deadline)
	}
	switch a.action {
	case Send:
		r.object = fmt.Sprint("row ", len(m.rows)+1)
	case Page:
		r.object, r.target = fmt.Sprint("page ", a.editIndex, " of ", a.chat), int64(1+a.editIndex)
		if m.replace(r) {
			return
		}
	case Edit:
		r.object = cmp.Or(m.editTarget(a), "nothing")
	case Ensure:
		r.object = fmt.Sprint("board of ", a.chat)
	}
	m.addRow(r)
	m.model.Put(queuemodel.Item{
		ID: r.ID, Lane: modelLane(r.lane()), Private: m.private[a.chat], Deadline: r.expires,
		Object: r.object, Says: string(r.Payload), Harmless: a.action == Edit || a.action == Page,
	})
}

// replace looks for an older page of the same message that waits and was never taken, and gives it
// the content and the deadline of page r. It reports whether it found one.
func (m *memory) replace(r *row) bool {
	for _, older := range m.openIn(r.lane()) {
		if older.object == r.object && older.state == rowPlanned && older.Attempts == 0 {
			older.Payload, older.script.content, older.expires = r.Payload, r.script.content, r.expires
			m.counts.add("a newer page replaced an older one")
			m.model.Replaced(older.ID, string(r.Payload), r.expires)
			return true
		}
	}
	return false
}

// editTarget returns the object of the message to edit, empty if the chat has no message.
func (m *memory) editTarget(a addition) string {
	var objects []string
	for _, r := range m.rows {
		if r.chat == a.chat && r.action == Send {
			objects = append(objects, r.object)
		}
	}
	if len(objects) == 0 {
		return ""
	}
	return objects[max(0, len(objects)-1-a.editIndex)]
}

// unparkAll unparks all parked chats, and returns the lanes that may send again.
func (m *memory) unparkAll() []Lane {
	m.mu.Lock()
	defer m.mu.Unlock()
	var lanes []Lane
	for c := range m.parked {
		delete(m.parked, c)
		m.model.Unpark(int64(c))
		lanes = append(lanes, Lane{c, Messages}, Lane{c, Pages}, Lane{c, Boards})
	}
	return lanes
}

// rowsOf returns the ids of the rows for the first covered items of m. For any action other than
// Send, that is only m.Row.
func rowsOf(m Message, covered int) []int64 {
	if m.Action != Send {
		return []int64{m.Row.ID}
	}
	var ids []int64
	for _, i := range m.Items[:covered] {
		ids = append(ids, i.ID)
	}
	return ids
}

// fits returns how many items of a message, counted from the first, fit into a request of the given
// capacity.
func (m *memory) fits(message Message, capacity int) int {
	size, first := 0, m.row(message.Items[0].ID).script
	for n, i := range message.Items {
		a := m.row(i.ID).script
		size += a.size
		if n > 0 && (size > capacity || a.alone || first.alone) {
			return n
		}
	}
	return len(message.Items)
}

var errLost = errors.New("the answer was lost")

// connection is the store as an instance sees it, with the scripted failures and delays.
type connection struct {
	*instance
}

func (c connection) Waiting(ctx context.Context, bounds Bounds) (backlogs []Backlog, err error) {
	_, err = c.call(ctx, &c.w.polls, func() error {
		backlogs, err = c.w.db.Waiting(context.WithoutCancel(ctx), bounds)
		return err
	})
	return backlogs, err
}

func (c connection) Recent(ctx context.Context, within time.Duration) (requests []Request, err error) {
	c.trigger(whenStarted)
	_, err = c.call(ctx, &c.w.recents, func() error {
		requests, err = c.w.db.Recent(context.WithoutCancel(ctx), within)
		return err
	})
	return requests, err
}

// refused returns err. If err wraps ErrLeaseLost, refused records that the store refused the epoch.
func (c connection) refused(epoch int64, err error) error {
	if errors.Is(err, ErrLeaseLost) {
		c.w.counts.add("the lease was lost")
		c.leaseRefused(epoch)
	}
	return err
}

func (c connection) Resume(ctx context.Context, epoch int64) error {
	return c.refused(epoch, c.w.db.Resume(ctx, epoch))
}

func (c connection) Summarize(ctx context.Context, epoch int64, lanes []Lane, bounds Bounds) (s Summarized, err error) {
	c.w.checkCallRate()
	_, err = c.call(ctx, &c.w.summaries, func() error {
		s, err = c.w.db.Summarize(context.WithoutCancel(ctx), epoch, lanes, bounds)
		return c.refused(epoch, err)
	})
	return s, err
}

func (c connection) Survey(ctx context.Context, largest int) (Survey, error) {
	return c.w.db.Survey(ctx, largest)
}

func (c connection) Advance(
	ctx context.Context, epoch int64, results []Result, lanes []Lane, bounds Bounds,
) (turns []Turn, err error) {
	c.w.checkCallRate()
	done, err := c.call(ctx, &c.w.advances, func() error {
		turns, err = c.w.db.Advance(context.WithoutCancel(ctx), epoch, results, lanes, bounds)
		err = c.refused(epoch, err)
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
