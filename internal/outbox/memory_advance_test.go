package outbox

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"elobot/internal/outbox/queuemodel"
)

func (m *memory) Advance(
	ctx context.Context, epoch int64, results []Result, lanes []Lane, bounds Bounds,
) ([]Turn, error) {
	if m.onAdvance != nil {
		if err := m.onAdvance(ctx, results, lanes); err != nil {
			return nil, err
		}
	}
	turns, err := m.advance(ctx, epoch, results, lanes, bounds)
	if err == nil && m.afterAdvance != nil {
		err = m.afterAdvance(turns)
	}
	return turns, err
}

func (m *memory) advance(
	ctx context.Context, epoch int64, results []Result, lanes []Lane, bounds Bounds,
) ([]Turn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := cmp.Or(ctx.Err(), m.mayWrite(epoch, "advance")); err != nil {
		return nil, err
	}
	for _, r := range results {
		m.finish(r)
	}
	var turns []Turn
	for _, l := range lanes {
		turns = append(turns, m.take(l, bounds))
	}
	return turns, nil
}

// persist sets the state of a row and tells the model. Unless the new state is rowSending, persist
// also ends the lane's request. A row that becomes planned or deferred leaves its batch.
func (m *memory) persist(r *row, state rowState) {
	r.state = state
	m.tell(func(q *queuemodel.Model) { q.Wrote(r.ID, state) })
	if state == rowSending {
		return
	}
	if m.endRequest(r.lane()); state == rowPlanned || state == rowDeferred {
		r.batch = 0
	}
}

func (m *memory) endRequest(l Lane) {
	if r := m.lastRequest[l]; r != nil && r.ended.IsZero() {
		r.ended = time.Now()
	}
}

// finish persists the result of a message.
func (m *memory) finish(r Result) {
	m.finishChat(r)
	var taken []*row
	for _, row := range m.openIn(r.Message.Lane) {
		if row.state == rowSending && row.batch == r.Message.Row.ID {
			taken = append(taken, row)
		}
	}
	if len(taken) == 0 { // persisted earlier
		return
	}
	asked := len(taken) // how many of them the request covered, counted from the first
	if r.Message.Action == Send {
		asked = min(asked, r.coveredItems())
	}
	// The first rows, whose number is ending, get the new state. The other rows wait.
	f, state, ending := r.Failure, rowPlanned, asked
	switch {
	case f == nil:
		if r.Message.KnownFingerprint != "" && r.Message.KnownFingerprint == r.Fingerprint {
			m.counts.add("an unnecessary edit")
		}
		m.show(r, taken[:asked])
		state = rowSent
	case f.Kind == Rejected || r.Dead:
		state, ending = rowDead, 1
	case f.Kind == Obsolete:
		state, ending = rowExpired, 1
	case f.Kind == Uncertain:
		m.counts.add("an item with too many possible duplicates")
		state = rowUncertain
	case f.Kind == Ambiguous:
		state = rowSending
	case f.Kind == Unsupported:
		state = rowDeferred
	}
	for i, row := range taken {
		if i >= asked || state == rowDeferred {
			row.Attempts--
		}
		if i < ending {
			m.persist(row, state)
		} else {
			m.persist(row, rowPlanned)
		}
	}
	if first := taken[0]; f != nil {
		first.lastError = f.Err.Error()
		if f.Kind == Failed {
			first.Failures++
		}
		if f.Kind != RateLimited || first.action == CallbackAnswer {
			first.notBefore = time.Now().Add(r.Pause)
		}
	}
}

// finishChat updates the pause and the parking of the chat, depending on the result.
func (m *memory) finishChat(r Result) {
	lane, chat := r.Message.Lane, r.Message.Lane.Chat
	if lane.Kind == CallbackAnswers {
		return
	}
	_, isParked := m.parked[chat]
	asTaken := isParked == r.Message.Parked && m.lastRequest[lane].ended.IsZero()
	if asTaken && isParked {
		m.parked[chat] = time.Now()
	}
	switch f := r.Failure; {
	case f == nil:
		if asTaken && isParked && !r.Skipped {
			delete(m.parked, chat)
			m.tell(func(q *queuemodel.Model) { q.Unpark(int64(chat)) })
		}
	case f.Kind == RateLimited:
		if until := time.Now().Add(r.Pause); until.After(m.frozen[chat].until) {
			m.frozen[chat] = chatPause{until, m.epoch}
		}
	case f.Kind == Forbidden && asTaken:
		m.parked[chat] = time.Now().Add(m.parksFor)
		m.tell(func(q *queuemodel.Model) { q.Parked(int64(chat), m.parked[chat]) })
		m.counts.add(fmt.Sprintf("a chat was parked, again: %t", isParked))
	}
}

