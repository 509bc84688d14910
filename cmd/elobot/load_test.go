package main_test

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

// cardNumber matches the number of a match on its card.
var cardNumber = regexp.MustCompile(`(?m)^Match #(\d+)`)

// load reports one result in each of several groups at every tick until it is stopped. It skips
// groups with many unanswered results.
type load struct {
	alice  botsim.User
	groups []*botsim.Chat
	stop   func()

	mu     sync.Mutex
	posted [][]botsim.Message // by group
}

func startLoad(t *testing.T, sim *botsim.Server, groups int, every time.Duration) *load {
	t.Helper()
	l := &load{alice: sim.User("alice"), posted: make([][]botsim.Message, groups)}
	for i := range groups {
		l.groups = append(l.groups, sim.Group(fmt.Sprintf("Group %d", i+1), l.alice, sim.User("bob")))
	}
	stopped, ended := make(chan struct{}), make(chan struct{})
	l.stop = sync.OnceFunc(func() {
		close(stopped)
		<-ended
	})
	t.Cleanup(l.stop)
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-tick.C:
				l.report(n)
			case <-stopped:
				return
			}
		}
	}()
	return l
}

func (l *load) report(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, group := range l.groups {
		if len(l.posted[i])-len(group.BotMessages()) > 5 {
			continue // this machine is slow
		}
		l.posted[i] = append(l.posted[i], group.Say(l.alice, fmt.Sprintf("/match @bob %d:%d", n%10, n%7)))
	}
}

// checkAll checks that all results were recorded once and answered in order, and returns the number
// of duplicate answers.
func (l *load) checkAll(t *testing.T, sim *botsim.Server, pool *pgxpool.Pool, url string) (copies int) {
	t.Helper()
	matches := 0
	for i, group := range l.groups {
		awaitSettled(t, sim, pool, group)
		for n, m := range checkAnswered(t, pool, group, l.posted[i]) {
			if numbers := cardNumber.FindStringSubmatch(visible(m)); numbers == nil || numbers[1] != strconv.Itoa(n+1) {
				t.Fatalf("answer %d of group %d is\n%s", n+1, i+1, visible(m))
			}
		}
		matches += len(l.posted[i])
		copies += len(group.BotMessages()) - len(l.posted[i])
	}
	equal(t, count(t, pool, `SELECT count(*) FROM matches`), matches, "matches")
	equal(t, count(t, pool, `SELECT count(*) FROM dead_letters`), 0, "dead letters")
	if duplicates := count(t, pool, `SELECT coalesce(sum(possible_duplicates), 0) FROM outbox`); copies > duplicates {
		t.Errorf("%d answers came twice, but only %d were counted as possible duplicates", copies, duplicates)
	}
	verifyClean(t, url)
	return copies
}
