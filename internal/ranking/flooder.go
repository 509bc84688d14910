package ranking

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// MaxAdded is the maximum number of people whom a member may name for the first time in a group and
// in a day.
// Admins have no limit, because an organizer may report a whole evening.
const MaxAdded = 20

// overAdded returns a refusal if the changes would add too many people for the sender.
func (c *call) overAdded(ctx context.Context, store writer, snap *Snapshot, changes Changes) (Notice, need, error) {
	added := 0
	for _, p := range changes.Seen.People {
		if p.New && p.Player.ID != changes.Seen.AddedBy {
			added++
		}
	}
	if added == 0 || changes.Seen.AddedBy == 0 || c.Retried || c.admin == IsAdmin {
		return nil, nil, nil
	}
	before, err := store.AddedInADay(ctx, snap.Group, changes.Seen.AddedBy)
	if err != nil || before+added <= MaxAdded {
		return nil, nil, err
	}
	tooMany := Refusal{Code: TooManyAdded, Matches: MaxAdded}
	refusal, lacks := c.permitted(Permission{Who: OnlyAdmins, Refusal: tooMany}, snap)
	return refusal, lacks, nil
}

// senderIn returns what the snapshot knows about the sender, zero if nothing.
func (c *call) senderIn(snap *Snapshot) Known {
	if c.Sender == nil {
		return Known{}
	}
	return snap.known(slices.IndexFunc(c.needs().People, func(p command.Person) bool { return p.ID == c.Sender.ID }))
}

// isIgnored reports whether the command is refused because the group ignores the sender. Questions
// are still answered, and what concerns only the sender is still done.
func (c *call) isIgnored(snap *Snapshot) bool {
	refuses := c.reports || c.Button != "" || c.bucket == RateResult || c.bucket == RatePress
	return refuses && c.senderIn(snap).Ignored
}

// IgnorePlayer has the bot refuse the reports and presses of an account in the group. Only admins
// may ignore somebody, and an ignored admin can still do what only admins can.
type IgnorePlayer struct {
	Player ladder.PlayerID
	Off    bool // the account is no longer ignored
}

func (i IgnorePlayer) plan(_ *Service, c *call) *call {
	op := ignoreOperation{adminsOnly{people: append(senderOf(c.Origin), command.Person{Player: i.Player})}, i, c.Origin}
	return c.with(job{name: "ignore player", bucket: RatePress, ofAdmins: true, ofGroup: true, operation: op})
}

type ignoreOperation struct {
	adminsOnly
	IgnorePlayer
	origin Origin
}

func (i ignoreOperation) decide(snap *Snapshot) (Decision, need, error) {
	k := snap.People[len(i.people)-1]
	if !k.IsAccount() || k.Named != nil { // the button is older than a merge
		return Decision{Notice: Refusal{Code: UnknownButton}}, nil, nil
	}
	n := LeftRanking{Name: k.Player.name(), How: HowIgnored}
	if i.Off {
		n.How = HowHeard
	}
	d := i.origin.answer(n)
	if k.Ignored == i.Off {
		d.Effect = &Ignored{Group: snap.Group, Player: k.Player.ID, At: i.origin.SentAt, Off: i.Off}
	}
	return d, nil, nil
}

// Ignored is an account whose reports and presses are refused from At on, or no longer.
type Ignored struct {
	Group  GroupID
	Player ladder.PlayerID
	At     time.Time
	Off    bool
}

func (*Ignored) outcome() CommandOutcome { return "" }

// undoDayWindow is how far back UndoDay goes.
const undoDayWindow = 24 * time.Hour

// UndoDay undoes what a player has reported in the group in the last 24 hours. Matches of seasons
// that are over stay as they are, and so do the cards. Only admins may do so.
type UndoDay struct {
	Player ladder.PlayerID
	// Shown is the Shown of the prompt whose button was pressed, nil to ask first. If it differs by
	// now, the bot asks again.
	Shown *int
}

func (u UndoDay) plan(s *Service, c *call) *call {
	op := undoDayOperation{adminsOnly{people: senderOf(c.Origin), adds: true}, u, s.amendment(c, commandUndo, Amendment{})}
	return c.with(job{
		name: "undo day", bucket: RatePress, ofAdmins: true, ofGroup: true, locks: u.Shown != nil, operation: op,
	})
}

type undoDayOperation struct {
	adminsOnly
	UndoDay
	amend amendOperation
}

// reportedBy is the need for Beside.Reported.
type reportedBy struct {
	player  ladder.PlayerID
	since   time.Time
	longest int // the maximum number of matches to replay
}

func (reportedBy) what() string { return "the reports of a player" }

