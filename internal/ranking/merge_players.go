package ranking

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// MergePlayers makes the player From count as the player Into from now on. Old matches of From, and
// of players who count as From, then count for Into as well. Only admins may merge players.
type MergePlayers struct {
	From, Into ladder.PlayerID
	MappingStep
}

func (m MergePlayers) plan(s *Service, c *call) *call {
	return s.mapping(c, "merge players", mappingOperation{from: m.From, into: m.Into, MappingStep: m.MappingStep})
}

// SplitPlayer makes a player who counts as another one count for themselves again. Only admins may
// split players.
type SplitPlayer struct {
	Player ladder.PlayerID
	MappingStep
}

func (p SplitPlayer) plan(s *Service, c *call) *call {
	return s.mapping(c, "split player", mappingOperation{from: p.Player, MappingStep: p.MappingStep})
}

// MappingStep is a step of a merge or a split, which admins confirm before it is made.
type MappingStep struct {
	// Ask is set to ask before the change is made. Unless it is AskSure, the players determine the
	// question.
	Ask MappingAsk
	// Shown is the Shown of the prompt whose button was pressed to make the change. If it differs
	// by now, the bot asks again. Shown is nil if the change was not prompted.
	Shown *int
}

// MappingAsk is what a MappingPrompt asks.
type MappingAsk string

// The values of MappingAsk.
const (
	AskMerge    MappingAsk = "merge"    // whether two players are one person
	AskAccounts MappingAsk = "accounts" // whether From and Into are a person's old and new account; AskSure follows
	AskSure     MappingAsk = "sure"     // whether to merge two accounts
	AskSplit    MappingAsk = "split"    // whether two players are two people
)

func (s *Service) mapping(c *call, name string, op mappingOperation) *call {
	op.origin, op.longest = c.Origin, s.settings.LongestReplay
	return c.with(job{name: name, bucket: RateResult, ofAdmins: true, ofGroup: true, locks: op.Ask == "", operation: op})
}

// mappingOperation merges two players or splits one from another.
type mappingOperation struct {
	plain
	from, into ladder.PlayerID // into is 0 for a split
	origin     Origin
	longest    int // the maximum number of matches to replay
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
		return Decision{}, mappingOf{m.from, m.into, m.longest}, nil
	}
	was := snap.Mapping
	split, into := m.into == 0, was.CountsAs.of(m.into)
	if split {
		into = was.CountsAs.of(m.from)
	}
	switch {
	case was.Names[m.from] == "", was.Names[into] == "", !split && was.Accounts[m.from] && !was.Accounts[into]:
		return Decision{Notice: Refusal{Code: UnknownButton}}, nil, nil
	case split && into == m.from:
		return Decision{Notice: Refusal{Code: NotMerged, Name: was.Names[m.from]}}, nil, nil
	case into == m.from, !split && was.CountsAs[m.from] != 0:
		return Decision{Notice: Refusal{Code: MergedAlready, Name: was.Names[m.from]}}, nil, nil
	case was.Later > m.longest:
		return Decision{Notice: Refusal{Code: TooManyToReplay, Matches: was.Later}}, nil, nil
	}
	next, ask := was.CountsAs.split(m.from), AskSplit
	if !split {
		next, ask = was.CountsAs.merged(m.from, into), AskMerge
		if was.Accounts[m.from] {
			ask = AskAccounts
		}
	}
	changed, err := was.change(next, m.from, into)
	if err != nil {
		return Decision{}, nil, err
	}
	prompt := changed.prompt(ask, m.from, into)
	prompt.Again = m.Shown != nil && *m.Shown != prompt.Shown
	if m.Ask == AskSure && ask == AskAccounts {
		prompt.Ask = AskSure
	}
	if m.Ask != "" || prompt.Again {
		d := m.origin.answer(prompt)
		d.Unadded = true
		return d, nil, nil
	}
	said := PlayersMerged{
		Player: prompt.From, Name: prompt.Into, Split: split, Undone: changed.Undone, Restored: changed.Restored,
	}
	for i, season := range changed.Seasons {
		if season.History.Over == 0 && season.moves(0) {
			changed.Seasons[i].Notice = PlayersMerged{Moved: season.Ratings}
		}
	}
	// the notice is about the group, not about a ladder
	d := m.origin.answer(said)
	d.Effect, d.Ladder = &changed, new(LadderLabel)
	return d, nil, nil
}

// MappingPrompt asks whether From should count as Into from now on or, for a split, should no
// longer count as Into.
type MappingPrompt struct {
	Ask      MappingAsk  `json:"ask"`
	Again    bool        `json:"again,omitempty"` // the change differs from that of the first prompt
	From     Name        `json:"from"`
	Into     Name        `json:"into"`
	Moves    int         `json:"moves,omitempty"`    // number of matches that would count for the other player
	Last     []int       `json:"last,omitempty"`     // the numbers of the last of these matches, newest first
	Undone   []int       `json:"undone,omitempty"`   // as in PlayersMerged
	Restored []int       `json:"restored,omitempty"` // as in PlayersMerged
	Over     []OldSeason `json:"over,omitempty"`     // the seasons that are over and would change
	Stay     []Name      `json:"stay,omitempty"`     // for a split, the others who count as Into
	Shown    int         `json:"shown,omitempty"`    // a hash of the question and of what would change
}

