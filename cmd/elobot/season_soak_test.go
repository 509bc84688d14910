//go:build soak && unix

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/crashpoint"
	"elobot/internal/ranking"
)

const (
	endingGroups = 500 // groups whose seasons end together
	busyGroups   = 50  // how many of these get results at that time
	seasonKills  = 10
	killedAfter  = 25 // seasons ended by each leader; the last leader ends the rest
	// looksEvery equals timerInterval of package app: the leader's interval between looks for due
	// timers.
	looksEvery = 30 * time.Second
)

// TestSeasonsEndAtOnce checks that each season ends once if the seasons of 500 groups end together
// while results come in. The leader of two instances is killed ten times, each time after it has
// ended some of the seasons, and the next leader continues after at least a minute. Each final
// table is posted within Telegram's limits, and again only if that was counted as a possible
// duplicate.
func TestSeasonsEndAtOnce(t *testing.T) {
	t.Parallel()
	s := startSeasons(t)
	ends := s.endSoon()
	s.await(ends.Add(time.Second))
	for _, group := range s.groups[:busyGroups/2] { // their next seasons begin at once
		s.report(group, 0, 2)
	}
	leader, since := s.leader()
	due := ends.Add(ranking.AfterSeason)
	for kill := range seasonKills {
		before := count(t, s.pool, told)
		plan := crashpoint.Plan(crashpoint.Fired, killedAfter, crashpoint.End)
		must(t, os.WriteFile(s.plan, []byte(plan), 0o600))
		s.reportMeanwhile(since, due, func() bool { return hasEnded(s.bots[leader]) })
		if all := count(t, s.pool, told); all == before || all == endingGroups {
			t.Errorf("kill %d came when %d seasons had ended, %d of them under this leader", kill+1, all, all-before)
		}
		s.start(leader)
		leader, since = s.leader()
		due = since.Add(ranking.AfterSeason)
	}
	s.reportMeanwhile(since, due, func() bool { return count(t, s.pool, told) == endingGroups })
	s.check(ends)
	t.Logf("%d kills, %d results: %s while seasons ended, %s shortly before", seasonKills, s.posted, s.meanwhile, s.calm)
}

// told is a query that counts the notices about ends of seasons.
const told = `SELECT count(*) FROM outbox WHERE kind = '` + ranking.KindSeason + `'`

// seasons is the fixture of groups whose seasons end together, and of two bots behind a webhook.
type seasons struct {
	t       *testing.T
	sim     *botsim.Server
	url     string
	pool    *pgxpool.Pool
	plan    string // path of the file with the plan of the next crash
	door    *balancer
	bots    [2]*process
	groups  []*botsim.Chat
	players []botsim.User
	posted  int // how many results were reported

	calm, meanwhile recorded // shortly before the seasons end, and while they end
}

// recorded is how many results were recorded within a period, and how long the period lasted.
type recorded struct {
	results int
	lasted  time.Duration
}

func (r recorded) String() string {
	return fmt.Sprintf("%.1f per second for %v", float64(r.results)/r.lasted.Seconds(), r.lasted.Round(time.Millisecond))
}

// startSeasons starts the bots, and reports two matches in each group.
func startSeasons(t *testing.T) *seasons {
	t.Helper()
	delays := botsim.WithWebhookDelays(func(int) time.Duration { return 100 * time.Millisecond })
	sim := startTelegram(t, botsim.WithLimits(botsim.TelegramLimits()), delays)
	s := &seasons{t: t, sim: sim, plan: filepath.Join(t.TempDir(), "plan"), door: newBalancer(t, 2)}
	s.url, s.pool = database(t)
	for i := range s.bots {
		s.start(i)
		awaitWebhooks(t, s.sim, 1) // instances that start at the same time may both set the webhook
	}
	for _, name := range []string{"alice", "bob", "carol"} {
		s.players = append(s.players, s.sim.User(name))
	}
	for i := range endingGroups {
		group := s.sim.Group(fmt.Sprintf("Group %d", i+1), s.players...)
		s.groups = append(s.groups, group)
		s.report(group, 0, 1)
		s.report(group, 1, 2)
	}
	eventually(t, "most is sent", func() bool { // sending all takes longer than the limit of a wait
		return s.sim.Pending() == 0 &&
			count(t, s.pool, `SELECT count(*) FROM outbox WHERE finished_at IS NULL`) < endingGroups
	})
	awaitAllSent(t, s.sim, s.pool)
	return s
}

