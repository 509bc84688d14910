package ranking

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"elobot/internal/ladder"
)

// Mapping is who counts for whom in a group, with the matches and standings that a merge or a split
// of two players replays.
type Mapping struct {
	Group GroupID
	// CountsAs omits the players who count for themselves.
	CountsAs CountsAs
	Names    map[ladder.PlayerID]string // the two players as the group calls them
	Accounts map[ladder.PlayerID]bool   // those of the two who are accounts
	// Later is the number of matches that the group has recorded since the first match of one of
	// the two players, or of a player who counts as one of them, including that match.
	Later int
	// Doubled has the matches of these players that do not count because two of their parts count
	// for one player. Of each match, only the number, the key, the changes and the reporter are
	// set.
	Doubled map[ladder.MatchID]RecentMatch
	// Seasons are the seasons in which one of the two players, or a player who counts as one of
	// them, has a standing or was named.
	Seasons []MappedSeason
}

// CountsAs maps each player who counts as another player to that player. A player who is mapped to
// 0 counts for themselves.
type CountsAs map[ladder.PlayerID]ladder.PlayerID

// of returns the player for whom a player counts.
func (c CountsAs) of(player ladder.PlayerID) ladder.PlayerID { return cmp.Or(c[player], player) }

// named returns the Player and the Named of a standing or a part of a match that belongs to the
// player owner. If the owner counts for themselves, named is 0.
func (c CountsAs) named(owner ladder.PlayerID) (player, named ladder.PlayerID) {
	if player = c.of(owner); player != owner {
		named = owner
	}
	return player, named
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
	next[player] = 0
	return next
}

// MappedSeason is a season that a change of a mapping replays.
type MappedSeason struct {
	Chat    ChatID
	Label   *LadderLabel   // nil if the group has no other ladder
	History ladder.History // from the first match of the players of the change on
}

// Remapping is a change of who counts for whom, with everything that follows from it. Who was named
// in a match never changes.
type Remapping struct {
	Group    GroupID
	CountsAs CountsAs // who counts for whom from now on
	Undone   []int    // the numbers of the matches that no longer count
	Restored []int    // the numbers of the matches that count again
	Seasons  []RemappedSeason
	// Claimed is the player who turned out to be the Claimant, 0 for none. The Claimant gets the
	// nick of Claimed, and is out of the rankings if Claimed is.
	Claimed, Claimant ladder.PlayerID
	Username          string // which Claimed loses, empty for none
}

func (*Remapping) outcome() CommandOutcome { return OutcomeFixed }

// RemappedSeason holds the changes in a season.
type RemappedSeason struct {
	MappedSeason
	// Moved are the standings that now count for another player, become Kept or stop being Kept.
	Moved   []ladder.RankedPlayer
	Rewrite ladder.Rewrite
	Cards   []Card // of the matches that no longer count, or count again
	Ratings Moved
	Notice  Notice // shows the Ratings, nil if the chat is not notified of them

	parts   []ladder.ReplacedPlayer // the parts of matches that count for another player from now on
	changed []ladder.Match          // the matches that the Cards show
	doubled []ladder.PlayerID       // the players of doubled matches before the change
}

// moves reports whether the rating of a player other than the given one changes in the season.
func (s RemappedSeason) moves(except ladder.PlayerID) bool {
	return slices.ContainsFunc(s.Ratings.Ratings,
		func(c RatingChange) bool { return c.Before != c.After && c.Name.Player != except })
}

// keptSince is the LeftAt that a member's standing gets when it becomes Kept. The value shows that
// the player has not left. When the standing counts again, LeftAt therefore becomes zero.
var keptSince = time.Unix(0, 0).UTC()

// change returns the change from the mapping m to next, with everything that follows from it. The
// two mappings may differ only for the players a and b and for players who count as one of them.
func (m Mapping) change(next CountsAs, a, b ladder.PlayerID) (Remapping, error) {
	r := Remapping{Group: m.Group, CountsAs: next}
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

// members returns the players who are members of the group under the next mapping. A player is a
// member if the player, or another player who counts as that player, has not left.
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
	changed []ladder.PlayerID        // the two players of the change
	members map[ladder.PlayerID]bool // as returned by Mapping.members
}

func (c remap) season() (RemappedSeason, error) {
	r := RemappedSeason{MappedSeason: c.MappedSeason}
	table, err := c.History.Initial()
	if err != nil {
		return r, err
	}
	history := c.History
	history.Standings, r.Moved = c.standings(table)
	history.Standings = append(history.Standings, c.newStandings(history.Standings, table)...)
	r.Rewrite, err = history.ReplayFrom(table, ladder.ByMerge, func(m *ladder.Match) { c.match(m, &r) })
	if err != nil {
		return r, err
	}
	r.Rewrite.Players, r.Rewrite.Standings = r.parts, nil
	r.Rewrite.Unplayed = append(r.Rewrite.Unplayed, r.doubled...)
	for _, s := range history.Standings {
		// Write all standings of the changed players, even unchanged ones. A command that has read
		// them before the change then conflicts with it.
		if now, is := table[s.Player]; is && (c.isChanged(s.Owner()) || now.Differs(s.Standing)) {
			r.Rewrite.Standings = append(r.Rewrite.Standings, *now)
		}
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

// standings returns the season's standings with their new players, and the standings that are
// Moved. If a player has several standings, the player's own one counts or, if there is none, the
// oldest; the others become Kept. standings resets the standings of the changed players in the
// table to their start.
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
			s.Player, s.Named = c.next.named(owner)
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

// newStandings returns a new standing for each of the two players who has none, but for whom parts
// of matches in the season count now. It adds these standings to the table. Each starts with the
// start rating of the standing that the two players shared.
func (c remap) newStandings(all []ladder.RankedPlayer, table ladder.Table) (added []ladder.RankedPlayer) {
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
		table[player] = &ladder.Standing{Player: player, Name: c.Names[player], Elo: start, StartElo: start, BestElo: start}
		added = append(added, ladder.RankedPlayer{Standing: *table[player]})
	}
	return added
}

// match gives the parts of a match their new players. A match in which two parts count for one
// player does not count, and its parts get the players who were named.
func (c remap) match(m *ladder.Match, r *RemappedSeason) {
	seen, isDoubled := make(map[ladder.PlayerID]bool, len(m.Parts)), false
	for _, p := range m.Parts {
		player := c.next.of(p.Owner())
		isDoubled, seen[player] = isDoubled || seen[player], true
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		before, owner := p.Player, p.Owner()
		p.Player, p.Named = c.next.named(owner)
		if isDoubled {
			p.Player, p.Named = owner, 0
			r.doubled = append(r.doubled, before)
		}
		if p.Player != before {
			r.parts = append(r.parts, ladder.ReplacedPlayer{
				Match: m.ID, From: before, To: p.Player, Named: p.Named, Side: p.Side, Place: i + 1,
			})
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

// cards adds the new cards of the matches that begin or cease to count.
func (c remap) cards(r *RemappedSeason) {
	for _, m := range r.changed {
		known := c.Doubled[m.ID]
		known.Number, known.StandIns = m.Number, m.StandIns
		card := cardOf(known, m.Result, m.B > m.A, m.Parts, r.Rewrite.EntriesOf(m))
		card.Undone, card.Changes, card.Season = m.Undone, known.Changes+1, r.History.Over
		if m.Undone {
			card.Tag, card.ReportedBy = "", nil
		}
		r.Cards = append(r.Cards, Card{Match: m.ID, Notice: card})
	}
}
