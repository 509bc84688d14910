package ranking

import (
	"context"
	"slices"

	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// MergePlayers makes a player of the group count as another one from now on, with all matches in
// which the player, or somebody who counts as the player, was named. Only admins may.
type MergePlayers struct {
	From, Into ladder.PlayerID
	MappingStep
}

func (m MergePlayers) plan(s *Service, c *call) *call {
	return s.mapping(c, "merge players", mappingOperation{from: m.From, into: m.Into, MappingStep: m.MappingStep})
}

// SplitPlayer makes a player who counts as another one count for themselves again. Only admins may.
type SplitPlayer struct {
	Player ladder.PlayerID
	MappingStep
}

func (p SplitPlayer) plan(s *Service, c *call) *call {
	return s.mapping(c, "split player", mappingOperation{from: p.Player, MappingStep: p.MappingStep})
}

// MappingStep is a step of a change that admins confirm.
type MappingStep struct {
	// Ask is the question to ask instead of making the change, empty to make it.
	Ask MappingAsk
	// Shown is the number of Matches in the prompt whose button makes the change. If they are
	// others by now, the change is refused. It is nil if there was no prompt.
	Shown *int
}

// MappingAsk is what a MappingPrompt asks.
type MappingAsk string

// The questions.
const (
	AskMerge   MappingAsk = "merge"   // whether two players are one person
	AskAccount MappingAsk = "account" // whether an account is the new one of another; AskSure follows
	AskSure    MappingAsk = "sure"    // whether to merge two accounts
	AskSplit   MappingAsk = "split"   // whether two players are two people
)

func (s *Service) mapping(c *call, name string, op mappingOperation) *call {
	op.origin, op.longest = c.Origin, s.settings.LongestReplay
	return c.with(job{name: name, bucket: RateResult, ofAdmins: true, ofGroup: true, locks: op.Ask == "", operation: op})
}

// mappingOperation changes for whom a player counts.
type mappingOperation struct {
	plain
	from, into ladder.PlayerID // into is 0 for a split
	origin     Origin
	longest    int // how many matches may be replayed
	MappingStep
}

func (m mappingOperation) needs() Needs {
	people := senderOf(m.origin)
	return Needs{People: people, New: len(people)}
}

func (m mappingOperation) permission(*Snapshot) Permission {
	return Permission{Who: OnlyAdmins, Refusal: Refusal{Code: AdminsOnly}}
}

func (m mappingOperation) decide(snap *Snapshot) (Decision, need, error) {
	if snap.Mapping == nil {
		return Decision{}, mappingOf{from: m.from, into: m.into}, nil
	}
	was := snap.Mapping
	split, into := m.into == 0, was.CountsAs.of(m.into)
	if split {
		into = was.CountsAs.of(m.from)
	}
	switch {
	case was.Names[m.from] == "", was.Names[into] == "":
		return Decision{Notice: Refusal{Code: UnknownButton}}, nil, nil
	case split && into == m.from:
		return Decision{Notice: Refusal{Code: NotMerged, Name: was.Names[m.from]}}, nil, nil
	case into == m.from, !split && was.CountsAs[m.from] != 0:
		return Decision{Notice: Refusal{Code: MergedAlready, Name: was.Names[m.from]}}, nil, nil
	case was.Later > m.longest:
		return Decision{Notice: Refusal{Code: TooManyToReplay, Matches: was.Later}}, nil, nil
	}
	next := was.CountsAs.split(m.from)
	if !split {
		next = was.CountsAs.merged(m.from, into)
	}
	changed, err := was.change(next, m.from, into)
	if err != nil {
		return Decision{}, nil, err
	}
	prompt := changed.prompt(m.from, into)
	switch prompt.Ask = m.Ask; {
	case m.Ask != "":
		d := m.origin.answer(prompt)
		d.Unadded = true
		return d, nil, nil
	case m.Shown != nil && *m.Shown != prompt.Matches():
		return Decision{Notice: Refusal{Code: UnknownButton}}, nil, nil
	}
	said := PlayersMapped{
		Player: Name{Player: m.from}, Into: Name{Player: into}, Split: split,
		Undone: changed.Undone, Restored: changed.Restored,
	}
	for i, season := range changed.Seasons {
		isMoved := func(c RatingChange) bool { return c.Before != c.After }
		if season.History.Over == 0 && slices.ContainsFunc(season.Ratings.Ratings, isMoved) {
			changed.Seasons[i].Notice = PlayersMoved{season.Ratings}
		}
	}
	return Decision{Effect: &changed, Notice: said, CallbackAnswer: Acknowledged{}}, nil, nil
}

// MappingPrompt asks whether From should count as Into from now on or, in a split, no longer
// should.
type MappingPrompt struct {
	Ask      MappingAsk  `json:"ask"`
	From     Name        `json:"from"`
	Into     Name        `json:"into"`
	Moves    int         `json:"moves,omitempty"`    // how many matches then count for the other player
	Last     []int       `json:"last,omitempty"`     // the numbers of the last of them, newest first
	Undone   []int       `json:"undone,omitempty"`   // as in PlayersMapped
	Restored []int       `json:"restored,omitempty"` // as in PlayersMapped
	Over     []OldSeason `json:"over,omitempty"`     // the seasons that are over and change
}

var _ = notice.Register[MappingPrompt](notice.Kind{Name: "mapping_prompt", Purpose: notice.Answer, Alone: true})

// Matches is how many matches the change is about.
func (n MappingPrompt) Matches() int { return n.Moves + len(n.Undone) + len(n.Restored) }

// lastMoves is the maximum number of matches in Last of a MappingPrompt.
const lastMoves = 10

// OldSeason is a season that is over.
type OldSeason struct {
	Ladder string `json:"in,omitempty"` // empty if the group has no other ladder
	Number int    `json:"number"`
}

// prompt returns what the change does, as a prompt.
func (r Remapping) prompt(from, into ladder.PlayerID) MappingPrompt {
	n := MappingPrompt{From: Name{Player: from}, Into: Name{Player: into}, Undone: r.Undone, Restored: r.Restored}
	var moving []int
	for _, s := range r.Seasons {
		if h := s.History; h.Over != 0 && len(s.Parts)+len(s.Moved)+len(s.Cards) > 0 {
			n.Over = append(n.Over, OldSeason{Number: h.Over})
			if s.Label != nil {
				n.Over[len(n.Over)-1].Ladder = s.Label.Name
			}
		}
		moves := make(map[ladder.MatchID]bool)
		for _, p := range s.Parts {
			moves[p.Match] = p.From != p.To || moves[p.Match]
		}
		for _, id := range slices.Concat(s.Undone, s.Restored) {
			delete(moves, id)
		}
		for _, m := range s.History.Matches {
			if moves[m.ID] && !m.Undone {
				moving = append(moving, m.Number)
			}
		}
	}
	slices.Sort(moving)
	slices.Reverse(moving)
	n.Moves, n.Last = len(moving), moving[:min(len(moving), lastMoves)]
	return n
}

// PlayersMapped says that a player counts as another one from now on, or does not any more.
type PlayersMapped struct {
	Player   Name  `json:"named"`
	Into     Name  `json:"into"`
	Split    bool  `json:"split,omitempty"`
	Undone   []int `json:"undone,omitempty"`   // the numbers of the matches that do not count any more
	Restored []int `json:"restored,omitempty"` // the numbers of the matches that count again
}

var _ = notice.Register[PlayersMapped](notice.Kind{Name: "players_mapped", Purpose: notice.Outcome})

// PlayersMoved has the ratings that change in a ladder because of a PlayersMapped.
type PlayersMoved struct{ Moved }

var _ = notice.Register[PlayersMoved](notice.Kind{Name: "players_moved", Purpose: notice.Notification})

// merge makes an unclaimed player (from) count as the account of the same person (into), and takes
// the username from the unclaimed player. If the unclaimed player counts as another player already,
// that stays. merge changes nothing if the unclaimed player has already been claimed or merged.
func (s *Service) merge(ctx context.Context, from, into Player) error {
	s.log.InfoContext(ctx, "merging two players who are the same person",
		"from_player_id", from.ID, "into_player_id", into.ID)
	merging, was, err := s.store.LockPlayers(ctx, from.ID, into.ID)
	if err != nil || merging == nil {
		return err
	}
	defer merging.Release(ctx)
	next, as := was.CountsAs, was.CountsAs.of(into.ID)
	if next[from.ID] == 0 {
		next = next.merged(from.ID, as)
	}
	changed, err := was.change(next, from.ID, as)
	if err != nil {
		return err
	}
	for i, season := range changed.Seasons {
		// A standing that only passes to the account is no news.
		if season.History.Over != 0 || !slices.ContainsFunc(season.Moved, ladder.RankedPlayer.Kept) {
			continue
		}
		said := PlayersMerged{Username: from.Username, Name: Name{Player: as}, Moved: season.Ratings}
		for _, card := range season.Cards {
			if card.Notice.Undone {
				said.Undone = append(said.Undone, card.Notice.Number)
			}
		}
		changed.Seasons[i].Notice = said
	}
	return merging.Merge(ctx, changed)
}
