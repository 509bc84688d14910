package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"elobot/internal/botsim"
)

// question is a command that asks the bot something. %s in text stands for the username of the
// person whom the question is about.
type question struct{ name, text string }

var (
	// ofLadder lists the questions that are asked as they are. ofPerson lists the questions that
	// are asked about three members.
	ofLadder = []question{
		{"ranking", "/ranking"}, {"page", "/ranking 5"}, {"all", "/ranking all"}, {"top", "/top 20"}, {"matches", "/matches"},
		{"records", "/records"}, {"chart", "/chart"}, {"name", "/stats player_1_3"},
		{"season", "/season"}, {"last-season", "/season last"}, {"all-time", "/alltime"},
	}
	ofPerson = []question{
		{"stats", "/stats @%s"}, {"h2h", "/h2h @%s"}, {"history", "/history @%s"},
		{"odds", "/odds @%s"}, {"person-chart", "/chart @%s"},
	}
)

// measureViews measures how long a member waits for the answer to each question, in ladders with
// few and with many matches, in one season or in twelve. Members ask one question at a time. The
// questions of ofPerson are about the busiest member, an ordinary member, and a member who has
// never played.
func measureViews(ctx context.Context, b *bench) error {
	for _, matches := range b.sizes.viewed {
		for _, seasons := range []int{1, 12} {
			err := b.onStage(ctx, 1, b.sizes.members, func(w *workload, db database) error {
				if err := w.writeHistory(ctx, b, db, matches, seasons); err != nil {
					return err
				}
				return b.withBot(ctx, b.launchPolling, w, db.url, func(ctx context.Context, _ *process) error {
					return w.view(ctx, b, fmt.Sprintf("/matches=%d/seasons=%d", matches, seasons))
				})
			})
			if err != nil {
				return fmt.Errorf("%d matches in %d seasons: %w", matches, seasons, err)
			}
		}
	}
	return nil
}

// view measures all questions in one ladder. ladder is the last part of the names in the report.
func (w *workload) view(ctx context.Context, b *bench, ladder string) error {
	people := w.people[0]
	of := map[string]botsim.User{"busy": people[0], "ordinary": people[1], "idle": people[len(people)-1]}
	var err error
	for _, q := range ofLadder {
		err = errors.Join(err, w.measureView(ctx, b, "Views/"+q.name+ladder, q.text))
	}
	for _, q := range ofPerson {
		for _, who := range slices.Sorted(maps.Keys(of)) {
			err = errors.Join(err, w.measureView(ctx, b, "Views/"+q.name+"/"+who+ladder, fmt.Sprintf(q.text, of[who].Username)))
		}
	}
	return err
}

// unmeasuredViews is how often a question is asked before the measurement, to fill the caches and
// prepare the plans.
const unmeasuredViews = 20

// measureView measures the time from a question to its answer. Members take turns asking, except
// the three members whom the questions in ofPerson are about.
func (w *workload) measureView(ctx context.Context, b *bench, name, text string) error {
	people := w.people[0][2 : len(w.people[0])-1]
	waits := make([]time.Duration, 0, b.sizes.views)
	for i := range unmeasuredViews + b.sizes.views {
		asked := w.groups[0].Say(people[w.asked%len(people)], text)
		w.asked++
		err := w.await(ctx, b, "answers", 1, func(m botsim.Message) int {
			if !m.From.IsBot {
				return 0
			}
			if i >= unmeasuredViews {
				waits = append(waits, m.Date.Sub(asked.Date))
			}
			return 1
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return b.report(name, len(waits),
		metric{milliseconds(percentile(waits, 50)), "p50-ms"}, metric{milliseconds(percentile(waits, 99)), "p99-ms"})
}
