package ranking_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/plainladder"
	"elobot/internal/ranking"
)

// namedMatch is a match of a property test, with the indexes of the people as they were named.
type namedMatch struct {
	sides  [2][]int
	points [2]int
	undone bool // by a person
}

// TestAnyMergesAndSplits: after any merges, splits, undos and restores, the standings are those of
// a plain calculation in which everybody is named by the player for whom they count, without the
// matches in which one player would play twice. Splitting everybody, in any order, leaves what the
// matches alone would have led to.
func TestAnyMergesAndSplits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := newGame(t)
		people := []command.Person{alice, bob, carol, {Username: "erin"}, {Username: "fred"}}
		for _, p := range people {
			g.record(t, &alice, zoe, p, 1, 1) // makes everybody a player
		}
		var ids [5]ladder.PlayerID
		for i, p := range people {
			ids[i] = rows1[ladder.PlayerID](t, g, `SELECT id FROM players WHERE username = $1 OR telegram_user_id = $2`,
				p.Username, int64(p.ID))[0]
		}
		var counts [5]int // for whom each person counts
		var matches []namedMatch
		for i := range people {
			counts[i] = i
			matches = append(matches, namedMatch{sides: [2][]int{{-1}, {i}}, points: [2]int{1, 1}})
		}
		check := func() {
			var counted []plainladder.Match
			for _, m := range matches {
				var sides [2][]string
				for side, named := range m.sides {
					for _, i := range named {
						name := "26" // Zoe
						if i >= 0 {
							name = fmt.Sprint(ids[counts[i]])
						}
						sides[side] = append(sides[side], name)
					}
				}
				all := slices.Sorted(slices.Values(slices.Concat(sides[0], sides[1])))
				if len(slices.Compact(slices.Clone(all))) == len(all) && !m.undone {
					counted = append(counted, plainladder.Match{A: sides[0], B: sides[1], ScoreA: m.points[0], ScoreB: m.points[1]})
				}
			}
			stored := g.standingTable(t, club.ID, "CASE WHEN p.telegram_user_id = 26 THEN '26' ELSE p.id::text END")
			for who, s := range stored {
				if s.Played == 0 {
					delete(stored, who)
				}
			}
			if diff := cmp.Diff(plainladder.Play(nil, counted).Standings, stored); diff != "" {
				rt.Fatalf("with %v, the standings differ (-model +stored):\n%s", counts, diff)
			}
			if found := verify(t, g.store); len(found) > 0 {
				rt.Fatalf("verify finds %+v", found)
			}
		}
		split := func(i int) {
			g.asAdmin(t, &zoe, ranking.SplitPlayer{Player: ids[i]})
			counts[i] = i
		}
		for range rapid.IntRange(5, 25).Draw(rt, "steps") {
			steps := strings.Fields("play play play merge merge split undo restore")
			switch what := rapid.SampledFrom(steps).Draw(rt, "what"); what {
			case "play":
				named := rapid.Permutation([]int{0, 1, 2, 3, 4}).Draw(rt, "players")
				size := rapid.IntRange(1, 2).Draw(rt, "size")
				m := namedMatch{sides: [2][]int{named[:size], named[size : 2*size]}, points: [2]int{len(matches) % 7, 3}}
				report := command.Match{Scores: []ladder.Score{{A: m.points[0], B: m.points[1]}}}
				for _, i := range m.sides[0] {
					report.A = append(report.A, people[i])
				}
				for _, i := range m.sides[1] {
					report.B = append(report.B, people[i])
				}
				o := g.origin(&zoe)
				must(t, g.Do(t.Context(), o, ranking.ReadReport{Parsed: &ranking.Parsed{Reports: []command.Match{report}}}))
				if _, ok := g.notice(t, o.Key).(ranking.MatchRecorded); ok {
					matches = append(matches, m)
				}
			case "merge":
				pair := rapid.Permutation([]int{0, 1, 2, 3, 4}).Draw(rt, "pair")
				from, into := pair[0], counts[pair[1]]
				g.asAdmin(t, &zoe, ranking.MergePlayers{From: ids[from], Into: ids[pair[1]]})
				if counts[from] != from || into == from {
					continue
				}
				for i := range counts {
					if counts[i] == from {
						counts[i] = into
					}
				}
			case "split":
				split(rapid.IntRange(0, 4).Draw(rt, "who"))
			default:
				n := rapid.IntRange(1, len(matches)).Draw(rt, "number")
				if what == "undo" {
					if _, ok := g.undoAs(asAdmin(t), t, &zoe, matchNumber(n)).(ranking.MatchUndone); ok {
						matches[n-1].undone = true
					}
				} else if _, ok := g.asAdmin(t, &zoe, ranking.RestoreMatch{Amendment: matchNumber(n)}).(ranking.MatchRestored); ok {
					matches[n-1].undone = false
				}
			}
			check()
		}
		for _, i := range rapid.Permutation([]int{0, 1, 2, 3, 4}).Draw(rt, "splits") {
			split(i)
			check()
		}
	})
}
