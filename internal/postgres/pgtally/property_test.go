package pgtally_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/postgres/pgtally"
	"elobot/internal/ranking"
)

// club is a group with a random history.
type club struct {
	t     *testing.T
	rt    *rapid.T
	pool  *pgxpool.Pool
	store *pgtally.Store
	*ranking.Service
	id    int64
	chats []ranking.ExternalChatID // the second one becomes the first one at some time
	now   time.Time
	first int64 // no ladder of the club has a smaller id
	keys  int
}

// TestAnyTallies sends random commands to two groups, which may become one, and counts their matches at random times. Tallies, places and
// views are compared with plain calculations.
func TestAnyTallies(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	var clubs atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		id := clubs.Add(1)
		c := &club{
			t: t, rt: rt, pool: pool, id: id,
			Service: ranking.NewService(pgranking.NewStore(pool, dbtest.Ignore), slog.New(slog.DiscardHandler),
				ranking.Settings{ResultsPerMinute: -1, UndoWindow: 1_000 * time.Hour}),
			store: pgtally.NewStore(pool).WithStep(rapid.IntRange(1, 9).Draw(rt, "marks"), rapid.IntRange(1, 5).Draw(rt, "parts")),
			chats: []ranking.ExternalChatID{ranking.ExternalChatID(-1_000*id - 1), ranking.ExternalChatID(-1_000*id - 2)},
			now:   time.Now().AddDate(0, 0, -100),
			first: 1 + dbtest.Value[int64](t, pool, `SELECT coalesce(max(id), 0) FROM ladders`),
		}
		for range 20 {
			c.recordOne()
		}
		defer c.compare()
		rt.Repeat(map[string]func(*rapid.T){
			"record": c.record, "record more": c.record, "undo": c.undo, "restore": c.restore, "fix": c.fix, "show up": c.showUp,
			"rules": c.rules, "move": c.move, "count": c.count, "recount": c.recount, "recount all": c.startRecount, "compare": func(*rapid.T) { c.compare() },
		})
	})
}

func (c *club) draw(name string, from, to int) int { return rapid.IntRange(from, to).Draw(c.rt, name) }

// person is the nth person: known by the id, or only by the username.
func (c *club) person(n int, known bool) ranking.Person {
	p := ranking.Person{Username: fmt.Sprintf("u%d_%d", c.id, n), Name: fmt.Sprintf("Person %d", n)}
	if known {
		p.ID = ranking.UserID(c.id*10 + int64(n))
		p.Username = ""
	}
	return p
}

func (c *club) send(command func(ctx context.Context, o ranking.Origin) error) {
	c.keys++
	sender := c.person(0, true)
	chat := c.chats[c.draw("chat", 0, len(c.chats)-1)]
	err := command(c.t.Context(), ranking.Origin{
		Key: fmt.Sprintf("%d:%d", c.id, c.keys), Chat: ranking.Chat{ID: chat, Kind: ranking.Group, Title: "Club"}, Sender: &sender, SentAt: c.now,
	})
	if err != nil {
		c.rt.Fatal(err)
	}
}

func (c *club) record(*rapid.T) {
	for range c.draw("matches", 1, 4) {
		c.recordOne()
	}
}

func (c *club) recordOne() {
	order := rapid.Permutation([]int{0, 1, 2, 3, 4}).Draw(c.rt, "players")
	people := make([]ranking.Person, len(order))
	for i, n := range order {
		people[i] = c.person(n, n < 2 || rapid.Bool().Draw(c.rt, "known"))
	}
	a := c.draw("size", 1, 2)
	report := ranking.Report{A: people[:a], B: people[2 : 2+a], Scores: []ranking.Score{{A: c.draw("a", 0, 2), B: c.draw("b", 0, 2)}}}
	c.now = c.now.Add(time.Duration(c.draw("hours later", 0, 40)) * time.Hour)
	c.send(func(ctx context.Context, o ranking.Origin) error { return c.RecordMatch(ctx, o, report) })
}

func (c *club) amendment() ranking.Amendment {
	return ranking.Amendment{
		Match: ranking.MatchRef{Number: c.draw("match", 1, 25)}, IsAdmin: func(context.Context) (bool, error) { return true, nil },
	}
}

func (c *club) undo(*rapid.T) {
	a := c.amendment()
	c.send(func(ctx context.Context, o ranking.Origin) error { return c.UndoMatch(ctx, o, a) })
}

func (c *club) restore(*rapid.T) {
	a := c.amendment()
	c.send(func(ctx context.Context, o ranking.Origin) error { return c.RestoreMatch(ctx, o, a) })
}

