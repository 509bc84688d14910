package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/outbox"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// clubChat is the id of a club's chat.
const clubChat = ranking.ExternalChatID(-1001)

// viewReader reads the views of a club from the stores, as the bot does.
type viewReader struct {
	club
	stats    *pgstats.Store
	service  *stats.Service
	rankings *pgranking.Store
	random   *rand.Rand
}

func newViewReader(c club, questions, commands *pgxpool.Pool) *viewReader {
	store := pgstats.NewStore(questions, commands)
	return &viewReader{
		club: c, stats: store, service: stats.NewService(store, nil),
		rankings: pgranking.NewStore(commands, func(outbox.Lane) {}), random: rand.New(rand.NewPCG(5, 6)),
	}
}

// viewQuestion is what a view is asked for.
type viewQuestion struct {
	who, other ranking.PlayerID
	page       int // of the ranking
	match      int // number and id of the one that a page turns at
	newer      bool
}

// question returns the n-th question: in turn about the busiest player, the one who has never played, and others. Against others, the
// busiest player is asked about in every other question.
func (r *viewReader) question(n int) viewQuestion {
	q := viewQuestion{page: 2 + r.random.IntN(r.players/stats.PageRows), match: 1 + r.random.IntN(r.matches), newer: n%2 == 0}
	switch n % 5 {
	case 0, 1:
		q.who = 1
	case 2:
		q.who = ranking.PlayerID(r.players)
	default:
		q.who = r.ordinary()
	}
	for q.other = r.ordinary(); q.other == q.who; {
		q.other = r.ordinary()
	}
	if q.who != 1 && n%2 == 0 {
		q.other = 1
	}
	return q
}

// ordinary returns a player who is neither the busiest one nor the one who has never played. Those who play much are more likely.
func (r *viewReader) ordinary() ranking.PlayerID {
	return ranking.PlayerID(2 + r.random.IntN(1+r.random.IntN(r.players-2)))
}

// person returns a player as messages show them.
func (*viewReader) person(id ranking.PlayerID) ranking.Person {
	return ranking.Person{ID: ranking.UserID(1_000_000 + id), Username: fmt.Sprintf("member_%d", id), Name: fmt.Sprintf("Member %d", id)}
}

// activeSince is since when those have played who have a place.
func (r *viewReader) activeSince() time.Time { return r.until.Add(-stats.ActiveFor) }

// view is something that people read.
type view struct {
	name  string // in figures
	title string // in the table
	read  func(context.Context, *viewReader, viewQuestion) error
}

