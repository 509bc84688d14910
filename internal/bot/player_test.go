package bot

import (
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"elobot/internal/botsim"
	"elobot/internal/catalog"
	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestQuestionsAboutPeople checks that a question may name players or reply to one. If a name is
// unclear, the bot asks instead of guessing.
func TestQuestionsAboutPeople(t *testing.T) {
	t.Parallel()
	people := []command.Person{
		{ID: 1002, Username: "bob", Name: "Bob", Player: 12}, {ID: 1003, Name: "José Müller", Player: 13},
		{Username: "zoe_b", Name: "zoe_b", Player: 14}, {ID: 1005, Username: "ann", Name: "Ann", Player: 15}, {ID: 1006, Name: "Ann", Player: 16},
	}
	unclear := func(fields string) string { return "answer unclear_people {" + fields + "}" }
	for _, tc := range []struct{ text, want, replying string }{
		{"/stats bob", "standing of Bob@bob#1002", "standing of Bob@bob#1002"},
		{"/stats jose muller", "standing of José_Müller#1003", ""},
		{"/stats “José Müller”", "standing of José_Müller#1003", ""},
		{"/stats zoe_b", "standing of zoe_b@zoe_b", ""},
		{"/elo bob", "standing of Bob@bob#1002", ""},
		{"/ranking bob, zoe_b and me", "ranking of Bob@bob#1002+zoe_b@zoe_b+Alice@alice#1001", ""},
		{"/stats", "standing of Alice@alice#1001", "standing of Bob@bob#1002"},
		{"/me", "standing of Alice@alice#1001", "standing of Alice@alice#1001"},
		{"/rating", "standing of Alice@alice#1001", "standing of Bob@bob#1002"},
		{"/h2h", unclear(`"reason":"nobody","command":"h2h"`), "Alice@alice#1001 against Bob@bob#1002"},
		{"/h2h jose muller", "Alice@alice#1001 against José_Müller#1003", "Alice@alice#1001 against José_Müller#1003"},
		{"/h2h bob - zoe_b", "Bob@bob#1002 against zoe_b@zoe_b", ""},
		{"/stats ann", `answer who_meant {"doubt":"name","word":"ann","people":[{"player":15},{"player":16}]}`, ""},
		{"/stats bobb", `answer who_meant {"doubt":"unknown_name","word":"bobb","people":[{"player":12}]}`, ""},
		{"/h2h bob zorb", unclear(`"reason":"unknown_name","command":"h2h","word":"zorb"`), ""},
	} {
		t.Run(tc.text, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.rankings.people = people
			w.group.Say(w.alice, tc.text)
			w.expect(tc.text, tc.want)
			if tc.replying != "" {
				target := w.group.Say(w.bob, "good game")
				w.expect("good game")
				w.group.Post(botsim.Post{From: w.alice, Text: tc.text, ReplyTo: target.ID})
				w.expect("in a reply: "+tc.text, tc.replying)
			}
		})
	}
}

