package ranking_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/ranking"
)

// newLadders returns a game in which the club has the ladders chess, which is the default one, and padel.
func newLadders(t *testing.T) *game {
	t.Helper()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.mustChangeLadder(t, ranking.ChangeLadder{Change: ranking.AddLadder, First: "chess", Name: "padel"}, 0)
	return g
}

// mustChangeLadder has an admin change a ladder in a topic.
func (g *game) mustChangeLadder(t *testing.T, c ranking.ChangeLadder, topic int64) {
	t.Helper()
	o := g.origin(&alice)
	o.Thread, c.IsAdmin = topic, admin
	must(t, g.Do(t.Context(), o, c))
	if n, ok := g.answer(t, o.Key, "reply_to = 7").(ranking.LadderChanged); !ok {
		t.Fatalf("%+v is answered with %+v", c, n)
	}
}

// inLadder has a command sent that names a ladder, and returns its answer.
func (g *game) inLadder(t *testing.T, name string, sender *ranking.Person, seconds int, send func(ranking.Origin) error) ranking.Notice {
	t.Helper()
	o := g.at(sender, seconds)
	o.Words = name + " and more"
	var named *ranking.LadderNamed
	if err := send(o); !errors.As(err, &named) {
		t.Fatalf("the words %q lead to %v", o.Words, err)
	}
	o.Ladder, o.Words = named.Ladder, ""
	must(t, send(o))
	return g.notice(t, o.Key)
}

// recordIn has Alice report a match in a ladder.
func (g *game) recordIn(t *testing.T, ladder string, seconds int, r ranking.Report) ranking.Notice {
	t.Helper()
	return g.inLadder(t, ladder, &alice, seconds, func(o ranking.Origin) error { return g.RecordMatch(t.Context(), o, r) })
}

// moveTo has an admin move a match to a ladder.
func (g *game) moveTo(t *testing.T, number int, ladder string) ranking.Notice {
	t.Helper()
	o := g.origin(&alice)
	must(t, g.Do(t.Context(), o, ranking.MoveMatch{Amendment: matchNumber(number), Name: ladder}))
	return g.notice(t, o.Key)
}

// ratings returns the ratings in all ladders, such as "chess Alice 1516", and who has left: "chess Alice 1516 left".
func (g *game) ratings(t *testing.T) []string {
	t.Helper()
	return texts(t, g, `
		SELECT concat_ws(' ', l.name, s.name, s.elo, CASE WHEN s.left_at IS NOT NULL THEN 'left' END)
		FROM group_players s JOIN ladders l ON l.id = s.ladder_id ORDER BY l.id, s.name`)
}

func (g *game) mustHaveRatings(t *testing.T, what string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, g.ratings(t)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestAbsentInAllLadders: who leaves the group leaves all its ladders, those too that they get into without playing, and comes back to all
// by a match in one of them, or by joining the default one.
func TestAbsentInAllLadders(t *testing.T) {
	t.Parallel()
	g := newLadders(t)
	g.memberLeft(t, alice, time.Minute)
	g.moveTo(t, 1, "padel")
	g.mustHaveRatings(t, "a match of one who left is moved", "chess Alice 1500 left", "chess Bob 1500", "padel Alice 1516 left", "padel Bob 1484")
	g.recordIn(t, "padel", 30, singles(alice, bob, 1, 3))
	g.mustHaveRatings(t, "an older match", "chess Alice 1500 left", "chess Bob 1500", "padel Alice 1499 left", "padel Bob 1501")
	g.recordIn(t, "padel", 90, singles(alice, bob, 3, 1))
	g.mustHaveRatings(t, "a match since then", "chess Alice 1500", "chess Bob 1500", "padel Alice 1515", "padel Bob 1485")
	g.memberLeft(t, alice, 80*time.Second)
	g.mustHaveRatings(t, "a late departure", "chess Alice 1500", "chess Bob 1500", "padel Alice 1515", "padel Bob 1485")

	must(t, g.RecordMatch(t.Context(), g.at(&bob, 100), singles(bob, carol, 3, 1)))
	g.memberLeft(t, carol, 110*time.Second)
	g.recordIn(t, "padel", 120, singles(alice, carol, 1, 1))
	g.mustHaveRatings(t, "the first match in another ladder", "chess Alice 1500", "chess Bob 1516", "chess Carol 1484",
		"padel Alice 1514", "padel Bob 1485", "padel Carol 1501")

	g.recordIn(t, "padel", 130, singles(alice, zoe, 3, 1))
	g.memberLeft(t, zoe, 140*time.Second)
	must(t, g.Do(t.Context(), g.at(&zoe, 150), ranking.Join{}))
	g.mustHaveRatings(t, "one who left another ladder joins", "chess Alice 1500", "chess Bob 1516", "chess Carol 1484", "chess Zoe 1500",
		"padel Alice 1529", "padel Bob 1485", "padel Carol 1501", "padel Zoe 1485")
}