var _ = notice.Register[MappingPrompt](notice.Kind{Name: "mapping_prompt", Purpose: notice.Answer, Alone: true})

// lastMoves is the maximum number of matches in Last of a MappingPrompt.
const lastMoves = 10

// OldSeason is a season that is over.
type OldSeason struct {
	Ladder string `json:"in,omitempty"` // empty if the group has no other ladder
	Number int    `json:"number"`
}

// prompt returns a prompt that shows what the change would do to matches. from and into are its
// players.
func (r Remapping) prompt(ask MappingAsk, from, into ladder.PlayerID) MappingPrompt {
	n := MappingPrompt{
		Ask: ask, From: Name{Player: from}, Into: Name{Player: into}, Undone: r.Undone, Restored: r.Restored,
	}
	for _, other := range slices.Sorted(maps.Keys(r.CountsAs)) {
		if ask == AskSplit && r.CountsAs[other] == into {
			n.Stay = append(n.Stay, Name{Player: other})
		}
	}
	var moving []int
	for _, s := range r.Seasons {
		if h := s.History; h.Over != 0 && len(s.Rewrite.Players)+len(s.Moved)+len(s.Cards) > 0 {
			n.Over = append(n.Over, OldSeason{Number: h.Over})
			if s.Label != nil {
				n.Over[len(n.Over)-1].Ladder = s.Label.Name
			}
		}
		moves := make(map[ladder.MatchID]bool)
		for _, p := range s.Rewrite.Players {
			moves[p.Match] = true
		}
		for _, card := range s.Cards {
			delete(moves, card.Match)
		}
		for _, m := range s.History.Matches {
			if moves[m.ID] && !m.Undone {
				moving = append(moving, m.Number)
			}
		}
	}
	slices.Sort(moving)
	slices.Reverse(moving)
	hash := fnv.New32a()
	_, _ = fmt.Fprint(hash, n, moving)
	n.Shown = int(hash.Sum32() >> 1) // not negative, whatever the size of an int
	n.Moves, n.Last = len(moving), moving[:min(len(moving), lastMoves)]
	return n
}

// merge makes the unclaimed player of a person count as the person's account, and takes the
// username from the unclaimed player. If the group has merged the unclaimed player into another
// player, or too many matches would be replayed, the mapping stays as it is. But if the unclaimed
// player is about to become the account, the other player counts as it instead: an account never
// counts as a player without one. merge does nothing if the person no longer has an unclaimed
// player besides the account.
func (s *Service) merge(ctx context.Context, chat Chat, person command.Person) error {
	q := Query{Needs: Needs{People: []command.Person{person}}, Chat: chat, KnownChat: true}
	locked, snap, err := s.store.Lock(ctx, q)
	if err != nil {
		return err
	}
	defer locked.Release(ctx)
	k := snap.People[0]
	from, into, turns := k.Unclaimed, k.claimant(), k.countsAsGuest()
	if turns {
		into = k.Player
	}
	if into == nil {
		return nil
	}
	s.log.InfoContext(ctx, "merging two players who are the same person",
		"from_player_id", from.ID, "into_player_id", into.ID)
	was, err := locked.Mapping(ctx, snap.Group, from.ID, into.ID, s.settings.LongestReplay)
	if err != nil {
		return err
	}
	changed, as := Remapping{Group: snap.Group}, was.CountsAs.of(into.ID)
	next, isLong := was.CountsAs.merged(from.ID, as), was.Later > s.settings.LongestReplay
	if turns {
		next = was.CountsAs.split(from.ID).merged(as, from.ID)
	}
	switch {
	case turns && isLong:
		return nil
	case turns, !isLong && was.CountsAs[from.ID] == 0 && as != from.ID:
		if changed, err = was.change(next, from.ID, as); err != nil {
			return err
		}
	}
	changed.Username, changed.Claimed, changed.Claimant = from.Username, from.ID, as
	if turns {
		changed.Username, changed.Claimed, changed.Claimant = "", as, from.ID
	}
	for i, season := range changed.Seasons {
		// A standing that only passes to the account needs no notice.
		isPassed := !slices.ContainsFunc(season.Moved, ladder.RankedPlayer.Kept) || turns && !season.moves(from.ID)
		if season.History.Over != 0 || isPassed {
			continue
		}
		changed.Seasons[i].Notice = PlayersMerged{
			Username: from.Username, Name: Name{Player: as}, Undone: changed.Undone, Moved: season.Ratings,
		}
	}
	changes := Changes{Decision: Decision{Effect: &changed, Presence: NoChange}, Keyless: true, Chat: snap.ChatID}
	if snap.Web {
		changes.ShownOnWeb = snap.Group
	}
	return locked.Apply(ctx, changes)
}