// TestUnclearNamesGoOn checks that a press below the question about an unclear name answers the
// original question, or asks about the next unclear name.
func TestUnclearNamesGoOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rankings.people = []command.Person{
		{ID: 1003, Username: "carol", Name: "Carol", Player: 13}, {ID: 1005, Name: "Ann", Player: 15}, {ID: 1006, Name: "Ann", Player: 16},
		{ID: 1007, Name: "Dan", Player: 37}, {ID: 1008, Name: "Dan", Player: 38},
	}
	for _, tc := range []struct{ text, data, want string }{
		{"/stats ann", "1k:g", "standing of Ann#1006"},
		{"/h2h ann", "1k:f", "Alice@alice#1001 against Ann#1005"},
		{"/h2h carol ann", "1k:f", "Carol@carol#1003 against Ann#1005"},
		{"/h2h carrol carol", "1k:d", "Carol@carol#1003 against Carol@carol#1003"},
		{"/h2h ann dan", "1k:f", `answer who_meant {"doubt":"name","word":"dan","people":[{"player":37},{"player":38}],"picked":[15]}`},
		{"/h2h ann dan", "1k:f,11", "Ann#1005 against Dan#1007"},
		{"/h2h ann dan", "1k:11,f", `answer who_meant {"doubt":"name","word":"ann","people":[{"player":15},{"player":16}],"picked":[37,15]}`},
		{"/history ann", "1k:g", "history of Ann#1006"},
		{"/chart ann carol", "1k:g", "chart of Ann#1006+Carol@carol#1003"},
		{"/odds dan", "1k:11", "odds Alice@alice#1001 Dan#1007"},
		{"/teams me ann carol dan", "1k:f,12", "teams Alice@alice#1001+Ann#1005+Carol@carol#1003+Dan#1008 1"},
		{"/match ann 3:1", "1k:f", unknownButton},
		{"hello", "1k:f", unknownButton},
	} {
		asked := w.group.Say(w.alice, tc.text)
		w.handle()
		w.sim.Press(w.bob, w.replyBelow(w.group, asked.ID, "1k:f"), tc.data)
		equal(t, strings.Split(w.handle()[0].String(), " in ")[0], tc.want, "%s, %s", tc.text, tc.data)
	}
}

// TestButtonsOfPlayers checks that any member may press the buttons below a player's page or the
// records, and the answer replaces the message.
func TestButtonsOfPlayers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tc := range []struct{ data, want string }{
		{"1v:12", "against 12 in %d"}, {"1s:12", "player 12 in %d"}, {"1e:month", "records of the month true in %d"}, {"1e:all", "records of the month false in %d"},
	} {
		page := w.below(w.group, tc.data)
		w.sim.Press(w.bob, page, tc.data)
		w.expect(tc.data, fmt.Sprintf(tc.want, page.ID))
		code := tc.data[:3]
		for _, forged := range []string{code, code + "0", code + "-1", code + "012", code + "x", code + "12:1",
			code + "9223372036854775808", code + "months"} {
			w.sim.Press(w.bob, page, forged)
			w.expect(forged, unknownButton)
		}
		w.sim.Press(w.bob, w.below(w.group, "1u:42:0"), tc.data)
		w.expect(tc.data+" below a card", unknownButton)
	}
}

// TestPagesOfAPlayer checks that the button "against you" replaces a player's page, and the back
// button restores it.
func TestPagesOfAPlayer(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	page := everything()
	shown := p.mustSend(t, messageOf(t, p.group.ID(), page))
	equal(t, shown.Buttons[0][1].CallbackData, "1v:1", "data of the button")
	met := goldenHeadToHeads()["opened"]
	edited := p.mustSend(t, p.pageOf(t, shown, met))
	if edited.ID != shown.ID || edited.Edits != 1 || !strings.Contains(edited.Text, "7–1–4") ||
		edited.Buttons[0][0].CallbackData != "1s:2" {
		t.Errorf("edited to %+v", edited)
	}
	back := p.mustSend(t, p.pageOf(t, shown, page))
	if back.HTML != shown.HTML || back.Buttons[0][1].CallbackData != "1v:1" {
		t.Errorf("the way back leads to %+v", back)
	}
}

// pageOf returns a page that replaces the content of the message shown with a notice.
func (p *post) pageOf(t *testing.T, shown botsim.Message, n notice.Notice) outbox.Message {
	t.Helper()
	m := messageOf(t, p.group.ID(), n)
	m.Action, m.Lane.Kind, m.Target = outbox.Page, outbox.Pages, int64(shown.ID)
	return m
}

