package bot

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"elobot/internal/catalog"
	"elobot/internal/command"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// results returns the cards of count matches, numbered from first.
func results(first, count int, names ...string) []notice.Notice {
	var all []notice.Notice
	for i := range count {
		a, b := names[i%len(names)], names[(i+1)%len(names)]
		all = append(all, ranking.MatchRecorded{
			Number: first + i, Sides: [2]ranking.Side{members(3, 16, a), members(i%4, -16, b)},
		})
	}
	return all
}

// to sets the addressees of a message's items, in order.
func to(m outbox.Message, addressees ...string) outbox.Message {
	for i, name := range addressees {
		m.Items[i].Addressee = name
	}
	m.Row = m.Items[0]
	return m
}

func goldenSummaries() map[string]notice.Notice {
	summary := func(count, answers int, named ...notice.Notice) ranking.ResultsSummary {
		n := ranking.ResultsSummary{Count: count, Answers: answers}
		for _, r := range named {
			n.Results = append(n.Results, r.(ranking.MatchRecorded))
		}
		return n
	}
	five := results(12, 5, "Alice", "Bob", "Carol", "Dave")
	alice := called("Alice")
	undone := ranking.MatchRecorded{Number: 13, Sides: aliceAndBob(3, 1, 16), Undone: true,
		UndoneBy: &ranking.Reporter{Name: &alice}}
	return map[string]notice.Notice{
		"one":           summary(1, 0, five[0]),
		"five":          summary(5, 1, five...),
		"many":          summary(1250, 3, five...),
		"last_undone":   summary(2, 2, five[0], undone),
		"only_a_number": summary(12, 0),
	}
}

func goldenSeveral(t *testing.T) map[string]outbox.Message {
	t.Helper()
	several := func(notices ...notice.Notice) outbox.Message { return messageOf(t, 1, notices...) }
	edit := func(m outbox.Message) outbox.Message {
		m.Action, m.Target = outbox.Edit, 1
		return m
	}
	private := to(several(UnknownCommand{}, UnknownCommand{}), "Alice", "Alice")
	private.Private = true
	alice := called("Alice")
	corrected := ranking.MatchRecorded{Number: 8, Sides: aliceAndBob(3, 2, 16),
		Was: &ranking.OldScore{Score: [2]int{1, 3}}}
	undone := ranking.MatchRecorded{Number: 9, Sides: aliceAndBob(3, 1, 16), Undone: true,
		UndoneBy: &ranking.Reporter{Name: &alice}}
	return map[string]outbox.Message{
		"two_results":   several(results(12, 2, "Alice", "Bob", "Carol")...),
		"sixty_results": several(results(101, 60, "Alice", "Bob", "Carol", "Dave", "Maximilian", "Zoë")...),
		"teams":         several(goldenTeamsAndSets()["teams_sets"], goldenTeamsAndSets()["tens"]),
		"mixed": to(several(
			results(12, 1, "Alice", "Bob")[0],
			ranking.Refusal{Code: ranking.NotYours, Number: 11},
			ranking.Joined{Name: called("Carol"), Elo: 1500},
			ranking.WrongForm{Command: command.NameMatch, Reason: command.ReasonNoScore},
			goldenUndone()["others"], goldenFixed()["score"], goldenMerged()["one_undone"],
			UnknownCommand{}, ranking.GroupDetached{Kept: 12, Detached: 4},
			results(13, 1, "Carol", "Dave")[0],
		), "Alice", "Bob", "Carol", "Dave", "Alice", "Alice", "Bob", "Eve", "Alice", "Carol"),
		"addressees": to(several(
			ranking.Joined{Name: called("Alice"), Elo: 1500, Already: true},
			ranking.Joined{Name: called("Alice"), Elo: 1500, Already: true},
			UnknownCommand{}, UnknownCommand{}, UnknownCommand{}, UnknownCommand{}, UnknownCommand{},
		), "Alice", "Al", hostile, "محمد", "👩‍👩‍👧 & <b>", "", "\u202e"),
		"hostile": several(
			ranking.MatchRecorded{Number: 12, Sides: [2]ranking.Side{members(3, 16, hostile), members(1, -16, "محمد")}},
			ranking.MatchRecorded{Number: 13, Sides: [2]ranking.Side{members(2, 0, "👩‍👩‍👧 <3"), members(2, 0, "R&D")}},
		),
		"private":               private,
		"end_before_ranking":    several(results(12, 1, "Alice", "Bob")[0], UnknownCommand{}, stats.RankingPage{}, UnknownCommand{}),
		"nothing_to_undo":       several(undone, ranking.Refusal{Code: ranking.UndoneAlready, Number: 9, Minutes: 1440}),
		"edited":                edit(several(results(12, 1, "Alice", "Bob")[0], corrected, undone)),
		"edited_last_is_undone": edit(several(corrected, undone)),
	}
}

