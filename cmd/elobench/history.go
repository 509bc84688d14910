package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/elo"
	"elobot/internal/ladder"
)

const (
	// historyPace is the time between consecutive matches of a group. At this pace, 10⁵ matches
	// take about ten years.
	historyPace = 24 * time.Hour / 27
	// historyAge is the age of the last match. It is so old that the commands that recorded the
	// matches would have been deleted from handled_commands.
	historyAge = 8 * 24 * time.Hour
	// historyK is the K-factor of every match.
	historyK = 32
	// busyShare is the approximate share of a group's matches in which the group's first member
	// plays.
	busyShare = 0.05
	// historyChunk is how many matches are inserted in one transaction.
	historyChunk = 50_000
)

// history generates the matches of a workload's groups before the measurement, as the bot would
// have recorded them. The groups take turns. In each group the first member plays about busyShare
// of the matches, the last member has joined but never played, and the others play about equally
// often. The code depends on this release's schema. Apart from the times, the history is
// deterministic.
//
// Ids start at 1: a group, its chat and its ladder have the same id, and players are numbered group
// by group. Message ids start at a billion, outside the simulator's range.
type history struct {
	*workload
	matches int
	seasons int       // of each ladder, with about the same number of matches in each
	until   time.Time // when the last match was played

	random    *rand.Rand
	standings [][]standing // by group and member, in the current season
	over      *rows        // the standings of the earlier seasons
}

type standing struct {
	elo, best                int
	streak, longest          int
	played, won, drawn, lost int
	lastPlayed               any // nil or time.Time
}

// writeHistory fills an empty database with matches of the workload's groups. It leaves the
// database like one that has been in use for a long time.
func (w *workload) writeHistory(ctx context.Context, b *bench, db database, matches, seasons int) error {
	if err := b.migrate(ctx, w, db); err != nil {
		return err
	}
	h := &history{workload: w, matches: matches, seasons: seasons,
		over: newStandings(), until: time.Now().Add(-historyAge), random: rand.New(rand.NewPCG(3, 4))}
	for _, people := range h.people {
		h.standings = append(h.standings, newcomers(len(people)))
	}
	for first := 1; first <= h.matches; first += historyChunk {
		last := min(first+historyChunk-1, h.matches)
		if err := h.copy(ctx, db, h.play(first, last)); err != nil {
			return fmt.Errorf("insert matches from %d on: %w", first, err)
		}
		b.progress.Printf("inserted %d of %d matches", last, h.matches)
	}
	if err := h.copy(ctx, db, h.members()); err != nil {
		return fmt.Errorf("insert members: %w", err)
	}
	const sequences = `
		SELECT setval(pg_get_serial_sequence(t, 'id'), n) FROM (VALUES
		    ('chats', $1::bigint), ('groups', $1), ('ladders', $1), ('seasons', $4),
		    ('players', $2), ('matches', $3)) AS last (t, n)`
	if _, err := db.Exec(ctx, sequences,
		len(h.groups), len(h.groups)*len(h.people[0]), h.matches, len(h.groups)*h.seasons); err != nil {
		return fmt.Errorf("set the sequences: %w", err)
	}
	return db.settle(ctx)
}

// rows holds rows to insert into a table.
type rows struct {
	table   string
	columns []string
	values  [][]any
}

func (r *rows) add(values ...any) { r.values = append(r.values, values) }

// copy inserts rows in a transaction. It does not check foreign keys, so the order of the tables
// does not matter, and it does not wait for the disk.
func (*history) copy(ctx context.Context, db database, tables []*rows) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		const settings = `
			SELECT set_config('session_replication_role', 'replica', true), set_config('synchronous_commit', 'off', true)`
		if _, err := tx.Exec(ctx, settings); err != nil {
			return err
		}
		for _, t := range tables {
			if _, err := tx.CopyFrom(ctx, pgx.Identifier{t.table}, t.columns, pgx.CopyFromRows(t.values)); err != nil {
				return fmt.Errorf("copy to %s: %w", t.table, err)
			}
		}
		return nil
	})
}

