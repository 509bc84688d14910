package ranking_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

// TestMoveAndPeople checks that if a person was seen in both chats before the chats became one, the
// later sighting counts. The unclaimed players of the detached group stay in that group. A person
// who was seen in that group claims the unclaimed player of the remaining group at the next
// mention.
func TestMoveAndPeople(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	u := newUpgrade(g, -1000)
	u.report(t, u.older, alice, named("dave"))
	u.report(t, u.older, alice, named("zed"))
	u.report(t, u.newer, bob, named("DAVE"))
	u.report(t, u.newer, bob, named("erin"))
	zed, later := someone(zoe.ID, "zed", "Zoe"), func(chat ranking.Chat, who command.Person) ranking.Origin {
		o := u.from(chat, who)
		o.SentAt = o.SentAt.Add(time.Second)
		return o
	}
	must(t, g.Do(t.Context(), later(u.newer, zed), ranking.Join{}))
	must(t, g.Do(t.Context(), later(u.newer, someone(alice.ID, "erin_", "Alice")), ranking.Join{}))
	u.move(t)
	people := func() []string {
		return texts(t, g, `
			SELECT concat_ws(' ', g.chat_id IS NOT NULL, coalesce(p.telegram_user_id::text, 'unclaimed'),
			       CASE WHEN p.group_id IS NULL THEN s.username ELSE p.username END, gp.played)
			FROM groups g JOIN ladders l ON l.group_id = g.id CROSS JOIN players p
			LEFT JOIN sightings s ON s.player_id = p.id AND s.group_id = g.id
			LEFT JOIN group_players gp ON gp.player_id = p.id AND gp.season_id = l.id
			WHERE s.counts_as IS NULL AND (s.player_id IS NOT NULL OR gp.player_id IS NOT NULL) ORDER BY 1`)
	}
	detached := []string{"f 1 0", "f 2 2", "f 26 0", "f unclaimed DAVE 1", "f unclaimed erin 1"}
	want := append(slices.Clone(detached), "t 1 erin_ 2", "t 2 bob", "t 26 zed", "t unclaimed dave 1", "t unclaimed zed 1")
	equal(t, "people", want, people())
	g.verifyClean(t)
	u.report(t, u.newer, bob, named("zed"))
	want = append(detached, "t 1 erin_ 2", "t 2 bob 1", "t 26 zed 2", "t unclaimed dave 1")
	equal(t, "after a mention, people", want, people())
}

// TestMoveKeepsOut checks that a person who has left the rankings of one of two chats is not in the
// rankings after the chats are merged, whichever group remains.
func TestMoveKeepsOut(t *testing.T) {
	t.Parallel()
	for name, older := range map[string]bool{"of the older chat": true, "of the newer chat": false} {
		for _, detaches := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", a group is detached: ", detaches), func(t *testing.T) {
				t.Parallel()
				g := newGame(t)
				u := newUpgrade(g, -1000)
				u.report(t, u.older, alice, bob)
				u.report(t, u.older, alice, carol)
				if detaches {
					u.report(t, u.newer, alice, bob)
				} else {
					must(t, g.Do(t.Context(), u.from(u.newer, bob), ranking.Join{}))
				}
				left := u.newer
				if older {
					left = u.older
				}
				must(t, g.Do(t.Context(), u.from(left, bob), ranking.Leave{}))
				u.move(t)
				g.has(t, 0, `group_players s JOIN players p ON p.id = player_id JOIN seasons n ON n.id = season_id
					JOIN groups g ON g.id = n.group_id AND chat_id IS NOT NULL WHERE telegram_user_id = 2 AND left_at IS NULL`)
				g.has(t, 1, `sightings JOIN groups g ON g.id = group_id WHERE chat_id IS NOT NULL AND out_at IS NOT NULL`)
				before := g.count(t, "matches")
				u.report(t, u.newer, alice, bob)
				g.has(t, before, "matches")
				g.verifyClean(t)
			})
		}
	}
}
