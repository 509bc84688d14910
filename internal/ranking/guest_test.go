package ranking_test

import (
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"

	"elobot/internal/command"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// guest has the sender add a guest, and returns the answer.
func (g *game) guest(t *testing.T, sender *command.Person, args string, mentions ...command.Person) ranking.Notice {
	t.Helper()
	o := g.origin(sender)
	must(t, g.Do(t.Context(), saying(o, "guest", args, mentions...),
		ranking.AddGuest{Otherwise: ranking.Refusal{Code: "no name"}}))
	return g.notice(t, o.Key)
}

// typed has the sender report a match in words, and returns the answer.
func (g *game) typed(t *testing.T, sender *command.Person, args string, mentions ...command.Person) ranking.Notice {
	t.Helper()
	o := g.origin(sender)
	must(t, g.Do(t.Context(), saying(o, "match", args, mentions...), ranking.ReadReport{}))
	return g.notice(t, o.Key)
}

// sidesOf returns the names and the score on a match's card, such as "Carol 3:2 Grandma".
func sidesOf(t *testing.T, n ranking.Notice) string {
	t.Helper()
	card, ok := n.(ranking.MatchRecorded)
	if !ok {
		t.Fatalf("the answer is %+v", n)
	}
	s := card.Sides
	return fmt.Sprintf("%s %d:%d %s", s[0].Players[0].Name.Name, s[0].Score, s[1].Score, s[1].Players[0].Name.Name)
}

// TestGuest checks that any member, and an anonymous admin, can add a guest. Afterward, the name
// means the guest, in reports and in questions. Names that differ only by case, dots, accents,
// spaces, or ё and е mean the same guest.
func TestGuest(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	checkNotice(t, g.guest(t, &carol, "Grandma"),
		ranking.Joined{Name: ranking.Name{Name: "Grandma"}, Guest: true, Elo: 1500})
	for _, same := range []string{"grandma", ` "GRANDMA."`, "Grändma"} {
		checkNotice(t, g.guest(t, &alice, same),
			ranking.Joined{Name: ranking.Name{Name: "Grandma"}, Guest: true, Elo: 1500, Already: true})
	}
	checkNotice(t, g.guest(t, nil, "Тётя  Алёна"),
		ranking.Joined{Name: ranking.Name{Name: "Тётя Алёна"}, Guest: true, Elo: 1500})
	g.guest(t, nil, "тетя алена")
	g.has(t, 2, "players WHERE telegram_user_id IS NULL AND username IS NULL AND group_id IS NOT NULL AND folded <> ''")
	g.has(t, 4, "group_players")

	equal(t, "the matches", []string{"Carol 3:2 Grandma", "Тётя Алёна 3:0 Carol", "Grandma 4:1 Тётя Алёна"}, []string{
		sidesOf(t, g.typed(t, &bob, "Grandma @ 2:3", carol)),
		sidesOf(t, g.typed(t, &carol, "Тётю Алёну 0:3")),
		sidesOf(t, g.typed(t, &carol, `"grandma" тетя алена 4:1`)),
	})
	equal(t, "the rating of Grandma", []string{"2 1 1"},
		texts(t, g, `SELECT concat_ws(' ', played, won, lost) FROM group_players WHERE name = 'Grandma'`))
	o := g.origin(&alice)
	g.question(t, saying(o, "stats", "grandma"), stats.Typed{Form: stats.PersonCommand{}})
	if n := standingIn(t, g.notice(t, o.Key)); n.Elo == 1500 || !n.Other {
		t.Errorf("the standing is %+v", n)
	}
	g.has(t, 5, "players")
}

// TestRefusedGuest checks that the name of a guest must not be another player's, nor have another
// meaning in a command.
func TestRefusedGuest(t *testing.T) {
	t.Parallel()
	g := newLadders(t)
	g.record(t, &alice, command.Person{ID: 1300, Username: "rob_x", Name: "Robert Smith"}, bob, 3, 1)
	refused := func(code ranking.RefusalCode, name string, near string) ranking.Refusal {
		n := ranking.Refusal{Code: code, Name: name}
		if near != "" {
			n.Near = &ranking.Name{Name: near}
		}
		return n
	}
	for args, want := range map[string]ranking.Refusal{
		"":                                  refused("no name", "", ""),
		"bob":                               refused(ranking.NameTaken, "bob S.", "Bob"),
		"Robert":                            refused(ranking.NameTaken, "Robert B.", "Robert Smith"), // Robert S. is Robert Smith
		"Rob_X":                             refused(ranking.NameTaken, "Rob_X S.", "Robert Smith"),
		"Padel":                             refused(ranking.GuestUnusable, "Padel", ""),
		"chess Tom":                         refused(ranking.GuestUnusable, "chess Tom", ""),
		"Bob vs Carol":                      refused(ranking.GuestUnusable, "Bob vs Carol", ""),
		"3":                                 refused(ranking.GuestUnusable, "3", ""),
		"Player 3":                          refused(ranking.GuestUnusable, "Player 3", ""),
		"John E. Smith":                     refused(ranking.GuestUnusable, "John E. Smith", ""),
		"Tom, Jerry":                        refused(ranking.OneGuest, "Tom, Jerry", ""),
		"Tom и Jerry":                       refused(ranking.OneGuest, "Tom и Jerry", ""),
		"Tom + Jerry":                       refused(ranking.OneGuest, "Tom + Jerry", ""),
		"Tom - Jerry":                       refused(ranking.OneGuest, "Tom - Jerry", ""),
		"Schrödinger Erwin Rudolf Josef AB": refused(ranking.GuestUnusable, "Schrödinger Erwin Rudolf Josef A", ""),
	} {
		checkNotice(t, g.guest(t, &carol, args), want)
	}
	checkNotice(t, g.guest(t, &carol, "@", zoe), refused(ranking.NeedsNoGuest, "Zoe", ""))
	g.has(t, 3, "players")
	g.has(t, 0, "players WHERE folded IS NOT NULL")
}

// TestGuestElsewhere checks that a guest's name means the guest even in a season or a ladder in
// which the guest has no standing.
func TestGuestElsewhere(t *testing.T) {
	t.Parallel()
	g := newLadders(t)
	g.guest(t, &carol, "Grandma")
	o := g.origin(&carol)
	said := saying(o, "match", "padel Grandma 3:1")
	said.Said.MayNameLadder = true
	must(t, g.Do(t.Context(), said, ranking.ReadReport{}))
	equal(t, "the match", "Carol 3:1 Grandma", sidesOf(t, g.notice(t, o.Key)))
	g.exec(t, `DELETE FROM group_players WHERE played = 0 AND name = 'Grandma'`) // as in a new season
	equal(t, "the match", "Carol 3:1 Grandma", sidesOf(t, g.typed(t, &carol, "Grandma 3:1")))
	equal(t, "the matches", []string{"1", "1"},
		texts(t, g, `SELECT played::text FROM group_players WHERE name = 'Grandma'`))
}

// TestGuestOfUsername checks that the name of a guest who counts as a mere username means that
// player in a report, even if no match of the player counts.
func TestGuestOfUsername(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.guest(t, &carol, "Grandma")
	g.record(t, &carol, carol, named("mona"), 3, 1)
	g.undo(t, &carol, matchNumber(1))
	g.asAdmin(t, &carol, ranking.MergePlayers{From: g.player(t, "Grandma"), Into: g.player(t, "mona")})
	equal(t, "the match", "Carol 3:1 mona", sidesOf(t, g.typed(t, &carol, "Grandma 3:1")))
}

// TestNewGuestOfReport checks that a report with an unknown name offers to add a guest. The button
// adds the guest and records the match once, for the sender of the report.
func TestNewGuestOfReport(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	result := func(name string) ranking.NamedResult {
		return ranking.NamedResult{Score: [2]int{3, 1}, Sides: [2][]ranking.Name{{{Name: "Alice"}}, {{Name: name}}}}
	}
	option := func(name string, isGuest bool) ranking.ReportOption {
		return ranking.ReportOption{
			Results: []ranking.NamedResult{result(name)}, Who: &ranking.Name{Name: name}, New: isGuest, Guest: isGuest,
		}
	}
	asked := func(args string, want ...ranking.ReportOption) ranking.PromptRef {
		t.Helper()
		n, ok := g.typed(t, &alice, args).(ranking.ReportPrompt)
		if !ok {
			t.Fatalf("%s is answered with %+v", args, n)
		}
		equal(t, "the options for "+args, want, n.Options)
		return g.newestPrompt(t)
	}
	prompt := asked("Tom 3:1", option("Tom", true))
	second := asked("Bobi 3:1", option("Bob", false), option("Bobi", true))
	again := asked("tom. 3:1", option("tom", true))
	g.has(t, 2, "players")
	must(t, g.Do(t.Context(), below(77, g.origin(&bob)), answerBy(prompt, ranking.Choice(0))))
	g.has(t, 1, "matches") // Bob did not report it
	var group errgroup.Group
	for range 3 {
		o := g.origin(&alice)
		group.Go(func() error {
			return g.newInstance().Do(t.Context(), below(77, o), answerBy(prompt, ranking.Choice(0)))
		})
	}
	must(t, group.Wait())
	equal(t, "the ladder", []string{"Alice 2", "Bob 1", "Tom 1"},
		texts(t, g, `SELECT concat_ws(' ', name, played) FROM group_players ORDER BY name`))
	g.has(t, 2, "matches")
	must(t, g.Do(t.Context(), below(78, g.origin(&alice)), answerBy(second, ranking.Choice(1))))
	must(t, g.Do(t.Context(), below(79, g.origin(&alice)), answerBy(again, ranking.Choice(0))))
	g.has(t, 4, "players")
}

// TestGuestOnce checks that only one guest is added if several people add a guest with the same
// name at once.
func TestGuestOnce(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	var group errgroup.Group
	for _, sender := range []command.Person{alice, bob, carol, zoe} {
		o := saying(g.origin(&sender), "guest", "Grandma")
		group.Go(func() error { return g.newInstance().Do(t.Context(), o, ranking.AddGuest{}) })
	}
	must(t, group.Wait())
	g.has(t, 1, "players WHERE folded = 'grandma'")
	g.has(t, 1, "group_players WHERE name = 'Grandma'")
	g.has(t, 4, "outbox WHERE kind = 'joined'")
}

// TestNewGuestOfFix checks that a fix that names an unknown person for a match, with or without a
// score, offers to add a guest, who then plays the match.
func TestNewGuestOfFix(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"@ Tom 1:3", "Tom @", "@ vs Tom"} {
		g := newGame(t)
		g.record(t, &alice, alice, bob, 3, 1)
		o := saying(g.at(&alice, 60), command.NameMatch, args, bob)
		must(t, g.Do(t.Context(), o, ranking.FixPlayers{Amendment: matchNumber(1), Lineup: o.Said}))
		if n, ok := g.notice(t, o.Key).(ranking.ReportPrompt); !ok || len(n.Options) != 1 || !n.Options[0].Guest {
			t.Fatalf("%s is answered with %+v", args, n)
		}
		g.has(t, 2, "players")
		g.respond(t, g.press(&alice), g.newestPrompt(t), ranking.Choice(0))
		g.hasMatches(t, "m:1 Tom Bob 3:1")
		g.has(t, 1, "players WHERE folded = 'tom'")
	}
}

// TestFixNamingTwice checks that a fix that names a player twice is refused for that reason, even
// if the text could also be the name of a ladder.
func TestFixNamingTwice(t *testing.T) {
	t.Parallel()
	g := newLadders(t)
	g.record(t, &alice, alice, bob, 3, 1)
	o := saying(g.at(&alice, 60), command.NameMatch, "bob Bob")
	must(t, g.Do(t.Context(), o, ranking.FixPlayers{Amendment: matchNumber(1), Lineup: o.Said, Ladder: "bob Bob"}))
	checkNotice(t, g.notice(t, o.Key),
		ranking.WrongForm{Command: "fix", Reason: command.ReasonSamePerson, Detail: "@bob", Teams: true})
}
