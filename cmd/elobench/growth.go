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

// growth measures whether a match and a ranking page cost more when the database already has many matches. The work is the
// same for each database: the same number of groups and people, matches and questions. The databases take turns, round
// after round, so that other load on the machine affects all of them. Only the number of earlier matches differs: with 200
// groups, 5, 500, 5,000 or 50,000 in each group. Measured matches stay in the database, so that the smallest database grows
// beyond the size in its name.
func growth() scenario {
	return scenario{
		name:        "growth",
		description: "the cost of a match and of a ranking page, with few and with many matches in the database",
		run: func(ctx context.Context, env *environment) ([]figure, error) {
			all := make([]*seededDatabase, 0, len(env.sizes.bulk))
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

// seededDatabase is a database with a match history, and the workload that belongs to it.
type seededDatabase struct {
	matches int // initial number of matches
	db      database
	drop    func()
	sim     *botsim.Server
	load    *workload
	match   []float64 // microseconds per match, by round
	ranking []float64 // microseconds per ranking page, by round
}

// grow creates a database with the given number of matches. The caller must close it.
func grow(ctx context.Context, env *environment, matches int) (*seededDatabase, error) {
	env.progress.log("inserting %d matches", matches)
	sim, err := botsim.New(botsim.WithRecordLimit(1000))
	if err != nil {
		return nil, err
	}
	g := &seededDatabase{matches: matches, sim: sim, load: newWorkload(sim, env.sizes)}
	if g.db, g.drop, err = env.database(ctx); err != nil {
		sim.Close()
		return nil, err
	}
	history := bulk{matches: matches, chunk: bulkChunk, load: g.load, until: time.Now().Add(-bulkEnded)}
	if err := history.write(ctx, g.db, env.progress); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

func (g *seededDatabase) close() {
	g.drop()
	g.sim.Close()
}

// measureGrowth measures all databases in each round, in reverse order every other round, and returns the medians. Finally
// it verifies the databases, including their history.
func measureGrowth(ctx context.Context, env *environment, all []*seededDatabase) ([]figure, error) {
	for round := range env.sizes.rounds {
		for _, g := range all {
			if err := g.measure(ctx, env); err != nil {
				return nil, fmt.Errorf("%d matches: %w", g.matches, err)
			}
			env.progress.log("round %d of %d with %d matches: %.0f µs per match, %.0f µs per page",
				round+1, env.sizes.rounds, g.matches, g.match[round], g.ranking[round])
		}
		slices.Reverse(all)
	}
	slices.SortFunc(all, func(a, b *seededDatabase) int { return a.matches - b.matches })
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

// exponent formats a large number briefly: 1e6.
func exponent(n int) string {
	return strings.Replace(strconv.FormatFloat(float64(n), 'e', -1, 64), "e+0", "e", 1)
}

// measure measures one round. First every player plays once, which is not measured. That fills the caches and absorbs the
// cost of the checkpoint: after a checkpoint the server logs each page in full at its first change, and in a large database
// the players' rows are on many more pages than in a small one.
func (g *seededDatabase) measure(ctx context.Context, env *environment) error {
	if _, err := g.db.Exec(ctx, "CHECKPOINT"); err != nil {
		return fmt.Errorf("write to disk: %w", err)
	}
	messages, unsubscribe := g.sim.Subscribe()
	defer unsubscribe()
	n := g.load.playRound()
	bot, err := env.launchBot(ctx, g.sim, g.db.url, noLimits...)
	if err != nil {
		return err
	}
	running, cancel := bot.during(ctx)
	defer cancel()
	_, err = newResultCounter().wait(running, messages, n, env.progress)
	if err == nil {
		err = g.measureMatches(running, env, messages, n)
	}
	if err == nil {
		err = g.measureRanking(running, env, messages)
	}
	return errors.Join(err, bot.stop())
}

// measureMatches reports n results at once and measures the time until the bot has answered all of them.
func (g *seededDatabase) measureMatches(ctx context.Context, env *environment, messages <-chan botsim.Message, n int) error {
	startedAt := time.Now()
	for i := range n {
		g.load.reportMatch(i)
	}
	coveredAt, err := newResultCounter().wait(ctx, messages, n, env.progress)
	if err != nil {
		return err
	}
	g.match = append(g.match, microseconds(coveredAt.Sub(startedAt))/float64(n))
	return nil
}

// measureRanking makes every player ask for the ranking at once and measures the time until all have it. No player exceeds
// the limit of questions.
func (g *seededDatabase) measureRanking(ctx context.Context, env *environment, messages <-chan botsim.Message) error {
	startedAt := time.Now()
	n, pages := g.load.ask(), 0
	pagesAt, err := waitMessages(ctx, messages, func(m botsim.Message) bool {
		if m.From.IsBot && strings.HasPrefix(m.Text, "Ranking") {
			pages++
		}
		return pages >= n
	}, func() { env.progress.log("%d of %d pages sent", pages, n) })
	if err != nil {
		return err
	}
	g.ranking = append(g.ranking, microseconds(pagesAt.Sub(startedAt))/float64(n))
	return nil
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// growthRatios returns the ratio of each cost in a larger database to the same cost in the smallest one.
func growthRatios(figures []figure) []figure {
	var found []figure
	smallest := make(map[string]figure)
	for _, f := range figures {
		what, seededDatabase := strings.CutPrefix(f.Name, "growth.")
		if !seededDatabase {
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
