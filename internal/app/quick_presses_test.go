package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"elobot/internal/bot"
	"elobot/internal/botsim"
	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgoutbox"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
	"elobot/internal/telegram"
)

// heldViews holds up each chart until the test lets it continue.
type heldViews struct {
	bot.Views
	begun, goOn chan struct{}
	drawn       atomic.Int32
}

func (v *heldViews) Ratings(ctx context.Context, n stats.Chart, now time.Time) (stats.Ratings, error) {
	v.drawn.Add(1)
	v.begun <- struct{}{}
	<-v.goOn
	return v.Views.Ratings(ctx, n, now)
}

// TestQuickPressesOnAChart checks that, if buttons are pressed while a chart is being drawn, only
// the chart of the last press is drawn and shown afterward.
func TestQuickPressesOnAChart(t *testing.T) {
	t.Parallel()
	const token = "7000000001:AAsimulated_bot_token_opens_nothing"
	sim := botsim.Start(t, botsim.WithToken(token))
	client, err := telegram.NewClient(token, sim.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	pool := dbtest.Open(t, pgtest.New(t))
	var dispatcher *outbox.Dispatcher
	questions := stats.NewService(pgstats.NewStore(pool, pool))
	service := dbtest.Answering(pgranking.NewStore(pool, func(l outbox.Lane) { dispatcher.Wake(l) }), questions)
	views := &heldViews{Views: questions, begun: make(chan struct{}, 9), goOn: make(chan struct{})}
	sender := bot.NewSender(client, telegram.Self{ID: sim.Bot().ID, Username: sim.Bot().Username},
		slog.New(slog.DiscardHandler)).WithViews(views)
	dispatcher = outbox.NewDispatcher(pgoutbox.NewStore(pool), sender, slog.New(slog.DiscardHandler), outbox.Settings{})
	lease := dbtest.Leader(pool, "a")
	dbtest.Acquire(t, lease, true)
	ctx, stop := context.WithCancel(t.Context())
	stopped := dbtest.Start(func() error { return dispatcher.Run(ctx, lease) })
	t.Cleanup(func() {
		stop()
		if err := dbtest.Receive(t, stopped); err != nil {
			t.Error(err)
		}
	})
	const settled = `SELECT NOT EXISTS (SELECT FROM outbox WHERE finished_at IS NULL)`
	group := sim.Group("Club", sim.User("alice"))
	alice := command.Person{ID: 1, Name: "Alice"}
	by := func(key string) ranking.Origin {
		return ranking.Origin{Key: key, Chat: ranking.Chat{ID: ranking.ExternalChatID(group.ID()), Kind: ranking.Supergroup},
			Sender: &alice, SentAt: time.Now()}
	}
	err = errors.Join(
		service.Do(t.Context(), by("match"),
			dbtest.Reported(dbtest.Singles(alice, command.Person{ID: 2, Name: "Bob"}, ladder.Score{A: 3, B: 1}))),
		service.Do(t.Context(), by("chart"), ranking.Ask{Question: stats.ChartQuestion{Period: stats.Month}}))
	if err != nil {
		t.Fatal(err)
	}
	<-views.begun
	views.goOn <- struct{}{}
	dbtest.Await(t, pool, settled)
	posted := group.BotMessages()[1]

	shown := stats.Chart{Players: []ranking.Name{{Player: 1}}, Period: stats.AllTime}
	for i := range 6 {
		o := by(fmt.Sprint("press ", i))
		o.Button, o.Pressed, shown.ByMatch = o.Key, int64(posted.ID), i%2 == 1
		if err := service.Do(t.Context(), o, ranking.Say{Notice: shown}); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			<-views.begun
		}
	}
	close(views.goOn)
	dbtest.Await(t, pool, settled)
	now, _ := group.Message(posted.ID)
	if label := now.Buttons[2][1].Text; now.Edits != 2 || label != "✓ By match" {
		t.Errorf("the chart has been edited %d times, and a button says %q", now.Edits, label)
	}
	if n := views.drawn.Load() - 1; n > 2 {
		t.Errorf("%d charts are drawn", n)
	}
}
