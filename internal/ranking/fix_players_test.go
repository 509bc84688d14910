package ranking_test

import (
	"fmt"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// TestFixPlayers checks that the people named in a fix without a result play the match with its
// stored result. The players who stay in the match determine the sides. If that leaves several
// possibilities, or contradicts a typed "vs", the bot asks. The match before the fix is Alice and
// Bob against Carol and Dan 3:1, or Carol against Dan 1:3.
func TestFixPlayers(t *testing.T) {
	t.Parallel()
	dan, eve := command.Person{ID: 14, Name: "Dan"}, command.Person{ID: 15, Name: "Eve"}
	fay := command.Person{ID: 16, Name: "Fay"}
	people := map[string]command.Person{"alice": alice, "bob": bob, "carol": carol, "dan": dan, "eve": eve, "fay": fay}
	for _, tc := range []struct {
		teams   bool
		args    string
		names   []string
		want    string
		asks    int // the number of buttons if the bot asks; want is what the last one makes of the match
		refusal ranking.RefusalCode
	}{
		{args: "@ @", names: []string{"carol", "eve"}, want: "Carol Eve 1:3"},
		{args: "@ @", names: []string{"eve", "carol"}, want: "Carol Eve 1:3"},
		{args: "@ @", names: []string{"eve", "dan"}, want: "Eve Dan 1:3"},
		{args: "@ @", names: []string{"eve", "fay"}, want: "Fay Eve 1:3"}, // the winner is first on the card
		{args: "@ @ 2:0", names: []string{"eve", "carol"}, want: "Carol Eve 0:2"},
		{args: "@ @ 1:3", names: []string{"dan", "carol"}, want: "Carol Dan 3:1"},
		{args: "@ beat @", names: []string{"dan", "eve"}, want: "Eve Dan 1:3"}, // Carol had lost to Dan
		{args: "@ beat @", names: []string{"dan", "carol"}, refusal: ranking.SameLineup},
		{args: "@", names: []string{"eve"}, refusal: ranking.WrongLineup}, // Alice did not play
		{args: "@ @", names: []string{"dan", "carol"}, refusal: ranking.SameLineup},
		{args: "@ @ 3:1", names: []string{"dan", "carol"}, refusal: ranking.SameLineup},
		{args: "@ @ vs @ @", names: []string{"alice", "bob", "carol", "dan"}, refusal: ranking.WrongLineup},
		{teams: true, args: "@ @", names: []string{"alice", "eve"}, refusal: ranking.WrongLineup},
		{teams: true, args: "@ @ vs @ @", names: []string{"alice", "bob", "carol", "eve"}, want: "Alice Bob Carol Eve 3:1"},
		{teams: true, args: "@ @ @ @", names: []string{"carol", "alice", "eve", "bob"}, want: "Alice Bob Carol Eve 3:1"},
		{teams: true, args: "@ @ vs @ @", names: []string{"eve", "dan", "fay", "bob"}, want: "Fay Bob Eve Dan 3:1"},
		{teams: true, args: "@ @ vs @ @", names: []string{"alice", "carol", "eve", "fay"}, want: "Alice Fay Carol Eve 3:1", asks: 4},
		{teams: true, args: "@ @ vs @ @", names: []string{"alice", "carol", "eve", "dan"}, want: "Alice Eve Carol Dan 3:1", asks: 3},
		{teams: true, args: "@ @ @ @", names: []string{"alice", "carol", "eve", "dan"}, want: "Alice Eve Carol Dan 3:1"},
		{teams: true, args: "@ vs @ @ @", names: []string{"alice", "eve", "carol", "dan"}, refusal: ranking.WrongLineup},
		{teams: true, args: "@ @ vs @ @", names: []string{"alice", "carol", "bob", "dan"}, want: "Dan Bob Carol Alice 3:1", asks: 2},
		{teams: true, args: "@ @ vs @ @ 0:2", names: []string{"alice", "carol", "eve", "dan"}, want: "Alice Carol Eve Dan 0:2"},
	} {
		g := newGame(t)
		match := singles(carol, dan, 1, 3)
		if tc.teams {
			match = command.Match{A: []command.Person{alice, bob}, B: []command.Person{carol, dan}, Scores: match.Scores}
			match.Scores[0] = ladder.Score{A: 3, B: 1}
		}
		g.report(t, &alice, 0, match)
		var mentions []command.Person
		for _, name := range tc.names {
			mentions = append(mentions, people[name])
		}
		o := saying(g.at(&alice, 60), command.NameMatch, tc.args, mentions...)
		must(t, g.Do(asAdmin(t), o, ranking.FixPlayers{Amendment: matchNumber(1), Lineup: o.Said}))
		what := fmt.Sprintf("%s of %v", tc.args, tc.names)
		answer := g.notice(t, o.Key)
		switch {
		case tc.refusal != "":
			equal(t, what, ranking.Notice(ranking.Refusal{Code: tc.refusal, Number: 1}), answer)
		case tc.asks > 0:
			prompt, _ := answer.(ranking.ReportPrompt)
			equal(t, what, tc.asks, len(prompt.Options))
			g.respond(t, g.press(&alice), g.newestPrompt(t), ranking.Choice(tc.asks-1))
			fallthrough
		default:
			g.hasMatches(t, "m:1 "+tc.want)
		}
		g.verifyClean(t)
	}
}

// TestFixByWhoCounts checks that a fix that names Dave, who counts as Alice, stores Dave as the
// named player, even if Alice sends the fix.
func TestFixByWhoCounts(t *testing.T) {
	t.Parallel()
	dave, eve, fay := command.Person{Username: "dave"}, command.Person{Username: "eve"}, command.Person{Username: "fay"}
	for args, names := range map[string][]command.Person{
		"@ @": {bob, dave},
		// Dave and Fay can take two places on different sides, so the bot asks.
		"@ @ vs @ @": {bob, carol, dave, fay},
	} {
		g := newGame(t)
		g.record(t, &alice, alice, dave, 3, 1)
		teams := command.Match{A: []command.Person{bob, zoe}, B: []command.Person{carol, eve}, Scores: []ladder.Score{{A: 3}}}
		if len(names) == 2 {
			teams.A, teams.B = teams.A[:1], teams.B[:1]
		}
		g.report(t, &alice, 0, teams)
		g.asAdmin(t, &zoe, ranking.MergePlayers{From: g.player(t, "dave"), Into: g.player(t, "Alice")})
		o := saying(g.at(&alice, 60), command.NameMatch, args, names...)
		must(t, g.Do(asAdmin(t), o, ranking.FixPlayers{Amendment: matchNumber(2), Lineup: o.Said}))
		if _, asks := g.notice(t, o.Key).(ranking.ReportPrompt); asks {
			g.respond(t, g.press(&alice), g.newestPrompt(t), ranking.Choice(1))
		}
		equal(t, args+": who was named for Alice", []string{"dave"}, texts(t, g, `
			SELECT coalesce(n.display_name, '') FROM match_players mp JOIN matches m ON m.id = mp.match_id AND m.number = 2
			JOIN players p ON p.id = mp.player_id AND p.display_name = 'Alice' LEFT JOIN players n ON n.id = mp.named_id`))
	}
}