// TestTheLongestPageFits checks that the views of players, the records and the question about an
// unclear name fit with the longest names, even as tables.
func TestTheLongestPageFits(t *testing.T) {
	t.Parallel()
	sim, client := startSimulator(t)
	group := sim.Group("Table tennis", sim.User("alice"))
	sender := NewSender(client, selfOf(sim), slog.New(slog.DiscardHandler))
	for _, raw := range longestNames {
		name := ranking.Name{Player: math.MaxInt64, Name: raw, Mark: strings.Repeat("W", 32)}
		side := slices.Repeat([]ranking.Name{name}, 10)
		in := stats.MatchRef{Number: 999_999_999, At: onDay(21)}
		pair := stats.Pairing{With: name, Played: 999_999, Won: 999_999, Drawn: 999_999, Lost: 999_999}
		upset := stats.Upset{MatchRef: in, By: 9999, Beaten: side[:2]}
		last := slices.Repeat([]stats.PlayedMatch{{MatchRef: in, Against: side[:2], Score: [2]int{999, 999}, Change: -999}},
			stats.LastMatches)
		record := stats.Record{Name: name, Value: 999_999, In: &in}
		for _, n := range []notice.Notice{
			stats.PlayerStanding{
				Name: name, Position: 999_999, Total: 999_999, Elo: 10000, Best: 10000,
				Won: 999_999, Drawn: 999_999, Lost: 999_999, Streak: 999_999,
				Form: strings.Repeat("w", stats.FormMatches), Last: last, BestIn: &in, Upset: &upset,
				Most: &pair, Favorite: &pair, Hardest: &pair, Partner: &pair,
			},
			stats.HeadToHead{A: name, B: name, Won: 999_999, Drawn: 999_999, Lost: 999_999, Last: last,
				Expected: 10_000, Back: math.MaxInt64},
			stats.Records{
				Title: strings.Repeat("W", 255), Streak: &record, Rating: &record,
				Upset: &stats.UpsetBy{Name: name, Upset: upset}, Played: &record,
				Rivalry: &stats.RivalryOf{Name: name, Pairing: pair},
			},
			stats.WhoMeant{Doubt: command.DoubtName, Word: raw, People: side[:8]},
		} {
			sent := messageOf(t, group.ID(), n)
			for _, sent.Tables = range []bool{false, true} {
				deliver(testContext(t), t, sim, sender, group, sent) // checks the length
			}
		}
	}
}

