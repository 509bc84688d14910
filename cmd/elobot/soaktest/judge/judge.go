// Package judge decides whether a bot has kept its guarantees, from the commands sent to it, its
// answers and its stored data.
//
// It has its own code to read answers and compare data, and it calculates ratings with plainladder,
// so that it does not repeat the bot's mistakes. A History consists of plain values.
//
// The guarantees are:
//   - every result is recorded once or refused, every undo is done or refused, and the sender is
//     notified;
//   - a command is refused only because of a fault of the bot or the database, most results are
//     recorded, and few are refused;
//   - the recorded matches are the reported ones, in the order of the reports in each chat;
//   - ratings and counters equal the results of a simple Elo ranking over the matches that are not
//     undone, in the order of their numbers;
//   - the first copies of the answers in a chat arrive in the order in which they were stored, and
//     none arrives after a later command was answered as done, except in a list of unrecorded
//     results;
//   - an answer is repeated only because of a fault, never because of a clean stop, and arrives at
//     most MaxCopies times in all. Each repetition is counted as a possible duplicate, except one
//     for each crash of the database during which, or within a second before which, a copy arrived;
//   - each command that was answered or done has one key;
//   - a start fails only because of a fault of the database;
//   - nothing is left unsent, and there are no dead letters.
//
// A history that proves too little is also a violation: one with few commands, or with few kinds of
// faults for its duration.
package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"elobot/internal/plainladder"
)

// MaxCopies is how often one answer may arrive, including the first time.
const MaxCopies = 5

// listKind is the kind of an answer that lists results that were not recorded.
const listKind = "not_recorded"

// Verdict lists the violations, and counts what happened in the campaign.
type Verdict struct {
	Results, Recorded, Refused  int // how many results were reported, recorded and refused
	Undos, Undone, UndosRefused int // how many undos were requested, done and refused
	// Answers is how many commands were answered, Copies how many further copies of the answers
	// arrived, and Possible how many possible duplicates the bot counted.
	Answers, Copies, Possible int
	MostOfOne                 int // largest number of copies of one answer, including the first
	// LateRefusals is how many commands were refused in a list of unrecorded results that arrived
	// after a later command was answered as done.
	LateRefusals int
	// FarFromFaults is how many commands were so far from faults of the bot and the database that
	// no fault would excuse their refusal.
	FarFromFaults int
	// BeforeCommit is how many kills struck before the commit of a command, BeforeConfirmation how
	// many between commit and confirmation, and BeforeMark how many between a request and the mark
	// that the request was done.
	BeforeCommit, BeforeConfirmation, BeforeMark int
	Violations                                   []Violation
}

// Violation describes how a history breaks a rule.
type Violation struct {
	Rule Rule
	What string
}

func (v Violation) String() string { return string(v.Rule) + ": " + v.What }

// Rule is a guarantee of the bot, or a condition without which a history proves too little.
type Rule string

