package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

const (
	// poisonWord in an update ends the process that handles it, if that is built with the tag crashpoints.
	poisonWord = "crashpoint"
	// poisonExit is how such a process ends.
	poisonExit = 86
	// mayCrash is how often attempts at one update may end the process once that is watched for.
	mayCrash = 8
)

// crashingBinary builds the bot that a poisonous update ends, once for all tests.
var crashingBinary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(binary), "elobot-crashpoints")
	out, err := exec.Command("go", "build", "-tags", "crashpoints", "-o", path, "-buildvcs=false", ".").CombinedOutput()
	if err != nil {
		err = errors.Join(err, errors.New(string(out)))
	}
	return path, err
})

// poisoned is a bot that is started again whenever it ends, groups in which results are reported, and an update in one of
// them that ends the bot.
type poisoned struct {
	t      *testing.T
	sim    *botsim.Server
	url    string
	pool   *pgxpool.Pool
	alice  botsim.User
	groups []*botsim.Chat
	said   [][]botsim.Message // by group
	poison botsim.Message     // in the first group
	lives  int
}

func newPoisoned(t *testing.T, options ...botsim.Option) *poisoned {
	t.Helper()
	p := &poisoned{t: t, sim: botsim.Start(t, options...)}
	p.url, p.pool = database(t)
	p.alice = p.sim.User("alice")
	for i := range 3 {
		p.groups = append(p.groups, p.sim.Group(fmt.Sprintf("Group %d", i+1), p.alice, p.sim.User("bob")))
	}
	p.said = make([][]botsim.Message, len(p.groups))
	return p
}

// report has alice report a result in each group, behind what has been said there.
func (p *poisoned) report() {
	for i := range p.groups {
		p.say(i, "/match @bob 3:1")
	}
}

func (p *poisoned) say(group int, text string) botsim.Message {
	m := p.groups[group].Say(p.alice, text)
	p.said[group] = append(p.said[group], m)
	return m
}

// start starts the bot once more.
func (p *poisoned) start(env ...string) *process {
	p.t.Helper()
	path, err := crashingBinary()
	if err != nil {
		p.t.Fatal(err)
	}
	p.lives++
	bot := prepare(append(environment(p.sim, p.url), env...), "run")
	bot.cmd.Path, bot.cmd.Dir = path, p.t.TempDir()
	bot.start(p.t)
	return bot
}

// crashed returns whether a bot has ended, which must have been by the poison.
func (p *poisoned) crashed(bot *process) bool {
	p.t.Helper()
	select {
	case <-bot.ended:
	default:
		return false
	}
	if code := bot.cmd.ProcessState.ExitCode(); code != poisonExit {
		p.t.Fatalf("the bot ended with %d:\n%s", code, bot.output)
	}
	return true
}

// unrecorded returns how many results reported in all groups but the first are not recorded.
func (p *poisoned) unrecorded() int {
	reported := 0
	for _, said := range p.said[1:] {
		reported += len(said)
	}
	return reported - count(p.t, p.pool, `
		SELECT count(*) FROM matches m JOIN groups g ON g.id = m.group_id JOIN chats c ON c.id = g.chat_id
		WHERE c.telegram_chat_id <> $1`, p.groups[0].ID())
}

// letters returns how many updates are dead letters.
func (p *poisoned) letters() int { return count(p.t, p.pool, `SELECT count(*) FROM dead_letters`) }

// check waits until everything is answered, and looks at what has come of it.
func (p *poisoned) check() {
	p.t.Helper()
	eventually(p.t, "everything is taken and answered", func() bool {
		return p.sim.Pending() == 0 && count(p.t, p.pool, `SELECT count(*) FROM outbox WHERE state <> 'sent'`) == 0
	})
	type letter struct {
		Update    int64
		Attempts  int
		LastError string
	}
	letters := collect(p.t, p.pool, pgx.RowToStructByPos[letter], `SELECT update_id, attempts, last_error FROM dead_letters`)
	if len(letters) != 1 || letters[0].Attempts != mayCrash || !strings.Contains(letters[0].LastError, "the process ended") {
		p.t.Errorf("the dead letters are %v", letters)
	}
	perhaps := count(p.t, p.pool, `SELECT sum(perhaps_sent) FROM outbox`)
	for i, group := range p.groups {
		seen := make(map[int]bool)
		var order, want []int
		for _, m := range group.BotMessages() {
			if seen[m.ReplyTo] {
				perhaps--
				continue
			}
			seen[m.ReplyTo] = true
			order = append(order, m.ReplyTo)
			if isCard := strings.Contains(m.Text, "Match #"); isCard == (m.ReplyTo == p.poison.ID) && i == 0 {
				p.t.Errorf("message %d is answered with %s", m.ReplyTo, visible(m))
			}
		}
		for _, m := range p.said[i] {
			want = append(want, m.ID)
		}
		if !slices.Equal(order, want) {
			p.t.Errorf("group %d: messages %v were answered, want %v", i+1, order, want)
		}
	}
	if perhaps < 0 {
		p.t.Errorf("%d answers came twice without being counted", -perhaps)
	}
	verifyClean(p.t, p.url)
	checkNoComplaints(p.t, p.sim)
}

