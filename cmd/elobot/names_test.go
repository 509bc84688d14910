package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"elobot/internal/botsim"
)

// testPeopleWithoutUsername: people picked from the list of members are identified by their
// account, not by their name.
func testPeopleWithoutUsername(t *testing.T, b *botFixture) {
	sams := [2]botsim.User{b.sim.AddUser(botsim.User{FirstName: "Sam"}), b.sim.AddUser(botsim.User{FirstName: "Sam"})}
	group := b.sim.Group("Chess", b.olga, b.alice, b.bob, sams[0], sams[1])
	b.seen(group, b.bob)
	truth := newOracle()
	check := func(who botsim.User, known string) int {
		t.Helper()
		all := slices.DeleteFunc(b.standings(group), func(s standing) bool { return s.UserID != who.ID })
		if len(all) != 1 {
			t.Fatalf("%s has %d standings, want 1", known, len(all))
		}
		p := truth.Standings[known]
		if want := (standing{all[0].ID, p.Elo, p.Played, who.FirstName, who.ID}); all[0] != want {
			t.Errorf("%s has %+v, want %+v", known, all[0], want)
		}
		return all[0].ID
	}
	b.ask(group, b.alice, "/match "+mention(sams[0])+" 3:1")
	truth.play("Alice", "Sam (1)", 3, 1, "Alice")
	for _, m := range []struct {
		from, with    botsim.User
		first, second string
	}{{b.alice, sams[1], "Alice", "Sam (2)"}, {sams[1], sams[0], "Sam (2)", "Sam (1)"},
		{sams[0], b.bob, "Sam (1)", "Bob"}} {
		card := b.ask(group, m.from, "/match "+mention(m.with)+" 2:0")
		says(t, visible(card), truth.play(m.first, m.second, 2, 0, m.first))
	}
	ids := [2]int{check(sams[0], "Sam (1)"), check(sams[1], "Sam (2)")}
	checkRanking(t, group, b.bob, truth)
	says(t, visible(b.ask(group, sams[0], "/match "+mention(sams[0])+" 2:0")), "named only yourself")

	// Both get usernames. Before a message contains one, the first Sam is picked from the list of
	// members again, and the second writes a message.
	sams[0].FirstName, sams[0].Username = "Samuel", "samuel"
	sams[1].FirstName, sams[1].Username = "Samantha", "samantha"
	b.sim.AddUser(sams[0])
	b.sim.AddUser(sams[1])
	b.ask(group, b.bob, fmt.Sprintf("/match [whoever](tg://user?id=%d) 0:1", sams[0].ID))
	truth.play("Bob", "Sam (1)", 0, 1, "")
	b.ask(group, sams[1], "/ranking")
	for i, known := range []string{"Sam (1)", "Sam (2)"} {
		says(t, visible(b.ask(group, b.bob, "/match @"+sams[i].Username+" 2:1")), "Bob beat "+sams[i].FirstName+" 2:1")
		truth.play("Bob", known, 2, 1, "")
		if id := check(sams[i], known); id != ids[i] {
			t.Errorf("%s has the standing %d, want the old one, %d", known, id, ids[i])
		}
	}
	if all := b.standings(group); len(all) != 4 {
		t.Errorf("the standings are %+v, want 4", all)
	}
	b.settle()
}

// outlandish lists pairs: a name as entered, and how the bot shows it.
var outlandish = [][2]string{
	{strings.Repeat("🎱", 40), strings.Repeat("🎱", 31) + "…"},
	{"</b><a href=\"tg://user?id=1\">", "</b><a href=\"tg://user?id=1\">"},
	{"Z" + strings.Repeat("\u0301", 100), "Z" + strings.Repeat("\u0301", 62) + "…"},
	{"&amp; <b>Tom & \"Jerry\"</b> &#0;", "&amp; <b>Tom & \"Jerry\"</b> &#0;"},
	{strings.Repeat("@\u0301", 40), strings.Repeat("@\u0301", 31) + "…"},
	{"محمد \u202eعلي", "محمد علي"},
	{"@bob t.me/x #tag $USD", "@bob t.me/x #tag $USD"},
	{"zero\u200bwidth\ufeff\u2060", "zerowidth"},
	{"👨‍👩‍👧‍👦 'it's'", "👨‍👩‍👧‍👦 'it's'"},
	{"\u2067שלום\u2069 <&>", "שלום <&>"},
	{"می\u200cخواهم", "می\u200cخواهم"},
	{"\u3164\u200b", ""}, // invisible: the bot shows the username, or else “Player”
	{"[x](tg://user?id=1001) `c` *b*", "[x](tg://user?id=1001) `c` *b*"},
}

