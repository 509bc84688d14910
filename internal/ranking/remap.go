package ranking

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"elobot/internal/ladder"
)

// Mapping says who counts for whom in a group, as far as a change for two players concerns it.
type Mapping struct {
	Group GroupID
	// CountsAs has the player for whom each player counts, without those who count for themselves.
	CountsAs CountsAs
	Names    map[ladder.PlayerID]string // the two players as the group calls them
	// Later is the number of the group's matches from the first one on in which one of the players
	// was named or counts.
	Later int
	// Doubled has the group's matches that do not count because two of their parts count for one
	// player: number, key, changes and reporter.
	Doubled map[ladder.MatchID]RecentMatch
	// Seasons are the seasons in which one of the two players, or a player who counts as one of
	// them, has a standing or was named.
	Seasons []MappedSeason
}

// CountsAs maps each player who counts as another player to that player.
type CountsAs map[ladder.PlayerID]ladder.PlayerID

// of returns the player for whom a player counts.
func (c CountsAs) of(player ladder.PlayerID) ladder.PlayerID {
	if as, ok := c[player]; ok {
		return as
	}
	return player
}

// merged returns the mapping in which a player, with all who count as that player, counts as into.
func (c CountsAs) merged(player, into ladder.PlayerID) CountsAs {
	next := maps.Clone(c)
	for one, as := range c {
		if as == player {
			next[one] = into
		}
	}
	next[player] = into
	return next
}

// split returns the mapping in which a player counts for themselves.
func (c CountsAs) split(player ladder.PlayerID) CountsAs {
	next := maps.Clone(c)
	delete(next, player)
	return next
}

// MappedSeason is a season that a change of a mapping replays.
type MappedSeason struct {
	Chat    ChatID
	Label   *LadderLabel   // nil if the group has no other ladder
	History ladder.History // from the first of these matches on, with the standings of these players
}

// Remapping is a change of who counts for whom, with everything that follows from it. Who was named
// in a match never changes.
type Remapping struct {
	Group    GroupID
	CountsAs CountsAs // the players whose mapping changes; a player who counts for themselves is mapped to 0
	Undone   []int    // the numbers of the matches that do not count any more
	Restored []int    // the numbers of the matches that count again
	Seasons  []RemappedSeason
}

func (*Remapping) outcome() CommandOutcome { return OutcomeFixed }

// RemappedSeason holds the changes in a season.
type RemappedSeason struct {
	MappedSeason
	Parts    []RemappedPart
	Moved    []ladder.RankedPlayer // the standings that pass to another player, or are kept or not any more
	Undone   []ladder.MatchID      // the matches that do not count any more
	Restored []ladder.MatchID      // the matches that count again
	Rewrite  ladder.Rewrite
	Cards    []Card // of the Undone and Restored
	Ratings  Moved
	Notice   Notice // tells the Ratings; nil if the season is over or no rating changes

	changed []ladder.Match // the Undone and Restored
}

// RemappedPart is a player's part in a match that counts for another player from now on.
type RemappedPart struct {
	Match ladder.MatchID  `json:"match_id"`
	From  ladder.PlayerID `json:"from_id"` // for whom it counted
	To    ladder.PlayerID `json:"into_id"`
	Named ladder.PlayerID `json:"named_id,omitzero"` // as in ladder.Part
}

// keptSince is the LeftAt of a kept standing whose player was a member.
var keptSince = time.Unix(0, 0).UTC()