// TestPoisonousUpdateIsGivenUp polls an update that ends the process, with others before and behind it. It is given up
// after a bounded number of starts, and the other chats go on meanwhile.
func TestPoisonousUpdateIsGivenUp(t *testing.T) {
	t.Parallel()
	p := newPoisoned(t)
	p.report()
	p.poison = p.say(0, "/match @bob 3:2 "+poisonWord)
	p.report()
	var bot *process
	for p.letters() == 0 {
		bot = p.start()
		eventually(t, "the poison ends the bot, or is given up", func() bool { return p.crashed(bot) || p.letters() > 0 })
		if n := p.lives - 1; n > mayCrash+1 {
			t.Fatalf("the poison has ended the bot %d times", n)
		}
		// the second life finds out which update it is, from the third on all others go first
		if n := p.unrecorded(); n > 0 && p.lives > 2 {
			t.Errorf("in life %d, %d results of other chats were not recorded", p.lives, n)
		}
		for i := range p.groups[1:] {
			p.say(i+1, "/match @bob 3:0")
		}
	}
	p.check()
	if n := count(t, p.pool, `SELECT count(*) FROM update_attempts`); n != 1 {
		t.Errorf("attempts at %d updates are remembered, want those at the poison alone", n)
	}

	// who takes over from a bot that has stopped need not be careful
	if code, _ := bot.stop(t); code != 0 {
		t.Fatalf("the bot ended with %d", code)
	}
	bot = p.start()
	p.report()
	p.check()
	if log := bot.output.String(); strings.Contains(log, "one at a time") {
		t.Errorf("after a clean stop the bot is careful:\n%s", log)
	}
}

// poisonBalancer hands deliveries on to one of several bots in turn.
type poisonBalancer struct {
	mu   sync.Mutex
	bots []string
	turn atomic.Uint64
}

func (b *poisonBalancer) set(i int, url string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bots[i] = url
}

// ServeHTTP implements http.Handler.
func (b *poisonBalancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	bot := b.bots[b.turn.Add(1)%uint64(len(b.bots))]
	b.mu.Unlock()
	w.WriteHeader(forward(r, bot))
}

// forward hands a request on, and returns the status of the answer, 502 if there is none.
func forward(r *http.Request, to string) int {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return http.StatusBadGateway
	}
	request, err := http.NewRequestWithContext(r.Context(), r.Method, to+r.URL.Path, bytes.NewReader(body))
	if err != nil {
		return http.StatusBadGateway
	}
	request.Header = r.Header.Clone()
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return http.StatusBadGateway
	}
	_ = answer.Body.Close() // nothing is read of it
	return answer.StatusCode
}

// TestPoisonousDeliveryIsGivenUp has an update that ends the process delivered to three instances, one after the other.
// Each of them may be ended once before anybody knows.
func TestPoisonousDeliveryIsGivenUp(t *testing.T) {
	t.Parallel()
	p := newPoisoned(t, botsim.WithWebhookDelays(func(int) time.Duration { return 100 * time.Millisecond }))
	balancer := &poisonBalancer{bots: make([]string, 3)}
	door := httptest.NewServer(balancer)
	t.Cleanup(door.Close)
	bots := make([]*process, len(balancer.bots))
	start := func(i int) {
		t.Helper()
		balancer.set(i, "")
		bots[i] = p.start("WEBHOOK_URL="+door.URL+"/telegram", "WEBHOOK_SECRET="+webhookSecret, "LISTEN_ADDR=127.0.0.1:0")
		eventually(t, "the bot serves", func() bool {
			found := servingAt.FindStringSubmatch(bots[i].output.String())
			if found != nil {
				balancer.set(i, "http://"+found[1])
			}
			return found != nil || p.crashed(bots[i])
		})
	}
	for i := range bots {
		start(i)
		awaitWebhooks(t, p.sim, 1)
	}
	p.report()
	p.poison = p.say(0, "/match @bob 3:2 "+poisonWord)
	p.report()
	crashes := 0
	eventually(t, "the poison is given up", func() bool {
		for i, bot := range bots {
			if !p.crashed(bot) {
				continue
			}
			if crashes++; crashes > mayCrash+len(bots) {
				t.Fatalf("the poison has ended instances %d times", crashes)
			}
			start(i)
		}
		return p.letters() > 0
	})
	p.check()
	for _, bot := range bots {
		if code, _ := bot.stop(t); code != 0 {
			t.Errorf("an instance ended with %d", code)
		}
	}
	if n := count(t, p.pool, `SELECT count(*) FROM webhook_instances WHERE expires_at > clock_timestamp()`); n != 0 {
		t.Errorf("%d instances that have stopped seem to be there", n)
	}
}
