package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"elobot/internal/botsim"
)

const (
	// webViewers is the largest number of visitors who request the ranking's page at the same time.
	// webPlayers is the number of people in the group.
	webViewers, webPlayers = 200, 200
	// webRate is how many results per second are reported during the visits.
	webRate = 20
)

// measureWeb measures how long results wait for their answers while no visitor, one visitor or many
// visitors look at the group's web board, and how long the page takes.
func measureWeb(ctx context.Context, b *bench) error {
	address, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	launch := func(ctx context.Context, sim *botsim.Server, databaseURL string) (*process, error) {
		return b.launchBot(ctx, sim, databaseURL,
			"LISTEN_ADDR="+address, "PUBLIC_URL=http://"+address, "TRUSTED_PROXIES=127.0.0.0/8")
	}
	return b.onStage(ctx, 1, webPlayers, func(w *workload, db database) error {
		if err := w.writeHistory(ctx, b, db, b.sizes.viewed[len(b.sizes.viewed)/2], 1); err != nil {
			return err
		}
		if _, err := db.Exec(ctx, `UPDATE groups SET web_on = true, web_salt = gen_random_uuid()`); err != nil {
			return fmt.Errorf("turn the web board on: %w", err)
		}
		return b.withBot(ctx, launch, w, db.url, func(ctx context.Context, bot *process) error {
			link, err := w.webLink(ctx, b)
			if err != nil {
				return err
			}
			for _, viewers := range []int{0, 1, webViewers} {
				if err := w.reportVisited(ctx, b, bot, &visitors{link: link, count: viewers}); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// reportVisited measures how long results wait for their answers while visitors look at the page,
// and how long the visitors wait for the page.
func (w *workload) reportVisited(ctx context.Context, b *bench, bot *process, v *visitors) error {
	name := fmt.Sprintf("Web/visitors=%d", v.count)
	leave := v.enter(ctx)
	err := w.reportWaits(ctx, b, bot, name+"/results")
	leave()
	if err != nil || v.count == 0 {
		return err
	}
	return b.report(name+"/page", len(v.waits), metric{milliseconds(percentile(v.waits, 50)), "p50-ms"},
		metric{milliseconds(percentile(v.waits, 99)), "p99-ms"}, metric{float64(v.failed), "failed"})
}

func (w *workload) webLink(ctx context.Context, b *bench) (link string, err error) {
	w.groups[0].Say(w.people[0][0], "/web")
	err = w.await(ctx, b, "answers", 1, func(m botsim.Message) int {
		if link = regexp.MustCompile(`http://\S+`).FindString(m.Text); link == "" {
			return 0
		}
		return 1
	})
	return link, err
}

// reportWaits plays results at a steady rate. It reports how long the results waited for their
// answers, and the bot's memory afterward.
func (w *workload) reportWaits(ctx context.Context, b *bench, bot *process, name string) error {
	n := webRate * b.sizes.seconds
	clear(w.sentAt)
	clear(w.coverage)
	if err := w.playAtRate(ctx, b, webRate, n); err != nil {
		return err
	}
	metrics, err := memoryOf(bot)
	if err != nil {
		return err
	}
	waits := make([]time.Duration, 0, n)
	for ref, sentAt := range w.sentAt {
		waits = append(waits, w.coverage[ref].Sub(sentAt))
	}
	return b.report(name, n, append(metrics, metric{milliseconds(percentile(waits, 50)), "p50-ms"},
		metric{milliseconds(percentile(waits, 99)), "p99-ms"})...)
}

// visitors look at a page repeatedly, each time from the next of 65,536 addresses, so that no
// address exceeds the rate limit.
type visitors struct {
	link  string
	count int
	looks atomic.Uint32

	mu     sync.Mutex
	waits  []time.Duration
	failed int
}

// enter starts the visitors. leave stops them, and returns when their last requests have ended.
func (v *visitors) enter(ctx context.Context) (leave func()) {
	ctx, stop := context.WithCancel(ctx)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: webViewers}}
	var all sync.WaitGroup
	for range v.count {
		all.Go(func() {
			for ctx.Err() == nil {
				v.look(ctx, client)
			}
		})
	}
	return func() {
		stop()
		all.Wait()
		client.CloseIdleConnections()
	}
}

// look requests the page once and records the wait, or the failure. It records nothing once ctx has
// ended.
func (v *visitors) look(ctx context.Context, client *http.Client) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.link, http.NoBody)
	if err != nil {
		panic(err) // the link is valid
	}
	n := v.looks.Add(1)
	request.Header.Set("X-Forwarded-For", fmt.Sprintf("198.18.%d.%d", n/256%256, n%256))
	begun := time.Now()
	answer, err := client.Do(request)
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case ctx.Err() != nil:
	case err != nil || answer.StatusCode != http.StatusOK:
		v.failed++
	default:
		v.waits = append(v.waits, time.Since(begun))
	}
}
