package ranking_test

import (
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
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
				older = older.moveTo(newer)
				newer, both, s.groups = older, []*modelGroup{older}, []*modelGroup{older}
			},
		})
		for _, c := range s.groups {
			c.compareHistory()
		}
	})
}

// moveTo moves the group to the id of the newer one, or repeats the last move if both are the same group already. It returns the
// group that goes on.
func (c *modelGroup) moveTo(newer *modelGroup) *modelGroup {
	from := c.chat
	if c == newer {
		from = c.earlier
	}
	if err := c.MoveChat(c.t.Context(), from, newer.chat); err != nil {
		c.rt.Fatal(err)
	}
	if c == newer {
		return c
	}
	kept, gone := c, newer
	if len(newer.matches) > len(c.matches) {
		kept, gone = newer, c
	}
	kept.earlier, kept.chat, kept.commands = from, newer.chat, max(c.commands, newer.commands)
	for i, seen := range gone.sightings {
		if known, there := kept.sightings[i]; !there || seen.since > known.since {
			kept.sightings[i] = seen
		}
	}
	if len(gone.matches) == 0 {
		kept.rules = c.rules
		for e, entry := range gone.entries {
			if _, there := kept.entries[e]; !there {
				kept.entries[e] = entry
			}
		}
	}
	return kept
}
