package ranking

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"elobot/internal/ladder"
)

// card returns the card of a result. r and sides have side A first. If swapped is true, the card
// shows side B first.
func card(r ladder.Result, sides [2]Side, swapped bool) MatchRecorded {
	if swapped {
		r = r.Swapped()
		sides[0], sides[1] = sides[1], sides[0]
	}
	sides[0].Score, sides[1].Score = r.A, r.B
	n := MatchRecorded{Sides: sides, Sets: setScores(r)}
	if !r.HasPoints() {
		n.Games = r.Games
	}
	return n
}

// cardOf returns the card of the match m with the result r. If swapped is true, the card shows side
// B first. entries are in the order of parts.
func cardOf(m RecentMatch, r ladder.Result, swapped bool, parts []ladder.Part, entries []ladder.Entry) MatchRecorded {
	n := card(r, sidesOf(parts, entries, m.StandIns), swapped)
	n.Number, n.Tag = m.Number, TagOf(m.Key)
	if m.isOfOtherDay() {
		n.Day = m.PlayedAt.UTC()
	}
	switch {
	case m.ReportedBy == 0:
		n.ReportedBy = &Reporter{}
	case !slices.Contains(n.players(), m.ReportedBy):
		n.ReportedBy = &Reporter{Name: &Name{Player: m.ReportedBy}}
	}
	return n
}

// players returns the players in the order of the card.
func (n MatchRecorded) players() (ids []ladder.PlayerID) {
	for _, p := range slices.Concat(n.Sides[0].Players, n.Sides[1].Players) {
		ids = append(ids, p.Name.Player)
	}
	return ids
}

// unrated returns the sides and the score of the card that the match would have with the result r,
// without ratings.
func (m *StoredMatch) unrated(r ladder.Result) MatchRecorded {
	var sides [2]Side
	for side, players := range m.Players {
		sides[side].StandIns = m.StandIns[side]
		for _, id := range players {
			sides[side].Players = append(sides[side].Players, RatingChange{Name: Name{Player: id}})
		}
	}
	return card(r, sides, m.swappedFor(r))
}

// swappedFor reports whether the card shows side B first if the match has the result r. The winner
// comes first. A draw does not change the order.
func (m *StoredMatch) swappedFor(r ladder.Result) bool {
	return r.B > r.A || r.B == r.A && m.SidesSwapped
}

// sidesOf returns side A and side B of a match with their rating changes.
func sidesOf(parts []ladder.Part, entries []ladder.Entry, standIns [2]int) (sides [2]Side) {
	sides[0].StandIns, sides[1].StandIns = standIns[0], standIns[1]
	for i, p := range parts {
		side := &sides[p.Side-1]
		side.Players = append(side.Players, RatingChange{
			Name: Name{Player: p.Player}, Before: entries[i].Before, After: entries[i].After,
		})
	}
	return sides
}

// MatchTag is a short hash of a match's idempotency key. After an older backup is restored, match
// numbers and ids are assigned again, but keys are not. The tag in a button therefore keeps a press
// from amending another match. Prompts and seasons have tags for the same reason.
type MatchTag string

// TagOf returns the tag of the match with this key, or a common tag of several keys. Buttons in
// chats keep their tags for years, so the hash must not change.
func TagOf(keys ...string) MatchTag {
	hash := sha256.Sum256([]byte(strings.Join(keys, "\n")))
	return MatchTag(base64.RawURLEncoding.EncodeToString(hash[:6]))
}

// Celebration is what is special about a match. The card of an amended match shows none, because
// the celebration may no longer be true.
type Celebration struct {
	Kind    ladder.CelebrationKind `json:"kind"`
	Players []Name                 `json:"players"`
	Number  int                    `json:"number,omitempty"` // as in ladder.Celebration
}

// celebrate finds out what is special about the matches, and sets the Celebration on their cards.
// largest is the largest upset of the month so far, 0 for none.
func (matches NewMatches) celebrate(leaders ladder.Leaders, largest int) {
	played := make([]*ladder.Played, len(matches))
	for i, m := range matches {
		played[i] = &m.Played
	}
	for i, c := range ladder.Celebrate(played, leaders, largest) {
		if c == nil {
			continue
		}
		n := &Celebration{Kind: c.Kind, Number: c.Number}
		for _, p := range c.Players {
			n.Players = append(n.Players, Name{Player: p})
		}
		matches[i].Card.Celebration = n
	}
}
