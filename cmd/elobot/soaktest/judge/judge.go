// Package judge decides whether a bot has kept its promises, from what was said to it, what it has answered and what it
// has stored.
//
// It imports nothing but the standard library: it reckons ratings, reads answers and compares by itself, so that a mistake
// of the bot cannot be a mistake of its judge as well. Whoever collects a History hands over plain values.
//
// The promises are:
//   - a result is recorded once, or its sender is told that it was not; so is an undo done, or its sender told;
//   - a command is refused only because of a fault of the bot or the database, and few results are;
//   - what is recorded is what was reported, in the order in which it was reported in its chat;
//   - ratings and counters are those of a plain Elo over the matches in the order of their numbers;
//   - the answers of a chat come in the order in which they were written down, first copies;
//   - an answer comes again only where a fault struck and where that was counted as possible, MaxCopies times at the most,
//     and never because of a clean stop;
//   - each command that was answered or recorded has one key;
//   - a start fails only because of a fault of the database;
//   - nothing is left unsent, and there are no dead letters.
//
// A history that proves little is a violation too: one with few commands, or with few kinds of faults for its length.
package judge

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// MaxCopies is how often one answer may come, the first time included.
const MaxCopies = 5

// gatheredKind is the kind of an answer that lists what was not recorded.
const gatheredKind = "not_recorded"

// Verdict is what was found.
type Verdict struct {
	Results, Recorded, Refused  int // results that were reported, and what became of them
	Undos, Undone, UndosRefused int
	Answers, Copies, Possible   int // different answers, further copies of them, copies that were counted as possible
	MostOfOne                   int // how often the answer came that came most often
	LateRefusals                int // lists of what was not recorded that came after the answer to a later command
	FarFromFaults               int // commands that no fault of the bot or the database excuses, should they be refused
	// LatestRefusal is the longest time between the end of the last fault of the bot or the database and a command that
	// was refused.
	LatestRefusal time.Duration
	Violations    []Violation
}

// Violation is a promise that was not kept.
type Violation struct {
	Rule Rule
	What string
}

func (v Violation) String() string { return string(v.Rule) + ": " + v.What }

// Rule is a promise.
type Rule string

// The promises.
const (
	Answered   Rule = "every command is done once, or its sender is told that it was not"
	Faithful   Rule = "what is stored is what was asked for"
	InOrder    Rule = "matches and answers keep the order of their chat"
	Rated      Rule = "ratings are those of a plain Elo"
	Counted    Rule = "copies come only where they were counted as possible"
	FewCopies  Rule = "copies of one answer end"
	CleanStop  Rule = "a clean stop makes no copy"
	Finished   Rule = "nothing is left unsent"
	NoLetters  Rule = "there are no dead letters"
	Understood Rule = "answers are in known words"
	Excused    Rule = "a command is refused only because of a fault of the bot or the database"
	FewRefused Rule = "most results are recorded, and few refused"
	Caused     Rule = "copies come only where a fault struck"
	Keyed      Rule = "each command that was answered or recorded has one key"
	Started    Rule = "a start fails only because of a fault of the database"
	Hostile    Rule = "the kinds of faults have struck"
	Busy       Rule = "there were enough commands"
)

type messageID struct {
	chat int64
	id   int
}

type matchID struct {
	chat   int64
	number int
}

// trial is a judgement under way.
type trial struct {
	History
	Verdict
	commands  map[messageID]*Command
	keys      map[string]*Command
	undos     map[matchID]*Command
	byKey     map[string][]Match
	byNumber  map[matchID]Match
	notices   map[string][]Notice
	inMessage map[messageID][]Notice
	tellings  map[*Command][]telling
	first     map[int64][]telling // by chat, the first copies in the order in which they came
	handled   map[string]int      // how often each key is there
}