// start starts bot i, which crashes as soon as a plan in the file s.plan says so, and waits until
// the bot serves.
func (s *seasons) start(i int) {
	s.t.Helper()
	path, err := crashingBinary()
	must(s.t, err)
	env := append(plainEnvironment(s.sim, s.url),
		"LOG_LEVEL=info", "LEASE_DURATION=5s", "LEASE_RENEWAL=1s", crashpoint.Variable+"="+s.plan)
	bot := prepare(append(env, s.door.environment()...), "run")
	bot.cmd.Path, bot.cmd.Dir = path, s.t.TempDir()
	bot.start(s.t)
	eventually(s.t, "the bot serves", func() bool { return s.door.find(i, bot) })
	s.bots[i] = bot
}

// leading matches the log line of a bot that becomes the leader.
var leading = regexp.MustCompile(`time=(\S+) level=INFO msg=leading`)

// leader waits for a leader, and returns its index and the time since which it has led.
func (s *seasons) leader() (i int, since time.Time) {
	s.t.Helper()
	eventually(s.t, "a bot leads", func() bool {
		for n, bot := range s.bots {
			if found := leading.FindStringSubmatch(bot.output.String()); found != nil && !hasEnded(bot) {
				at, err := time.Parse(time.RFC3339, found[1])
				must(s.t, err)
				i, since = n, at
			}
		}
		return !since.IsZero()
	})
	return i, since
}

func hasEnded(p *process) bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// endSoon sets all ends of seasons to an instant in the near future, as if the month ended then,
// and returns that instant.
func (s *seasons) endSoon() time.Time {
	s.t.Helper()
	ends := time.Now().Add(5 * time.Second).Truncate(time.Second)
	must(s.t, pgx.BeginFunc(testContext(s.t), s.pool, func(tx pgx.Tx) error {
		for _, sql := range []string{
			`UPDATE ladders SET season_months = 1`,
			`UPDATE seasons SET ends_at = '` + ends.Format(time.RFC3339) + `'`,
			`INSERT INTO timers (key, chat_id, due_at)
			 SELECT '` + ranking.SeasonTimer + `' || n.ladder_id || ':' || n.id, g.chat_id, n.ends_at + interval '1 minute'
			 FROM seasons n JOIN groups g ON g.id = n.group_id`,
		} {
			if _, err := tx.Exec(testContext(s.t), sql); err != nil {
				return err
			}
		}
		return nil
	}))
	return ends
}

func (s *seasons) await(at time.Time) {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	<-timer.C
}

// report makes a player report a win against another player.
func (s *seasons) report(group *botsim.Chat, winner, loser int) {
	s.posted++
	group.Say(s.players[winner], fmt.Sprintf("/match %s %d:%d", mention(s.players[loser]), 3+s.posted%5, s.posted%3))
}

// reportMeanwhile reports as many results as the bots can record, from shortly before the leader
// looks for due seasons until over returns true. since is when the leader began to lead, and due is
// the earliest time at which it ends the seasons. reportMeanwhile counts the results recorded
// before and after the first season ends.
func (s *seasons) reportMeanwhile(since, due time.Time, over func() bool) {
	s.t.Helper()
	looks := since
	for looks.Before(due) {
		looks = looks.Add(looksEvery)
	}
	begun := looks.Add(-4 * time.Second)
	s.await(begun.Add(-time.Second))
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n, limit := 0, testContext(s.t); n%20 != 0 || !over(); n++ {
		select {
		case <-tick.C:
		case <-limit.Done():
			s.t.Fatal("the seasons do not end")
		}
		for s.sim.Pending() < 16 {
			s.report(s.groups[s.posted%busyGroups], s.posted%3, (s.posted+1)%3)
		}
	}
	var first, last time.Time
	must(s.t, s.pool.QueryRow(testContext(s.t), `
		SELECT coalesce(min(created_at), $1), coalesce(max(created_at), $1) FROM outbox
		WHERE kind = $2 AND created_at > $1 AND chat_id > (SELECT id FROM chats WHERE telegram_chat_id = $3)`,
		begun, ranking.KindSeason, s.groups[busyGroups-1].ID()).Scan(&first, &last))
	calm, meanwhile := s.recorded(begun, first), s.recorded(first, last)
	s.t.Logf("recorded were %s while seasons ended, %s shortly before", meanwhile, calm)
	s.calm.add(calm)
	s.meanwhile.add(meanwhile)
}