func (c *club) fix(*rapid.T) {
	a, score := c.amendment(), ranking.Score{A: c.draw("a", 0, 3), B: c.draw("b", 0, 3)}
	c.send(func(ctx context.Context, o ranking.Origin) error {
		return c.FixMatch(ctx, o, a, []ranking.Score{score})
	})
}

// showUp shows somebody with the username by whom the group may have mentioned them.
func (c *club) showUp(*rapid.T) {
	p := c.person(c.draw("who", 2, 4), true)
	p.Username = c.person(int(int64(p.ID)-c.id*10), false).Username
	c.send(func(ctx context.Context, o ranking.Origin) error {
		o.Sender = &p
		return c.Join(ctx, o)
	})
}

func (c *club) rules(*rapid.T) {
	k := c.draw("k", 10, 99)
	c.send(func(ctx context.Context, o ranking.Origin) error {
		o.Button = o.Key
		return c.ChangeRules(ctx, o, ranking.RulesChange{
			Change:  func(r ranking.Rules) ranking.Rules { r.K = k; return r },
			IsAdmin: func(context.Context) (bool, error) { return true, nil }, Shown: 55,
		})
	})
}

func (c *club) move(*rapid.T) {
	if len(c.chats) == 2 {
		if err := c.MoveChat(c.t.Context(), c.chats[0], c.chats[1]); err != nil {
			c.rt.Fatal(err)
		}
		c.chats = c.chats[1:]
	}
}

func (c *club) count(*rapid.T) {
	if c.draw("one ladder", 0, 2) == 0 {
		if _, err := c.store.CountNext(c.t.Context(), 0); err != nil {
			c.rt.Fatal(err)
		}
		return
	}
	if _, err := c.store.Count(c.t.Context()); err != nil {
		c.rt.Fatal(err)
	}
}

func (c *club) recount(*rapid.T) {
	if _, err := c.store.Recount(c.t.Context()); err != nil {
		c.rt.Fatal(err)
	}
}

func (c *club) startRecount(*rapid.T) {
	ladders := dbtest.Values[ranking.LadderID](c.t, c.pool, `SELECT id FROM ladders WHERE id >= $1`, c.first)
	if len(ladders) == 0 {
		return
	}
	ladder := ladders[c.draw("ladder", 0, len(ladders)-1)]
	if c.draw("broken", 0, 3) == 0 { // a recount mends whatever is there
		for _, sql := range []string{
			`UPDATE pair_totals SET gained = gained + 1 WHERE ladder_id = $1`, `UPDATE pair_months SET other_id = -other_id WHERE ladder_id = $1`,
			`UPDATE player_months SET player_id = player_id + 1000000 WHERE ladder_id = $1`,
		} {
			dbtest.Exec(c.t, c.pool, sql, ladder)
		}
	}
	if err := c.store.StartRecount(c.t.Context(), ladder); err != nil {
		c.rt.Fatal(err)
	}
}

// compare compares the tallies with a plain calculation, once all is counted.
func (c *club) compare() {
	for more := true; more; {
		var err error
		if more, err = c.store.Count(c.t.Context()); err != nil {
			c.rt.Fatal(err)
		}
	}
	for ladder := ranking.LadderID(1); ladder != 0; {
		step, err := c.store.Recount(c.t.Context())
		if ladder = step.Ladder; err != nil {
			c.rt.Fatal(err)
		}
	}
	if n := dbtest.Value[int](c.t, c.pool, `SELECT count(*) FROM tally_marks`); n != 0 {
		c.rt.Errorf("%d marks are left", n)
	}
	matches := readPlain(c.t, c.pool, c.first)
	if diff := cmp.Diff(plainTallies(matches), storedTallies(c.t, c.pool, c.first), cmpopts.EquateEmpty()); diff != "" {
		c.rt.Errorf("tallies (-want +got):\n%s", diff)
	}
	dbtest.Exec(c.t, c.pool, `UPDATE ladder_tallies SET week_due_at = '-infinity' WHERE ladder_id >= $1`, c.first)
	for ladder := ranking.LadderID(1); ladder != 0; {
		step, err := c.store.Place(c.t.Context(), c.now)
		if ladder = step.Ladder; err != nil {
			c.rt.Fatal(err)
		}
	}
	if diff := cmp.Diff(plainPlaces(c.t, c.pool, matches, c.first, c.now), storedPlaces(c.t, c.pool, c.first), cmpopts.EquateEmpty()); diff != "" {
		c.rt.Errorf("places (-want +got):\n%s", diff)
	}
	c.compareViews(matches)
}