// TestMergeGolden checks that merged messages read as in testdata/golden/<language>/several.txtar,
// in every language.
func TestMergeGolden(t *testing.T) {
	t.Parallel()
	golden := goldenSeveral(t)
	for _, language := range catalog.All() {
		w := words{Language: language}
		for name, m := range golden {
			t.Run(language.Tag()+"/"+name, func(t *testing.T) {
				t.Parallel()
				out, covered := merge(m, w)
				got := fmt.Sprintf("covered %d of %d\n%s\n", covered, len(m.Items), out.html)
				compareWithGolden(t, w.Tag(), "several/"+name, got)
				if len(out.buttons) > 0 || out.replyTo != 0 {
					t.Errorf("it has buttons or is a reply: %+v", out)
				}
				p := newPost(t)
				if m.ExternalChat, m.Language = p.group.ID(), w.Tag(); m.Action == outbox.Edit {
					m.Target = int64(p.mustSend(t, hello(t, m.ExternalChat)).ID)
				}
				sent := deliver(testContext(t), t, p.sim, p.sender, p.group, m)
				if sent.HTML != out.html || len(sent.Buttons) > 0 || sent.Silent == m.Private {
					t.Errorf("message %+v", sent)
				}
			})
		}
	}
}

// TestAddresseesAreNamedOnce checks that an answer in a merged message names its addressee once, at
// the beginning, in every language.
func TestAddresseesAreNamedOnce(t *testing.T) {
	t.Parallel()
	for name, n := range goldenNotices(t) {
		if !mustRender(t, n).answers || strings.Contains(name, "hostile") {
			continue
		}
		item := itemOf(t, n)
		item.Addressee = "Alice"
		for _, language := range catalog.All() {
			out, _ := merge(outbox.Message{Items: []outbox.Item{item}}, words{Language: language})
			text, alice := plain(out.html), showText("Alice")
			if strings.Count(text, alice) != 1 || !strings.HasPrefix(text, alice) {
				t.Errorf("%s in %s: %q", name, language.Tag(), text)
			}
		}
	}
}

// TestLines checks that a notice is either always sent alone, or has a line of limited length,
// without line breaks, that needs no buttons.
func TestLines(t *testing.T) {
	t.Parallel()
	notices := goldenNotices(t)
	for i, raw := range longestNames {
		for what, n := range longestMatches(4, 4, raw) {
			notices[fmt.Sprintf("longest %s %d", what, i)] = n
		}
		notices[fmt.Sprintf("longest refusal %d", i)] = ranking.Refusal{Code: ranking.NotAPerson, Name: raw}
		notices[fmt.Sprintf("longest wrong form %d", i)] = ranking.WrongForm{
			Command: "match", Reason: "several_scores", Detail: raw, Teams: true,
		}
	}
	for _, language := range catalog.All() {
		w := words{Language: language}
		room := maxListed - 200 // leaves room for the addressee
		for name, n := range notices {
			out, err := render(itemOf(t, n), w)
			must(t, err)
			if notice.KindOf(n).Alone != (out.line == "") {
				t.Errorf("%s in %s has the line %q", name, w.Tag(), out.line)
			}
			if strings.Contains(out.line, "\n") {
				t.Errorf("the line of %s in %s has a line break: %q", name, w.Tag(), out.line)
			}
			if units := utf16Length(plain(out.line)); units > room {
				t.Errorf("the line of %s in %s has %d units", name, w.Tag(), units)
			}
			// The line also contains what a button copies, and /undo does the same as a card's
			// button.
			needs := func(b button) bool { return b.copy == "" && notice.KindOf(n).Name != "match_recorded" }
			if out.line != "" && slices.ContainsFunc(slices.Concat(out.buttons...), needs) {
				t.Errorf("%s has a button that a line cannot have", name)
			}
		}
	}
}

