package ranking

import (
	"time"
)

const (
	// RateWindow is the sliding window in which a sender's commands are counted.
	RateWindow = time.Minute
	// maxQuestions is the maximum number of commands in the bucket RateQuestion per sender within
	// the window. Like every limit, it applies neither to retried commands nor to operations for
	// which isUnlimited returns true.
	maxQuestions = 20
	// defaultResults is the default maximum number of results per sender within the window.
	defaultResults = 60
	// maxPresses is the maximum number of commands in the bucket RatePress per person within the
	// window. Presses that amend a match directly count as results instead. There is no limit on
	// presses if there is none on results.
	maxPresses = 60
)

// SenderID is the messenger's id of the sender whose limits apply: the person, or the chat if the
// command has no Sender, as for an anonymous admin.
type SenderID int64

// RateBucket is the kind of command that a rate limit counts.
type RateBucket string

const (
	RateQuestion RateBucket = "question" // an answered question, or any command not listed below
	RateSlowed   RateBucket = "slowed"   // a command answered with TooManyQuestions
	RateResult   RateBucket = "result"   // a report or an amendment, successful or not
	RateRefused  RateBucket = "refused"  // a result over the limit
	RatePress    RateBucket = "press"    // most other presses, and typed answers to prompts
)

// RateEntry is how a command counts against a rate limit: in which bucket, for which sender, and at
// what time. The zero value counts against no limit.
type RateEntry struct {
	Bucket RateBucket
	Sender SenderID
	At     time.Time
}

// RecentUsage counts a sender's commands by bucket, in the RateWindow that ends when the current
// command was sent.
type RecentUsage struct {
	Questions int
	Results   int
	Presses   int
	// Slowed also covers the RateWindow after the command, because commands may be handled out of
	// order.
	Slowed int
}

// sender returns the sender whose limits apply to the command.
func (o Origin) sender() SenderID {
	if o.Sender == nil {
		return SenderID(o.Chat.ID)
	}
	return SenderID(o.Sender.ID)
}

// rateEntry returns how the command counts against a rate limit if it is answered with the notice
// n. n is nil if there is no decision yet, or if the decision has no Notice.
func (c *call) rateEntry(n Notice) RateEntry {
	rateEntry := RateEntry{Bucket: c.bucket, Sender: c.Origin.sender(), At: c.SentAt}
	switch n := n.(type) {
	case NotRecorded:
		rateEntry.Bucket = RateRefused
	case Refusal:
		switch n.Code {
		case TooManyQuestions:
			rateEntry.Bucket = RateSlowed
		case TooManyResults:
			rateEntry.Bucket = RateRefused
		}
	}
	return rateEntry.orNone()
}

// orNone returns the entry, or the zero value if it lacks a bucket, a sender or a time.
func (r RateEntry) orNone() RateEntry {
	if r.Bucket == "" || r.Sender == 0 || r.At.IsZero() {
		return RateEntry{}
	}
	return r
}

// overLimit reports whether a command exceeds a rate limit, and returns the notice n that then
// answers it. In the bucket RateQuestion, n is nil if the sender has recently been told to slow
// down. Commands count at the time when they were sent, so that a backlog after an outage does not
// exceed the limits. overLimit takes no locks: if one sender's commands are handled concurrently in
// several chats, slightly more than the limit may pass.
func (s *Service) overLimit(c *call, snap *Snapshot) (n Notice, over bool) {
	var results []RejectedResult // set only if they may exceed the limit
	if snap.RecentUsage.Results+MaxReports > s.settings.ResultsPerMinute {
		results = c.rejectedResults(snap)
	}
	switch limit := s.settings.ResultsPerMinute; {
	case c.Retried, c.isUnlimited(snap):
		return nil, false
	case c.bucket == RateQuestion && snap.RecentUsage.Questions >= maxQuestions:
		if snap.RecentUsage.Slowed > 0 {
			return nil, true
		}
		return Refusal{Code: TooManyQuestions}, true
	case c.bucket == RatePress && limit > 0 && snap.RecentUsage.Presses >= maxPresses:
		return Refusal{Code: TooManyPresses}, true
	case limit > 0 && len(results) > 0 && snap.RecentUsage.Results+len(results) > limit:
		if c.Button != "" {
			return Refusal{Code: TooManyResults}, true
		}
		return NotRecorded{Limit: limit, Items: results}, true
	case limit > 0 && c.extraResults > 0 && snap.ExtraUsage.Results+c.extraResults > limit:
		return Refusal{Code: TooManyResults}, true
	}
	return nil, false
}

func isTooManyPresses(n Notice) bool {
	refusal, ok := n.(Refusal)
	return ok && refusal.Code == TooManyPresses
}