// testLadderOfOutlandishNames: whatever the names of players are, a page of a long ranking fits
// into one message, and the names do not change its formatting.
func testLadderOfOutlandishNames(t *testing.T, b *botFixture) {
	const size = 44
	people := make([]botsim.User, size)
	for i := range people {
		people[i] = botsim.User{FirstName: outlandish[i%len(outlandish)][0]}
		if i%3 != 0 {
			people[i].Username = fmt.Sprintf("a_username_as_long_as_it_may_%03d", i)
		}
		people[i] = b.sim.AddUser(people[i])
	}
	group := b.sim.Group("<i>Chess & “Go” \u202e</i>", append([]botsim.User{b.olga}, people...)...)
	report := func(winner, loser int) {
		const text = "/match [x](tg://user?id=%d) [y](tg://user?id=%d) 3:1"
		group.Say(b.olga, fmt.Sprintf(text, people[winner].ID, people[loser].ID))
	}
	for i := 0; i < size; i += 2 {
		report(i, i+1)
	}
	last := size - 1
	report(last-3, last)
	b.settle()
	page := b.ask(group, people[last], "/ranking")
	if n := len(utf16.Encode([]rune(page.Text))); n > 4096 || n < 500 {
		t.Errorf("the page has %d units", n)
	}
	lines := strings.Split(visible(page), "\n")
	if len(lines) != 14 || lines[0] != "Ranking · <i>Chess & “Go” </i>" || lines[11] != "…" ||
		lines[13] != fmt.Sprintf("1–10 of %d players · ? no places until three players have played 3 matches", size) {
		t.Fatalf("the page is\n%s", visible(page))
	}
	var bold []string
	for _, e := range page.Entities {
		switch e.Type {
		case "bold":
			bold = append(bold, visible(botsim.Message{Text: page.EntityText(e)}))
		case "italic":
			if got := page.EntityText(e); got != lines[13] {
				t.Errorf("%q is italic", got)
			}
		default:
			t.Errorf("%q is a %s", page.EntityText(e), e.Type)
		}
	}
	if len(bold) != 12 || bold[0] != "Ranking" {
		t.Fatalf("there are %d names: %q", len(bold)-1, bold)
	}
	names := bold[1:]
	ranked := []int{last - 3} // the player with two wins
	for i := range 9 {
		ranked = append(ranked, 2*i)
	}
	for row, who := range append(ranked, last) {
		u, shown := people[who], outlandish[who%len(outlandish)][1]
		switch {
		case shown == "" && u.Username != "":
			shown = u.Username
		case shown == "":
			shown = "Player"
		case u.Username != "":
			shown += " (" + u.Username + ")"
		default:
			shown += fmt.Sprintf(" (%d)", who/len(outlandish)+1)
		}
		want, line := fmt.Sprintf("? %s 1516 · 1–0", shown), row+1
		switch row {
		case 0:
			want = fmt.Sprintf("? %s 1531 · 2–0", shown)
		case 10:
			want, line = fmt.Sprintf("▸ ? %s 1469 · 0–2", shown), 12
			shown = want // the whole line is bold
		}
		if lines[line] != want || names[row] != shown {
			t.Errorf("row %d is\n%s\nwith the name %q, want\n%s", row+1, lines[line], names[row], want)
		}
	}
	b.settle()
}
