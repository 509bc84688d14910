//go:build soak && linux

package main_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/postgres/dbtest"
)

// chartedHistory adds 20 players and 2,000 matches of the last year to each of the first 50 groups.
const chartedHistory = `
	CREATE TEMP TABLE charted AS SELECT g.id, l.id AS ladder, row_number() OVER (ORDER BY g.id) AS n
	    FROM groups g JOIN ladders l ON l.group_id = g.id LIMIT 50;
	INSERT INTO players (telegram_user_id, display_name)
	    SELECT 5000000 + n * 100 + i, 'Player ' || i FROM charted, generate_series(1, 20) i;
	INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo, played, won, last_played_at)
	    SELECT c.ladder, p.id, p.display_name, 1700 - i, 1500, 1800, 200, 200, now()
	    FROM charted c, generate_series(1, 20) i, players p WHERE p.telegram_user_id = 5000000 + c.n * 100 + i;
	INSERT INTO matches (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, played_at, idempotency_key)
	    SELECT id, ladder, ladder, 1000 + m, 3, 1, 32, now() - (2001 - m) * interval '4 hours', 'x:' || id || ':' || m
	    FROM charted, generate_series(1, 2000) m;
	INSERT INTO match_players (match_id, player_id, side)
	    SELECT m.id, p.id, side FROM charted c JOIN matches m ON m.group_id = c.id AND m.number > 1000,
	        generate_series(1, 2) side, players p
	    WHERE p.telegram_user_id = 5000000 + c.n * 100 + 1
	        + (m.number * 7 + side * 3 + m.number / 20 * side) % 10 + (side - 1) * 10;
	INSERT INTO elo_history (match_id, player_id, elo_before, elo_after, k_factor,
	        best_before, streak_before, longest_before, reason)
	    SELECT match_id, player_id, 1500 + player_id % 200, 1500 + player_id % 200 + match_id % 17,
	           32, 10000, 0, 0, 'match'
	    FROM match_players mp JOIN matches m ON m.id = mp.match_id WHERE m.number > 1000;
	UPDATE groups SET last_match_number = 3001 WHERE id IN (SELECT id FROM charted)`

// TestChartsUnderLoad checks that, with fifty charts requested at once in fifty groups and 20
// results a second, nothing is lost or sent twice, Telegram refuses no request, and the bot's peak
// memory stays below 80 MiB. The test logs how long cards take with and without charts.
func TestChartsUnderLoad(t *testing.T) {
	t.Parallel()
	b := newBotFixture(t, botsim.WithLimits(botsim.TelegramLimits()))
	b.bot = launch(t, append(plainEnvironment(b.sim, b.url), "LOG_LEVEL=info"), "run")
	groups := make([]*botsim.Chat, 100)
	for i := range groups {
		groups[i] = b.group(fmt.Sprint("Club ", i))
	}
	var posted []botsim.Message
	results := func(seconds int) []botsim.Message {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		first := len(posted)
		for range 20 * seconds {
			<-tick.C
			posted = append(posted, groups[len(posted)%len(groups)].Say(b.alice, "/match @bob 3:1"))
		}
		return posted[first:]
	}
	results(5) // makes all groups known
	b.settle()
	dbtest.FillFast(t, b.pool, chartedHistory)
	b.exec(`VACUUM ANALYZE`)
	pause := time.NewTimer(time.Minute) // after which no earlier message counts toward the limits
	<-pause.C
	resetPeak(t, b.bot)
	report := func(what string, of []botsim.Message) {
		b.settle()
		inCharted := func(m botsim.Message) bool {
			return slices.ContainsFunc(groups[:50], func(g *botsim.Chat) bool { return g.ID() == m.ChatID })
		}
		for where, some := range map[string][]botsim.Message{
			"groups with a chart": slices.DeleteFunc(slices.Clone(of), func(m botsim.Message) bool { return !inCharted(m) }),
			"other groups":        slices.DeleteFunc(slices.Clone(of), inCharted),
		} {
			took := cardTimes(t, b, some)
			t.Logf("%s, in %s: %d cards, p50 %v, p99 %v", what, where, len(took), took[len(took)/2], took[len(took)*99/100])
		}
		if most := peakMemory(t, b.bot); most >= 80 {
			t.Errorf("%s: peak memory %d MB", what, most)
		} else {
			t.Logf("%s: peak memory %d MB", what, most)
		}
		resetPeak(t, b.bot)
	}
	report("without charts", results(20))
	var asked []botsim.Message
	for i, g := range groups[:50] {
		// A person gets at most 20 answers to questions a minute, so three people ask.
		asked = append(asked, g.Say([]botsim.User{b.bob, b.carol, b.olga}[i%3], "/chart"))
	}
	report("with charts", results(20))
	var took []time.Duration
	for i, g := range groups[:50] {
		answers := slices.DeleteFunc(g.BotMessages(), func(m botsim.Message) bool { return m.ReplyTo != asked[i].ID })
		if len(answers) != 1 || answers[0].Photo == nil {
			t.Fatalf("the chart of %d: %+v", g.ID(), answers)
		}
		took = append(took, answers[0].Date.Sub(asked[i].Date))
	}
	slices.Sort(took)
	t.Logf("charts: p50 %v, p99 %v", took[25], took[49])
	checkDeliveredOnce(t, b.pool, len(posted))
	if n := refused(b.sim); n > 0 {
		t.Errorf("Telegram has refused %d requests", n)
	}
}

// cardTimes returns, in ascending order, how long each message in of, which reports a result,
// waited for its card. One message of the bot may hold the cards of several results.
func cardTimes(t *testing.T, b *botFixture, of []botsim.Message) []time.Duration {
	t.Helper()
	var took []time.Duration
	for _, m := range of {
		var sent int
		err := b.pool.QueryRow(t.Context(), `
			SELECT coalesce(o.telegram_message_id, mm.telegram_message_id, 0)
			FROM outbox o LEFT JOIN match_messages mm ON mm.outbox_id = o.id
			WHERE o.key = $1 AND o.kind = 'match_recorded' AND o.action = 'send'`,
			fmt.Sprintf("m:%d:%d", m.ChatID, m.ID)).Scan(&sent)
		if err != nil {
			t.Fatalf("the card of %d: %v", m.ID, err)
		}
		card, ok := b.sim.Chat(m.ChatID).Message(sent)
		if !ok {
			t.Fatalf("no card %d of message %d in %d", sent, m.ID, m.ChatID)
		}
		took = append(took, card.Date.Sub(m.Date))
	}
	slices.Sort(took)
	return took
}

// checkDeliveredOnce checks that the given number of results is recorded, that their cards and all
// 50 charts are sent, without a possible duplicate, and that there are no dead letters.
func checkDeliveredOnce(t *testing.T, pool *pgxpool.Pool, results int) {
	t.Helper()
	for sql, want := range map[string]int{
		`SELECT count(*) FROM matches WHERE idempotency_key NOT LIKE 'x:%'`:            results,
		`SELECT count(*) FROM outbox WHERE kind = 'match_recorded' AND state = 'sent'`: results,
		`SELECT count(*) FROM outbox WHERE kind = 'chart' AND state = 'sent'`:          50,
		`SELECT count(*) FROM outbox WHERE state <> 'sent' OR possible_duplicates > 0`: 0,
		`SELECT count(*) FROM dead_letters`:                                            0,
	} {
		equal(t, count(t, pool, sql), want, "%s", sql)
	}
}

// resetPeak restarts the measurement of peakMemory, or logs why it cannot.
func resetPeak(t *testing.T, p *process) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0); err != nil {
		t.Logf("peaks of memory are those since the start: %v", err)
	}
}
