package bot

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"elobot/internal/botsim"
	"elobot/internal/catalog"
	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// full returns a side with the given number of players of this name, and the largest rating
// changes.
func full(score, players int, name ranking.Name) ranking.Side {
	s := ranking.Side{Score: score, StandIns: 1}
	for range players {
		s.Players = append(s.Players, ranking.RatingChange{Name: name, Before: 0, After: 10000})
	}
	return s
}

// longestMatches returns the longest notices about a match with the given numbers of players.
func longestMatches(a, b int, raw string) map[string]notice.Notice {
	const number = 999_999_999
	name := ranking.Name{Name: raw, Mark: strings.Repeat("W", 32)}
	by := ranking.Reporter{Name: &name}
	sides := [2]ranking.Side{full(25, a, name), full(24, b, name)}
	sets := slices.Repeat([]ranking.SetScore{{999, 999}}, 25)
	all := slices.Concat(sides[0].Players, sides[1].Players)
	players := slices.Repeat([]ranking.Name{name}, a+b)
	m := ranking.Moved{Ratings: slices.Repeat(all[:1], max(12, a+b)), Others: 1_000_000}
	was := ranking.OldScore{Score: [2]int{25, 24}, Sets: sets}
	otherScore := ranking.OldScore{Score: [2]int{999, 999}, Sets: sets}
	return map[string]notice.Notice{
		"card": ranking.MatchRecorded{
			Number: number, Sides: sides, Sets: sets, NewPlayers: players, ReportedBy: &by, Was: &otherScore,
		},
		"celebrating card": ranking.MatchRecorded{ // never amended
			Number: number, Sides: sides, Sets: sets, NewPlayers: players, ReportedBy: &by,
			Celebration: &ranking.Celebration{Kind: ladder.UpsetOfMonth, Players: players[:a], Number: 10000},
		},
		"undone card": ranking.MatchRecorded{Number: number, Sides: sides, Sets: sets, Undone: true, UndoneBy: &by},
		"undone":      ranking.MatchUndone{Number: number, Sides: sides, Sets: sets, By: by, Moved: m},
		"restored":    ranking.MatchRestored{Number: number, Sides: sides, Sets: sets, By: by, Moved: m},
		"fixed":       ranking.MatchFixed{Number: number, Sides: sides, Sets: sets, Was: otherScore, By: by, Moved: m},
		"fixed sets":  ranking.MatchFixed{Number: number, Sides: sides, Sets: sets, Was: was, By: by, Moved: m},
		"merged": ranking.PlayersMerged{
			Username: strings.Repeat("W", 32), Name: name, Undone: slices.Repeat([]int{number}, 1000), Moved: m,
		},
	}
}

// inEachLanguage runs a test in each language with a function that sends a notice to a group.
// Sending checks the length of the message.
func inEachLanguage(t *testing.T, test func(t *testing.T, w words, send func(notice.Notice) botsim.Message)) {
	t.Helper()
	for _, language := range catalog.All() {
		t.Run(language.Tag(), func(t *testing.T) {
			t.Parallel()
			sim, client := startSimulator(t)
			group := sim.Group("Table tennis", sim.User("alice"))
			sender := NewSender(client, selfOf(sim), slog.New(slog.DiscardHandler)).WithViews(&fakeViews{})
			sender.draw = dot
			test(t, words{Language: language}, func(n notice.Notice) botsim.Message {
				m := messageOf(t, group.ID(), n)
				m.Language = language.Tag()
				return deliver(testContext(t), t, sim, sender, group, m)
			})
		})
	}
}

// namesIn returns the names to test a language with. English is tested with all of longestNames. A
// name takes the same space in every language, so one name is enough for each other language. No
// other name exceeds that name in UTF-16 units or in bytes of HTML.
func namesIn(w words) []string {
	if w.Tag() == "en" {
		return longestNames
	}
	return longestNames[6:7]
}

// TestTheLongestMatchFits checks that notices about a match fit with the longest names, for several
// sizes of sides. Large sides are not listed in full, so the largest match need not have the
// longest text.
func TestTheLongestMatchFits(t *testing.T) {
	t.Parallel()
	inEachLanguage(t, testTheLongestMatchFits)
}

