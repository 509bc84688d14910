package judge

import (
	"regexp"
	"time"
)

const (
	// aftermath is how long after a fault, or until the bot was seen to work again if that is later, its consequences last.
	aftermath = 30 * time.Second
	// markedWithin is how long before a fault a message may have come whose answer the fault keeps from being written down.
	markedWithin = 5 * time.Second
	// A campaign of fullLength has every kind of fault, one of halfLength half of them, and any campaign so many commands a
	// second.
	fullLength, halfLength = 20 * time.Minute, 3 * time.Minute
	fewestPerSecond        = 1.5
	// Of a hundred results, at most so many are refused, and at least so many recorded.
	mostRefused, fewestRecorded = 10, 80
)

// noDatabase are the words of a start that fails because the database does not answer, is read-only, or shuts down.
var noDatabase = regexp.MustCompile(`SQLSTATE (08\w{3}|25006|57P0[123])|read-only transaction|` +
	`failed to connect|connection refused|connection reset|broken pipe|unexpected EOF|conn closed|i/o timeout|deadline exceeded|` +
	`database system is (shutting down|starting up|in recovery mode)`)

// end is when the consequences of a fault are over.
func (f *Fault) end() time.Time {
	end := f.To.Add(aftermath)
	if f.Recovered.After(end) {
		return f.Recovered
	}
	return end
}

// judgeReach compares when a command was sent and answered with the faults that can be the reason of a refusal.
func (t *trial) judgeReach(c *Command, refused bool) {
	answered := c.At
	if notices := t.notices[c.Key()]; len(notices) > 0 {
		answered = notices[0].At
	}
	reached, since := false, time.Duration(-1)
	for i := range t.Faults {
		f := &t.Faults[i]
		if f.Of == Telegram || answered.Before(f.From) || c.At.After(f.end()) {
			continue
		}
		reached = true
		if after := max(0, c.At.Sub(f.To)); since < 0 || after < since {
			since = after
		}
	}
	switch {
	case !reached:
		t.FarFromFaults++
		if refused {
			t.violated(Excused, "%s was refused at %s, far from any fault of the bot and the database", c, answered.Format(time.TimeOnly))
		}
	case refused:
		t.LatestRefusal = max(t.LatestRefusal, since)
	}
}

// judgeShares compares how many results were recorded and refused.
func (t *trial) judgeShares() {
	if t.Refused*100 > t.Results*mostRefused {
		t.violated(FewRefused, "%d of %d results were refused, more than %d %%", t.Refused, t.Results, mostRefused)
	}
	if t.Recorded*100 < t.Results*fewestRecorded {
		t.violated(FewRefused, "%d of %d results were recorded, less than %d %%", t.Recorded, t.Results, fewestRecorded)
	}
}

// judgeCauses finds copies of an answer without a fault that can be their reason. The fault strikes when the earlier one of
// two comes, or before that is written down. The later one may come after a long pause.
func (t *trial) judgeCauses(c *Command) {
	came := t.tellings[c]
	for i := range max(0, len(came)-1) {
		if !t.isStruck(came[i].at) {
			t.violated(Caused, "the answer to %s came again, though nothing was wrong when it came at %s", c, came[i].at.Format(time.TimeOnly))
		}
	}
}

// isStruck tells whether a message that came at that time may come again because of a fault.
func (t *trial) isStruck(at time.Time) bool {
	for i := range t.Faults {
		f := &t.Faults[i]
		if !at.Before(f.From.Add(-markedWithin)) && !at.After(f.end()) {
			return true
		}
	}
	return false
}

// judgeKey: what was answered or recorded is not done once more when it is delivered again.
func (t *trial) judgeKey(c *Command, done bool) {
	if n := t.handled[c.Key()]; (done || len(t.tellings[c]) > 0) && n != 1 {
		t.violated(Keyed, "%s has %d keys", c, n)
	}
}

// judgeStarts: a start that fails says that the database is away, and it is.
func (t *trial) judgeStarts() {
	for _, s := range t.FailedStarts {
		if !noDatabase.MatchString(s.Words) {
			t.violated(Started, "at %s a start failed for another reason: %s", s.To.Format(time.TimeOnly), s.Words)
		} else if !t.isDatabaseStruck(s.Span) {
			t.violated(Started, "at %s a start failed without a fault of the database: %s", s.To.Format(time.TimeOnly), s.Words)
		}
	}
}

// isDatabaseStruck tells whether a fault of the database overlaps a span.
func (t *trial) isDatabaseStruck(s Span) bool {
	for _, f := range t.Faults {
		if f.Of == Database && !s.To.Before(f.From) && !s.From.After(f.To) {
			return true
		}
	}
	return false
}

// judgeCampaign: enough faults have struck, while enough was asked for.
func (t *trial) judgeCampaign() {
	struck := map[string]bool{}
	for _, f := range t.Faults {
		if !f.Missed {
			struck[f.Kind] = true
		}
	}
	var missing []string
	for _, kind := range t.Kinds {
		if !struck[kind] {
			missing = append(missing, kind)
		}
	}
	if n, want := len(t.Kinds)-len(missing), fewestKinds(len(t.Kinds), t.Lasting); n < want {
		t.violated(Hostile, "%d kinds of faults have struck in %v, want %d; missing are %q", n, t.Lasting, want, missing)
	}
	if want := int(fewestPerSecond * t.Lasting.Seconds()); len(t.Commands) < want {
		t.violated(Busy, "there were %d commands in %v, want %d", len(t.Commands), t.Lasting, want)
	}
}

// fewestKinds returns how many kinds of faults strike at least in a campaign: up to half of them in proportion to its length,
// from there on to all of them likewise.
func fewestKinds(all int, lasting time.Duration) int {
	half := float64(all) / 2
	if lasting < halfLength {
		return int(half * lasting.Seconds() / halfLength.Seconds())
	}
	more := half * (lasting - halfLength).Seconds() / (fullLength - halfLength).Seconds()
	return min(all, int(half+more))
}
