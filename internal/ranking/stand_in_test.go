package ranking_test

import (
	"fmt"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestStandIn checks that a stand-in fills a place on a side. When the match is amended, its cards
// still show the number of stand-ins on each side, and only the other players affect the ratings.
func TestStandIn(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	dan := command.Person{ID: 14, Name: "Dan"}
	seconds := 0
	send := func(op ranking.Operation, args string, people ...command.Person) ranking.Notice {
		t.Helper()
		seconds += 60
		o := saying(g.at(&alice, seconds), command.NameMatch, args, people...)
		if fix, ok := op.(ranking.FixPlayers); ok {
			fix.Lineup = o.Said
			op = fix
		}
		must(t, g.Do(asAdmin(t), o, op))
		return g.notice(t, o.Key)
	}
	const noRefusal = ranking.RefusalCode("")
	check := func(what string, n ranking.Notice, want string, refusal ranking.RefusalCode) {
		t.Helper()
		var sides [2]ranking.Side
		switch n := n.(type) {
		case ranking.MatchRecorded:
			sides = n.Sides
		case ranking.MatchFixed:
			sides = n.Sides
		case ranking.MatchUndone:
			sides = n.Sides
		case ranking.MatchRestored:
			sides = n.Sides
		case ranking.MatchMoved:
			sides = n.Sides
		case ranking.Refusal:
			equal(t, what, refusal, n.Code)
			return
		}
		got := ""
		for _, s := range sides {
			got += fmt.Sprint(s.Score)
			for _, p := range s.Players {
				got += fmt.Sprintf(" %s %d", p.Name.Name, p.After)
			}
			if s.StandIns > 0 {
				got += fmt.Sprint(" +", s.StandIns)
			}
			got += "; "
		}
		equal(t, what, want, got)
		g.verifyClean(t)
	}

	check("uneven", send(ranking.ReadReport{}, "@ vs @ @ 3:1", alice, bob, carol), "", ranking.UnevenTeams)
	check("still uneven", send(ranking.ReadReport{}, "@ guest vs @ 3:1", alice, bob), "", ranking.UnevenTeams)
	const won = "3 Alice 1516 +1; 1 Bob 1484 Carol 1484; "
	check("recorded", send(ranking.ReadReport{}, "@ guest vs @ @ 3:1", alice, bob, carol), won, noRefusal)
	fix := ranking.FixMatch{Amendment: matchNumber(1), Scores: []ladder.Score{{A: 0, B: 2}}, Sure: true}
	check("fixed", send(fix, ""), "2 Bob 1516 Carol 1516; 0 Alice 1484 +1; ", noRefusal)
	fix.Scores = []ladder.Score{{A: 1, B: 3}} // in the order of the card
	check("fixed again", send(fix, ""), won, noRefusal)
	check("undone", send(ranking.UndoMatch{Amendment: matchNumber(1)}, ""), won, noRefusal)
	check("restored", send(ranking.RestoreMatch{Amendment: matchNumber(1)}, ""), won, noRefusal)

	players := ranking.FixPlayers{Amendment: matchNumber(1)}
	check("fewer", send(players, "@ vs @ guest", alice, bob), "", ranking.WrongLineup)
	check("other side", send(players, "@ vs @ @ guest", alice, bob, dan), "", ranking.WrongLineup)
	check("more", send(players, "@ guest guest vs @ @", alice, bob, dan), "", ranking.WrongLineup)
	check("instead", send(players, "@ @ vs @ @", alice, dan, bob, carol), "", ranking.WrongLineup)
	check("same", send(players, "@ guest vs @ @", alice, bob, carol), "", ranking.SameLineup)
	check("with the word", send(players, "@ @ vs guest @", bob, dan, alice),
		"3 Alice 1516 +1; 1 Bob 1484 Dan 1484; ", noRefusal)
	check("without it", send(players, "@ vs @ @ 3:1", alice, bob, carol), won, noRefusal)

	g.changeLadder(t, ranking.AddLadder, "padel", "tennis")
	check("moved", send(ranking.MoveMatch{Amendment: matchNumber(1), Name: "padel"}, ""), won, noRefusal)
	check("moved back", send(ranking.MoveMatch{Amendment: matchNumber(1), Name: "tennis"}, ""), won, noRefusal)

	// In this match, each of two people has a stand-in as partner.
	check("pairs", send(ranking.ReadReport{}, "@ guest vs @ guest 3:1", carol, alice),
		"3 Carol 1501 +1; 1 Alice 1499 +1; ", noRefusal)
	o := g.at(&alice, 4000)
	g.question(t, o, stats.MatchesQuestion{})
	page, _ := g.notice(t, o.Key).(stats.MatchPage)
	equal(t, "stand-ins of the last match", [2]int{1, 1}, page.Rows[0].StandIns)
	equal(t, "stand-ins of the first match", [2]int{1, 0}, page.Rows[1].StandIns)
	o = about(g.at(&alice, 4060), alice, carol)
	g.question(t, o, stats.HeadToHeadQuestion{Two: []command.Person{alice, carol}})
	meetings, _ := g.notice(t, o.Key).(stats.HeadToHead)
	equal(t, "meetings in teams", [3]int{1, 0, 1}, meetings.InTeams)
}

// TestStandInIsNobody checks that if a player's name is the word for a stand-in, the bot asks
// before it records anything.
func TestStandInIsNobody(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	guest := command.Person{ID: 15, Name: "Guest"}
	g.record(t, &alice, alice, guest, 3, 1)
	o := saying(g.at(&alice, 600), command.NameMatch, "@ guest vs @ @ 3:1", alice, bob, carol)
	must(t, g.Do(t.Context(), o, ranking.ReadReport{}))
	prompt, _ := g.notice(t, o.Key).(ranking.ReportPrompt)
	equal(t, "options", 2, len(prompt.Options))
	equal(t, "doubt", command.DoubtName, prompt.Doubt)
	equal(t, "nobody", [2]int{1, 0}, prompt.Options[0].Results[0].StandIns)
	equal(t, "the player", 2, len(prompt.Options[1].Results[0].Sides[0]))
	g.respond(t, g.press(&alice), g.newestPrompt(t), ranking.Choice(0))
	g.has(t, 1, "matches WHERE number = 2 AND stand_ins_a = 1 AND stand_ins_b IS NULL")
	g.has(t, 3, "match_players mp JOIN matches m ON m.id = mp.match_id WHERE m.number = 2")
	g.verifyClean(t)
}