// play plays the matches from first to last and returns their rows.
func (h *history) play(first, last int) []*rows {
	matches := &rows{table: "matches", columns: []string{"id", "group_id", "ladder_id", "season_id", "number",
		"score_a", "score_b", "k_factor", "reported_by", "played_at", "idempotency_key", "created_at", "upset"}}
	players := &rows{table: "match_players", columns: []string{"match_id", "player_id", "side"}}
	entries := &rows{table: "elo_history", columns: []string{"match_id", "player_id",
		"elo_before", "elo_after", "k_factor", "best_before", "streak_before", "longest_before", "reason", "created_at"}}
	messages := &rows{table: "match_messages", columns: []string{"telegram_chat_id", "telegram_message_id", "match_id"}}
	for id := first; id <= last; id++ {
		group, number := (id-1)%len(h.groups), (id-1)/len(h.groups)+1
		chat := h.groups[group].ID()
		at := h.until.Add(-historyPace / time.Duration(len(h.groups)) * time.Duration(h.matches-id)).
			UTC().Truncate(time.Second)
		season := h.season(group, number)
		if season != h.season(group, number-1) {
			h.addStandings(h.over, group, h.season(group, number-1))
			h.standings[group] = newcomers(len(h.standings[group]))
		}
		members := h.standings[group]
		one := 1 + h.random.IntN(len(members)-2)
		if h.random.Float64() < busyShare {
			one = 0
		}
		other := one
		for other == one {
			other = 1 + h.random.IntN(len(members)-2)
		}
		score := [][2]int{{3, 0}, {3, 1}, {3, 2}, {2, 2}, {2, 3}, {1, 3}, {0, 3}}[h.random.IntN(7)]
		playerOf := func(member int) int { return group*len(members) + member + 1 }
		message := 1_000_000_000 + 2*number
		before := [2]int{members[one].elo, members[other].elo}
		var upset any // nil for none
		if n := ladder.Upset(ladder.Score{A: score[0], B: score[1]}, [2][]int{before[:1], before[1:]}); n >= ladder.MinUpset {
			upset = n
		}
		matches.add(id, group+1, group+1, season, number, score[0], score[1], historyK,
			playerOf(one), at, fmt.Sprintf("m:%d:%d", chat, message), at, upset)
		messages.add(chat, message+1, id)
		for side, member := range [2]int{one, other} {
			s := &members[member]
			outcome := elo.ScoreOf(score[side], score[1-side])
			change := elo.Change(historyK, []int{before[side]}, []int{before[1-side]}, outcome)
			players.add(id, playerOf(member), side+1)
			entries.add(id, playerOf(member), s.elo, s.elo+change, historyK, s.best, s.streak, s.longest, "match", at)
			s.add(outcome, change, at)
		}
	}
	return []*rows{matches, players, entries, messages}
}

func (s *standing) add(outcome elo.Score, change int, at time.Time) {
	s.elo += change
	s.best, s.played, s.lastPlayed = max(s.best, s.elo), s.played+1, at
	switch outcome {
	case elo.Win:
		s.won, s.streak = s.won+1, max(s.streak, 0)+1
	case elo.Loss:
		s.lost, s.streak = s.lost+1, min(s.streak, 0)-1
	default:
		s.drawn, s.streak = s.drawn+1, 0
	}
	s.longest = max(s.longest, s.streak)
}

// members returns the rows of the groups with their ladders, seasons, members and standings after
// all matches.
func (h *history) members() []*rows {
	chats := &rows{table: "chats", columns: []string{"id", "telegram_chat_id", "kind", "title"}}
	groups := &rows{table: "groups", columns: []string{"id", "chat_id", "last_match_number"}}
	ladders := &rows{table: "ladders", columns: []string{"id", "group_id", "is_default", "season_id"}}
	seasons := &rows{table: "seasons", columns: []string{"id", "group_id", "ladder_id", "number", "starts_at", "ends_at",
		"place_matches", "halfway"}}
	players := &rows{table: "players", columns: []string{"id", "telegram_user_id", "username", "display_name"}}
	sightings := &rows{table: "sightings", columns: []string{"group_id", "player_id", "username", "seen_at"}}
	standings := h.over
	for g, group := range h.groups {
		last := (h.matches + len(h.groups) - 1 - g) / len(h.groups)
		h.numbers[group.ID()] = last
		chats.add(g+1, group.ID(), "supergroup", group.Title())
		groups.add(g+1, g+1, last)
		ladders.add(g+1, g+1, true, h.season(g, last))
		h.addSeasons(seasons, g)
		h.addStandings(standings, g, h.season(g, last))
		for p, u := range h.people[g] {
			player := g*len(h.people[g]) + p + 1
			players.add(player, u.ID, u.Username, u.FirstName)
			sightings.add(g+1, player, u.Username, h.until)
		}
	}
	return []*rows{chats, groups, ladders, seasons, players, sightings, standings}
}

// season returns the id of the season in which a group played its match with the given number. The
// first seasons have the ids of their groups.
func (h *history) season(group, number int) int {
	ofGroup := max(1, h.matches/len(h.groups))
	return group + 1 + len(h.groups)*min(h.seasons-1, max(0, number-1)*h.seasons/ofGroup)
}

// addSeasons adds the seasons of a group. Each lasts roughly from its first match to its last
// match, but the first season has no start and the last season has no end.
func (h *history) addSeasons(seasons *rows, group int) {
	length := historyPace * time.Duration(h.matches) / time.Duration(len(h.groups)*h.seasons)
	for n := range h.seasons {
		ends := h.until.Add(-length * time.Duration(h.seasons-1-n))
		var first, last, place, halfway any = ends.Add(-length), ends, 3, false
		if n == 0 {
			first = nil
		}
		if n == h.seasons-1 {
			last, place, halfway = nil, nil, nil
		}
		seasons.add(group+1+len(h.groups)*n, group+1, group+1, n+1, first, last, place, halfway)
	}
}

func newStandings() *rows {
	return &rows{table: "group_players", columns: []string{"season_id", "player_id", "name",
		"elo", "start_elo", "best_elo", "played", "won", "drawn", "lost", "streak", "longest_streak", "last_played_at"}}
}

// addStandings appends the standings of a group's members in a season to the rows in to.
func (h *history) addStandings(to *rows, group, season int) {
	for p, u := range h.people[group] {
		s := h.standings[group][p]
		to.add(season, group*len(h.people[group])+p+1, u.FirstName,
			s.elo, 1500, s.best, s.played, s.won, s.drawn, s.lost, s.streak, s.longest, s.lastPlayed)
	}
}

// newcomers returns the standings of n people before their first match.
func newcomers(n int) []standing {
	all := make([]standing, n)
	for i := range all {
		all[i] = standing{elo: 1500, best: 1500}
	}
	return all
}
