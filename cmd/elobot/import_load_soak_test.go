//go:build soak

package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"elobot/internal/botsim"
)

// TestImportUnderLoad imports 50,000 results into a group while people report matches in that group
// and in sixty others. Each is recorded and answered once. The import delays the reports of its
// own group by at most ten seconds, and those of others by at most two.
func TestImportUnderLoad(t *testing.T) {
	t.Parallel()
	const others = 60
	b := startBotFixture(t)
	club := b.sim.Group("Club", b.alice, b.bob)
	var groups []*botsim.Chat
	for i := range others {
		groups = append(groups, b.sim.Group(fmt.Sprintf("Group %d", i+1), b.alice, b.bob))
	}
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "results.csv"), manyResults(50_000, 330), 0o600))
	must(t, os.WriteFile(filepath.Join(folder, "people.csv"), manyGuests(330), 0o600))

	var (
		ended   = make(chan struct{})
		waiting sync.WaitGroup
		mu      sync.Mutex
		waits   [2][]time.Duration // of the other groups, and of the club
		posted  = make([][]botsim.Message, others+1)
	)
	for i, group := range append(groups, club) {
		waiting.Go(func() {
			every := 4 * time.Second // below the pace of a group
			<-time.After(time.Duration(i) * every / (others + 1))
			if group == club {
				every = 1500 * time.Millisecond // for a minute at most
			}
			tick := time.NewTicker(every)
			defer tick.Stop()
			for n := 0; ; n++ {
				started := time.Now()
				m := group.Say(b.alice, fmt.Sprintf("/match @bob %d:%d", n%10+1, n%7)) // equal results would be asked about
				b.answer(m)
				mu.Lock()
				posted[i] = append(posted[i], m)
				waits[i/others] = append(waits[i/others], time.Since(started))
				mu.Unlock()
				select {
				case <-tick.C:
				case <-ended:
					return
				}
			}
		})
	}
	take := func() (other, own []time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		other, own = slices.Sorted(slices.Values(waits[0])), slices.Sorted(slices.Values(waits[1]))
		waits = [2][]time.Duration{}
		return other, own
	}
	<-time.After(20 * time.Second)
	before, _ := take()
	p := prepare([]string{"DATABASE_URL=" + b.url}, "import", "results.csv", "--people=people.csv",
		fmt.Sprintf("--group=%d", club.ID()))
	p.cmd.Dir = folder
	started := time.Now()
	p.start(t)
	equal(t, p.wait(t), 0, "exit code of the import:\n%s", p.output)
	took := time.Since(started)
	other, own := take()
	close(ended)
	waiting.Wait()
	_, last := take()
	own = append(own, last...)

	matches := 50_000
	for i, group := range append(groups, club) {
		checkAnswered(t, b.pool, group, posted[i])
		matches += len(posted[i])
	}
	equal(t, count(t, b.pool, `SELECT count(*) FROM matches`), matches, "matches")
	checkNoDeadLetters(t, b.pool)
	verifyClean(t, b.url)
	middle := func(d []time.Duration) time.Duration { return d[len(d)/2] }
	t.Logf("the import took %v; other groups waited %v before, and %v (at most %v) during it; its own group at most %v",
		took, middle(before), middle(other), slices.Max(other), slices.Max(own))
	if slices.Max(own) > 10*time.Second || slices.Max(other) > 2*time.Second {
		t.Error("somebody waited too long")
	}
}

// manyResults returns a file of results between guests, sorted by day.
func manyResults(results, guests int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("date,a,b,score\n")
	day := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range results {
		a := random.IntN(guests)
		other := (a + 1 + random.IntN(guests-1)) % guests
		fmt.Fprintf(&text, "%s,%s,%s,%d:%d\n", day.AddDate(0, 0, i/4).Format(time.DateOnly), guestName(a), guestName(other),
			random.IntN(5), random.IntN(5))
	}
	return []byte(text.String())
}

// manyGuests returns the file of people for manyResults.
func manyGuests(guests int) []byte {
	var text strings.Builder
	text.WriteString("name,who\n")
	for i := range guests {
		fmt.Fprintf(&text, "%s,guest\n", guestName(i))
	}
	return []byte(text.String())
}

func guestName(i int) string { return fmt.Sprintf("Player%03d", i) }