// Judge compares a history with the promises.
func Judge(h History) Verdict {
	t := &trial{
		History: h, commands: map[messageID]*Command{}, keys: map[string]*Command{}, undos: map[matchID]*Command{},
		byKey: map[string][]Match{}, byNumber: map[matchID]Match{},
		notices: map[string][]Notice{}, inMessage: map[messageID][]Notice{},
		tellings: map[*Command][]telling{}, first: map[int64][]telling{}, handled: map[string]int{},
	}
	t.index()
	t.readAnswers()
	for i := range t.Commands {
		t.judgeCommand(&t.Commands[i])
	}
	t.judgeStrangers()
	t.judgeOrderOfMatches()
	t.judgeOrderOfAnswers()
	t.judgeRatings()
	t.judgeShares()
	t.judgeStarts()
	t.judgeCampaign()
	for _, letter := range t.DeadLetters {
		t.violated(NoLetters, "%s", letter)
	}
	return t.Verdict
}

func (t *trial) violated(rule Rule, format string, args ...any) {
	t.Violations = append(t.Violations, Violation{rule, fmt.Sprintf(format, args...)})
}

func (t *trial) index() {
	for i := range t.Commands {
		c := &t.Commands[i]
		t.commands[messageID{c.Chat, c.Message}] = c
		t.keys[c.Key()] = c
		if c.Undo != 0 {
			t.undos[matchID{c.Chat, c.Undo}] = c
		}
	}
	for _, key := range t.Handled {
		t.handled[key]++
	}
	for _, m := range t.Matches {
		t.byKey[m.Key] = append(t.byKey[m.Key], m)
		t.byNumber[matchID{m.Chat, m.Number}] = m
	}
	for _, n := range t.Notices {
		t.notices[n.Key] = append(t.notices[n.Key], n)
		if n.Message != 0 {
			at := messageID{n.Chat, n.Message}
			t.inMessage[at] = append(t.inMessage[at], n)
		}
	}
}

// judgeCommand judges all that concerns one command alone.
func (t *trial) judgeCommand(c *Command) {
	t.compare(c)
	done := t.isStored(c)
	saidDone, saidRefused := 0, 0
	for _, telling := range t.tellings[c] {
		if telling.refused {
			saidRefused++
		} else {
			saidDone++
		}
	}
	switch {
	case done && saidRefused > 0:
		t.violated(Answered, "%s was done, and its sender was told that it was not", c)
	case !done && saidDone > 0:
		t.violated(Answered, "%s was answered as if it had been done, and was not", c)
	case done && saidDone == 0:
		t.violated(Answered, "%s was done, and nobody was told (%s)", c, t.fate(c))
	case !done && saidRefused == 0:
		t.violated(Answered, "%s was neither done nor refused (%s)", c, t.fate(c))
	}
	t.count(c, done)
	t.judgeKey(c, done)
	t.judgeReach(c, saidRefused > 0)
	t.judgeCopies(c)
	t.judgeCauses(c)
	for _, n := range t.notices[c.Key()] {
		if n.State != "sent" && n.State != "uncertain" {
			t.violated(Finished, "the answer to %s is left as %q", c, n.State)
		}
	}
}

// compare compares what has been stored with what the command asks for.
func (t *trial) compare(c *Command) {
	recorded := t.byKey[c.Key()]
	if c.Undo != 0 && len(recorded) > 0 {
		t.violated(Faithful, "%s was recorded as a match", c)
		return
	}
	if len(recorded) > 1 {
		t.violated(Answered, "%s was recorded %d times", c, len(recorded))
	}
	for _, m := range recorded {
		if m.Chat != c.Chat || !m.sameAs(c.Game) {
			t.violated(Faithful, "%s was recorded as %v %v in chat %d", c, m.Players, m.Score, m.Chat)
		}
	}
}

func (t *trial) count(c *Command, done bool) {
	all, yes, no := &t.Results, &t.Recorded, &t.Refused
	if c.Undo != 0 {
		all, yes, no = &t.Undos, &t.Undone, &t.UndosRefused
	}
	*all++
	if done {
		*yes++
	} else if len(t.tellings[c]) > 0 {
		*no++
	}
}

// fate says what has become of the answer to a command.
func (t *trial) fate(c *Command) string {
	notices := t.notices[c.Key()]
	if len(notices) == 0 {
		return "no answer was written down"
	}
	return fmt.Sprintf("answer %d of kind %s is %s as message %d", notices[0].ID, notices[0].Kind, notices[0].State, notices[0].Message)
}

