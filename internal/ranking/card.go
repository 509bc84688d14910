package ranking

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
)

// card returns the card of a result. sides are side A and side B. On a swapped card side B comes first.
func card(r Result, sides [2]Side, swapped bool) MatchRecorded {
	if swapped {
		r = r.swapped()
		sides[0], sides[1] = sides[1], sides[0]
	}
	sides[0].Score, sides[1].Score = r.A, r.B
	return MatchRecorded{Sides: sides, Sets: r.setScores()}
}

// cardOf returns the card of a match after an amendment, with the given result. entries are in the order of parts.
func cardOf(s *StoredMatch, r Result, parts []Part, entries []Entry) MatchRecorded {
	n := card(r, sidesOf(parts, entries), s.swappedFor(r))
	n.Number, n.Changes = s.Number, s.Changes+1
	switch {
	case s.ReportedBy == 0:
		n.ReportedBy = &Reporter{}
	case !slices.Contains(s.players(), s.ReportedBy):
		n.ReportedBy = &Reporter{Name: &Name{Player: s.ReportedBy}}
	}
	return n
}

// swappedFor is true if side B comes first on the card with this result: the winner does, and a draw changes nothing.
func (m *StoredMatch) swappedFor(r Result) bool {
	return r.B > r.A || r.B == r.A && m.SidesSwapped
}

// sidesOf returns side A and side B of a match as they appear on cards.
func sidesOf(parts []Part, entries []Entry) (sides [2]Side) {
	for i, p := range parts {
		side := &sides[p.Side-1]
		side.Players = append(side.Players, RatingChange{
			Name: Name{Player: p.Player}, Before: entries[i].Before, After: entries[i].After,
		})
	}
	return sides
}

// MatchTag is a short hash of a match's idempotency key. Match numbers and ids come again after a restore of an older backup, keys do not.
// So a button carries the tag of its match, and a press on it never amends another one. A button of a prompt carries the tag of what is
// asked about: recorded matches, or those that the answer would record.
type MatchTag string

// TagOf returns the tag of the match with a key, or of several matches together. Buttons in chats carry it for years, so it must stay the
// same.
func TagOf(keys ...string) MatchTag {
	hash := sha256.Sum256([]byte(strings.Join(keys, "\n")))
	return MatchTag(base64.RawURLEncoding.EncodeToString(hash[:6]))
}
