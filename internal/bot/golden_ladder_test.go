package bot

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"elobot/internal/catalog"
	"elobot/internal/notice"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

func goldenLadders() map[string]notice.Notice {
	ladders := []ranking.ListedLadder{
		{Name: "chess", Default: true, Here: true}, {Name: "padel", Topics: 1}, {Name: hostile, Topics: 2, Archived: true},
	}
	changed := func(change ranking.LadderChange) ranking.LadderChanged {
		return ranking.LadderChanged{Change: change, Name: "padel"}
	}
	all := map[string]notice.Notice{
		"one":           ranking.LadderList{Ladders: ladders[:1:1]},
		"hostile_three": ranking.LadderList{Ladders: ladders},
		"first":         ranking.FirstLadderPrompt{Name: "padel"},
		"long":          ranking.FirstLadderPrompt{Name: strings.Repeat("𝔓", ranking.MaxLadderBytes/4)},
		"call_long":     ranking.RenamePrompt{Name: strings.Repeat("𝔓", ranking.MaxLadderBytes/4)},
		"call":          ranking.RenamePrompt{Name: "padel Paddle"},
		"added":         changed(ranking.AddLadder),
		"both":          ranking.LadderChanged{Change: ranking.AddLadder, Name: "padel", First: "chess"},
		"used":          changed(ranking.UseLadder),
		"topic":         ranking.LadderChanged{Change: ranking.UseLadder, Name: "padel", Topic: true, Again: true},
		"unbound":       ranking.LadderChanged{Change: ranking.UnbindTopic, Name: "chess", Topic: true},
		"called":        changed(ranking.RenameLadder),
		"hostile":       ranking.LadderChanged{Change: ranking.RenameLadder, Name: hostile, Was: "padel"},
		"stored":        changed(ranking.ArchiveLadder),
	}
	all["unnamed"] = ranking.LadderList{Ladders: []ranking.ListedLadder{{Default: true, Here: true}}}
	return all
}

func goldenMoved() map[string]notice.Notice {
	alice := called("Alice")
	move := ranking.MatchMoved{Number: 42, Sides: aliceAndBob(3, 1, 16), From: "chess", To: "padel",
		Moved: moved(0), Into: moved(2)}
	byAlice := move
	byAlice.By = ranking.Reporter{Name: &alice}
	return map[string]notice.Notice{"by_admin": move, "by_alice": byAlice}
}

func goldenMoveHints() map[string]notice.Notice {
	return map[string]notice.Notice{
		"chess": ranking.MoveHint{Number: 42, In: "chess", To: "padel"}, "hostile": ranking.MoveHint{Number: 42, In: "padel", To: hostile},
	}
}

// TestNoticesOfALadder checks that a notice in a group with several ladders names its ladder, and
// that the data of its buttons contains the same ladder.
func TestNoticesOfALadder(t *testing.T) {
	t.Parallel()
	winner, _ := goldenReportPrompts()["winner"].(ranking.ReportPrompt)
	winner.Tag = "Aa0_-zZ9"
	for _, n := range []notice.Notice{
		ranking.MatchRecorded{Number: 42, Tag: "abc", Sides: aliceAndBob(3, 1, 16)},
		goldenUndone()["win"], goldenRestored()["win"],
		goldenFixed()["no_score"],
		stats.RankingPage{Title: "Club", Rows: []stats.Row{{Name: called("Alice"), Elo: 1516, Won: 1}}, Total: 30, Page: 2},
		goldenOdds()["singles"], stats.HeadToHead{A: called("Alice"), B: called("Bob")},
		stats.Chart{Title: "Club", Period: stats.Month}, ranking.SettingsPage{}, ranking.BoardState{On: true},
		goldenUndoPrompts()["prompt"], goldenUndoPrompts()["fix"], goldenWhich()["two"], winner,
		goldenWizards()["opponent"], goldenWizards()["score"],
		stats.RankingPage{}, stats.MatchPage{}, ranking.SettingChanged{Name: "k", Before: "32", After: "24"},
	} {
		if n == nil {
			t.Fatal("there is no such notice")
		}
		item := itemOf(t, n)
		item.Payload = inPadel(t, item.Payload)
		out, err := render(item, words{Language: catalog.All()[0]})
		must(t, err)
		if !strings.Contains(out.html, "padel &lt;1&gt;") ||
			out.line != "" && !strings.Contains(out.line, "padel &lt;1&gt;") {
			t.Errorf("%T does not name its ladder: %q, %q", n, out.html, out.line)
		}
		for _, b := range slices.Concat(out.buttons...) {
			if b.data != "" && ladderOf(b.data) != 7 {
				t.Errorf("%T: the button %q is not about its ladder", n, b.data)
			}
			if ranking.IsPrompt(notice.KindOf(n).Name) && !AnswersPrompt(b.data) {
				t.Errorf("%T: the button %q answers no question", n, b.data)
			}
		}
	}
	equal(t, ladderOf(dataInLadder(strings.Repeat("x", maxData-1), 7)), 0, "ladder of a button without room")
}