// The rules, in the words in which a violation is reported.
const (
	Answered   Rule = "every command is done once, or its sender is notified that it was not"
	Faithful   Rule = "the stored data is what the commands asked for"
	InOrder    Rule = "matches and answers keep the order of their chat"
	Rated      Rule = "ratings are those of a simple Elo ranking"
	Counted    Rule = "copies come only if they were counted as possible"
	FewCopies  Rule = "the number of copies of an answer is limited"
	CleanStop  Rule = "a clean stop causes no copy"
	Finished   Rule = "nothing is left unsent"
	NoLetters  Rule = "there are no dead letters"
	Understood Rule = "all answers have a known form"
	Excused    Rule = "a command is refused only because of a fault of the bot or the database"
	FewRefused Rule = "most results are recorded, and few are refused"
	Caused     Rule = "copies come only because of a fault"
	Keyed      Rule = "each command that was answered or recorded has one key"
	Started    Rule = "a start fails only because of a fault of the database"
	Hostile    Rule = "there were enough kinds of faults"
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

// trial is the state of a judgment.
type trial struct {
	History
	Verdict
	commands   map[messageID]*Command
	keys       map[string]*Command
	undos      map[matchID]*Command
	byKey      map[string][]Match
	byNumber   map[matchID]Match
	notices    map[string][]Notice
	inMessage  map[messageID][]Notice
	deliveries map[*Command][]delivery
	first      map[int64][]delivery   // by chat: the first copies, in the order of arrival
	handled    map[string][]time.Time // times at which each key was handled
}

// Judge checks a history against all rules.
func Judge(h History) Verdict {
	t := &trial{
		History: h, commands: map[messageID]*Command{}, keys: map[string]*Command{}, undos: map[matchID]*Command{},
		byKey: map[string][]Match{}, byNumber: map[matchID]Match{},
		notices: map[string][]Notice{}, inMessage: map[messageID][]Notice{},
		deliveries: map[*Command][]delivery{}, first: map[int64][]delivery{}, handled: map[string][]time.Time{},
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
	t.judgeCards()
	t.judgeShares()
	t.judgeStarts()
	t.judgeCampaign()
	t.countWindows()
	if len(t.CleanStops) > 0 && len(t.CleanStops) == len(t.Faults) && t.Possible > 0 {
		t.violated(CleanStop, "%d copies were counted as possible, although there were only clean stops", t.Possible)
	}
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
	for _, handling := range t.Handled {
		t.handled[handling.Key] = append(t.handled[handling.Key], handling.At)
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

// judgeCommand applies the rules that concern a single command.
func (t *trial) judgeCommand(c *Command) {
	t.compare(c)
	done := t.isStored(c)
	confirmations, refusals := 0, 0
	for _, d := range t.deliveries[c] {
		if d.refused {
			refusals++
		} else {
			confirmations++
		}
	}
	switch {
	case done && refusals > 0:
		t.violated(Answered, "%s was done, but also refused", c)
	case !done && confirmations > 0:
		t.violated(Answered, "%s was answered as done, but was not", c)
	case done && confirmations == 0:
		t.violated(Answered, "%s was done, but not answered (%s)", c, t.fate(c))
	case !done && refusals == 0:
		t.violated(Answered, "%s was neither done nor refused (%s)", c, t.fate(c))
	}
	t.count(c, done)
	t.judgeKey(c, done)
	t.judgeReach(c, refusals > 0)
	t.judgeCopies(c)
	t.judgeCauses(c)
	for _, n := range t.notices[c.Key()] {
		if n.State != "sent" && n.State != "uncertain" {
			t.violated(Finished, "the answer to %s is still in state %q", c, n.State)
		}
	}
}

// compare compares a command's stored matches with the result that it reported.
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
	} else if len(t.deliveries[c]) > 0 {
		*no++
	}
}

// fate describes the first stored answer to a command.
func (t *trial) fate(c *Command) string {
	notices := t.notices[c.Key()]
	if len(notices) == 0 {
		return "no answer is stored"
	}
	return fmt.Sprintf("answer %d of kind %s is %s as message %d",
		notices[0].ID, notices[0].Kind, notices[0].State, notices[0].Message)
}

// judgeCopies checks that the copies of an answer were counted as possible duplicates or may have
// been forgotten in a crash, that there are not too many, and that no clean stop caused one.
func (t *trial) judgeCopies(c *Command) {
	possible := 0
	for _, n := range t.notices[c.Key()] {
		possible += n.PossibleCopies
	}
	t.Possible += possible
	came := t.deliveries[c]
	if len(came) == 0 {
		return
	}
	copies := len(came) - 1
	t.Answers++
	t.Copies += copies
	t.MostOfOne = max(t.MostOfOne, len(came))
	if copies > possible+t.forgotten(came) {
		t.violated(Counted, "the answer to %s came %d times, but only %d copies were counted as possible",
			c, len(came), possible)
	}
	if len(came) > MaxCopies {
		t.violated(FewCopies, "the answer to %s came %d times", c, len(came))
	}
	for _, d := range came[:copies] {
		for _, stop := range t.CleanStops {
			if !d.at.Before(stop.From) && d.at.Before(stop.To) {
				t.violated(CleanStop, "the answer to %s came again after a clean stop", c)
			}
		}
	}
}

// judgeStrangers finds stored matches and undos that no command explains.
func (t *trial) judgeStrangers() {
	for _, m := range t.Matches {
		if t.keys[m.Key] == nil {
			t.violated(Faithful, "match #%d of chat %d has the key %q, which belongs to no command", m.Number, m.Chat, m.Key)
		}
		if m.Undone && t.undos[matchID{m.Chat, m.Number}] == nil {
			t.violated(Faithful, "match #%d of chat %d is undone, but nobody asked for that", m.Number, m.Chat)
		}
	}
}

// judgeOrderOfMatches checks that the numbers of a chat's matches are 1, 2, 3 … in the order of the
// reports.
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

// judgeOrderOfAnswers checks that the first copies of the answers in a chat arrive in the order in
// which they were stored, and that none arrives after a later command was answered as done, except
// in a list of unrecorded results.
func (t *trial) judgeOrderOfAnswers() {
	for _, chat := range t.chats() {
		var last int64
		latest := 0
		for _, d := range t.first[chat] {
			notices := t.notices[d.command.Key()]
			if len(notices) == 0 {
				t.violated(Answered, "the answer to %s is not stored", d.command)
				continue
			}
			if notices[0].ID < last {
				t.violated(InOrder, "the answer to %s came after one that was stored later", d.command)
			}
			last = max(last, notices[0].ID)
			if d.command.Message < latest {
				// A list of unrecorded results waits for more of them, so it may arrive late. No
				// other answer may.
				if d.refused && notices[0].Kind == listKind {
					t.LateRefusals++
				} else {
					t.violated(InOrder, "the answer to %s came after the answer to message %d", d.command, latest)
				}
			}
			if !d.refused {
				latest = max(latest, d.command.Message)
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

// judgeCards checks that each card shows the ratings from a replay of the matches that counted when
// the card's match was recorded. It skips matches that were undone later, because the card of an
// undone match shows no ratings.
func (t *trial) judgeCards() {
	counted := map[int64][]Match{} // by chat
	for i := range t.Commands {
		c := &t.Commands[i]
		if c.Undo != 0 && t.isStored(c) {
			counted[c.Chat] = slices.DeleteFunc(counted[c.Chat], func(m Match) bool { return m.Number == c.Undo })
		}
		for _, m := range t.byKey[c.Key()] {
			counted[c.Chat] = append(counted[c.Chat], m)
			if m.Undone {
				continue
			}
			after := replay(counted[c.Chat])
			for _, d := range t.deliveries[c] {
				for _, name := range m.Players {
					want := fmt.Sprintf("→ %d", after[name].Elo)
					if !d.refused && !strings.Contains(d.text, want) {
						t.violated(Rated, "%s: %s %s, but the card is %.200q", c, name, want, d.text)
					}
				}
			}
		}
	}
}

// replay returns the standings after the matches, which must be in the order of their numbers.
func replay(matches []Match) plainladder.Standings {
	var plain []plainladder.Match
	for _, m := range matches {
		plain = append(plain, plainladder.Match{
			A: m.Players[:1], B: m.Players[1:], ScoreA: m.Score[0], ScoreB: m.Score[1],
		})
	}
	return plainladder.Play(nil, plain).Standings
}

// judgeRatings replays each chat's matches, except undone ones, and compares the result with the
// stored standings.
func (t *trial) judgeRatings() {
	matches := slices.Clone(t.Matches)
	slices.SortFunc(matches, func(a, b Match) int { return cmp.Or(cmp.Compare(a.Chat, b.Chat), a.Number-b.Number) })
	counted := map[int64][]Match{} // by chat
	for _, m := range matches {
		if !m.Undone {
			counted[m.Chat] = append(counted[m.Chat], m)
		}
	}
	ladders := map[int64]plainladder.Standings{}
	for chat, matches := range counted {
		ladders[chat] = replay(matches)
	}
	for _, s := range t.Standings {
		p, played := ladders[s.Chat][s.Name]
		if !played {
			p.Elo = 1500
		}
		if want := (Standing{s.Chat, s.Name, p.Elo, p.Won, p.Drawn, p.Lost}); s != want {
			t.violated(Rated, "chat %d: the standing is %+v, want %+v", s.Chat, s, want)
		}
		delete(ladders[s.Chat], s.Name)
	}
	for chat, left := range ladders {
		for name := range left {
			t.violated(Rated, "chat %d: %s has played but has no standing", chat, name)
		}
	}
}
