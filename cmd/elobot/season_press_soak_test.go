//go:build soak

package main_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
	"elobot/internal/postgres/dbtest"
)

const (
	pressRounds  = 10
	pressGroups  = 20  // per round
	pressActions = 300 // per round
)

// TestSeasonsBeginAtThePress checks that results count in the season in which they were sent, while
// 200 groups each start a season amid random presses, results, database outages, stops and kills. A
// result may count in either season if it was sent within the second of the press or, with a
// webhook, the second before. Webhook deliveries of presses and messages may overtake each other,
// so results sent after the press may count in the earlier season. The message about the new
// season, or the card, then says so.
func TestSeasonsBeginAtThePress(t *testing.T) {
	t.Parallel()
	for name, bots := range map[string]int{"polling": 1, "webhook": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBotFixture(t, botsim.WithWebhookDelays(func(int) time.Duration { return 500 * time.Millisecond }))
			p := &presses{botFixture: b, random: seeded(t)}
			if bots > 1 {
				p.door = newBalancer(t, bots)
			}
			for i := range bots {
				p.hosts = append(p.hosts, &pressHost{proxy: dbtest.NewProxy(t, b.url)})
				p.launch(i)
			}
			for round := range pressRounds {
				p.round(round)
			}
			b.finish()
			t.Logf("%d groups, %d results: %d of the very second, %d named; %d outages, %d stops, %d kills",
				pressRounds*pressGroups, p.results, p.either, p.named, p.outages, p.stops, p.kills)
			if p.outages == 0 || p.stops == 0 || p.kills == 0 || (bots > 1) != (p.named > 0) {
				t.Error("the campaign tries too little")
			}
		})
	}
}

// presses is the fixture of bots whose groups start seasons.
type presses struct {
	*botFixture
	random *rand.Rand
	door   *balancer // in front of the webhook; nil if one bot polls
	hosts  []*pressHost

	results, either, named, outages, stops, kills int
}

// pressHost is a bot, and the proxy through which it reaches the database.
type pressHost struct {
	bot   *process
	proxy *dbtest.Proxy
}

type pressGroup struct {
	*botsim.Chat
	admin       botsim.User
	asked       botsim.Message
	first, last time.Time // the time right before and right after the press, in whole seconds
	sent        []botsim.Message
	later       []int // indices of results sent after the press
}

func (p *presses) launch(i int) {
	p.t.Helper()
	h := p.hosts[i]
	env := takeOverSoon(environment(p.sim, h.proxy.URL))
	if p.door != nil {
		env = append(env, p.door.environment()...)
	}
	h.bot = launch(p.t, env, "run")
	if p.door != nil {
		eventually(p.t, "the bot serves", func() bool { return p.door.find(i, h.bot) })
	}
}

func (p *presses) now() time.Time {
	return time.Now().Add(time.Duration(p.later.Load()) * time.Second).Truncate(time.Second)
}

func (p *presses) round(round int) {
	p.t.Helper()
	var groups []*pressGroup
	for i := range pressGroups {
		g := &pressGroup{admin: p.sim.User(fmt.Sprintf("admin%d_%d", round, i))}
		g.Chat = p.sim.Group(fmt.Sprintf("Group %d.%d", round, i), g.admin, p.alice, p.bob)
		groups = append(groups, g)
		p.ask(g.Chat, p.alice, "/match @bob 1:0")
		g.asked = p.ask(g.Chat, g.admin, "/season new")
	}
	for range pressActions {
		g := groups[p.random.IntN(len(groups))]
		switch n := p.random.IntN(100); {
		case n < 65:
			p.report(g)
		case n < 80:
			p.pressIn(g)
		case n < 95:
			p.letTimePass()
		default:
			p.disturb()
		}
	}
	for _, g := range groups { // in the groups without a press so far
		p.pressIn(g)
	}
	for i, h := range p.hosts {
		p.heal(i, h)
	}
	p.settle()
	for _, g := range groups {
		p.check(g)
	}
}

