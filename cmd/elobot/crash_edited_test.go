//go:build unix

package main_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"elobot/internal/crashpoint"
)

// TestKilledBetweenEdits checks that a message with an incomplete report records exactly one match
// when it is edited three times, and that every edit is answered. The bot is killed while it
// handles edits, before and after the commit of the edit that records the match.
func TestKilledBetweenEdits(t *testing.T) {
	t.Parallel()
	k := &killed{crashes: newCrashes(t)}
	k.alice, k.bob = k.sim.User("alice"), k.sim.User("bob")
	k.startNext("off")
	plans := [][]crashpoint.Point{
		{crashpoint.Applying, crashpoint.Applying, crashpoint.Handled}, {"", crashpoint.Handled, ""},
	}
	for _, points := range plans {
		group := k.sim.Group(fmt.Sprint(points), k.alice, k.bob)
		m := group.Say(k.alice, "/match @bob")
		k.settle()
		for i, text := range []string{"/match @alice 3:1", "/match @bob 3:1", "/match @bob 3:2"} {
			if points[i] == "" {
				group.Edit(m, text)
				k.settle()
				continue
			}
			k.at(points[i], 1, crashpoint.End)
			group.Edit(m, text)
			k.awaitCrash(k.bot)
			k.startNext("off")
		}
		got := collect(t, k.pool, pgx.RowTo[string], `
			SELECT concat_ws(' ', o.kind, o.state, o.reply_to) FROM outbox o JOIN chats c ON c.id = o.chat_id
			WHERE c.telegram_chat_id = $1 ORDER BY o.id`, group.ID())
		want := []string{"score_prompt sent 1", "wrong_form sent 1", "match_recorded sent 1", "fix_offer sent 1"}
		equal(t, got, want, "notices when killed at %v", points)
		texts := []string{}
		for _, answer := range group.BotMessages() {
			texts = append(texts, visible(answer))
		}
		// Some answers may have arrived twice.
		if distinct := slices.Compact(texts); len(distinct) != len(want) {
			t.Errorf("killed at %v, the answers are %q", points, distinct)
		}
	}
	got := collect(t, k.pool, pgx.RowTo[string], `SELECT concat_ws(' ', score_a, score_b, changes) FROM matches`)
	equal(t, got, slices.Repeat([]string{"3 1 0"}, len(plans)), "matches")
	equal(t, count(t, k.pool, `SELECT count(*) FROM dead_letters`), 0, "dead letters")
	verifyClean(t, k.url)
}
