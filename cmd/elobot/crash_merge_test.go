//go:build unix

package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
	"elobot/internal/crashpoint"
	"elobot/internal/outbox"
	"elobot/internal/plainladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
)

// halfWritten stands for the moment when some statements of the transaction have been executed, and
// the next one waits for a lock.
const halfWritten crashpoint.Point = ""

// TestKilledMergingAndSplitting checks that a merge and a split of players that replay 500 matches
// take effect as a whole or not at all, wherever the bot is killed. If the killed bot has written
// nothing, the redelivered press makes the whole change. Each press has one outcome and one answer.
func TestKilledMergingAndSplitting(t *testing.T) {
	t.Parallel()
	k := newMapped(t)
	for _, tc := range []struct {
		point     crashpoint.Point
		committed bool
	}{
		{crashpoint.Applying, false}, {halfWritten, false}, {crashpoint.Applied, true}, {crashpoint.Handled, true},
	} {
		k.kill(tc.point, "Merge", k.split, k.merged, tc.committed)
		k.kill(tc.point, "Split", k.merged, k.split, tc.committed)
	}
	checkNoDeadLetters(t, k.pool)
}

// mapped is the fixture of a group with 500 matches. Its guest Dave, who turns out to be Bob, plays
// in a fifth of them, and in a few against Bob.
type mapped struct {
	*killed
	group         *botsim.Chat
	split, merged plainladder.Standings // while Dave counts for himself, and while he counts as Bob
	presses       int
}

func newMapped(t *testing.T) *mapped {
	t.Helper()
	k := &mapped{killed: &killed{crashes: newCrashes(t)}}
	k.alice, k.bob, k.carol = k.sim.User("alice"), k.sim.User("bob"), k.sim.User("carol")
	k.group = k.sim.Group("Chess", k.alice, k.bob, k.carol)
	k.fill(500)
	k.startNext("off")
	return k
}

