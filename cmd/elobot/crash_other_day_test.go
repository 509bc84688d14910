//go:build unix

package main_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
	"elobot/internal/crashpoint"
)

// TestKilledWithMatchOfOtherDay checks that a result of yesterday, which changes the ratings after
// two later matches, is recorded and answered once, wherever the bot is killed.
func TestKilledWithMatchOfOtherDay(t *testing.T) {
	t.Parallel()
	k := &killed{crashes: newCrashes(t)}
	k.alice, k.bob, k.carol = k.sim.User("alice"), k.sim.User("bob"), k.sim.User("carol")
	k.startNext("off")
	for _, point := range []crashpoint.Point{
		crashpoint.Applying, crashpoint.Applied, crashpoint.Handled, crashpoint.Requesting, crashpoint.Requested,
	} {
		group := k.sim.Group(string(point), k.alice, k.bob, k.carol)
		var posted []botsim.Message
		now := time.Now() // one date for all messages, in case midnight passes
		say := func(from botsim.User, text string) {
			posted = append(posted, group.Post(botsim.Post{From: from, Text: text, Date: now}))
		}
		say(k.carol, "/join")
		say(k.alice, "/match @carol 3:1")
		say(k.alice, "/match @carol 3:2")
		k.settle()
		k.at(point, 1, crashpoint.End)
		say(k.alice, "/match @bob 3:1 yesterday")
		say(k.bob, "/match @carol 3:1")
		k.awaitCrash(k.bot)
		k.startNext("off")
		answers := checkAnswered(t, k.pool, group, posted)
		says(t, visible(answers[3]), "Match #3", "1 other rating recalculated")
		got := collect(t, k.pool, pgx.RowTo[int], `
			SELECT number FROM matches m JOIN groups g ON g.id = m.group_id JOIN chats c ON c.id = g.chat_id
			WHERE c.telegram_chat_id = $1 ORDER BY coalesce(position, number::bigint << 32)`, group.ID())
		equal(t, got, []int{3, 1, 2, 4}, "matches in the order of replay when killed at %q", point)
	}
	checkNoDeadLetters(t, k.pool)
	verifyClean(t, k.url)
}
