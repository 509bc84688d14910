package ranking

import (
	"errors"
	"time"
)

const (
	// FloodWindow is the time over which it is counted what somebody sends.
	RateWindow = time.Minute
	// maxQuestions is how many questions of one sender are answered in that time.
	maxQuestions = 20
	// defaultResults is how many results of one sender count in that time, unless the settings say otherwise.
	defaultResults = 60
	// maxPresses is how many presses of buttons of one person are handled in that time, of those that change nothing.
	maxPresses = 60
)

// SenderID is the messenger's id of whom a command counts for: a person's, or that of the chat for somebody who writes as
// the chat.
type SenderID int64

// Sort is what a command counts as.
type RateClass string

// The sorts of commands.
const (
	RateQuestion RateClass = "question" // it was answered
	RateSlowed   RateClass = "slowed"   // a question that was answered by asking for patience
	RateResult   RateClass = "result"   // it reports, undoes or corrects a match, or tries to
	RateRefused  RateClass = "refused"  // one of those that was too many, and was not done
	RatePress    RateClass = "press"    // the press of a button that changes nothing
)

// Counted says what a command counts as, for whom, and when it was sent. The zero value is that of a command that counts
// for nobody.
type RateEntry struct {
	RateClass RateClass
	Sender    SenderID
	At        time.Time
}

// Lately is how many commands of a sender there are in the FloodWindow that ends with a command, at its date.
type RecentUsage struct {
	Questions int
	Results   int
	Presses   int
	Slowed    int // also in the time after the command, which need not be handled in the order of the dates
}

// errUnanswered says that nothing is to be done about a command, and nothing told.
var errUnanswered = errors.New("there is nothing to be said to this")

// sender returns for whom a command counts.
func (o Origin) sender() SenderID {
	if o.Sender == nil {
		return SenderID(o.Chat.ID)
	}
	return SenderID(o.Sender.ID)
}

// counted returns what the command counts as when it is answered with the notice, nil for one that is not answered yet.
func (c command) rateEntry(o Origin, n Notice) RateEntry {
	rateEntry := RateEntry{RateClass: c.class, Sender: o.sender(), At: o.SentAt}
	switch n := n.(type) {
	case NotRecorded:
		rateEntry.RateClass = RateRefused
	case Refusal:
		switch n.Code {
		case TooManyQuestions:
			rateEntry.RateClass = RateSlowed
		case TooManyResults:
			rateEntry.RateClass = RateRefused
		}
	}
	if rateEntry.RateClass == "" || rateEntry.Sender == 0 || rateEntry.At.IsZero() {
		return RateEntry{}
	}
	return rateEntry
}

// tooMuch says whether a command is one too many, and what is told in its place: nil for nothing, because that has been
// told already. It goes by when commands were sent, so that what has waited during an outage is no flood.
// Nothing is locked for it: commands of one sender that are handled at the very same moment in several chats may each
// take the last place.
func (s *Service) overLimit(o Origin, c command, snap Snapshot) (n Notice, over bool) {
	switch limit := s.settings.ResultsPerMinute; {
	case o.Redelivered:
		return nil, false
	case c.acts != nil && c.acts(snap):
		return nil, false
	case c.class == RateQuestion && snap.RecentUsage.Questions >= maxQuestions:
		if snap.RecentUsage.Slowed > 0 {
			return nil, true
		}
		return Refusal{Code: TooManyQuestions}, true
	case c.class == RatePress && limit > 0 && snap.RecentUsage.Presses >= maxPresses:
		return Refusal{Code: TooManyPresses}, true
	case c.item != nil && limit > 0 && snap.RecentUsage.Results >= limit:
		if o.Button != "" {
			return Refusal{Code: TooManyResults}, true
		}
		return NotRecorded{Limit: limit, Items: []RejectedResult{c.item(snap)}}, true
	}
	return nil, false
}

// isFlood tells the answer to a press that changes nothing, and of which there are too many.
func isRateLimited(n Notice) bool {
	refusal, ok := n.(Refusal)
	return ok && refusal.Code == TooManyPresses
}

// item tells a match that is not recorded, with everybody as they are known or were named.
func (r recording) item(snap Snapshot) RejectedResult {
	done := RejectedResult{Command: commandMatch}
	for i, person := range r.players {
		name := Name{Name: r.people[person].Name}
		switch p := snap.People[person].Player; {
		case p != nil:
			name.Name = p.Name
		case name.Name == "":
			name.Name = "@" + r.people[person].Username
		}
		done.Sides[r.sides[i]-1] = append(done.Sides[r.sides[i]-1], name)
	}
	done.Score, done.Sets = [2]int{r.result.A, r.result.B}, r.result.setScores()
	return done
}

// item tells what is not taken back. Which match a reply means is known once it has been found.
func (t *amendment) item(name string, snap Snapshot) RejectedResult {
	done := RejectedResult{Command: name, Number: t.Match.Number, Last: t.Match == MatchRef{}}
	if done.Number == 0 && !done.Last && snap.Match != nil {
		done.Number = snap.Match.Number
	}
	return done
}

func (u undoing) item(snap Snapshot) RejectedResult { return u.amendment.item(commandUndo, snap) }

func (f fixing) item(snap Snapshot) RejectedResult {
	done := f.amendment.item(commandFix, snap)
	done.Score, done.Sets = [2]int{f.result.A, f.result.B}, f.result.setScores()
	return done
}

// malformed tells a command that could not be read.
func malformed(name string) func(Snapshot) RejectedResult {
	return func(Snapshot) RejectedResult { return RejectedResult{Command: name, Malformed: true} }
}