// allViews returns all views.
func allViews() []view {
	return []view{
		rankingView("ranking", "`/ranking`", func(viewQuestion) stats.RankingQuery { return stats.RankingQuery{Page: 1} }),
		rankingView("ranking_page", "a page of `/ranking`", func(q viewQuestion) stats.RankingQuery { return stats.RankingQuery{Page: q.page} }),
		rankingView("ranking_all", "a page of `/ranking all`", func(q viewQuestion) stats.RankingQuery { return stats.RankingQuery{Page: q.page, All: true} }),
		rankingView("ranking_top", "`/ranking 20`", func(viewQuestion) stats.RankingQuery { return stats.RankingQuery{Places: stats.MaxPlaces} }),
		{"board", "the live board, with names", func(ctx context.Context, r *viewReader, _ viewQuestion) error {
			_, err := r.stats.Board(ctx, clubChat, "board", r.activeSince())
			return err
		}},
		{"me", "`/me`, `/stats`", func(ctx context.Context, r *viewReader, q viewQuestion) error {
			_, err := r.stats.Player(ctx, clubChat, q.who, r.activeSince())
			return err
		}},
		{"standings", "`/me` in private", func(ctx context.Context, r *viewReader, q viewQuestion) error {
			_, err := r.stats.Standings(ctx, r.person(q.who), stats.MaxGroups, r.activeSince())
			return err
		}},
		{"h2h", "`/h2h`", func(ctx context.Context, r *viewReader, q viewQuestion) error {
			_, err := r.stats.HeadToHead(ctx, clubChat, q.who, q.other)
			return err
		}},
		{"matches", "`/matches`", func(ctx context.Context, r *viewReader, _ viewQuestion) error {
			_, err := r.stats.Matches(ctx, clubChat, stats.Paging{})
			return err
		}},
		{"matches_page", "a page of `/matches`", func(ctx context.Context, r *viewReader, q viewQuestion) error {
			_, err := r.stats.Matches(ctx, clubChat, q.paging())
			return err
		}},
		{"history", "`/history`", func(ctx context.Context, r *viewReader, q viewQuestion) error {
			_, err := r.stats.History(ctx, clubChat, q.who, stats.Paging{})
			return err
		}},
		{"history_page", "a page of `/history`", func(ctx context.Context, r *viewReader, q viewQuestion) error {
			_, err := r.stats.History(ctx, clubChat, q.who, q.paging())
			return err
		}},
		{"records", "`/records`", func(ctx context.Context, r *viewReader, _ viewQuestion) error {
			_, err := r.stats.Records(ctx, clubChat, time.Time{})
			return err
		}},
		{"records_month", "`/records` of the month", func(ctx context.Context, r *viewReader, _ viewQuestion) error {
			_, err := r.stats.Records(ctx, clubChat, ranking.MonthOf(r.until))
			return err
		}},
		{"chart", "`/chart`", func(ctx context.Context, r *viewReader, q viewQuestion) error { return r.chart(ctx, q, stats.Month) }},
		{"chart_all", "`/chart` of all time", func(ctx context.Context, r *viewReader, q viewQuestion) error {
			return r.chart(ctx, q, stats.AllTime)
		}},
		{"odds", "`/odds`", func(ctx context.Context, r *viewReader, q viewQuestion) error { return r.people(ctx, q, q.other) }},
		{"teams", "`/teams` of 20", func(ctx context.Context, r *viewReader, q viewQuestion) error {
			var others []ranking.PlayerID
			for range stats.MaxSplit - 1 {
				others = append(others, r.ordinary())
			}
			return r.people(ctx, q, others...)
		}},
		{"names", "look-up of names without @", func(ctx context.Context, r *viewReader, _ viewQuestion) error {
			_, err := r.rankings.PeopleOf(ctx, clubChat)
			return err
		}},
	}
}

// rankingView returns a view of the ranking.
func rankingView(name, title string, query func(viewQuestion) stats.RankingQuery) view {
	return view{name, title, func(ctx context.Context, r *viewReader, q viewQuestion) error {
		who := r.person(q.who)
		page, err := r.stats.Ranking(ctx, clubChat, &who, query(q), r.activeSince())
		if err == nil && len(page.Rows) == 0 {
			return fmt.Errorf("page %d is empty", q.page)
		}
		return err
	}}
}

// paging returns the page after or before the match of the question.
func (q viewQuestion) paging() stats.Paging { return stats.Paging{Key: int64(q.match), Newer: q.newer} }

// chart reads the ratings of a chart of the player and as many others as it can highlight, unless one of them has not played.
func (r *viewReader) chart(ctx context.Context, q viewQuestion, period stats.Period) error {
	players := []ranking.PlayerID{q.who, q.other}
	for len(players) < stats.MaxCharted {
		players = append(players, r.ordinary())
	}
	played, err := r.stats.HavePlayed(ctx, clubChat, players)
	if err != nil || slices.Contains(played, false) {
		return err
	}
	n := stats.Chart{Period: period}
	for _, p := range players {
		n.Players = append(n.Players, ranking.Name{Player: p})
	}
	_, err = r.service.Ratings(ctx, clubChat, n, r.until)
	return err
}

// people reads what a command about a player and others begins with. For some views, that is all.
func (r *viewReader) people(ctx context.Context, q viewQuestion, others ...ranking.PlayerID) error {
	people := []ranking.Person{r.person(q.who)}
	for _, id := range others {
		people = append(people, ranking.Person{Username: r.person(id).Username})
	}
	_, err := r.rankings.Read(ctx, ranking.Query{
		Key: fmt.Sprintf("m:%d:%d", clubChat, r.matches+1), Chat: ranking.Chat{ID: clubChat}, People: people,
		RateEntry: ranking.RateEntry{RateClass: ranking.RateQuestion, Sender: ranking.SenderID(people[0].ID), At: r.until},
	})
	return err
}
