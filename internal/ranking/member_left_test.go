package ranking_test

import (
	"strings"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// memberLeft handles the departure of a person from the club. after is counted from the start of
// the test's clock.
func (g *game) memberLeft(t *testing.T, who command.Person, after time.Duration) {
	t.Helper()
	must(t, g.MemberLeft(t.Context(), g.eventOrigin(club, after), who))
}

// mustRank asks for the ranking, and checks that it shows exactly the wanted players, in the order
// of their names in want.
func (g *game) mustRank(t *testing.T, what, want string) stats.RankingPage {
	t.Helper()
	page := g.page(t, nil)
	var names []string
	for _, r := range page.Rows {
		names = append(names, r.Name.Name)
	}
	if got := strings.Join(names, " "); got != want || page.Total != len(page.Rows) {
		t.Errorf("%s: got %s of %d, want %s", what, got, page.Total, want)
	}
	return page
}

func TestMemberLeft(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, alice, carol, 3, 1)
	g.record(t, &alice, carol, bob, 3, 1)
	g.mustRank(t, "at first", "Alice Carol Bob")
	standings := func() []string {
		return texts(t, g, `SELECT (to_jsonb(s) - 'left_at' - 'version')::text FROM group_players s ORDER BY id`)
	}
	before := standings()

	g.memberLeft(t, alice, -time.Second)
	g.mustRank(t, "Alice left before the last match", "Alice Carol Bob")
	leave := g.eventOrigin(club, time.Minute)
	must(t, g.MemberLeft(t.Context(), leave, alice))
	g.mustRank(t, "Alice has left", "Carol Bob")
	if page := g.page(t, &alice); page.Own != nil || page.Total != 2 {
		t.Errorf("Alice gets %+v", page)
	}
	g.memberLeft(t, alice, time.Hour) // a second update about the same departure
	g.has(t, 1, "group_players WHERE left_at = to_timestamp(1700000060)")
	g.memberLeft(t, zoe, time.Minute)
	g.memberLeft(t, command.Person{ID: 99, Username: "nobody", Name: "Nobody"}, time.Minute)
	g.has(t, 3, "players")
	equal(t, "standings", before, standings())
	g.verifyClean(t)

	join := g.origin(&alice)
	join.SentAt = join.SentAt.Add(time.Hour)
	must(t, g.Do(t.Context(), join, ranking.Join{}))
	elo := g.mustRank(t, "Alice joins again", "Alice Carol Bob").Rows[0].Elo
	checkNotice(t, g.notice(t, join.Key),
		ranking.Joined{Name: ranking.Name{Name: "Alice"}, Elo: elo, Already: true, Back: true, Played: 2})
	again := g.origin(&alice)
	again.SentAt = join.SentAt.Add(time.Minute)
	must(t, g.Do(t.Context(), again, ranking.Join{}))
	checkNotice(t, g.notice(t, again.Key),
		ranking.Joined{Name: ranking.Name{Name: "Alice"}, Elo: elo, Already: true, Played: 2})
	must(t, g.MemberLeft(t.Context(), leave, alice))
	g.mustRank(t, "the departure is redelivered", "Alice Carol Bob")
}

// TestShownAgainByNextMatch checks that the next match brings back a player who has left, even if
// another person reports the match, and even if the match is undone. A replay does not change who
// has left.
func TestShownAgainByNextMatch(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, alice, carol, 3, 1)
	g.memberLeft(t, alice, time.Minute)
	g.memberLeft(t, carol, time.Minute)
	g.record(t, &bob, bob, alice, 3, 1) // sent before the departure, handled after it
	g.mustRank(t, "an older match", "Bob")

	admin := ranking.Amendment{Match: ranking.MatchRef{Number: 1}}
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.UndoMatch{Amendment: admin}))
	g.mustRank(t, "a match of theirs is undone", "Bob")
	g.has(t, 2, "group_players WHERE left_at = to_timestamp(1700000060)")
	admin.Match.Number = 2
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.FixMatch{Amendment: admin, Scores: []ladder.Score{{A: 1, B: 3}}}))
	g.mustRank(t, "another one is fixed", "Bob")

	o := g.origin(&bob)
	o.SentAt = o.SentAt.Add(time.Hour)
	must(t, g.RecordMatch(t.Context(), o, singles(bob, alice, 1, 3)))
	g.mustRank(t, "Alice plays again", "Bob Alice")
	g.memberLeft(t, alice, time.Minute)
	g.mustRank(t, "Alice left before that match, delivered late", "Bob Alice")
	undo := g.origin(&bob)
	undo.SentAt = o.SentAt
	must(t, g.Do(t.Context(), undo, ranking.UndoMatch{Amendment: ranking.Amendment{Match: ranking.MatchRef{Number: 4}}}))
	g.mustRank(t, "that is undone", "Bob Alice")
}

