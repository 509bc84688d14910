package ranking_test

import (
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestMonthOfTheGroup checks that months, in views and for the largest upset, begin in the time
// zone of the group.
func TestMonthOfTheGroup(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	rated(t, g, map[command.Person]int{alice: 1500, bob: 1700})
	at := func(text string) time.Time {
		sent, err := time.Parse(time.RFC3339, text)
		must(t, err)
		return sent
	}
	win := func(sent time.Time) ranking.Notice {
		g.exec(t, `UPDATE group_players
			SET elo = CASE name WHEN 'Alice' THEN 1500 WHEN 'Bob' THEN 1700 ELSE elo END, streak = 0`)
		o := g.origin(&alice)
		o.SentAt = sent
		must(t, g.RecordMatch(t.Context(), o, singles(alice, bob, 3, 1)))
		return g.notice(t, o.Key)
	}
	largest := celebrating(ladder.UpsetOfMonth, 200, "Alice")
	checkCelebration(t, "before", win(at("2023-11-01T02:00:00Z")), largest)
	for zone, want := range map[string]*ranking.Celebration{
		// A zone that only a newer release knows counts as UTC.
		"UTC": nil, "America/New_York": largest, "Europe/Berlin": nil, "Atlantis/Poseidonis": nil,
	} {
		g.exec(t, `UPDATE chats SET time_zone = $1`, zone)
		g.exec(t, `UPDATE matches SET upset = NULL WHERE number > 1`)
		checkCelebration(t, zone, win(at("2023-11-14T22:00:00Z")), want)
	}
	for _, tc := range []struct {
		zone, asked, begins string
		played              int
	}{
		{"UTC", "2023-11-30T23:30:00Z", "2023-11-01T00:00:00Z", 5},
		{"America/New_York", "2023-12-01T04:59:59Z", "2023-11-01T04:00:00Z", 4},
		{"Europe/Berlin", "2023-11-30T23:30:00Z", "2023-11-30T23:00:00Z", 0},
	} {
		g.exec(t, `UPDATE chats SET time_zone = $1`, tc.zone)
		o := g.origin(&alice)
		o.SentAt = at(tc.asked)
		g.question(t, o, stats.GainQuestion{Span: command.Month})
		month := g.notice(t, o.Key).(stats.Gains)
		played := 0
		for _, r := range month.Rows {
			played = max(played, r.Won)
		}
		if !month.Since.Equal(at(tc.begins)) || played != tc.played {
			t.Errorf("in %s, the month begins at %s, and %d matches were played in it", tc.zone, month.Since, played)
		}
		o = g.origin(&alice)
		o.SentAt = at(tc.asked)
		g.question(t, o, stats.RecordsQuestion{Span: command.Month})
		if records := g.notice(t, o.Key).(stats.Records); !records.Month.Equal(at(tc.begins)) ||
			(records.Played == nil) != (played == 0) {
			t.Errorf("in %s, the records are %+v", tc.zone, records)
		}
	}
}

// TestSpansOfTheGroup checks that days begin at midnight and weeks on Monday in the time zone of
// the group, even when clocks change.
func TestSpansOfTheGroup(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	at := func(text string) time.Time {
		sent, err := time.Parse(time.RFC3339, text)
		must(t, err)
		return sent
	}
	for _, played := range []string{
		"2023-10-22T21:59:59Z", "2023-10-22T22:00:00Z", "2023-10-28T21:59:59Z", "2023-10-28T22:00:00Z", "2023-10-29T22:59:59Z",
	} {
		o := g.origin(&alice)
		o.SentAt = at(played)
		must(t, g.RecordMatch(t.Context(), o, singles(alice, bob, 3, 1)))
	}
	// On this Sunday, Berlin's clocks go back, so the day has 25 hours.
	const sunday, monday = "2023-10-29T22:59:59Z", "2023-10-29T23:00:00Z"
	for _, tc := range []struct {
		zone, asked string
		span        command.Span
		begins      string
		played      int
	}{
		{"Europe/Berlin", sunday, command.Today, "2023-10-28T22:00:00Z", 2},
		{"Europe/Berlin", sunday, command.Week, "2023-10-22T22:00:00Z", 4},
		{"Europe/Berlin", monday, command.Today, monday, 0},
		{"Europe/Berlin", monday, command.Week, monday, 0},
		{"Europe/Berlin", monday, command.Month, "2023-09-30T22:00:00Z", 5},
		{"UTC", monday, command.Today, "2023-10-29T00:00:00Z", 1},
		{"UTC", monday, command.Week, "2023-10-23T00:00:00Z", 3},
		// In Tokyo, the last match is on the next day and does not count.
		{"Asia/Tokyo", "2023-10-28T23:00:00Z", command.Today, "2023-10-28T15:00:00Z", 2},
		{"Asia/Tokyo", "2023-10-28T23:00:00Z", command.Week, "2023-10-22T15:00:00Z", 4},
	} {
		g.exec(t, `UPDATE chats SET time_zone = $1`, tc.zone)
		o := g.origin(&alice)
		o.SentAt = at(tc.asked)
		g.question(t, o, stats.GainQuestion{Span: tc.span})
		gains, won := g.notice(t, o.Key).(stats.Gains), 0
		for _, r := range gains.Rows {
			won = max(won, r.Won)
		}
		o = g.origin(&alice)
		o.SentAt = at(tc.asked)
		g.question(t, o, stats.MatchesQuestion{Span: tc.span})
		page := g.notice(t, o.Key).(stats.MatchPage)
		if begins := at(tc.begins); !gains.Since.Equal(begins) || won != tc.played ||
			!page.Since.Equal(begins) || len(page.Rows) != tc.played {
			t.Errorf("%+v: since %s, %d won; since %s, %d matches", tc, gains.Since, won, page.Since, len(page.Rows))
		}
	}
}

// TestWeekOfTheGroup checks that the ranking compares places with the places at the beginning of
// the day a week ago, in the time zone of the group.
func TestWeekOfTheGroup(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	rated(t, g, map[command.Person]int{alice: 1500, bob: 1510, carol: 1400})
	o := g.origin(&alice)
	o.SentAt = time.Date(2023, time.November, 7, 3, 0, 0, 0, time.UTC) // November 6 in New York
	must(t, g.RecordMatch(t.Context(), o, singles(alice, bob, 3, 1)))
	for zone, want := range map[string]string{"UTC": "2023-11-07T00:00:00Z", "America/New_York": "0001-01-01T00:00:00Z"} {
		g.exec(t, `UPDATE chats SET time_zone = $1`, zone)
		// The question is sent on November 14 in both zones, so a week ago is November 7 in both.
		if got := g.page(t, &alice).Since.UTC().Format(time.RFC3339); got != want {
			t.Errorf("in %s, the places are those since %s, want %s", zone, got, want)
		}
	}
}
