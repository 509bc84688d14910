package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"elobot/internal/botsim"
)

// replays lists the changes whose replays are measured. The command, followed by the given number
// of presses of the first button below the answer, makes the bot ask for confirmation.
var replays = []struct {
	name, command string
	presses       int
}{{"undo", "/undo %d", 0}, {"merge", "/player @player_1_2 @player_1_3", 2}}

// measureReplay measures the cost of undoing a match and of merging two players. The two costs can
// be compared, because the bot replays the same matches for both: all from the first match of
// either player on.
func measureReplay(ctx context.Context, b *bench) error {
	return b.withoutNoise(ctx, func() error {
		for _, matches := range b.sizes.replayed {
			for _, r := range replays {
				err := b.onStage(ctx, 1, b.sizes.people, func(w *workload, db database) error {
					if err := w.writeHistory(ctx, b, db, matches, 1); err != nil {
						return err
					}
					return b.costOfReplay(ctx, r.name, r.command, r.presses, w, db)
				})
				if err != nil {
					return fmt.Errorf("%s with %d matches: %w", r.name, matches, err)
				}
			}
		}
		return nil
	})
}

// costOfReplay reports the cost for each replayed match. It subtracts the cost of a bot that only
// starts and stops from the cost of a bot that makes the change.
func (b *bench) costOfReplay(
	ctx context.Context, name, command string, presses int, w *workload, db database,
) error {
	var first, n int
	err := db.QueryRow(ctx, `
		SELECT min(number), (SELECT max(number) FROM matches) - min(number) + 1 FROM matches
		WHERE id IN (SELECT match_id FROM match_players WHERE player_id IN (2, 3))`).Scan(&first, &n)
	if err != nil {
		return fmt.Errorf("find the first match: %w", err)
	}
	if strings.Contains(command, "%") {
		command = fmt.Sprintf(command, first)
	}
	group, admin := w.groups[0], w.people[0][0]
	var question botsim.Message
	press := func(ctx context.Context) error {
		w.sim.Press(admin, question, question.Buttons[0][0].CallbackData)
		return w.awaitSilence(ctx, db)
	}
	err = b.withBot(ctx, b.launchPolling, w, db.url, func(ctx context.Context, _ *process) error {
		asked := group.Say(admin, command)
		err := w.awaitSilence(ctx, db)
		for i := 0; err == nil; i++ {
			for _, m := range group.BotMessages() {
				if m.ReplyTo == asked.ID {
					question = m
				}
			}
			if i == presses {
				break
			}
			err = press(ctx)
		}
		return err
	})
	if err != nil {
		return err
	}
	cost := func(do func(context.Context) error) (metrics []metric, err error) {
		var used []metric
		metrics, err = b.counted(ctx, db, n, func() error {
			defer db.Reset()
			return b.withBot(ctx, b.launchPolling, w, db.url, func(ctx context.Context, bot *process) (err error) {
				used, err = b.processorsOf(bot, n, func() error { return do(ctx) })
				return err
			})
		})
		return append(metrics, used...), err
	}
	idle, err := cost(func(ctx context.Context) error { return w.awaitSilence(ctx, db) })
	if err != nil {
		return err
	}
	metrics, err := cost(press)
	if err != nil {
		return err
	}
	for i := range metrics {
		metrics[i] = metric{metrics[i].value - idle[i].value, strings.Replace(metrics[i].unit, "result", "match", 1)}
	}
	var rewritten float64
	const sql = `SELECT count(*) FROM elo_history WHERE superseded_at < 'infinity'`
	if err := db.QueryRow(ctx, sql).Scan(&rewritten); err != nil {
		return fmt.Errorf("count the history: %w", err)
	}
	metrics = append(metrics, metric{rewritten / float64(n), "rewritten/match"})
	return b.report(fmt.Sprintf("Replay/%s/matches=%d", name, n), n, metrics...)
}

// awaitSilence waits until the bot has handled all updates and has sent everything.
func (w *workload) awaitSilence(ctx context.Context, db database) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		open := w.sim.Pending()
		if open == 0 {
			if err := db.QueryRow(ctx, `SELECT count(*) FROM outbox WHERE finished_at IS NULL`).Scan(&open); err != nil {
				return fmt.Errorf("read the queue: %w", err)
			}
		}
		if open == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for the bot: %w", context.Cause(ctx))
		}
	}
}