// TestLeftBeforeFirstMatch checks that a player who joined and left without playing appears in the
// ranking after their first match.
func TestLeftBeforeFirstMatch(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	must(t, g.Do(t.Context(), g.origin(&zoe), ranking.Join{}))
	g.memberLeft(t, zoe, time.Minute)
	o := g.origin(&bob)
	o.SentAt = o.SentAt.Add(time.Hour)
	must(t, g.RecordMatch(t.Context(), o, singles(zoe, bob, 3, 1)))
	g.mustRank(t, "Zoe plays", "Zoe Bob")
}

// TestLeftWhileAMatchIsRecorded checks that a player is back in the ranking if one instance records
// a later match while another instance handles the departure.
func TestLeftWhileAMatchIsRecorded(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	other := g.newInstance()
	for n := range 5 {
		later := time.Duration(n) * time.Hour
		match, leave := g.origin(&bob), g.eventOrigin(club, later)
		match.SentAt = match.SentAt.Add(later + time.Minute)
		recorded := make(chan error, 1)
		go func() { recorded <- other.RecordMatch(t.Context(), match, singles(bob, alice, 2, 2)) }()
		must(t, g.MemberLeft(t.Context(), leave, alice))
		must(t, <-recorded)
		if page := g.page(t, nil); page.Total != 2 { // the match is later than the departure
			t.Fatalf("round %d: the ranking is %+v", n, page)
		}
	}
}

// TestMergedAndLeft checks that after a merge, the remaining player is shown if either of the two
// standings was shown before.
func TestMergedAndLeft(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		leave []string // names in the standings of players who left
		want  string
	}{
		"both": {[]string{"al", "Alice"}, "Bob"}, "the merged one": {[]string{"al"}, "Alice Bob"},
		"the remaining one": {[]string{"Alice"}, "Alice Bob"}, "neither": {nil, "Alice Bob"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			g.record(t, &bob, command.Person{Username: "al"}, bob, 3, 1)
			g.record(t, &bob, alice, bob, 3, 1)
			g.exec(t, `UPDATE group_players SET left_at = now() WHERE name = ANY ($1)`, tc.leave)
			renamed := alice
			renamed.Username = "al"
			must(t, g.Do(t.Context(), g.origin(&renamed), ranking.Say{Notice: stats.RankingPage{}}))
			g.mustRank(t, name, tc.want)
		})
	}
}

// TestUnclaimedPlayerLeaves checks that the departure of an unclaimed player is recognized by the
// username.
func TestUnclaimedPlayerLeaves(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &bob, command.Person{Username: "CAROL"}, bob, 3, 1)
	g.memberLeft(t, carol, time.Minute)
	g.mustRank(t, "Carol has left", "Bob")
}

// TestMergedElsewhere checks that a merge in another group does not bring back a person who has
// left this group, even if the person was still present when a season ended.
func TestMergedElsewhere(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	nameless := someone(bob.ID, "", bob.Name)
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 10), singles(alice, nameless, 3, 1)))
	g.startSeason(t, 30, "")
	g.memberLeft(t, nameless, time.Minute)
	g.has(t, 1, "group_players WHERE left_at IS NOT NULL")
	o := g.at(&alice, 70)
	o.Chat = otherClub
	must(t, g.RecordMatch(t.Context(), o, singles(alice, named("bob"), 3, 1)))
	o = g.at(&bob, 80)
	o.Chat = otherClub
	must(t, g.ShowRanking(t.Context(), o))
	g.has(t, 1, "sightings WHERE counts_as IS NOT NULL")
	g.has(t, 1, "group_players WHERE left_at IS NOT NULL")
}
