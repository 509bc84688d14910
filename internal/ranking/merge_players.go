package ranking

import (
	"context"

	"elobot/internal/ladder"
	"elobot/internal/notice"
)

// MergePlayers makes a player of the group count as another one from now on, with all matches in
// which the player, or somebody who counts as the player, was named. Only admins may.
type MergePlayers struct{ From, Into ladder.PlayerID }

func (m MergePlayers) plan(s *Service, c *call) *call {
	return s.mapping(c, "merge players", mappingOperation{from: m.From, into: m.Into})
}

// SplitPlayer makes a player who counts as another one count for themselves again. Only admins may.
type SplitPlayer struct{ Player ladder.PlayerID }

func (p SplitPlayer) plan(s *Service, c *call) *call {
	return s.mapping(c, "split player", mappingOperation{from: p.Player})
}

func (s *Service) mapping(c *call, name string, op mappingOperation) *call {
	op.origin, op.longest = c.Origin, s.settings.LongestReplay
	return c.with(job{name: name, bucket: RateResult, ofAdmins: true, ofGroup: true, locks: true, operation: op})
}

// mappingOperation changes for whom a player counts.
type mappingOperation struct {
	plain
	from, into ladder.PlayerID // into is 0 for a split
	origin     Origin
	longest    int // how many matches may be replayed
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
	said := PlayersMapped{
		Player: Name{Player: m.from}, Into: Name{Player: into}, Split: split,
		Undone: changed.Undone, Restored: changed.Restored,
	}
	for i, season := range changed.Seasons {
		if season.History.Over == 0 && len(season.Ratings.Ratings) > 0 {
			changed.Seasons[i].Notice = PlayersMoved{season.Ratings}
		}
	}
	return Decision{Effect: &changed, Notice: said, CallbackAnswer: Acknowledged{}}, nil, nil
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
		if season.History.Over != 0 || len(season.Ratings.Ratings) == 0 {
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