// change returns what follows if the next mapping applies, which differs from m only for the
// players a and b and those who count as one of them.
func (m Mapping) change(next CountsAs, a, b ladder.PlayerID) (Remapping, error) {
	r := Remapping{Group: m.Group, CountsAs: make(CountsAs)}
	for player := range m.CountsAs {
		if next.of(player) == player {
			r.CountsAs[player] = 0
		}
	}
	for player, as := range next {
		if m.CountsAs.of(player) != as {
			r.CountsAs[player] = as
		}
	}
	members := m.members(next)
	for _, season := range m.Seasons {
		c := remap{Mapping: m, MappedSeason: season, next: next, changed: []ladder.PlayerID{a, b}, members: members}
		s, err := c.season()
		if err != nil {
			return r, err
		}
		for _, card := range s.Cards {
			if card.Notice.Undone {
				r.Undone = append(r.Undone, card.Notice.Number)
			} else {
				r.Restored = append(r.Restored, card.Notice.Number)
			}
		}
		r.Seasons = append(r.Seasons, s)
	}
	return r, nil
}

// members returns the players who are members of the group under the next mapping, because somebody
// who counts as them is.
func (m Mapping) members(next CountsAs) map[ladder.PlayerID]bool {
	members := make(map[ladder.PlayerID]bool)
	for _, season := range m.Seasons {
		for _, s := range season.History.Standings {
			if season.History.Over == 0 && s.LeftAt.IsZero() {
				members[next.of(s.Owner())] = true
			}
		}
	}
	return members
}

// remap is the change of a season by a new mapping.
type remap struct {
	Mapping
	MappedSeason
	next    CountsAs
	changed []ladder.PlayerID // the two players of the change
	members map[ladder.PlayerID]bool
}

func (c remap) season() (RemappedSeason, error) {
	r := RemappedSeason{MappedSeason: c.MappedSeason}
	table, err := c.History.Initial()
	if err != nil {
		return r, err
	}
	history := c.History
	history.Standings, r.Moved = c.standings(table)
	added := c.newStandings(history.Standings)
	for _, s := range added {
		table[s.Player] = &s
	}
	r.Rewrite, err = history.ReplayFrom(table, ladder.ByMerge, func(m *ladder.Match) { c.match(m, &r) })
	if err != nil {
		return r, err
	}
	r.Rewrite.Standings = c.written(history.Standings, r.Rewrite.Standings, table)
	for _, s := range added {
		r.Rewrite.Standings = append(r.Rewrite.Standings, *table[s.Player])
	}
	history.Standings = slices.DeleteFunc(slices.Clone(history.Standings), ladder.RankedPlayer.Kept)
	r.Ratings = moved(history, r.Rewrite, c.changed)
	c.cards(&r)
	return r, nil
}

// isChanged reports whether a standing or a part of the player may count for another one after the
// change.
func (c remap) isChanged(player ladder.PlayerID) bool {
	return slices.Contains(c.changed, player) || slices.Contains(c.changed, c.next.of(player))
}

// standings returns the season's standings with their new players, and those that change hands. A
// player has the standing of their own or, without one, the oldest of those who count as them. The
// others are kept. The changed standings are back at their start in the table.
func (c remap) standings(table ladder.Table) (all, moved []ladder.RankedPlayer) {
	all = slices.Clone(c.History.Standings)
	counting := make(map[ladder.PlayerID]int) // indexes of all
	for i, s := range all {
		if !c.isChanged(s.Owner()) {
			continue
		}
		delete(table, s.Player)
		if _, is := counting[c.next.of(s.Owner())]; !is || c.next.of(s.Owner()) == s.Owner() {
			counting[c.next.of(s.Owner())] = i
		}
	}
	for i := range all {
		s := &all[i]
		owner, before := s.Owner(), *s
		if !c.isChanged(owner) {
			continue
		}
		at := counting[c.next.of(owner)]
		switch {
		case at != i && s.Kept():
		case at != i:
			if s.LeftAt.IsZero() {
				s.LeftAt = keptSince
			}
			s.Player, s.Named = owner, owner
		default:
			s.Player, s.Named = c.next.of(owner), owner
			if s.Player == owner {
				s.Named = 0
			}
			if s.LeftAt.Equal(keptSince) || c.History.Over == 0 && c.members[s.Player] {
				s.LeftAt = time.Time{}
			}
			s.Name = cmp.Or(c.Names[s.Player], s.Name)
		}
		if s.Player != before.Player || s.Named != before.Named {
			moved = append(moved, *s)
		}
	}
	for i, s := range all {
		if c.isChanged(s.Owner()) {
			table[s.Player] = new(all[i].Initial())
		}
	}
	return all, moved
}

