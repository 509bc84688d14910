package pgstats_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
)

// club is two groups with a random history, whose chats may be merged.
type club struct {
	t     *testing.T
	rt    *rapid.T
	pool  *pgxpool.Pool
	store *pgstats.Store
	*ranking.Service
	id    int64
	chats []ranking.ExternalChatID // the second id may become the new id of the first chat
	now   time.Time
	keys  int
}

// TestAnyViews checks that the views read by compare equal a plain calculation from the stored
// matches, after any commands in two groups whose chats may be merged.
func TestAnyViews(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	var clubs atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		id := clubs.Add(1)
		c := &club{
			t: t, rt: rt, pool: pool, id: id,
			Service: ranking.NewService(pgranking.NewStore(pool, dbtest.Ignore), nil, dbtest.Admins{},
				slog.New(slog.DiscardHandler), ranking.Settings{ResultsPerMinute: -1, UndoWindow: 1_000 * time.Hour}),
			store: pgstats.NewStore(pool, pool),
			chats: []ranking.ExternalChatID{ranking.ExternalChatID(-1_000*id - 1), ranking.ExternalChatID(-1_000*id - 2)},
			now: time.Now().AddDate(0, 0, -100).In(
				rapid.SampledFrom([]*time.Location{time.UTC, time.FixedZone("", 20_700)}).Draw(rt, "zone")),
		}
		for range 20 {
			c.recordOne()
		}
		defer c.compare()
		rt.Repeat(map[string]func(*rapid.T){
			"record": c.record, "record more": c.record, "undo": c.undo, "restore": c.restore, "fix": c.fix, "show up": c.showUp,
			"rules": c.rules, "move": c.move, "compare": func(*rapid.T) { c.compare() },
		})
	})
}

func (c *club) draw(name string, from, to int) int { return rapid.IntRange(from, to).Draw(c.rt, name) }

// person returns person n, with an id if known is true, and otherwise only with a username.
func (c *club) person(n int, known bool) command.Person {
	p := command.Person{Username: fmt.Sprintf("u%d_%d", c.id, n), Name: fmt.Sprintf("Person %d", n)}
	if known {
		p.ID = ladder.UserID(c.id*10 + int64(n))
		p.Username = ""
	}
	return p
}

func (c *club) send(command func(ctx context.Context, o ranking.Origin) error) {
	c.keys++
	sender := c.person(0, true)
	chat := c.chats[c.draw("chat", 0, len(c.chats)-1)]
	err := command(dbtest.AsAdmin(c.t.Context()), ranking.Origin{
		Key: fmt.Sprintf("%d:%d", c.id, c.keys), Chat: ranking.Chat{ID: chat, Kind: ranking.Group, Title: "Club"},
		Sender: &sender, SentAt: c.now,
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
	people := make([]command.Person, len(order))
	for i, n := range order {
		people[i] = c.person(n, n < 2 || rapid.Bool().Draw(c.rt, "known"))
	}
	a := c.draw("size", 1, 2)
	report := command.Match{A: people[:a], B: people[2 : 2+a], Scores: []ladder.Score{c.score(2)}}
	c.now = c.now.Add(time.Duration(c.draw("hours later", 0, 40)) * time.Hour)
	c.send(func(ctx context.Context, o ranking.Origin) error { return c.Do(ctx, o, dbtest.Reported(report)) })
}

// score returns a score with up to the given number of points for each side, or a score without
// points.
func (c *club) score(most int) ladder.Score {
	if c.draw("without points", 0, 3) == 0 {
		return []ladder.Score{ladder.Win, ladder.Loss, ladder.Draw}[c.draw("outcome", 0, 2)]
	}
	return ladder.Score{A: c.draw("a", 0, most), B: c.draw("b", 0, most)}
}

func (c *club) amendment() ranking.Amendment {
	return dbtest.Number(c.draw("match", 1, 25))
}

func (c *club) undo(*rapid.T) {
	a := c.amendment()
	c.send(func(ctx context.Context, o ranking.Origin) error {
		return c.Do(ctx, o, ranking.UndoMatch{Amendment: a})
	})
}

func (c *club) restore(*rapid.T) {
	a := c.amendment()
	c.send(func(ctx context.Context, o ranking.Origin) error {
		return c.Do(ctx, o, ranking.RestoreMatch{Amendment: a})
	})
}

func (c *club) fix(*rapid.T) {
	a, score := c.amendment(), c.score(3)
	c.send(func(ctx context.Context, o ranking.Origin) error {
		return c.Do(ctx, o, ranking.FixMatch{Amendment: a, Scores: []ladder.Score{score}})
	})
}

// showUp makes a person join with the username by which matches may mention that person.
func (c *club) showUp(*rapid.T) {
	p := c.person(c.draw("who", 2, 4), true)
	p.Username = c.person(int(int64(p.ID)-c.id*10), false).Username
	c.send(func(ctx context.Context, o ranking.Origin) error {
		o.Sender = &p
		return c.Do(ctx, o, ranking.Join{})
	})
}

func (c *club) rules(*rapid.T) {
	// A high K-factor drives ratings far enough apart for upsets.
	dbtest.Exec(c.t, c.pool, `UPDATE ladders SET k_factor = $1, place_matches = $2, hide_days = $3`,
		c.draw("k", 10, 400), c.draw("matches for a place", 1, 20),
		rapid.SampledFrom([]int{0, 1, 2, 3, 60}).Draw(c.rt, "days until hidden"))
}

func (c *club) move(*rapid.T) {
	if len(c.chats) == 2 {
		if err := c.MoveChat(c.t.Context(), c.chats[0], c.chats[1]); err != nil {
			c.rt.Fatal(err)
		}
		c.chats = c.chats[1:]
	}
}
