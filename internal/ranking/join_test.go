package ranking_test

import (
	"testing"

	"elobot/internal/command"
	"elobot/internal/ranking"
)

func TestJoin(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	join := func(sender *command.Person) ranking.Notice {
		t.Helper()
		o := g.origin(sender)
		must(t, g.Do(t.Context(), o, ranking.Join{}))
		return g.notice(t, o.Key)
	}
	checkNotice(t, join(nil), ranking.Refusal{Code: ranking.NobodyToJoin})
	checkNotice(t, join(&alice), ranking.Joined{Name: ranking.Name{Name: "Alice"}, Elo: 1500})
	checkNotice(t, join(&alice), ranking.Joined{Name: ranking.Name{Name: "Alice"}, Elo: 1500, Already: true})
	g.record(t, &bob, alice, bob, 3, 1)
	checkNotice(t, join(&alice), ranking.Joined{Name: ranking.Name{Name: "Alice"}, Elo: 1516, Already: true, Played: 1})
	checkNotice(t, join(&command.Person{ID: 9, Name: "alice"}),
		ranking.Joined{Name: ranking.Name{Name: "alice"}, Elo: 1500})
	g.exec(t, `UPDATE ladders SET start_elo = 1200`)
	checkNotice(t, join(&carol), ranking.Joined{Name: ranking.Name{Name: "Carol"}, Elo: 1200})
	g.has(t, 4, "group_players")
}