// newStandings returns a standing for each of the two players who has none, but was named in the
// season. It starts where the standing started for which the player counted.
func (c remap) newStandings(all []ladder.RankedPlayer) (added []ladder.Standing) {
	for _, player := range c.changed {
		has := func(s ladder.RankedPlayer) bool { return s.Player == player }
		shared := func(s ladder.RankedPlayer) bool { return slices.Contains(c.changed, s.Player) && !s.Kept() }
		counts := func(p ladder.Part) bool { return c.next.of(p.Owner()) == player }
		before := slices.IndexFunc(c.History.Standings, shared)
		if slices.ContainsFunc(all, has) || before < 0 || !slices.ContainsFunc(c.History.Matches,
			func(m ladder.Match) bool { return slices.ContainsFunc(m.Parts, counts) }) {
			continue
		}
		start := c.History.Standings[before].StartElo
		added = append(added, ladder.Standing{
			Player: player, Name: c.Names[player], Elo: start, StartElo: start, BestElo: start,
		})
	}
	return added
}

// match gives the parts of a match their new players. A match in which two parts count for one
// player does not count, and its parts keep who was named.
func (c remap) match(m *ladder.Match, r *RemappedSeason) {
	seen, isDoubled := make(map[ladder.PlayerID]bool, len(m.Parts)), false
	for _, p := range m.Parts {
		player := c.next.of(p.Owner())
		isDoubled, seen[player] = isDoubled || seen[player], true
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		before, owner := *p, p.Owner()
		p.Player, p.Named = c.next.of(owner), owner
		if isDoubled {
			p.Player = owner
		}
		if p.Player == owner {
			p.Named = 0
		}
		if p.Player != before.Player || p.Named != before.Named {
			r.Parts = append(r.Parts, RemappedPart{Match: m.ID, From: before.Player, To: p.Player, Named: p.Named})
		}
	}
	switch {
	case isDoubled && !m.Undone:
		m.Undone = true
		r.changed = append(r.changed, *m)
	case !isDoubled && m.Doubled:
		m.Undone, m.Doubled = false, false
		r.changed = append(r.changed, *m)
	}
}

// written returns the standings to write: the rewritten ones, and all others that belong to one of
// the changed players, so that results that were read before the change conflict with it.
func (c remap) written(all []ladder.RankedPlayer, rewritten []ladder.Standing, table ladder.Table) []ladder.Standing {
	for _, s := range all {
		is := func(w ladder.Standing) bool { return w.ID == s.ID }
		if c.isChanged(s.Owner()) && !slices.ContainsFunc(rewritten, is) {
			rewritten = append(rewritten, *table[s.Player])
		}
	}
	slices.SortFunc(rewritten, func(a, b ladder.Standing) int { return cmp.Compare(a.ID, b.ID) })
	return rewritten
}

// cards adds the new cards of the matches that begin or cease to count.
func (c remap) cards(r *RemappedSeason) {
	for _, m := range r.changed {
		known := c.Doubled[m.ID]
		known.Number, known.StandIns = m.Number, m.StandIns
		card := cardOf(known, m.Result, m.B > m.A, m.Parts, r.Rewrite.EntriesOf(m))
		card.Undone, card.Changes, card.Season = m.Undone, known.Changes+1, r.History.Over
		if m.Undone {
			card.Tag, card.ReportedBy = "", nil
			r.Undone = append(r.Undone, m.ID)
		} else {
			r.Restored = append(r.Restored, m.ID)
		}
		r.Cards = append(r.Cards, Card{Match: m.ID, Notice: card})
	}
}
