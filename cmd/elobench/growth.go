package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"elobot/internal/botsim"
)

// growth measures whether a match and a page of the ranking cost more when there are many matches already. The work is
// the same each time: as many groups of as many people play as often and ask as often, one database after the other,
// round after round, so that what else happens on the machine happens to all. What differs is only how much has been
// played in these groups before: with 200 groups 5, 500, 5,000 or 50,000 matches in each. What is measured stays, so
// that the smallest database does not stay as small as its name says.
func growth() scenario {
	return scenario{
		name:        "growth",
		description: "what a match and a page of the ranking cost, with few and with many matches in the database",
		run: func(ctx context.Context, env *environment) ([]figure, error) {
			all := make([]*grown, 0, len(env.sizes.bulk))
			defer func() {
				for _, g := range all {
					g.close()
				}
			}()
			for _, matches := range env.sizes.bulk {
				g, err := grow(ctx, env, matches)
				if err != nil {
					return nil, fmt.Errorf("%d matches: %w", matches, err)
				}
				all = append(all, g)
			}
			return measureGrowth(ctx, env, all)
		},
	}
}

// grown is a database in which much has been played, with those who have played.
type grown struct {
	matches int // that were there at first
	db      database
	drop    func()
	sim     *botsim.Server
	crowd   *crowd
	match   []float64 // microseconds for each, by round
	ranking []float64 // the same for a page of it
}

// grow makes a database with so many matches. It is to be closed.
func grow(ctx context.Context, env *environment, matches int) (*grown, error) {
	env.progress.say("making %d matches", matches)
	sim, err := botsim.New(botsim.WithRecordLimit(1000))
	if err != nil {
		return nil, err
	}
	g := &grown{matches: matches, sim: sim, crowd: newCrowd(sim, env.sizes)}
	if g.db, g.drop, err = env.database(ctx); err != nil {
		sim.Close()
		return nil, err
	}
	past := bulk{matches: matches, chunk: bulkChunk, crowd: g.crowd, until: time.Now().Add(-bulkEnded)}
	if err := past.write(ctx, g.db, env.progress); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

func (g *grown) close() {
	g.drop()
	g.sim.Close()
}

// measureGrowth measures round after round, every other one backwards, and returns the medians. In the end everything
// must be right, also what was there before.
func measureGrowth(ctx context.Context, env *environment, all []*grown) ([]figure, error) {
	for round := range env.sizes.rounds {
		for _, g := range all {
			if err := g.measure(ctx, env); err != nil {
				return nil, fmt.Errorf("%d matches: %w", g.matches, err)
			}
			env.progress.say("round %d of %d with %d matches: %.0f µs for a match, %.0f µs for a page",
				round+1, env.sizes.rounds, g.matches, g.match[round], g.ranking[round])
		}
		slices.Reverse(all)
	}
	slices.SortFunc(all, func(a, b *grown) int { return a.matches - b.matches })
	var figures []figure
	for _, g := range all {
		if err := errors.Join(env.verify(ctx, g.db.url), complaintsOf(g.sim)); err != nil {
			return nil, fmt.Errorf("%d matches: %w", g.matches, err)
		}
		size := exponent(g.matches)
		figures = append(figures,
			figure{Name: "growth.match." + size, Value: median(g.match), Unit: "µs", Better: lower},
			figure{Name: "growth.ranking." + size, Value: median(g.ranking), Unit: "µs", Better: lower})
	}
	return figures, nil
}

// exponent writes a large number in short: 1e6.
func exponent(n int) string {
	return strings.Replace(strconv.FormatFloat(float64(n), 'e', -1, 64), "e+0", "e", 1)
}

// measure measures once. First everybody plays, which is not measured: it fills the caches, and it is what pays for the
// checkpoint, after which the server logs each page in full that changes for the first time. In a large database
// everybody has pages of their own, in a small one all have the same.
func (g *grown) measure(ctx context.Context, env *environment) error {
	if _, err := g.db.Exec(ctx, "CHECKPOINT"); err != nil {
		return fmt.Errorf("write to disk: %w", err)
	}
	messages, leave := g.sim.Subscribe()
	defer leave()
	n := g.crowd.introduce()
	bot, err := env.launchBot(ctx, g.sim, g.db.url, noLimits...)
	if err != nil {
		return err
	}
	running, cancel := bot.during(ctx)
	defer cancel()
	_, err = newTally().wait(running, messages, n, env.progress)
	if err == nil {
		err = g.measureMatches(running, env, messages, n)
	}
	if err == nil {
		err = g.measureRanking(running, env, messages)
	}
	return errors.Join(err, bot.stop())
}

// measureMatches has so many results reported at once, and measures until all are told.
func (g *grown) measureMatches(ctx context.Context, env *environment, messages <-chan botsim.Message, n int) error {
	begun := time.Now()
	for i := range n {
		g.crowd.say(i)
	}
	told, err := newTally().wait(ctx, messages, n, env.progress)
	if err != nil {
		return err
	}
	g.match = append(g.match, microseconds(told.Sub(begun))/float64(n))
	return nil
}

// measureRanking has everybody ask for the ranking at once, and measures until all have it. Nobody asks as often as it
// would take to be asked for patience.
func (g *grown) measureRanking(ctx context.Context, env *environment, messages <-chan botsim.Message) error {
	begun := time.Now()
	n, pages := g.crowd.ask(), 0
	came, err := waitMessages(ctx, messages, func(m botsim.Message) bool {
		if m.From.IsBot && strings.HasPrefix(m.Text, "Ranking") {
			pages++
		}
		return pages >= n
	}, func() { env.progress.say("%d of %d pages are there", pages, n) })
	if err != nil {
		return err
	}
	g.ranking = append(g.ranking, microseconds(came.Sub(begun))/float64(n))
	return nil
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// growthRatios returns how many times as much each thing costs in a large database as in the smallest one.
func growthRatios(figures []figure) []figure {
	var found []figure
	smallest := make(map[string]figure)
	for _, f := range figures {
		what, grown := strings.CutPrefix(f.Name, "growth.")
		if !grown {
			continue
		}
		what, _, _ = strings.Cut(what, ".")
		if base, ok := smallest[what]; !ok {
			smallest[what] = f
		} else if base.Value != 0 {
			times := f.Value / base.Value
			found = append(found, figure{Name: "ratio." + f.Name, Value: times, Unit: "×", Better: lower})
		}
	}
	return found
}
