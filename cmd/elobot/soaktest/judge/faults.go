package judge

import (
	"regexp"
	"slices"
	"time"
)

const (
	// aftermath is how long the consequences of a fault may last after its end. If the bot is seen
	// to recover later than that, the consequences last until the recovery.
	aftermath = 30 * time.Second
	// A message that arrives up to markedWithin before a fault may be sent again: because of the
	// fault, the bot may be unable to store that it was delivered.
	markedWithin = 5 * time.Second
	// A message that arrives up to forgottenWithin before a crash of the database may be missing
	// from the database after the crash.
	forgottenWithin = time.Second
	// fewestPerSecond is the minimum number of commands per second.
	fewestPerSecond = 1.5
	// mostRefused is the maximum percentage of refused results. fewestRecorded is the minimum
	// percentage of recorded results.
	mostRefused, fewestRecorded = 10, 80
)

// noDatabase matches the error of a start that fails because the database does not answer, is
// read-only, refuses sessions, starts up, or shuts down.
var noDatabase = regexp.MustCompile(`SQLSTATE (08\w{3}|25006|28000|57P0[123])|read-only transaction|` +
	`failed to connect|connection refused|connection reset|broken pipe|unexpected EOF|` +
	`conn closed|i/o timeout|deadline exceeded|` +
	`database system is (shutting down|starting up|in recovery mode)`)

// end returns the time at which the consequences of a fault are over.
func (f *Fault) end() time.Time {
	end := f.To.Add(aftermath)
	if f.Recovered.After(end) {
		return f.Recovered
	}
	return end
}

// forgotten returns how many copies of an answer the bot need not have counted: one for each crash
// of the database during which, or shortly before which, a copy arrived.
func (t *trial) forgotten(came []delivery) (copies int) {
	for i := range t.Faults {
		f := &t.Faults[i]
		if f.Crash && slices.ContainsFunc(came, func(d delivery) bool {
			return !d.at.Before(f.From.Add(-forgottenWithin)) && !d.at.After(f.To)
		}) {
			copies++
		}
	}
	return copies
}

// judgeReach checks that a fault of the bot or the database, or its consequences, overlapped the
// time from a refused command until its answer was stored. In FarFromFaults, it counts all commands
// without such an overlap, refused or not.
func (t *trial) judgeReach(c *Command, refused bool) {
	answered := c.At
	if notices := t.notices[c.Key()]; len(notices) > 0 {
		answered = notices[0].At
	}
	if slices.ContainsFunc(t.Faults, func(f Fault) bool {
		return f.Of != Telegram && !answered.Before(f.From) && !c.At.After(f.end())
	}) {
		return
	}
	t.FarFromFaults++
	if refused {
		t.violated(Excused, "%s was refused at %s, far from any fault of the bot and the database",
			c, answered.Format(time.TimeOnly))
	}
}

// judgeShares checks that at most mostRefused percent of the results were refused, and that at
// least fewestRecorded percent were recorded.
func (t *trial) judgeShares() {
	if t.Refused*100 > t.Results*mostRefused {
		t.violated(FewRefused, "%d of %d results were refused, more than %d %%", t.Refused, t.Results, mostRefused)
	}
	if t.Recorded*100 < t.Results*fewestRecorded {
		t.violated(FewRefused, "%d of %d results were recorded, less than %d %%", t.Recorded, t.Results, fewestRecorded)
	}
}

// judgeCauses checks that a fault explains each further copy of an answer. The fault must have
// struck around the arrival of the preceding copy, because the further copy may arrive much later.
func (t *trial) judgeCauses(c *Command) {
	came := t.deliveries[c]
	for i := range max(0, len(came)-1) {
		if !t.isStruck(came[i].at) {
			t.violated(Caused, "the answer to %s came again, although there was no fault when it came at %s",
				c, came[i].at.Format(time.TimeOnly))
		}
	}
}

// isStruck reports whether a fault may have caused another copy of a message that arrived at the
// given time.
func (t *trial) isStruck(at time.Time) bool {
	for i := range t.Faults {
		f := &t.Faults[i]
		if !at.Before(f.From.Add(-markedWithin)) && !at.After(f.end()) {
			return true
		}
	}
	return false
}

// judgeKey checks that a command that was answered or done has one key, so that a redelivery has no
// effect.
func (t *trial) judgeKey(c *Command, done bool) {
	if n := len(t.handled[c.Key()]); (done || len(t.deliveries[c]) > 0) && n != 1 {
		t.violated(Keyed, "%s has %d keys", c, n)
	}
}

// judgeStarts checks that each failed start reports a problem with the database, during a fault of
// the database.
func (t *trial) judgeStarts() {
	for _, s := range t.FailedStarts {
		if !noDatabase.MatchString(s.Words) {
			t.violated(Started, "at %s a start failed for another reason: %s", s.To.Format(time.TimeOnly), s.Words)
		} else if !t.isDatabaseStruck(s.Span) {
			t.violated(Started, "at %s a start failed without a fault of the database: %s", s.To.Format(time.TimeOnly), s.Words)
		}
	}
}

// isDatabaseStruck reports whether a fault of the database overlaps a span.
func (t *trial) isDatabaseStruck(s Span) bool {
	for _, f := range t.Faults {
		if f.Of == Database && !s.To.Before(f.From) && !s.From.After(f.To) {
			return true
		}
	}
	return false
}

// judgeCampaign checks that there were enough kinds of faults and enough commands.
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
	want := int(float64(len(t.Kinds)) * min(1, t.Lasting.Seconds()/max(1, t.Full.Seconds())))
	if n := len(t.Kinds) - len(missing); n < want {
		t.violated(Hostile, "%d kinds of faults have struck in %v, want %d; missing are %q", n, t.Lasting, want, missing)
	}
	if want := int(fewestPerSecond * t.Lasting.Seconds()); len(t.Commands) < want {
		t.violated(Busy, "there were %d commands in %v, want %d", len(t.Commands), t.Lasting, want)
	}
}

// countWindows counts the kills in each window in which a command can get lost or an answer can be
// repeated.
func (t *trial) countWindows() {
	for _, k := range t.Kills {
		var beforeCommit, beforeConfirmation, beforeMark bool
		for _, key := range k.InHand {
			if all := t.handled[key]; len(all) == 0 || all[0].After(k.To) {
				beforeCommit = true
			} else if !all[0].Before(k.From) {
				beforeConfirmation = true
			}
		}
		for c, came := range t.deliveries {
			arrived := slices.ContainsFunc(came, func(d delivery) bool { return k.includes(d.at) })
			unmarked := func(n Notice) bool { return n.FinishedAt.After(k.To) }
			beforeMark = beforeMark || arrived && slices.ContainsFunc(t.notices[c.Key()], unmarked)
		}
		for count, hit := range map[*int]bool{
			&t.BeforeCommit: beforeCommit, &t.BeforeConfirmation: beforeConfirmation, &t.BeforeMark: beforeMark,
		} {
			if hit {
				*count++
			}
		}
	}
}
