//go:build unix

package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
	"elobot/internal/crashpoint"
)

// mayCrash equals maxCrashes of package intake: how many recorded attempts at one update may crash
// the process before the bot gives up on it.
const mayCrash = 8

// poisoned is the fixture of a bot that is restarted after each crash. Results are reported in
// several groups, and an update in one of them, the poison, crashes the bot.
type poisoned struct {
	*crashes
	alice  botsim.User
	groups []*botsim.Chat
	posted [][]botsim.Message // by group
	poison botsim.Message     // message in the first group
	update int64              // update id of the poison
}

func newPoisoned(t *testing.T, options ...botsim.Option) *poisoned {
	t.Helper()
	p := &poisoned{crashes: newCrashes(t, options...)}
	p.alice = p.sim.User("alice")
	for i := range 3 {
		p.groups = append(p.groups, p.sim.Group(fmt.Sprintf("Group %d", i+1), p.alice, p.sim.User("bob")))
	}
	p.posted = make([][]botsim.Message, len(p.groups))
	return p
}

// report reports a result in each group.
func (p *poisoned) report() {
	for i := range p.groups {
		p.say(i, "/match @bob 3:1")
	}
}

// sayAll sends the poison, with results before and after it.
func (p *poisoned) sayAll() {
	p.report()
	p.update = p.sim.Update([]byte(`{"poll":{"id":"1"}}`)) + 1 // the poison follows this meaningless update
	p.poison = p.say(0, "/match @bob 3:2 "+crashpoint.Poison)
	p.report()
}

func (p *poisoned) say(group int, text string) botsim.Message {
	m := p.groups[group].Say(p.alice, text)
	p.posted[group] = append(p.posted[group], m)
	return m
}

// deadly raises the recorded number of attempts at the poison to at least the given number. It has
// no effect while there is no record of the poison.
func (p *poisoned) deadly(crashes int) {
	p.t.Helper()
	if _, err := p.pool.Exec(testContext(p.t), `UPDATE update_attempts SET attempts = greatest(attempts, $1)
		WHERE update_id = $2`, crashes, p.update); err != nil {
		p.t.Fatal(err)
	}
}

// letters returns the number of dead letters.
func (p *poisoned) letters() int { return count(p.t, p.pool, `SELECT count(*) FROM dead_letters`) }

// check waits until everything is answered. It checks that there is one dead letter, from an update
// given up after mayCrash attempts, and that every message is answered in order.
func (p *poisoned) check() {
	p.t.Helper()
	p.settle()
	type letter struct {
		Update    int64
		Attempts  int
		LastError string
	}
	letters := collect(p.t, p.pool, pgx.RowToStructByPos[letter],
		`SELECT update_id, attempts, last_error FROM dead_letters`)
	if len(letters) != 1 || letters[0].Attempts != mayCrash ||
		!strings.Contains(letters[0].LastError, "the process ended") {
		p.t.Errorf("the dead letters are %v", letters)
	}
	duplicates := count(p.t, p.pool, `SELECT sum(possible_duplicates) FROM outbox`)
	for i, group := range p.groups {
		seen := make(map[int]bool)
		var order, want []int
		for _, m := range group.BotMessages() {
			if seen[m.ReplyTo] {
				duplicates--
				continue
			}
			seen[m.ReplyTo] = true
			order = append(order, m.ReplyTo)
			if isCard := strings.Contains(m.Text, "Match #"); isCard == (m.ReplyTo == p.poison.ID) && i == 0 {
				p.t.Errorf("message %d is answered with %s", m.ReplyTo, visible(m))
			}
		}
		for _, m := range p.posted[i] {
			want = append(want, m.ID)
		}
		if !slices.Equal(order, want) {
			p.t.Errorf("group %d: messages %v were answered, want %v", i+1, order, want)
		}
	}
	if duplicates < 0 {
		p.t.Errorf("%d answers came twice without being counted", -duplicates)
	}
}

// TestPoisonousUpdateIsGivenUp checks that, if a polled update crashes the process at every
// attempt, the bot gives up on the update after mayCrash recorded attempts. It handles the updates
// of other chats before that.
func TestPoisonousUpdateIsGivenUp(t *testing.T) {
	t.Parallel()
	p := newPoisoned(t)
	p.sayAll()
	var unnoted int                                          // attempts whose end a slow machine failed to record
	for life, noted := range [][]int{nil, {1}, {mayCrash}} { // the first bot records no attempts
		bot := p.start()
		p.mustCrash(bot)
		p.awaitDeparture(bot)
		expireLease(p.t, p.pool, bot)
		unnoted += strings.Count(bot.output.String(), "failed to record that an attempt has returned")
		if got := collect(t, p.pool, pgx.RowTo[int],
			`SELECT attempts FROM update_attempts WHERE update_id = $1`, p.update); !slices.Equal(got, noted) {
			t.Errorf("after life %d the attempts are %v, want %v", life+1, got, noted)
		}
		p.deadly(mayCrash - 1)
		for i := range p.groups[1:] {
			p.say(i+1, "/match @bob 3:0")
		}
	}
	bot := p.start()
	p.check()
	if n := count(t, p.pool, `SELECT count(*) FROM update_attempts WHERE update_id = $1`, p.update); n != 1 {
		t.Error("the attempts at the poison are deleted, although Telegram may deliver it again")
	}
	unnoted += strings.Count(bot.output.String(), "failed to record that an attempt has returned")
	if n := count(t, p.pool, `SELECT count(*) FROM update_attempts`) - 1; n > unnoted {
		t.Errorf("attempts at %d other updates are left, but only %d could not be deleted", n, unnoted)
	}
	verifyClean(t, p.url)
}

// TestPoisonousDeliveryIsGivenUp checks that, if a webhook delivery crashes two instances again and
// again, they give up on it after mayCrash recorded attempts in all. Both record their attempts
// from the start, because they have a webhook.
func TestPoisonousDeliveryIsGivenUp(t *testing.T) {
	t.Parallel()
	p := newPoisoned(t, botsim.WithWebhookDelays(func(int) time.Duration { return 100 * time.Millisecond }))
	door := newBalancer(t, 2)
	bots := make([]*process, len(door.bots))
	start := func(i int) {
		t.Helper()
		door.set(i, "")
		bots[i] = p.start(door.environment()...)
		eventually(t, "the bot serves", func() bool { return door.find(i, bots[i]) || crashed(bots[i]) })
		says(t, bots[i].output.String(), `msg="handling updates one at a time" reason="with a webhook, `)
	}
	for i := range bots {
		start(i)
		awaitWebhooks(t, p.sim, 1)
	}
	p.sayAll()
	crashes := 0
	p.await("the poison is given up, and everything else handled", func() bool {
		for i, bot := range bots {
			if crashed(bot) {
				if crashes++; crashes == 2 { // one of each instance
					p.deadly(mayCrash - 2)
				}
				expireLease(p.t, p.pool, bot)
				start(i)
				// These results must be recorded too, even those that arrive while the poison is
				// being retried.
				p.report()
			}
		}
		return p.letters() > 0 && p.sim.Pending() == 0
	})
	p.check()
	if crashes != 4 { // two more than those before deadly
		t.Errorf("the poison has crashed instances %d times, want 4", crashes)
	}
	for _, bot := range bots {
		if code, _ := bot.stop(t); code != 0 {
			t.Errorf("an instance ended with %d", code)
		}
	}
}
