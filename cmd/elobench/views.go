package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/postgres"
	"elobot/internal/postgres/pgtally"
)

// maxClubPlayers is the number of players of the largest clubs.
const maxClubPlayers = 10_000

// views measures how long the database takes for each view, in ladders of several sizes. It reads through the stores and the pools
// of the bot, one view at a time. In the largest ladder it also counts what each view reads.
func views() scenario {
	return scenario{
		name:        "views",
		description: "the time in the database for each view, in ladders with few and with many matches",
		run: func(ctx context.Context, env *environment) ([]figure, error) {
			var figures []figure
			for i, matches := range env.sizes.clubs {
				found, err := measureClub(ctx, env, matches, i == len(env.sizes.clubs)-1)
				figures = append(figures, found...)
				if err != nil {
					return figures, fmt.Errorf("%d matches: %w", matches, err)
				}
			}
			return figures, nil
		},
	}
}

// measureClub measures all views of a club with so many matches, and if counted is true, also what each of them reads.
func measureClub(ctx context.Context, env *environment, matches int, counted bool) ([]figure, error) {
	c := club{players: min(maxClubPlayers, max(30, matches/10)), matches: matches, until: time.Now()}
	env.progress.log("creating a ladder with %d players and %d matches", c.players, c.matches)
	db, drop, err := env.database(ctx)
	if err != nil {
		return nil, err
	}
	defer drop()
	if err := c.write(ctx, db, env.progress); err != nil {
		return nil, err
	}
	pools, err := postgres.OpenPools(ctx, db.url, time.Minute, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	defer pools.Close()
	if err := c.tally(ctx, db, pools.Commands, env.progress); err != nil {
		return nil, fmt.Errorf("count the matches: %w", err)
	}
	figures, err := timeViews(ctx, env, newViewReader(c, pools.Questions, pools.Commands), exponent(matches))
	if err != nil || !counted {
		return figures, err
	}
	more, err := countViews(ctx, c, pools)
	return append(figures, more...), err
}

// tally computes the tallies of a club, as the leader does.
func (c club) tally(ctx context.Context, db database, pool *pgxpool.Pool, progress *progress) error {
	store := pgtally.NewStore(pool)
	reported := time.Now()
	for {
		step, err := store.Recount(ctx)
		if err != nil {
			return err
		}
		if step.Ladder == 0 {
			break
		}
		if time.Since(reported) > progressEvery && !step.Complete {
			reported = time.Now()
			progress.log("counted %s", progressBar(step.Players, step.OfPlayers, "players"))
		}
	}
	for placed := true; placed; {
		step, err := store.Place(ctx, c.until)
		if err != nil {
			return err
		}
		placed = step.Ladder != 0
	}
	for _, sql := range []string{"VACUUM (ANALYZE)", "CHECKPOINT"} {
		if _, err := db.Exec(ctx, sql); err != nil {
			return fmt.Errorf("clean up: %w", err)
		}
	}
	return nil
}

// timeViews returns the 99th percentile of the time of each view. First it reads all of them unmeasured.
func timeViews(ctx context.Context, env *environment, r *viewReader, size string) ([]figure, error) {
	for _, v := range allViews() {
		if _, err := timeView(ctx, r, v, unmeasuredViews); err != nil {
			return nil, err
		}
	}
	var figures []figure
	for _, v := range allViews() {
		times, err := timeView(ctx, r, v, env.sizes.viewed)
		if err != nil {
			return figures, err
		}
		p99 := percentile(times, 99)
		env.progress.log("%s with %s matches: p50 %.1f ms, p99 %.1f ms", v.name, size, milliseconds(percentile(times, 50)), milliseconds(p99))
		figures = append(figures, figure{Name: viewFigure(v, size), Value: milliseconds(p99), Unit: "ms", Better: lower})
	}
	return figures, nil
}

// timeView reads a view so many times, and returns how long each time took.
func timeView(ctx context.Context, r *viewReader, v view, n int) ([]time.Duration, error) {
	times := make([]time.Duration, n)
	for i := range times {
		q := r.question(i)
		startedAt := time.Now()
		if err := v.read(ctx, r, q); err != nil {
			return nil, fmt.Errorf("read %s: %w", v.name, err)
		}
		times[i] = time.Since(startedAt)
	}
	return times, nil
}

// unmeasuredViews is how often each view is read before the measurement, so that all plans are made and the caches are filled: a session
// plans a statement for its arguments five times before it considers a plan for all arguments.
const unmeasuredViews = 20

// countedViews is how often each view is read while what it reads is counted.
const countedViews = 30

// countViews returns the number of queries of each view, and how many rows and blocks it reads at most.
func countViews(ctx context.Context, c club, pools postgres.Pools) ([]figure, error) {
	counter := new(planCounter)
	questions, err := counter.pool(ctx, pools.Questions)
	if err != nil {
		return nil, err
	}
	defer questions.Close()
	commands, err := counter.pool(ctx, pools.Commands)
	if err != nil {
		return nil, err
	}
	defer commands.Close()
	r := newViewReader(c, questions, commands)
	var figures []figure
	for _, v := range allViews() {
		var most reads
		for i := range countedViews {
			if err := v.read(ctx, r, r.question(i)); err != nil {
				return figures, fmt.Errorf("read %s: %w", v.name, err)
			}
			n, err := counter.take()
			if err != nil {
				return figures, err
			}
			if scanned := slices.DeleteFunc(n.scanned, c.isSmall); len(scanned) > 0 {
				return figures, fmt.Errorf("%s reads all of %v", v.name, scanned)
			}
			most = reads{queries: max(most.queries, n.queries), rows: max(most.rows, n.rows), blocks: max(most.blocks, n.blocks)}
		}
		figures = append(figures,
			figure{Name: viewFigure(v, "queries"), Value: float64(most.queries), Unit: "queries", Better: lower},
			figure{Name: viewFigure(v, "rows"), Value: float64(most.rows), Unit: "rows", Better: lower},
			figure{Name: viewFigure(v, "blocks"), Value: float64(most.blocks), Unit: "blocks", Better: lower})
	}
	return figures, nil
}

// largeTables are the tables with many rows of a large club. All others are so small that reading them completely is the best plan.
var largeTables = []string{
	"players", "group_players", "sightings", "matches", "match_players", "elo_history", "player_months", "pair_months", "pair_totals", "week_places",
}

// isSmall reports whether a table of a club is so small that a plan may read all of it.
func (c club) isSmall(table string) bool {
	return c.players < maxClubPlayers || !slices.Contains(largeTables, table)
}

func viewFigure(v view, what string) string { return "views." + v.name + "." + what }