// recorded counts the results recorded between two times.
func (s *seasons) recorded(from, to time.Time) recorded {
	s.t.Helper()
	const results = `SELECT count(*) FROM handled_commands WHERE key LIKE 'm:%' AND handled_at >= $1 AND handled_at < $2`
	return recorded{count(s.t, s.pool, results, from, to), to.Sub(from)}
}

func (r *recorded) add(other recorded) {
	r.results += other.results
	r.lasted += other.lasted
}

// check checks that each season ended once, that nothing is lost, and that every duplicate was
// counted as possible.
func (s *seasons) check(ends time.Time) {
	t := s.t
	t.Helper()
	awaitAllSent(t, s.sim, s.pool)
	const ofSecond = `
		SELECT count(*) FROM timers t
		JOIN seasons n ON n.number = 2 AND t.key = '` + ranking.SeasonTimer + `' || n.ladder_id || ':' || n.id`
	const unsent = `SELECT count(*) FROM outbox
		WHERE state <> 'sent' AND NOT (state = 'expired' AND batch IS NOT NULL)`
	const misplaced = `SELECT count(*) FROM matches m JOIN seasons n ON n.id = m.season_id
		WHERE (m.played_at < $1) <> (n.number = 1)`
	for what, is := range map[string]struct {
		want  int
		sql   string
		about []any
	}{
		"seasons":                        {2 * endingGroups, `SELECT count(*) FROM seasons`, nil},
		"seasons that ended":             {endingGroups, `SELECT count(*) FROM seasons WHERE number = 1 AND ends_at = $1`, []any{ends}},
		"seasons that began":             {endingGroups, `SELECT count(*) FROM seasons WHERE number = 2 AND starts_at = $1`, []any{ends}},
		"told ends":                      {endingGroups, told, nil},
		"timers":                         {endingGroups, `SELECT count(*) FROM timers`, nil},
		"timers of second seasons":       {endingGroups, ofSecond, nil},
		"recorded results":               {s.posted, `SELECT count(*) FROM matches`, nil},
		"matches in another season":      {0, misplaced, []any{ends}},
		"dead letters":                   {0, `SELECT count(*) FROM dead_letters`, nil},
		"notices that were not sent":     {0, unsent, nil},
		"requests that Telegram refused": {0, `SELECT $1::integer`, []any{refused(s.sim)}},
	} {
		equal(t, count(t, s.pool, is.sql, is.about...), is.want, "%s", what)
	}
	possible := make(map[int64]int) // possible copies of final tables
	type tables struct {
		Chat   int64
		Copies int
	}
	for _, c := range collect(t, s.pool, pgx.RowToStructByPos[tables], `
		SELECT c.telegram_chat_id, o.possible_duplicates FROM outbox o JOIN chats c ON c.id = o.chat_id
		WHERE o.kind = $1`, ranking.KindSeason) {
		possible[c.Chat] = c.Copies
	}
	copies, all := 0, 0
	for _, group := range s.groups {
		tables := 0
		for _, m := range group.BotMessages() {
			if strings.HasPrefix(visible(m), "Final table · season 1") {
				tables++
			}
		}
		if tables == 0 || tables > 1+possible[group.ID()] {
			t.Errorf("%s got %d final tables, with %d possible copies", group.Title(), tables, possible[group.ID()])
		}
		copies, all = copies+tables-1, all+possible[group.ID()]
	}
	t.Logf("%d final tables came twice, %d were counted as possible duplicates", copies, all)
	verifyClean(t, s.url)
}
