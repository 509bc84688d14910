package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/elo"
)

const (
	// clubSpan is the time over which a club has played.
	clubSpan = 2 * 365 * 24 * time.Hour
	clubK    = 32
	// busyShare is the share of the matches in which the busiest player takes part.
	busyShare = 0.2
	// clubChunk is how many matches are inserted between two progress messages at least.
	clubChunk = 50_000
)

// club is a large group with a history that looks like a real one: few people play much and many little, the stronger side
// usually wins, some matches are doubles, some end in a draw, and some are undone. The ids of matches are their numbers.
//
// Its group, chat and ladder have the id 1. Player 1 takes part in a fifth of all matches, against everybody, and is also in a
// second group without having played there. The last player has joined and never played.
type club struct {
	players, matches int
	until            time.Time // when the last match was played
}

// clubMatch is a match of a club.
type clubMatch struct {
	number   int
	sides    [2][]int // players, from 0
	score    [2]int
	playedAt time.Time
	undone   bool
	entries  [][]any // rows of elo_history
}

// clubPlayer is the standing of a player of a club.
type clubPlayer struct {
	skill                    float64
	elo, best, streak        int
	played, won, drawn, lost int
	lastPlayed               time.Time
}

// clubGame plays the matches of a club one after the other. It is deterministic.
type clubGame struct {
	club
	random  *rand.Rand
	all     []clubPlayer
	weights []float64 // cumulative, of all players but the busiest and the one who never plays
	number  int
}

func (c club) game() *clubGame {
	g := &clubGame{club: c, random: rand.New(rand.NewPCG(3, 4)), all: make([]clubPlayer, c.players)}
	total := 0.0
	for i := range g.all {
		g.all[i] = clubPlayer{skill: 1500 + 200*g.random.NormFloat64(), elo: 1500, best: 1500}
		if i > 0 && i < c.players-1 {
			total += 1 / float64(i+c.players/50+1)
			g.weights = append(g.weights, total)
		}
	}
	return g
}

// someone returns a player other than the busiest one and those in others.
func (g *clubGame) someone(others ...int) int {
	for {
		at, _ := slices.BinarySearch(g.weights, g.random.Float64()*g.weights[len(g.weights)-1])
		if p := 1 + min(at, len(g.weights)-1); !slices.Contains(others, p) {
			return p
		}
	}
}

// next plays the next match.
func (g *clubGame) next() clubMatch {
	g.number++
	m := clubMatch{number: g.number, undone: g.random.IntN(100) == 0}
	m.playedAt = g.until.Add(-clubSpan / time.Duration(g.matches) * time.Duration(g.matches-g.number)).UTC().Truncate(time.Second)
	people := []int{g.someone()}
	if g.random.Float64() < busyShare {
		people[0] = 0
		people = append(people, 1+g.random.IntN(g.players-2))
	}
	size := 1
	if g.random.IntN(10) == 0 && g.players > 5 {
		size = 2
	}
	for len(people) < 2*size {
		people = append(people, g.someone(people...))
	}
	for i, p := range people {
		m.sides[i%2] = append(m.sides[i%2], p)
	}
	m.score = g.result(m.sides)
	if !m.undone {
		g.rate(&m)
	}
	return m
}

func (g *clubGame) result(sides [2][]int) [2]int {
	var skill [2]float64
	for side, players := range sides {
		for _, p := range players {
			skill[side] += g.all[p].skill / float64(len(players))
		}
	}
	lost := g.random.IntN(3)
	switch x := g.random.Float64(); {
	case x < 0.05:
		return [2]int{2, 2}
	case g.random.Float64() < elo.Expected(skill[0], skill[1]):
		return [2]int{3, lost}
	default:
		return [2]int{lost, 3}
	}
}

// rate changes the standings of a match's players.
func (g *clubGame) rate(m *clubMatch) {
	var ratings [2][]int
	for side, players := range m.sides {
		for _, p := range players {
			ratings[side] = append(ratings[side], g.all[p].elo)
		}
	}
	for side, players := range m.sides {
		outcome := elo.ScoreOf(m.score[side], m.score[1-side])
		change := elo.Change(clubK, ratings[side], ratings[1-side], outcome)
		for _, p := range players {
			s := &g.all[p]
			m.entries = append(m.entries, []any{m.number, p + 1, s.elo, s.elo + change, clubK, s.best, s.streak, "match", m.playedAt})
			s.elo += change
			s.best = max(s.best, s.elo)
			s.played++
			s.lastPlayed = m.playedAt
			switch outcome {
			case elo.Win:
				s.won, s.streak = s.won+1, max(s.streak, 0)+1
			case elo.Loss:
				s.lost, s.streak = s.lost+1, min(s.streak, 0)-1
			default:
				s.drawn, s.streak = s.drawn+1, 0
			}
		}
	}
}

