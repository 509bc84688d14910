package outbox

import (
	"fmt"
	"slices"
	"time"

	"elobot/internal/outbox/queuemodel"
)

func (db *database) advance(epoch int64, results []Result, lanes []Lane, bounds Bounds) ([]Turn, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if epoch != db.epoch {
		db.counts.add("the lease was lost")
		return nil, fmt.Errorf("advance: %w", ErrLeaseLost)
	}
	for _, r := range results {
		db.finish(epoch, r)
	}
	var turns []Turn
	for _, l := range lanes {
		turns = append(turns, db.take(epoch, l, bounds))
	}
	return turns, nil
}

// persist changes the state of a row.
func (db *database) persist(r *record, state queuemodel.State) {
	r.state = state
	db.model.Wrote(r.ID, state)
	if state == queuemodel.Waits {
		r.batch = 0
	}
	if state != queuemodel.Sending {
		db.endRequest(r.lane)
	}
}

func (db *database) endRequest(l Lane) {
	if a := db.lastRequest[l]; a != nil && a.ended.IsZero() {
		a.ended = time.Now()
	}
}

// finish persists the result of a message.
func (db *database) finish(epoch int64, r Result) {
	chat := db.chats[r.Message.Lane.Chat]
	db.finishChat(epoch, chat, r)
	var taken []*record
	for _, row := range db.rows {
		if row.state == queuemodel.Sending && row.batch == r.Message.Row.ID {
			taken = append(taken, row)
		}
	}
	covered := len(taken)
	if r.Covered > 0 && r.Message.Action == Send {
		covered = min(covered, r.Covered)
	}
	f := r.Failure
	switch {
	case len(taken) == 0: // persisted before
	case f == nil:
		if r.Message.KnownFingerprint != "" && r.Message.KnownFingerprint == r.Fingerprint {
			db.counts.add("an unnecessary edit")
		}
		db.storeMessage(r, taken[:covered])
		for _, row := range taken[:covered] {
			db.persist(row, queuemodel.Sent)
		}
	case f.Kind == Rejected || r.Dead:
		covered = 1
		db.persist(taken[0], queuemodel.Dead)
	case f.Kind == Obsolete:
		covered = 1
		db.persist(taken[0], queuemodel.Expired)
	case f.Kind == Uncertain:
		db.counts.add("an item with too many possible duplicates")
		for _, row := range taken[:covered] {
			db.persist(row, queuemodel.Uncertain)
		}
	case f.Kind == Ambiguous:
		for _, row := range taken[:covered] {
			db.persist(row, queuemodel.Sending)
		}
	default:
		covered = 0
	}
	if len(taken) > 0 && f != nil && taken[0].open() {
		if f.Kind == Failed {
			taken[0].Failures++
		}
		if f.Kind != RateLimited || taken[0].lane.Kind == CallbackAnswers {
			taken[0].notBefore = time.Now().Add(r.Pause)
		}
	}
	for _, row := range taken[min(covered, len(taken)):] {
		db.persist(row, queuemodel.Waits)
	}
}

// finishChat persists what the result means for the chat.
func (db *database) finishChat(epoch int64, chat *account, r Result) {
	if r.Message.Lane.Kind == CallbackAnswers {
		return
	}
	asTaken := chat.parked.IsZero() != r.Message.Parked && db.lastRequest[r.Message.Lane].ended.IsZero()
	if asTaken && r.Message.Parked {
		chat.parked = time.Now()
	}
	if r.Failure == nil {
		if asTaken && r.Message.Parked && !r.Skipped {
			chat.parked = time.Time{}
			db.model.Unpark(int64(r.Message.Lane.Chat))
		}
		return
	}
	switch r.Failure.Kind {
	case RateLimited:
		if until := time.Now().Add(r.Pause); until.After(chat.frozen) {
			chat.frozen, chat.frozenEpoch = until, epoch
		}
	case Forbidden:
		if asTaken {
			chat.parked = time.Now().Add(db.parksFor)
			db.model.Parked(int64(r.Message.Lane.Chat), chat.parked)
			db.counts.add(fmt.Sprintf("a chat was parked, again: %t", r.Message.Parked))
		}
	}
}

// storeMessage remembers the message that the chat shows now.
func (db *database) storeMessage(r Result, rows []*record) {
	first := rows[0]
	switch first.action {
	case Send:
		if first.summary { // never edited
			break
		}
		t := &shownMessage{id: r.MessageID, rows: rows, fingerprint: r.Fingerprint}
		for _, row := range rows {
			db.messages[row.object] = t
		}
	case Edit:
		t := db.messages[first.object]
		t.fingerprint = r.Fingerprint
		for _, row := range t.rows {
			if row.object == first.object {
				row.Payload = first.Payload
			}
		}
	case Ensure:
		db.messages[first.object] = &shownMessage{id: r.MessageID, rows: rows, fingerprint: r.Fingerprint}
	}
}