// Reported are the matches of current seasons that count and that a player has reported since a
// time, by ladder and position.
type Reported struct {
	Matches []StoredMatch
	Later   int // the number of later matches of the group, at most
	// Histories are those of the seasons of the Matches, unless there are too many later matches to
	// replay.
	Histories []ladder.History
}

// reported reads what a player has reported.
func reported(ctx context.Context, store writer, chat ExternalChatID, n reportedBy) (*Reported, error) {
	matches, err := store.ReportedSince(ctx, chat, n.player, n.since)
	r := &Reported{Matches: matches}
	for _, m := range matches {
		r.Later = max(r.Later, m.Later)
	}
	if err != nil || r.Later > n.longest {
		return r, err
	}
	for i, m := range matches {
		if i > 0 && m.Season == matches[i-1].Season {
			continue
		}
		h, err := store.MatchHistory(ctx, m.Season, m.Position)
		if err != nil {
			return r, err
		}
		r.Histories = append(r.Histories, h)
	}
	return r, nil
}

func (u undoDayOperation) decide(snap *Snapshot) (Decision, need, error) {
	at, who := u.amend.origin.SentAt, Name{Player: u.Player}
	r := snap.Reported
	switch {
	case r == nil:
		return Decision{}, reportedBy{u.Player, at.Add(-undoDayWindow), u.amend.longest}, nil
	case len(r.Matches) == 0:
		return Decision{Notice: Refusal{Code: NothingReported, Who: &who}}, nil, nil
	case r.Later > u.amend.longest:
		return Decision{Notice: Refusal{Code: TooManyToReplay, Matches: r.Later}}, nil, nil
	}
	prompt := r.prompt(who)
	if u.Shown == nil || *u.Shown != prompt.Shown {
		prompt.Again = u.Shown != nil
		d := u.amend.origin.answer(prompt)
		d.Unadded = true
		return d, nil, nil
	}
	by, _ := u.amend.by(snap)
	undone := &UndoneDay{Matches: r.Matches, By: by, At: at}
	for _, h := range r.Histories {
		rewrite, err := h.Replay(ladder.ByUndo, func(m *ladder.Match) {
			isOne := func(one StoredMatch) bool { return one.ID == m.ID }
			m.Undone = m.Undone || slices.ContainsFunc(r.Matches, isOne)
		})
		if err != nil {
			return Decision{}, nil, err
		}
		undone.Rewrites = append(undone.Rewrites, rewrite)
	}
	d := u.amend.origin.answer(DayUndone{Name: who, Count: prompt.Count, Last: prompt.Last})
	d.Effect, d.Ladder = undone, new(LadderLabel) // the notice is about the group
	return d, nil, nil
}

// prompt returns the prompt that asks whether to undo the matches.
func (r Reported) prompt(who Name) UndoDayPrompt {
	n, hash := UndoDayPrompt{Name: who, Count: len(r.Matches)}, fnv.New32a()
	for _, m := range r.Matches {
		_, _ = fmt.Fprint(hash, m.ID, m.Changes, ";")
		n.Last = append(n.Last, m.Number)
		for _, player := range m.players() {
			if name := (Name{Player: player}); name != who && !slices.Contains(n.Players, name) {
				n.Players = append(n.Players, name)
			}
		}
	}
	slices.Sort(n.Last)
	slices.Reverse(n.Last)
	n.Last, n.Shown = n.Last[:min(len(n.Last), lastMoves)], int(hash.Sum32()>>1)
	return n
}

// UndoDayPrompt asks whether to undo what a player has reported in the last 24 hours.
type UndoDayPrompt struct {
	Name    Name   `json:"name"`
	Again   bool   `json:"again,omitempty"` // the matches differ from those of the first prompt
	Count   int    `json:"count"`
	Last    []int  `json:"last"`              // the numbers of the last of the matches, newest first
	Players []Name `json:"players,omitempty"` // who else played in them
	Shown   int    `json:"shown"`             // a hash of the matches
}

var _ = notice.Register[UndoDayPrompt](notice.Kind{Name: "undo_day_prompt", Purpose: notice.Answer, Alone: true})

// DayUndone says that what a player had reported in 24 hours is undone.
type DayUndone struct {
	Name  Name  `json:"name"`
	Count int   `json:"count"`
	Last  []int `json:"last"` // as in UndoDayPrompt
}

var _ = notice.Register[DayUndone](notice.Kind{Name: "day_undone", Purpose: notice.Outcome})

// UndoneDay are matches to be undone at once. If one of them has changed since it was read, Apply
// fails with ErrConflict.
type UndoneDay struct {
	Matches  []StoredMatch
	By       ladder.PlayerID // 0 for an anonymous admin
	At       time.Time
	Rewrites []ladder.Rewrite // one for each season
}

func (*UndoneDay) outcome() CommandOutcome { return OutcomeUndone }
