package ranking_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"elobot/internal/ranking"
)

// TestAnyMove sends random commands to two groups of the same people. At some point they turn out to be one, and more
// commands follow, including late ones from the older group.
func TestAnyMove(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	var societies atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		s := newSociety(t, rt, g, societies.Add(1))
		older, newer := s.newGroup(), s.newGroup()
		both := []*modelGroup{older, newer}
		if rapid.Bool().Draw(rt, "the other way round") { // the chat with the new id may be created first
			older, newer = newer, older
		}
		inEither := func(do func(*modelGroup, *rapid.T)) func(*rapid.T) {
			return func(rt *rapid.T) { do(both[rapid.IntRange(0, len(both)-1).Draw(rt, "group")], rt) }
		}
		rt.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) {
				for _, c := range s.groups {
					c.compare()
				}
			},
			"record": inEither((*modelGroup).recordAny), "undo": inEither((*modelGroup).undoAny),
			"restore": inEither((*modelGroup).restoreAny), "fix": inEither((*modelGroup).fixAny),
			"show up": inEither((*modelGroup).showUsername), "rules": inEither((*modelGroup).changeRules),
			"move": func(*rapid.T) {
				older.moveTo(newer)
				newer, both, s.groups = older, []*modelGroup{older}, []*modelGroup{older}
			},
		})
		for _, c := range s.groups {
			c.compareHistory()
		}
	})
}

// moveTo moves the group to the id of the newer one, or repeats the last move if both are the same group already.
func (c *modelGroup) moveTo(newer *modelGroup) {
	from := c.chat
	if c == newer {
		from = c.earlier
	}
	if err := c.MoveChat(c.t.Context(), from, newer.chat); err != nil {
		c.rt.Fatal(err)
	}
	if c == newer {
		return
	}
	first := len(c.matches) + 1
	c.matches = append(c.matches, newer.matches...)
	for e, entry := range newer.entries {
		if _, there := c.entries[e]; !there {
			c.entries[e] = entry
		}
	}
	c.earlier, c.chat, c.commands = from, newer.chat, max(c.commands, newer.commands)
	c.compareCards(first)
}

// compareCards checks that the unsent cards of the matches from number first on agree with the history. The ratings on
// cards of undone matches are not checked.
func (c *modelGroup) compareCards(first int) {
	type cardRow struct {
		Number int
		After  []int
	}
	var want []cardRow
	stored := rows[cardRow](c.t, c.game, `
		SELECT m.number, ARRAY(SELECT h.elo_after FROM elo_history h WHERE h.match_id = m.id AND h.superseded_at IS NULL ORDER BY 1)
		FROM matches m JOIN groups g ON g.id = m.group_id JOIN chats ch ON ch.id = g.chat_id
		WHERE ch.telegram_chat_id = $1 AND m.number >= $2 ORDER BY m.number`, c.chat, first)
	for _, m := range stored {
		card := c.card(m.Number)
		t := cardRow{Number: card.Number}
		for _, side := range card.Sides {
			for _, p := range side.Players {
				if !card.Undone {
					t.After = append(t.After, p.After)
				}
			}
		}
		slices.Sort(t.After)
		want = append(want, t)
	}
	if diff := cmp.Diff(want, stored, cmpopts.EquateEmpty()); diff != "" {
		c.rt.Fatalf("the cards differ from the history (-card +history):\n%s", diff)
	}
}

// card returns the only card of a match.
func (c *modelGroup) card(number int) ranking.MatchRecorded {
	payloads := texts(c.t, c.game, `
		SELECT o.payload::text FROM outbox o JOIN matches m ON m.id = o.match_id JOIN groups g ON g.id = m.group_id
		JOIN chats ch ON ch.id = g.chat_id WHERE ch.telegram_chat_id = $1 AND m.number = $2`, c.chat, number)
	if len(payloads) != 1 {
		c.rt.Fatalf("match %d has the cards %v", number, payloads)
	}
	return decode[ranking.MatchRecorded](c.t, c.game, []byte(payloads[0])).(ranking.MatchRecorded)
}