// inPadel returns the payload of a notice with the label of the ladder padel added.
func inPadel(t *testing.T, payload []byte) []byte {
	t.Helper()
	fields := make(map[string]any)
	must(t, json.Unmarshal(payload, &fields))
	fields["ladder"] = ranking.LadderLabel{ID: 7, Name: "padel <1>"}
	payload, err := json.Marshal(fields)
	must(t, err)
	return payload
}

// TestCommandsInALadder checks that commands offered in a text about a ladder name that ladder.
func TestCommandsInALadder(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		notice notice.Notice
		want   string
	}{
		{stats.RankingPage{}, "match padel &lt;1&gt; @bobby 3:1"}, {stats.MatchPage{}, "match padel &lt;1&gt; @bobby 3:1"},
		{stats.Records{}, "match padel &lt;1&gt; @bobby 3:1"}, {ranking.BoardState{}, "board padel &lt;1&gt; on"},
		{ranking.Refusal{Code: ranking.NoDraws}, "settings padel &lt;1&gt; draws on"},
		{ranking.Refusal{Code: ranking.UnevenTeams}, "settings padel &lt;1&gt; uneven on"},
		{ranking.Refusal{Code: ranking.OddPlayers}, "settings padel &lt;1&gt; uneven on"},
		{ranking.BoardState{On: true}, "board padel &lt;1&gt; off"}, {ranking.BoardState{On: true, Changed: true}, "board padel &lt;1&gt; off"},
	} {
		for _, l := range catalog.All() {
			item := itemOf(t, tc.notice)
			item.Payload = inPadel(t, item.Payload)
			out, err := render(item, words{Language: l})
			must(t, err)
			if !strings.Contains(out.html, "<code>/"+tc.want+"</code>") {
				t.Errorf("%T in %s: %q", tc.notice, l.Tag(), out.html)
			}
		}
	}
}

// TestNamesAreNotSaidTwice checks that a title gives the name of a ladder only once if the group
// has the same name.
func TestNamesAreNotSaidTwice(t *testing.T) {
	t.Parallel()
	w := wordsFor("en")
	for _, tc := range []struct{ group, ladder, want string }{
		{"Padel", "padel", "<b>Ranking</b> · " + showText("Padel")}, {"Club", "padel", "<b>Ranking</b> · " + showText("Club · padel")},
		{"", "padel", "<b>Ranking</b> · " + showText("padel")}, {"", "", "<b>Ranking</b>"},
	} {
		w.ladder = tc.ladder
		equal(t, w.titleOf("ranking.title", tc.group), tc.want, "%q of %q", tc.ladder, tc.group)
	}
}

// TestRankingHasTwoNotes checks that a ranking has at most two notes below it, including the note
// about hidden players.
func TestRankingHasTwoNotes(t *testing.T) {
	t.Parallel()
	for name, n := range goldenRankings() {
		page, ok := n.(stats.RankingPage)
		if !ok {
			continue
		}
		w := wordsFor("en")
		facts := len(w.rankingNotes(page))
		if w.hiddenPlayers(page) != "" {
			facts++
		}
		if facts > 2 {
			t.Errorf("%s has %d facts", name, facts)
		}
	}
}