// write fills an empty database. It leaves the database like one that has been in use for a long time, except that the
// tallies are still to be computed.
func (c club) write(ctx context.Context, db database, progress *progress) error {
	g := c.game()
	if err := c.run(ctx, db, c.insertPeople); err != nil {
		return fmt.Errorf("insert players: %w", err)
	}
	reported := time.Now()
	for g.number < c.matches {
		chunk := make([]clubMatch, min(clubChunk, c.matches-g.number))
		for i := range chunk {
			chunk[i] = g.next()
		}
		if err := c.run(ctx, db, func(ctx context.Context, tx pgx.Tx) error { return insertClubMatches(ctx, tx, chunk) }); err != nil {
			return fmt.Errorf("insert matches: %w", err)
		}
		if time.Since(reported) > progressEvery {
			reported = time.Now()
			progress.log("inserted %s", progressBar(g.number, c.matches, "matches"))
		}
	}
	if err := c.run(ctx, db, g.insertStandings); err != nil {
		return fmt.Errorf("insert standings: %w", err)
	}
	for _, sql := range []string{"VACUUM (ANALYZE)", "CHECKPOINT"} {
		if _, err := db.Exec(ctx, sql); err != nil {
			return fmt.Errorf("clean up: %w", err)
		}
	}
	return nil
}

// run runs a function in a transaction without checks of foreign keys and without waiting for the disk.
func (c club) run(ctx context.Context, db database, fn func(context.Context, pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		const settings = `
			SELECT set_config('session_replication_role', 'replica', true), set_config('synchronous_commit', 'off', true)`
		if _, err := tx.Exec(ctx, settings); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

func (c club) insertPeople(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO chats (telegram_chat_id, kind, title) VALUES (-1001, 'supergroup', 'The club'), (-1002, 'supergroup', 'The office')`)
	if err == nil {
		_, err = tx.Exec(ctx, `
			INSERT INTO players (telegram_user_id, username, display_name)
			SELECT 1000000 + n, 'member_' || n, 'Member ' || n FROM generate_series(1, $1::integer) AS n`, c.players)
	}
	if err == nil {
		_, err = tx.Exec(ctx, `
			INSERT INTO sightings (group_id, player_id, username, seen_at)
			SELECT 1, id, username, $1 FROM players ORDER BY id`, c.until.Add(-clubSpan))
	}
	return err
}

// insertClubMatches inserts matches with their players and their history.
func insertClubMatches(ctx context.Context, tx pgx.Tx, chunk []clubMatch) error {
	var matches, players, history [][]any
	for _, m := range chunk {
		reporter := m.sides[0][0] + 1
		var undoneAt, undoneBy any
		if m.undone {
			undoneAt, undoneBy = m.playedAt.Add(time.Minute), reporter
		}
		matches = append(matches, []any{m.number, 1, 1, m.number, m.score[0], m.score[1], clubK, reporter, m.playedAt,
			fmt.Sprintf("m:-1001:%d", m.number), undoneAt, undoneBy, m.playedAt})
		for side, people := range m.sides {
			for place, p := range people {
				players = append(players, []any{m.number, p + 1, side + 1, place + 1, 1, m.playedAt})
			}
		}
		history = append(history, m.entries...)
	}
	for _, table := range []struct {
		name    string
		columns []string
		rows    [][]any
	}{
		{"matches", []string{"id", "group_id", "ladder_id", "number", "score_a", "score_b", "k_factor", "reported_by", "played_at",
			"idempotency_key", "undone_at", "undone_by", "created_at"}, matches},
		{"match_players", []string{"match_id", "player_id", "side", "place", "ladder_id", "played_at"}, players},
		{"elo_history", []string{"match_id", "player_id", "elo_before", "elo_after", "k_factor", "best_before", "streak_before",
			"reason", "created_at"}, history},
	} {
		if _, err := tx.CopyFrom(ctx, pgx.Identifier{table.name}, table.columns, pgx.CopyFromRows(table.rows)); err != nil {
			return fmt.Errorf("copy to %s: %w", table.name, err)
		}
	}
	return nil
}

// insertStandings inserts the groups and the standings after all matches, and has the tallies computed.
func (g *clubGame) insertStandings(ctx context.Context, tx pgx.Tx) error {
	for _, sql := range []string{
		`INSERT INTO groups (chat_id, last_match_number) VALUES (1, (SELECT coalesce(max(number), 0) FROM matches)), (2, 0)`,
		`INSERT INTO ladders (group_id, is_default) VALUES (1, true), (2, true)`,
		`INSERT INTO ladder_tallies (ladder_id, recounting) VALUES (1, true)`,
		`SELECT setval('matches_id_seq', (SELECT max(id) FROM matches))`,
	} {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
	}
	rows := [][]any{{2, 1, "Member 1", 1500, 1500, 1500, 0, 0, 0, 0, 0, nil}}
	for i, s := range g.all {
		var last any
		if s.played > 0 {
			last = s.lastPlayed
		}
		rows = append(rows, []any{1, i + 1, fmt.Sprintf("Member %d", i+1), s.elo, 1500, s.best, s.played, s.won, s.drawn, s.lost, s.streak, last})
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"group_players"}, []string{"ladder_id", "player_id", "name", "elo", "start_elo", "best_elo",
		"played", "won", "drawn", "lost", "streak", "last_played_at"}, pgx.CopyFromRows(rows))
	return err
}

// progressBar shows how much of a long work is done.
func progressBar(done, all int, what string) string {
	const width = 30
	full := width * done / max(all, 1)
	bar := make([]rune, width)
	for i := range bar {
		bar[i] = '░'
		if i < full {
			bar[i] = '█'
		}
	}
	return fmt.Sprintf("%s %d of %d %s", string(bar), done, all, what)
}