func (db *database) take(epoch int64, l Lane, bounds Bounds) Turn {
	turn, open, chat := Turn{Lane: l}, db.openIn(l), db.chats[l.Chat]
	if len(open) == 0 || chat.isParked() && l.Kind != CallbackAnswers {
		return turn
	}
	if turn.Over = db.isOver(open[0]); turn.Over {
		turn.Wait = 10 * time.Millisecond
		return turn
	}
	if turn.Wait = db.wait(open[0]); turn.Wait > 0 {
		return turn
	}
	n := db.merge(open, bounds.Merge)
	repeated := open[0].state == queuemodel.Sending
	if repeated {
		db.clearFingerprint(open[0])
	}
	turn.Message = db.message(l, open[:n])
	turn.Message.More = len(open) > n
	if turn.Message.Parked = !chat.parked.IsZero() && l.Kind != CallbackAnswers; turn.Message.Parked {
		chat.parked = time.Now().Add(time.Minute)
	}
	db.endRequest(l)
	db.lastRequest[l] = &requestRecord{lane: l, epoch: epoch, begun: time.Now()}
	if l.Kind != CallbackAnswers {
		db.requests = append(db.requests, db.lastRequest[l])
	}
	var ids []int64
	for _, r := range open[:n] {
		if r.Repeated = repeated; repeated {
			r.PossibleDuplicates++
		}
		r.Attempts++
		r.state, r.batch = queuemodel.Sending, open[0].ID
		ids = append(ids, r.ID)
	}
	if repeated && n > 1 {
		db.counts.add("a merged message was sent again")
	}
	turn.Message.Row = open[0].Item
	if open[0].action == Send {
		for i := range turn.Message.Items {
			turn.Message.Items[i] = open[i].Item
		}
	}
	db.model.Took(epoch, modelLane(l), ids, repeated)
	return turn
}

// openIn returns the rows of a lane that have not ended.
func (db *database) openIn(l Lane) []*record {
	var open []*record
	for _, r := range db.rows {
		if r.lane == l && r.open() {
			open = append(open, r)
		}
	}
	return open
}

// summarize ends the rows of lanes that are over. If too much waits in a lane, all other messages
// that certainly did not arrive become one, the first of them, and so do older summaries.
func (db *database) summarize(epoch int64, lanes []Lane, bounds Bounds) (s Summarized, err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if epoch != db.epoch {
		db.counts.add("the lease was lost")
		return s, fmt.Errorf("summarize: %w", ErrLeaseLost)
	}
	for _, l := range lanes {
		open := db.openIn(l)
		var undelivered []*record
		for _, r := range open {
			switch {
			case db.isOver(r):
				if !db.isOutdated(r) {
					db.counts.add("an item expired")
				} else {
					db.counts.add("a page ended because of a newer one")
				}
				db.persist(r, queuemodel.Expired)
				db.clearFingerprint(r)
				s.Expired++
			case len(open) > bounds.MaxWaiting && r.action == Send && r.state == queuemodel.Waits && r.PossibleDuplicates == 0:
				undelivered = append(undelivered, r)
			}
		}
		if len(undelivered) > 1 {
			db.counts.add("too much waited")
			s.Dropped += len(undelivered)
			first := undelivered[0]
			first.summary, first.expires = true, time.Time{}
			var others []int64
			for _, r := range undelivered[1:] {
				r.state = queuemodel.Summarized
				others = append(others, r.ID)
			}
			db.model.Summarizes(first.ID, others)
		}
	}
	return s, nil
}

// isOver is true if a row is not to be sent any more.
func (db *database) isOver(r *record) bool {
	return !r.expires.IsZero() && !r.expires.After(time.Now()) || db.isOutdated(r)
}

// isOutdated is true if a newer page of the same message waits.
func (db *database) isOutdated(r *record) bool {
	return r.action == Page && slices.ContainsFunc(db.rows[r.ID:], func(newer *record) bool {
		return newer.object == r.object && newer.open()
	})
}

// clearFingerprint forgets the content of the message that a row is about, because it is unknown now.
func (db *database) clearFingerprint(r *record) {
	if t := db.messages[r.object]; t != nil && r.action != Send && r.batch != 0 {
		t.fingerprint = ""
	}
}

// merge returns how many rows one message covers.
func (db *database) merge(open []*record, most int) int {
	n, head := 1, open[0]
	if head.action != Send {
		return 1
	}
	if head.state == queuemodel.Sending {
		for n < len(open) && open[n].state == queuemodel.Sending && open[n].batch == head.batch {
			n++
		}
		return n
	}
	for n < min(len(open), most) && head.Failures+open[n].Failures == 0 && open[n].action == Send && open[n].thread == head.thread &&
		open[n].PossibleDuplicates == head.PossibleDuplicates && !head.summary && !open[n].summary && !db.isOver(open[n]) {
		n++
	}
	return n
}

// message returns the message for the rows.
func (db *database) message(l Lane, rows []*record) *Message {
	head, chat := rows[0], db.chats[l.Chat]
	m := &Message{
		Lane: l, ExternalChat: chat.to, Private: isPrivate(l.Chat), Thread: head.thread, Action: head.action, Purpose: head.purpose,
	}
	t := db.messages[head.object]
	switch {
	case head.action == Send:
		m.Items = items(rows)
	case head.action == Edit && t != nil:
		m.Items, m.Target, m.KnownFingerprint = items(t.rows), t.id, t.fingerprint
		for i, r := range t.rows {
			if r.object == head.object {
				m.Items[i].Payload = head.Payload
			}
		}
	case head.action == Page:
		m.Items, m.Target = []Item{head.Item}, int64(1+head.editIndex)
	default:
		m.Items = []Item{head.Item}
		if t != nil {
			m.Target, m.KnownFingerprint = t.id, t.fingerprint
		}
	}
	return m
}

// items returns the items of rows.
func items(rows []*record) []Item {
	items := make([]Item, len(rows))
	for i, r := range rows {
		items[i] = r.Item
	}
	return items
}