// letTimePass lets some time pass. With a webhook, the bots do not learn in time that Telegram's
// clock has jumped, so it must not jump.
func (p *presses) letTimePass() {
	if p.door == nil {
		p.later.Add(int64(1 + p.random.IntN(2)))
		return
	}
	timer := time.NewTimer(200 * time.Millisecond)
	defer timer.Stop()
	<-timer.C
}

func (p *presses) report(g *pressGroup) {
	n := len(g.sent)
	g.sent = append(g.sent, g.Say(p.alice, fmt.Sprintf("/match @bob %d:%d", 2+n, n%2)))
	if !g.first.IsZero() {
		g.later = append(g.later, n)
	}
	p.results++
}

func (p *presses) pressIn(g *pressGroup) {
	if g.first.IsZero() {
		g.first = p.now()
		p.sim.Press(g.admin, g.asked, g.asked.Buttons[0][0].CallbackData)
		g.last = p.now()
	}
}

// disturb begins or ends an outage of the database, or stops, kills or starts a bot.
func (p *presses) disturb() {
	p.t.Helper()
	i := p.random.IntN(len(p.hosts))
	h := p.hosts[i]
	switch n := p.random.IntN(3); {
	case hasEnded(h.bot) || h.proxy.Away.Load():
		p.heal(i, h)
	case n == 0:
		h.proxy.Leave()
		p.outages++
	case n == 1:
		h.bot.stop(p.t)
		p.stops++
	default:
		h.bot.kill()
		expireLease(p.t, p.pool, h.bot)
		p.kills++
	}
}

func (p *presses) heal(i int, h *pressHost) {
	p.t.Helper()
	h.proxy.Away.Store(false)
	if hasEnded(h.bot) {
		p.launch(i)
	}
}

// check compares the season of each result with the time when the result was sent.
func (p *presses) check(g *pressGroup) {
	p.t.Helper()
	type result struct {
		Key    string
		Number int
		Season int
		Said   bool // whether its card names the season
	}
	stored := make(map[string]result)
	for _, r := range collect(p.t, p.pool, pgx.RowToStructByPos[result], `
		SELECT m.idempotency_key, m.number, s.number, EXISTS (
		    SELECT FROM outbox WHERE kind = 'match_recorded' AND key = m.idempotency_key AND payload ->> 'season' = '1')
		FROM matches m JOIN seasons s ON s.id = m.season_id
		WHERE m.idempotency_key LIKE $1`, fmt.Sprintf("m:%d:%%", g.ID())) {
		stored[r.Key] = r
	}
	var before []int
	for _, all := range collect(p.t, p.pool, pgx.RowTo[[]int], `
		SELECT ARRAY(SELECT jsonb_array_elements_text(coalesce(payload -> 'before', '[]'))::int)
		FROM outbox o JOIN chats c ON c.id = o.chat_id WHERE o.kind = 'season_started' AND c.telegram_chat_id = $1`, g.ID()) {
		before = append(before, all...)
	}
	first := g.first
	// The bot knows Telegram's clock only to the second, from the dates of Telegram's answers.
	if p.door != nil {
		first = first.Add(-time.Second)
	}
	for i, m := range g.sent {
		r, ok := stored[fmt.Sprintf("m:%d:%d", g.ID(), m.ID)]
		sent := m.Date.Truncate(time.Second)
		later := slices.Contains(g.later, i)
		switch {
		case !ok:
			p.t.Errorf("%s: %q is lost", g.Title(), m.Text)
		case later == (r.Season == 2):
		case !sent.Before(first) && !sent.After(g.last):
			p.either++
		case later && p.door != nil && (r.Said || slices.Contains(before, r.Number)):
			p.named++
		default:
			p.t.Errorf("%s: %q, sent at %v, counts in season %d; the press was at %v, the start names %d",
				g.Title(), m.Text, sent, r.Season, g.first, before)
		}
	}
	started := 0
	for _, m := range g.BotMessages() {
		if strings.Contains(visible(m), "Results count for season 2") {
			started++
		}
	}
	if started != 1 {
		p.t.Errorf("%s: season 2 started %d times", g.Title(), started)
	}
}