// show records the message that a successful request has sent or edited, for later edits of its
// rows.
func (m *memory) show(r Result, rows []*row) {
	for _, row := range rows {
		row.messageID = r.MessageID
	}
	now := &shownMessage{id: r.MessageID, rows: rows, fingerprint: r.Fingerprint}
	switch first := rows[0]; {
	case first.object == "" || first.Kind == kindSummary: // never edited
	case first.action == Send:
		for _, row := range rows {
			m.shown[row.object] = now
		}
	case first.action == Edit:
		t := m.shown[first.object]
		t.fingerprint = r.Fingerprint
		for _, row := range t.rows {
			if row.object == first.object {
				row.Payload = first.Payload
			}
		}
	case first.action == Ensure:
		m.shown[first.object] = now
	}
}

// isOver reports whether a row must no longer be sent.
func (m *memory) isOver(r *row) bool {
	return !r.expires.IsZero() && !r.expires.After(time.Now()) || m.isOutdated(r)
}

// isOutdated reports whether the row is a page and a newer page of the same message waits.
func (m *memory) isOutdated(r *row) bool {
	return r.action == Page && r.object != "" && slices.ContainsFunc(m.rows[r.ID:], func(newer *row) bool {
		return newer.object == r.object && newer.open()
	})
}

// forgetContent forgets what the message of a row shows, if a request with an unknown outcome may
// have changed it.
func (m *memory) forgetContent(r *row) {
	if t := m.shown[r.object]; t != nil && r.action != Send && r.batch != 0 {
		t.fingerprint = ""
	}
}

// take takes the next message of a lane, if it may be sent now.
func (m *memory) take(l Lane, bounds Bounds) Turn {
	turn, open := Turn{Lane: l}, m.openIn(l)
	if len(open) == 0 || m.blocked(l) {
		return turn
	}
	head := open[0]
	if turn.Over = m.isOver(head); turn.Over {
		turn.Wait = 10 * time.Millisecond
		return turn
	}
	if turn.Wait = m.wait(head); turn.Wait > 0 {
		return turn
	}
	taken, repeated := open[:m.merge(open, bounds.Merge)], head.state == rowSending
	if repeated {
		m.forgetContent(head)
	}
	var ids []int64
	for _, r := range taken {
		if r.Repeated = repeated; repeated {
			r.PossibleDuplicates++
		}
		r.Attempts++
		r.state, r.batch = rowSending, head.ID
		ids = append(ids, r.ID)
	}
	if repeated && len(taken) > 1 {
		m.counts.add("a merged message was sent again")
	}
	turn.Message = m.message(l, taken)
	turn.Message.More = len(open) > len(taken)
	if _, parked := m.parked[l.Chat]; parked && l.Kind != CallbackAnswers {
		turn.Message.Parked = true
		m.parked[l.Chat] = time.Now().Add(time.Minute)
	}
	m.endRequest(l)
	m.begin(l)
	m.tell(func(q *queuemodel.Model) { q.Took(m.epoch, modelLane(l), ids, repeated) })
	return turn
}

// begin records that a request of a lane begins.
func (m *memory) begin(l Lane) {
	m.lastRequest[l] = &takenRequest{chat: l.Chat}
	if l.Kind != CallbackAnswers {
		m.requests = append(m.requests, m.lastRequest[l])
	}
}

// merge returns how many of the open rows, counted from the first, the next message covers. A new
// message covers at most most rows; a repeated message covers the same rows as before.
func (m *memory) merge(open []*row, most int) int {
	n, head := 1, open[0]
	together := func(r *row) bool {
		return n < most && head.Failures+r.Failures == 0 && r.action == Send && r.thread == head.thread &&
			r.PossibleDuplicates == head.PossibleDuplicates && !m.isOver(r) &&
			head.Kind != kindSummary && r.Kind != kindSummary
	}
	if head.state == rowSending {
		together = func(r *row) bool { return r.state == rowSending && r.batch == head.batch }
	}
	for head.action == Send && n < len(open) && together(open[n]) {
		n++
	}
	return n
}

// message returns the message that covers the rows. For an edit, its items are the content of the
// edited message.
func (m *memory) message(l Lane, rows []*row) *Message {
	head := rows[0]
	message := &Message{
		Lane: l, ExternalChat: m.to(l.Chat), Private: m.private[l.Chat], Thread: head.thread, Action: head.action,
		Purpose: head.purpose, Row: head.Item, Items: items(rows), Target: head.target, KnownFingerprint: head.known,
	}
	t := m.shown[head.object]
	if t == nil || head.action == Send {
		return message
	}
	message.Target, message.KnownFingerprint = t.id, t.fingerprint
	if head.action == Edit {
		message.Items = items(t.rows)
		for i, r := range t.rows {
			if r.object == head.object {
				message.Items[i].Payload = head.Payload
			}
		}
	}
	return message
}

func items(rows []*row) []Item {
	items := make([]Item, len(rows))
	for i, r := range rows {
		items[i] = r.Item
	}
	return items
}
