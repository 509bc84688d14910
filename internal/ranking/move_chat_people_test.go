package ranking_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/ranking"
)

// TestMoveJoinsPeople: unclaimed players of both groups with the same username become one, and of two sightings the later
// one counts. Whoever was seen in one group has claimed the unclaimed player of the other at the next mention.
func TestMoveJoinsPeople(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	u := newUpgrade(g, -1000)
	u.report(t, u.older, alice, named("dave"))
	u.report(t, u.older, alice, named("zed"))
	u.report(t, u.newer, bob, named("DAVE"))
	u.report(t, u.newer, bob, named("erin"))
	zed, later := someone(zoe.ID, "zed", "Zoe"), func(chat ranking.Chat, who ranking.Person) ranking.Origin {
		o := u.from(chat, who)
		o.SentAt = o.SentAt.Add(time.Second)
		return o
	}
	must(t, g.Join(t.Context(), later(u.newer, zed)))
	must(t, g.Join(t.Context(), later(u.newer, someone(alice.ID, "erin_", "Alice"))))
	u.move(t)
	people := func() []string {
		return texts(t, g, `
			SELECT concat_ws(' ', coalesce(p.telegram_user_id::text, 'unclaimed'), CASE WHEN p.group_id IS NULL THEN s.username ELSE p.username END, gp.played)
			FROM players p LEFT JOIN sightings s ON s.player_id = p.id LEFT JOIN group_players gp ON gp.player_id = p.id
			WHERE p.merged_into IS NULL ORDER BY 1`)
	}
	want := []string{"1 erin_ 2", "2 bob 2", "26 zed 0", "unclaimed dave 2", "unclaimed erin 1", "unclaimed zed 1"}
	if diff := cmp.Diff(want, people()); diff != "" {
		t.Errorf("people (-want +got):\n%s", diff)
	}
	g.verifyClean(t)
	u.report(t, u.newer, bob, named("zed"))
	want = []string{"1 erin_ 2", "2 bob 3", "26 zed 2", "unclaimed dave 2", "unclaimed erin 1"}
	if diff := cmp.Diff(want, people()); diff != "" {
		t.Errorf("after a mention, people (-want +got):\n%s", diff)
	}
}