// fill fills the database with n matches, of which Dave plays the first, and calculates the
// standings that check must find before and after a merge.
func (k *mapped) fill(n int) {
	k.t.Helper()
	names := []string{"", "Alice", "Bob", "Carol", "Dave"} // by id
	var played, merged []plainladder.Match
	var numbers, players, sides, points []int
	for i := 1; i <= n; i++ {
		pair := [2]int{2 + i%2, 1}
		switch {
		case i%100 == 0:
			pair = [2]int{4, 2}
		case i%5 == 1:
			pair = [2]int{4, 3}
		}
		m := plainladder.Match{
			Number: i, A: []string{names[pair[0]]}, B: []string{names[pair[1]]}, ScoreA: i % 4, ScoreB: 1 + i%3,
		}
		for side, player := range pair {
			numbers, players, sides = append(numbers, i), append(players, player), append(sides, side+1)
		}
		points = append(points, m.ScoreA, m.ScoreB)
		played = append(played, m)
		if m.A[0] != "Dave" {
			merged = append(merged, m)
		} else if m.A = []string{"Bob"}; m.B[0] != "Bob" {
			merged = append(merged, m)
		}
	}
	k.split = plainladder.Play(nil, played).Standings
	k.merged = plainladder.Play(nil, merged).Standings
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO chats (telegram_chat_id, kind, title) VALUES ($1, 'supergroup', 'Chess')`, []any{k.group.ID()}},
		{`INSERT INTO groups (chat_id, last_match_number) VALUES (1, $1)`, []any{n}},
		{dbtest.DefaultLadders, nil},
		{`INSERT INTO players (telegram_user_id, username, display_name) VALUES ($1, 'alice', 'Alice'), ($2, 'bob', 'Bob'),
			($3, 'carol', 'Carol')`, []any{k.alice.ID, k.bob.ID, k.carol.ID}},
		{`INSERT INTO players (group_id, display_name, folded) VALUES (1, 'Dave', 'dave')`, nil},
		{`INSERT INTO sightings (group_id, player_id, username, seen_at)
			SELECT 1, id, username, now() FROM players WHERE username IS NOT NULL`, nil},
		{`INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo)
			SELECT 1, id, display_name, 1500, 1500, 1500 FROM players`, nil},
		{`INSERT INTO matches (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
			SELECT 1, 1, 1, i, points[2 * i - 1], points[2 * i], 32, now(), 'm' || i
			FROM generate_series(1, $1::int) i, (SELECT $2::int[] AS points) AS all_points ORDER BY i`, []any{n, points}},
		{`INSERT INTO handled_commands (key, outcome) SELECT idempotency_key, 'recorded' FROM matches`, nil},
		{`INSERT INTO match_players (match_id, player_id, side)
			SELECT id, one.player, one.side FROM unnest($1::int[], $2::int[], $3::int[]) AS one (number, player, side)
			JOIN matches USING (number)`, []any{numbers, players, sides}},
	} {
		if _, err := k.pool.Exec(k.t.Context(), s.sql, s.args...); err != nil {
			k.t.Fatalf("%s: %v", s.sql, err)
		}
	}
	store := pgranking.NewStore(k.pool, func(outbox.Lane) {})
	_, err := ranking.Repair(k.t.Context(), store, ranking.ExternalChatID(k.group.ID()), 1)
	must(k.t, err)
	k.check("at the start", k.split)
}

// ask has Alice open Bob's card and choose to merge him with Dave, or to split them, but not
// confirm the change. It returns the message and the data of the button that confirms it.
func (k *mapped) ask(change string) (question botsim.Message, data string) {
	k.t.Helper()
	asked := k.group.Say(k.alice, "/player @bob")
	find := func(label string) {
		k.t.Helper()
		k.settle()
		question = answersTo(k.group, asked)[0]
		data = dataOf(k.t, question, label)
	}
	for _, label := range []string{change, "Dave"} {
		find(label)
		k.sim.Press(k.alice, question, data)
	}
	find(change)
	return question, data
}

// kill has Alice press a button that changes the standings from before to after, and kills the bot
// at a point. It checks that the killed bot has made the whole change if committed is set, and
// nothing of it otherwise, and that the change is made once the next bot runs.
func (k *mapped) kill(point crashpoint.Point, change string, before, after plainladder.Standings, committed bool) {
	k.t.Helper()
	where := fmt.Sprintf("%s, killed at %q", change, point)
	question, data := k.ask(change)
	written := `SELECT (SELECT count(*) FROM elo_history) + (SELECT count(*) FROM handled_commands)
		+ (SELECT count(*) FROM outbox)`
	was := count(k.t, k.pool, written)
	answers := k.answers()
	var press string
	if point == halfWritten {
		release := holdRows(k.t, k.pool, `SELECT FROM group_players WHERE name = 'Carol' FOR UPDATE`)
		press = k.sim.Press(k.alice, question, data)
		k.await("the bot waits for the lock", func() bool {
			return count(k.t, k.pool, `SELECT count(*) FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%group_players%'`) > 0
		})
		must(k.t, k.bot.cmd.Process.Kill())
		k.mustCrash(k.bot)
		k.awaitSilence(k.bot) // the session ends with the timeout of its lock
		release()
	} else {
		k.at(point, 1, crashpoint.End)
		press = k.sim.Press(k.alice, question, data)
		k.awaitCrash(k.bot)
	}
	k.presses++
	equal(k.t, handledKeys(k.t, k.pool)["c:"+press], committed, "%s: the press is handled", where)
	if committed {
		k.check(where, after)
	} else {
		k.check(where, before)
		equal(k.t, count(k.t, k.pool, written), was, "%s: rows", where)
	}
	equal(k.t, k.sim.Pending(), 1, "%s: updates to be delivered again", where)

	k.startNext("off")
	where += ", then restarted"
	k.check(where, after)
	equal(k.t, count(k.t, k.pool, `SELECT count(*) FROM outbox WHERE payload ? 'named'`), k.presses, "%s: outcomes", where)
	equal(k.t, k.answers()-answers, 1, "%s: messages that say so", where)
}

// answers returns how many messages say that the players are one person, or two.
func (k *mapped) answers() (n int) {
	for _, m := range k.group.BotMessages() {
		text := visible(m)
		if strings.HasPrefix(text, "Dave is Bob: ") || strings.HasPrefix(text, "Dave and Bob are two players again: ") {
			n++
		}
	}
	return n
}

// check compares the standings of the group with want, and checks that the database is consistent.
// where begins each error, and says when the standings were read.
func (k *mapped) check(where string, want plainladder.Standings) {
	k.t.Helper()
	got := make(plainladder.Standings)
	for _, s := range collect(k.t, k.pool, pgx.RowToStructByPos[plainladder.Standing], `
		SELECT name, elo, start_elo, best_elo, played, won, drawn, lost, streak, longest_streak FROM group_players
		WHERE named_id IS DISTINCT FROM player_id`) {
		got[s.Who] = s
	}
	equal(k.t, got, want, "%s: standings", where)
	verifyClean(k.t, k.url)
}