// judgeCopies compares how often an answer came with how often it was counted that it may have.
func (t *trial) judgeCopies(c *Command) {
	possible := 0
	for _, n := range t.notices[c.Key()] {
		possible += n.PossibleCopies
	}
	t.Possible += possible
	came := t.tellings[c]
	if len(came) == 0 {
		return
	}
	copies := len(came) - 1
	t.Answers++
	t.Copies += copies
	t.MostOfOne = max(t.MostOfOne, len(came))
	if copies > possible {
		t.violated(Counted, "the answer to %s came %d times, and %d copies were counted as possible", c, len(came), possible)
	}
	if len(came) > MaxCopies {
		t.violated(FewCopies, "the answer to %s came %d times", c, len(came))
	}
	for _, telling := range came[:copies] {
		for _, stop := range t.CleanStops {
			if !telling.at.Before(stop.From) && telling.at.Before(stop.To) {
				t.violated(CleanStop, "the answer to %s came again after a clean stop", c)
			}
		}
	}
}

// judgeStrangers finds what has been stored without a command.
func (t *trial) judgeStrangers() {
	for _, m := range t.Matches {
		if t.keys[m.Key] == nil {
			t.violated(Faithful, "match #%d of chat %d has the key %q, which is that of no command", m.Number, m.Chat, m.Key)
		}
		if m.Undone && t.undos[matchID{m.Chat, m.Number}] == nil {
			t.violated(Faithful, "match #%d of chat %d is undone, and nobody has asked for it", m.Number, m.Chat)
		}
	}
}

// judgeOrderOfMatches: the numbers of a chat's matches are 1, 2, 3 … in the order of the reports.
func (t *trial) judgeOrderOfMatches() {
	next := map[int64]int{}
	for i := range t.Commands {
		c := &t.Commands[i]
		for _, m := range t.byKey[c.Key()] {
			next[c.Chat]++
			if m.Number != next[c.Chat] {
				t.violated(InOrder, "%s became match #%d, want #%d", c, m.Number, next[c.Chat])
				next[c.Chat] = m.Number
			}
		}
	}
}

// judgeOrderOfAnswers: the first copies come in the order in which they were written down.
func (t *trial) judgeOrderOfAnswers() {
	for _, chat := range t.chats() {
		var last int64
		latest := 0
		for _, telling := range t.first[chat] {
			notices := t.notices[telling.command.Key()]
			if len(notices) == 0 {
				t.violated(Answered, "the answer to %s was written down nowhere", telling.command)
				continue
			}
			if notices[0].ID < last {
				t.violated(InOrder, "the answer to %s came too late: after one that was written down later", telling.command)
			}
			last = max(last, notices[0].ID)
			if telling.command.Message < latest {
				// A list of what was not recorded waits for more of it. Every other refusal comes in its turn.
				if telling.refused && notices[0].Kind == gatheredKind {
					t.LateRefusals++
				} else {
					t.violated(InOrder, "the answer to %s came after the answer to message %d", telling.command, latest)
				}
			}
			if !telling.refused {
				latest = max(latest, telling.command.Message)
			}
		}
	}
}

// chats returns the chats in which there were commands.
func (t *trial) chats() []int64 {
	var chats []int64
	for i := range t.Commands {
		chats = append(chats, t.Commands[i].Chat)
	}
	slices.Sort(chats)
	return slices.Compact(chats)
}

// judgeRatings replays the matches of each chat.
func (t *trial) judgeRatings() {
	matches := slices.Clone(t.Matches)
	slices.SortFunc(matches, func(a, b Match) int { return cmp.Or(cmp.Compare(a.Chat, b.Chat), a.Number-b.Number) })
	ladders := map[int64]ladder{}
	for _, m := range matches {
		if ladders[m.Chat] == nil {
			ladders[m.Chat] = ladder{}
		}
		if !m.Undone {
			ladders[m.Chat].play(m.Game)
		}
	}
	for _, s := range t.Standings {
		want := ladders[s.Chat].standing(s.Name)
		want.Chat, want.Name = s.Chat, s.Name
		if s != want {
			t.violated(Rated, "chat %d: the standing is %+v, want %+v", s.Chat, s, want)
		}
		delete(ladders[s.Chat], s.Name)
	}
	for chat, left := range ladders {
		for name := range left {
			t.violated(Rated, "chat %d: %s has played and has no standing", chat, name)
		}
	}
}