// drawNotice draws a notice that contains this id, either as a number or as a word.
func drawNotice(t *rapid.T, id int, name func(*rapid.T) string) notice.Notice {
	n := called(name(t))
	switch rapid.SampledFrom([]string{
		"match", "match", "match", "teams", "refusal", "joined", "form", "undone", "page", "fixed",
	}).Draw(t, "kind") {
	case "refusal":
		return ranking.Refusal{Code: ranking.NoSuchMatch, Number: id}
	case "joined":
		return ranking.Joined{Name: n, Elo: id}
	case "form":
		return ranking.WrongForm{Command: command.NameMatch, Reason: command.ReasonUnexpectedWord, Detail: fmt.Sprint(id)}
	case "undone":
		return ranking.MatchUndone{Number: id,
			Sides: [2]ranking.Side{members(3, 16, n.Name), members(1, -16, n.Name)}, Moved: moved(2)}
	case "fixed":
		return ranking.MatchFixed{Number: id,
			Sides: [2]ranking.Side{members(3, 16, n.Name), members(1, -16, n.Name)}, Moved: moved(2)}
	case "page":
		return stats.RankingPage{Rows: []stats.Row{{Position: 1, Name: n}}, Total: id}
	case "teams":
		team := slices.Repeat([]string{n.Name}, rapid.IntRange(1, 10).Draw(t, "players"))
		return ranking.MatchRecorded{Number: id, Sides: [2]ranking.Side{members(3, 16, team...), members(1, -16, team...)}}
	default:
		return ranking.MatchRecorded{Number: id, Sides: [2]ranking.Side{members(3, 16, n.Name), members(1, -16, n.Name)}}
	}
}

// TestMergedMessagesFit checks that random notices with all kinds of names fit when they are
// merged.
func TestMergedMessagesFit(t *testing.T) {
	t.Parallel()
	worst := rapid.OneOf(rapid.Custom(drawName), rapid.SampledFrom(longestNames))
	name := func(t *rapid.T) string { return worst.Draw(t, "name") }
	rapid.Check(t, func(rt *rapid.T) {
		var notices []notice.Notice
		for i := range rapid.IntRange(1, 70).Draw(rt, "items") {
			notices = append(notices, drawNotice(rt, 700_000+i, name))
		}
		m := messageOf(t, 1, notices...)
		m.Action = rapid.SampledFrom([]outbox.Action{outbox.Send, outbox.Edit}).Draw(rt, "action")
		m.Private = rapid.Bool().Draw(rt, "private")
		for i := range m.Items {
			m.Items[i].Addressee = name(rt)
		}
		w := words{Language: rapid.SampledFrom(catalog.All()).Draw(rt, "language")}
		out, covered := merge(m, w)
		if units := utf16Length(plain(out.html)); units > 4096 {
			rt.Fatalf("%d units", units)
		}
		// Telegram ignores all entities after the first 100.
		if marks := strings.Count(out.html, "</"); marks > 100 {
			rt.Fatalf("%d marks", marks)
		}
		first := mustRender(t, notices[0])
		if covered > len(m.Items) || covered < 1 && first.line != "" {
			rt.Fatalf("covered %d", covered)
		}
		if m.Action == outbox.Edit && covered != len(m.Items) {
			rt.Fatalf("covered %d of %d", covered, len(m.Items))
		}
	})
}

// TestNamesStayTextInLines checks the same as TestNamesStayText, but for merged messages. The names
// of addressees must stay text, too.
func TestNamesStayTextInLines(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	sim.User("bob")
	group := sim.Group("Table tennis", sim.User("alice"))
	sender := NewSender(client, selfOf(sim), slog.New(slog.DiscardHandler))
	check := func(f fatalizer, raw string) {
		f.Helper()
		notices := slices.DeleteFunc(withName(raw), func(n notice.Notice) bool {
			return notice.KindOf(n).Alone
		})
		m := messageOf(t, group.ID(), notices...)
		for i := range m.Items {
			m.Items[i].Addressee = raw
		}
		deliver(testContext(t), f, sim, sender, group, m)
	}
	for _, raw := range nastyNames {
		check(t, raw)
	}
	rapid.Check(t, func(rt *rapid.T) { check(rt, drawName(rt)) })
}