// TestPlayerButtons checks that each button below a player's card, and below the pages and prompts
// to which the card leads, asks for the right page or makes the right change. Data that the bot
// does not produce is rejected.
func TestPlayerButtons(t *testing.T) {
	t.Parallel()
	type op = ranking.Operation
	view := func(v stats.PlayerView) op {
		return ranking.Ask{Question: stats.PlayerCardQuestion{Player: 7, View: v}, OfAdmins: true}
	}
	merge := func(from, into ladder.PlayerID, step ranking.MappingStep) op {
		return ranking.MergePlayers{From: from, Into: into, MappingStep: step}
	}
	split := func(step ranking.MappingStep) op { return ranking.SplitPlayer{Player: 8, MappingStep: step} }
	asks := func(a ranking.MappingAsk) ranking.MappingStep { return ranking.MappingStep{Ask: a} }
	david, dave := ranking.Name{Player: 7, Name: "David"}, ranking.Name{Player: 8, Name: "Dave"}
	card := view("")
	prompt := ranking.MappingPrompt{From: dave, Into: david, Moves: 40, Undone: []int{1}, Shown: 42}
	prompted := func(a ranking.MappingAsk) ranking.MappingPrompt {
		n := prompt
		n.Ask = a
		return n
	}
	for _, tc := range []struct {
		notice notice.Notice
		want   []op
	}{
		{stats.PlayerCard{Name: david, Account: true, Names: make([]stats.NamedPlayer, 2)}, []op{
			view(stats.ViewNick),
			view(stats.ViewMerge), view(stats.ViewAccounts),
			view(stats.ViewSplit), ranking.IgnorePlayer{Player: 7}, ranking.UndoDay{Player: 7}, ranking.RemovePlayer{Player: 7},
		}},
		{stats.PlayerCard{Name: david, Account: true, Names: make([]stats.NamedPlayer, 1), Out: true, Ignored: true}, []op{
			view(stats.ViewNick), view(stats.ViewMerge), view(stats.ViewAccounts),
			ranking.IgnorePlayer{Player: 7, Off: true}, ranking.UndoDay{Player: 7},
		}},
		{ranking.UndoDayPrompt{Name: david, Shown: 42}, []op{ranking.UndoDay{Player: 7, Shown: new(42)}, card}},
		{stats.PlayerCard{Name: david, Names: make([]stats.NamedPlayer, 1), Out: true}, []op{
			view(stats.ViewNick), view(stats.ViewMerge),
			ranking.RemovePlayer{Player: 7, Back: true},
		}},
		{stats.PlayerPage{View: stats.ViewNick, Name: david}, []op{ranking.Rename{Player: 7, Off: true}, card}},
		{stats.PlayerPage{View: stats.ViewMerge, Name: david, Choices: []ranking.Name{dave}},
			[]op{merge(7, 8, asks(ranking.AskMerge)), card}},
		{stats.PlayerPage{View: stats.ViewMerge, Name: david, Choices: []ranking.Name{dave}, Account: true}, []op{merge(8, 7, asks(ranking.AskMerge)), card}},
		{stats.PlayerPage{View: stats.ViewAccounts, Name: david, Choices: []ranking.Name{dave}, Account: true},
			[]op{merge(8, 7, asks(ranking.AskAccounts)), card}},
		{stats.PlayerPage{View: stats.ViewSplit, Name: david, Choices: []ranking.Name{dave}}, []op{split(asks(ranking.AskSplit)), card}},
		{prompted(ranking.AskMerge), []op{merge(8, 7, ranking.MappingStep{Shown: new(42)}), card}},
		{prompted(ranking.AskAccounts), []op{merge(8, 7, asks(ranking.AskSure)), card}},
		{prompted(ranking.AskSure), []op{merge(8, 7, ranking.MappingStep{Shown: new(42)}), card}},
		{prompted(ranking.AskSplit), []op{split(ranking.MappingStep{Shown: new(42)}), card}},
	} {
		out, err := render(itemOf(t, tc.notice), words{Language: catalog.All()[0]})
		must(t, err)
		var got []op
		for _, b := range slices.Concat(out.buttons...) {
			args, _ := argsOf(aboutCode, b.data)
			parsed, ok := parsePlayerButton(args)
			if !ok || len(b.data) > maxData {
				t.Errorf("the data %q is not understood", b.data)
			}
			got = append(got, pressPlayer(nil, nil, parsed))
		}
		if !reflect.DeepEqual(got, tc.want) {
			t.Errorf("the buttons of %+v lead to %+v, want %+v", tc.notice, got, tc.want)
		}
	}
	for _, args := range []string{"", "nick", "nick:", "nick::-1", "nick:7", "nick:7:-2", "nick:7:x", "nick:07:-1",
		"nick:7,8,9:-1", "nick:0:-1", "other:7:-1", "other:7,8:0", "sure:7:0", "nick:7,8:-1"} {
		if b, ok := parsePlayerButton(args); ok {
			t.Errorf("%q says %+v", args, b)
		}
	}
}

// TestNickReply checks that a reply to the page that asks for a player's nick sets the nick, or
// removes it.
func TestNickReply(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page, card := w.below(w.group, "1y:own_name:7:-1", "1y::7:-1"), w.below(w.group, "1y:nick:7:-1")
	w.group.Reply(w.alice, page, "Big  Dave")
	w.expect("a nick", `rename 7 "Big Dave" false`)
	w.group.Reply(w.alice, page, "off")
	w.expect("no nick", `rename 7 "" true`)
	w.group.Reply(w.alice, card, "Big Dave")
	w.expect("a reply to the card")
}