func testTheLongestMatchFits(t *testing.T, w words, send func(notice.Notice) botsim.Message) {
	for _, size := range [][2]int{{1, 1}, {4, 4}, {5, 5}, {4, 5}, {4, 10}, {10, 10}} {
		for _, raw := range namesIn(w) {
			for what, n := range longestMatches(size[0], size[1], raw) {
				m := send(n)
				if what != "undone card" && strings.Count(m.Text, "→ 10000\n") < size[0]+size[1] {
					t.Errorf("%s of %v: not all ratings are in %+q", what, size, m.Text)
				}
				out, err := render(itemOf(t, n), w)
				must(t, err)
				if text := out.callbackAnswer(); utf16Length(text) > 200 || text == "" {
					t.Errorf("%s of %v: the callback answer has %d units: %q", what, size, utf16Length(text), text)
				}
			}
		}
	}
}

// TestTheLongestSummaryFits checks that a summary counts the results that do not fit.
func TestTheLongestSummaryFits(t *testing.T) {
	t.Parallel()
	inEachLanguage(t, func(t *testing.T, w words, send func(notice.Notice) botsim.Message) {
		for _, raw := range namesIn(w) {
			card := longestMatches(4, 4, raw)["card"].(ranking.MatchRecorded)
			n := ranking.ResultsSummary{Count: 1_000_000,
				Results: slices.Repeat([]ranking.MatchRecorded{card}, 5), Answers: 1_000_000}
			m := send(n)
			named := strings.Count(m.Text, "#999")
			if more := w.Number(1_000_000 - named); named < 1 || !strings.Contains(m.Text, more) ||
				!strings.Contains(m.Text, w.Number(1_000_000)) {
				t.Errorf("%d are named in %+q", named, m.Text)
			}
		}
	})
}

// TestTheLongestNotRecordedFits checks that the notice of rejected results counts the results that
// do not fit. The questions about corrections fit too, and so does the notice of a failed command.
func TestTheLongestNotRecordedFits(t *testing.T) {
	t.Parallel()
	inEachLanguage(t, testTheLongestNotRecordedFits)
}

func testTheLongestNotRecordedFits(t *testing.T, w words, send func(notice.Notice) botsim.Message) {
	for _, size := range []int{1, 4, 5, 10} {
		for _, raw := range namesIn(w) {
			name := ranking.Name{Name: raw, Mark: strings.Repeat("W", 32)}
			side := slices.Repeat([]ranking.Name{name}, size)
			item := ranking.RejectedResult{
				Command: "match",
				NamedResult: ranking.NamedResult{
					StandIns: [2]int{1, 1}, Sides: [2][]ranking.Name{side, side}, Score: [2]int{25, 24},
					Sets: slices.Repeat([]ranking.SetScore{{999, 999}}, 25),
				},
			}
			n := ranking.NotRecorded{Limit: 1_000_000,
				Items: slices.Repeat([]ranking.RejectedResult{item}, ranking.MaxRejected), More: 1_000_000}
			m := send(n)
			named := strings.Count(m.Text, "\n• ")
			if more := w.Number(1_000_000 + ranking.MaxRejected - named); named < 2 || !strings.Contains(m.Text, more) {
				t.Errorf("%d of a side: %d are named in %+q", size, named, m.Text)
			}
		}
	}
	offer := ranking.FixOffer{
		Number: 999_999_999, Score: [2]int{25, 24}, Sets: slices.Repeat([]ranking.SetScore{{999, 999}}, 25),
		Was: ranking.OldScore{Score: [2]int{25, 24}, Sets: slices.Repeat([]ranking.SetScore{{999, 999}}, 25)},
	}
	send(offer)
	send(ranking.FixPrompt{
		Number: 999_999_999, Sets: offer.Sets,
		Sides: [2]ranking.Side{members(25, 16, ten...), members(24, -16, otherTen...)},
	})
	send(ranking.WinnerOffer{Number: 999_999_999,
		Sides: [2]ranking.Side{members(4, 16, ten...), members(3, -16, otherTen...)}, Sets: offer.Sets[:7]})
	for _, raw := range namesIn(w) {
		send(CommandFailed{Command: strings.Repeat(raw, 9)})
	}
}

