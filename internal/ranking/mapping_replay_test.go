package ranking_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

func (g *game) playerID(t *testing.T, name string) ladder.PlayerID {
	t.Helper()
	return rows1[ladder.PlayerID](t, g, `SELECT id FROM players WHERE display_name = $1`, name)[0]
}

// TestMappingTooFarBack checks that merges, splits and the prompts for them are refused if more
// than 10,000 matches would be replayed. The refusal gives the number. No match is read or changed.
func TestMappingTooFarBack(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	var rec dbtest.Recorder
	traced := dbtest.Open(t, g.url, func(c *pgxpool.Config) { c.ConnConfig.Tracer = &rec })
	g.Service = g.newServiceOn(newStore(traced), ranking.Settings{})
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, alice, command.Person{Username: "dave"}, 3, 1) // the first match that is replayed
	g.record(t, &alice, carol, bob, 3, 1)
	dave, carols := g.playerID(t, "dave"), g.playerID(t, "Carol")
	mapped := fmt.Sprintf("match_players WHERE player_id = %d AND named_id = %d", carols, dave)

	replaying := func(matches int, op ranking.Operation) (n ranking.Notice, hasReadMatches bool) {
		t.Helper()
		g.exec(t, `UPDATE groups SET last_match_number = $1`, 1+matches)
		rec.Take()
		n = g.asAdmin(t, &alice, op)
		for _, s := range rec.Take() {
			hasReadMatches = hasReadMatches || strings.Contains(s.SQL, "LEFT JOIN elo_history")
		}
		return n, hasReadMatches
	}
	for i, op := range []ranking.Operation{
		ranking.MergePlayers{From: dave, Into: carols, MappingStep: ranking.MappingStep{Ask: ranking.AskMerge}},
		ranking.MergePlayers{From: dave, Into: carols},
		ranking.SplitPlayer{Player: dave, MappingStep: ranking.MappingStep{Ask: ranking.AskSplit}},
		ranking.SplitPlayer{Player: dave},
	} {
		entries := g.count(t, "elo_history")
		refused, hasRead := replaying(10_001, op)
		checkNotice(t, refused, ranking.Refusal{Code: ranking.TooManyToReplay, Matches: 10_001})
		if hasRead {
			t.Errorf("%+v reads the matches before it is refused", op)
		}
		g.has(t, i/2, mapped)
		g.has(t, entries, "elo_history")
		n, hasRead := replaying(10_000, op)
		if _, isRefused := n.(ranking.Refusal); isRefused || !hasRead {
			t.Errorf("%+v within the limit is answered with %+v", op, n)
		}
	}
	g.has(t, 0, mapped)
	g.exec(t, `UPDATE groups SET last_match_number = 3`)
}

// TestMappingIsToldFirst checks that the notice about a merge precedes the notice about the new
// ratings and the edits of the cards of matches that no longer count.
func TestMappingIsToldFirst(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	dave := command.Person{Username: "dave"}
	g.record(t, &alice, bob, dave, 3, 1)
	g.record(t, &alice, carol, dave, 3, 1)
	g.exec(t, `UPDATE outbox SET state = 'sent', finished_at = now()`)
	o := g.origin(&alice)
	must(t, g.Do(asAdmin(t), o, ranking.MergePlayers{From: g.playerID(t, "dave"), Into: g.playerID(t, "Bob")}))
	equal(t, "notices", []string{"send merged", "send ratings", "edit 1"}, texts(t, g, `
		SELECT action || CASE WHEN match_id IS NOT NULL THEN ' ' || match_id
		    WHEN payload ? 'named' THEN ' merged' ELSE ' ratings' END
		FROM outbox WHERE key = $1 ORDER BY id`, o.Key))
}