// TestTheLongestQuestionFits checks that questions about a report fit, and so does the message that
// replaces a question once an option is chosen.
func TestTheLongestQuestionFits(t *testing.T) {
	t.Parallel()
	inEachLanguage(t, func(t *testing.T, w words, send func(notice.Notice) botsim.Message) {
		for _, raw := range namesIn(w) {
			name := ranking.Name{Name: raw, Mark: strings.Repeat("W", 32)}
			side := slices.Repeat([]ranking.Name{name}, 10)
			r := ranking.NamedResult{StandIns: [2]int{1, 1}, Sides: [2][]ranking.Name{side, side}, Score: [2]int{25, 24},
				Sets: slices.Repeat([]ranking.SetScore{{999, 999}}, 25)}
			option := ranking.ReportOption{Results: slices.Repeat([]ranking.NamedResult{r}, ranking.MaxReports)}
			earlier := ranking.EarlierReport{Number: 999_999_999, By: ranking.Reporter{Name: &name}, Result: &r}
			for _, n := range []notice.Notice{
				ranking.ReportPrompt{Doubt: command.DoubtResults,
					Options: slices.Repeat([]ranking.ReportOption{option}, command.MaxReadings)},
				ranking.ReportPrompt{
					Doubt: ranking.DoubtDuplicate, Options: []ranking.ReportOption{option}, Earlier: &earlier,
					MoreEarlier: slices.Repeat([]ranking.EarlierReport{earlier}, ranking.MaxReports-1),
				},
				ranking.ReportChosen{Results: option.Results},
			} {
				if m := send(n); !strings.Contains(m.Text, "…") {
					t.Errorf("everything fits: %+q", m.Text)
				}
			}
		}
	})
}

func TestCallbackAnswer(t *testing.T) {
	t.Parallel()
	for html, want := range map[string]string{
		"This button no longer works.":                 "This button no longer works.",
		"<b>Alice</b> &amp; Bob\nand more":             "Alice & Bob",
		"Reply with <code>/undo 42</code>":             "Reply with /undo 42",
		showText("@bob") + " is here":                  isolate + "@bob" + endIsolate + " is here",
		strings.Repeat("a", 199):                       strings.Repeat("a", 199),
		strings.Repeat("a", 200):                       strings.Repeat("a", 199) + "…",
		strings.Repeat("a", 201):                       strings.Repeat("a", 199) + "…",
		strings.Repeat("a", 198) + family + "b":        strings.Repeat("a", 198) + "…",
		strings.Repeat("&lt;", 150):                    strings.Repeat("<", 150),
		strings.Repeat("<b>bold</b>", 49) + " and on.": strings.Repeat("bold", 49) + " an…",
	} {
		equal(t, (outgoing{html: html}).callbackAnswer(), want, "callback answer of %q", html)
	}
}

// TestTheLongestTopFits checks that the largest number of top places fits into a message with the
// longest names, even as a table.
func TestTheLongestTopFits(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	group := sim.Group("Table tennis", sim.User("alice"))
	sender := NewSender(client, selfOf(sim), slog.New(slog.DiscardHandler))
	for _, raw := range longestNames {
		row := stats.Row{
			Position: 999_999, Name: ranking.Name{Name: raw, Mark: strings.Repeat("W", 32)}, Elo: 10000,
			Won: 999_999, Drawn: 999_999, Lost: 999_999,
		}
		sent := messageOf(t, group.ID(), stats.RankingPage{
			Title: strings.Repeat("W", 255), Rows: slices.Repeat([]stats.Row{row}, stats.MaxPlaces), Total: 999_999, Own: &row,
		})
		for _, sent.Tables = range []bool{false, true} {
			deliver(testContext(t), t, sim, sender, group, sent) // checks the length
		}
	}
}
