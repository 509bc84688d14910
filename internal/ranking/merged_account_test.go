package ranking_test

import (
	"fmt"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestMergedAccount checks that an account that counts as another one is the same player in all
// commands that mean the sender: undo, restore, and the ranking, which shows the sender's own row.
// Both accounts may undo what either has reported, even before the merge.
func TestMergedAccount(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	before, after := command.Person{ID: 91, Username: "before", Name: "Before"}, command.Person{ID: 92, Name: "After"}
	g.record(t, &before, before, alice, 3, 1)
	g.record(t, &before, alice, bob, 3, 1)
	g.undo(t, &before, matchNumber(2))
	g.record(t, &before, alice, carol, 3, 1)
	g.record(t, &after, after, carol, 3, 1)
	g.asAdmin(t, &zoe, ranking.MergePlayers{From: g.player(t, "Before"), Into: g.player(t, "After")})

	if n, ok := g.restore(t, &after, ranking.Amendment{}).(ranking.MatchRestored); !ok || n.Number != 2 {
		t.Errorf("the restore is answered with %+v", n)
	}
	if n, ok := g.undo(t, &after, matchNumber(3)).(ranking.MatchUndone); !ok {
		t.Errorf("the undo of what the old account reported is answered with %+v", n)
	}
	g.record(t, &before, before, bob, 3, 1)
	if n, ok := g.undo(t, &before, ranking.Amendment{}).(ranking.MatchUndone); !ok || n.Number != 5 {
		t.Errorf("the undo is answered with %+v", n)
	}
	if n, ok := g.restore(t, &before, ranking.Amendment{}).(ranking.MatchRestored); !ok || n.Number != 5 {
		t.Errorf("the restore without a number is answered with %+v", n)
	}
	for _, who := range []command.Person{before, after} {
		if page := g.page(t, &who); page.Own == nil && !page.Rows[0].Mine {
			t.Errorf("%s has no row in %+v", who.Name, page)
		}
	}
}

// TestMergedAccountInPrivate checks that /me in the private chat of an account that counts as
// another one shows that player, but only in the group where it does.
func TestMergedAccountInPrivate(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	other := g.at(&alice, 0)
	other.Chat = otherClub
	must(t, g.RecordMatch(t.Context(), other, singles(alice, bob, 2, 2)))
	must(t, g.RecordMatch(t.Context(), g.at(&carol, 10), singles(alice, carol, 3, 1)))
	must(t, g.RecordMatch(t.Context(), g.at(&carol, 20), singles(bob, carol, 3, 1)))
	g.asAdmin(t, &carol, ranking.MergePlayers{From: g.player(t, "Alice"), Into: g.player(t, "Bob")})
	var results []string
	for _, s := range g.askStanding(t, alicePrivate, &alice).(stats.MyStandings).Groups {
		results = append(results, fmt.Sprintf("%s %d-%d-%d", s.Title, s.Won, s.Drawn, s.Lost))
	}
	equal(t, "the standings", []string{club.Title + " 2-0-0", otherClub.Title + " 0-1-0"}, results)
}

// TestMergedNames checks that the nick and the former usernames of a player who counts as another
// one still work in reports, and that a mention of a merged unclaimed player needs no question.
func TestMergedNames(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	dvae := command.Person{Username: "dvae"}
	g.report(t, &alice, 0, singles(alice, command.Person{Username: "dave"}, 3, 1))
	g.report(t, &alice, 60, singles(alice, bob, 3, 1))
	oma := g.addGuest(t, "Grandma")
	g.report(t, &alice, 120, singles(alice, oma, 3, 1))
	g.renameAs(asAdmin(t), t, &zoe, ranking.Rename{Player: oma.Player, Nick: "Oma"})
	g.exec(t, `INSERT INTO players (group_id, username, display_name) SELECT id, 'dvae', 'dvae' FROM groups`)
	g.exec(t, `INSERT INTO sightings (group_id, player_id, counts_as)
		SELECT p.group_id, p.id, d.id FROM players p, players d WHERE p.username = 'dvae' AND d.username = 'dave'`)
	g.asAdmin(t, &zoe, ranking.MergePlayers{From: oma.Player, Into: g.player(t, "Bob")})
	o := saying(g.at(&alice, 240), "match", "Oma 3:2")
	must(t, g.Do(t.Context(), o, ranking.ReadReport{}))
	equal(t, "the match", "Alice 3:2 Bob", sidesOf(t, g.notice(t, o.Key)))
	g.report(t, &alice, 400, singles(alice, dvae, 3, 0))
	g.has(t, 5, "matches")
	g.has(t, 0, "prompts")
	if n, ok := g.rename(t, &alice, ranking.Rename{Nick: "oma"}).(ranking.Refusal); !ok || n.Code != ranking.NickTaken {
		t.Errorf("the nick is answered with %+v", n)
	}
}

// TestWizardOffersPeopleOnce checks that a wizard offers each person once, and never the sender's
// own other account.
func TestWizardOffersPeopleOnce(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	before, after := command.Person{ID: 91, Name: "Before"}, command.Person{ID: 92, Name: "After"}
	g.record(t, &before, before, alice, 3, 1)
	g.record(t, &after, after, alice, 3, 1)
	g.record(t, &carol, carol, alice, 3, 1)
	oma := g.addGuest(t, "Oma")
	g.asAdmin(t, &zoe, ranking.MergePlayers{From: g.player(t, "Before"), Into: g.player(t, "After")})
	g.asAdmin(t, &zoe, ranking.MergePlayers{From: oma.Player, Into: g.player(t, "Carol")})
	for _, who := range []command.Person{before, after} {
		_, asked := g.startWizard(t, &who, nil)
		checkNotice(t, asked, ranking.OpponentPrompt{Opponents: []ranking.Name{{Name: "Alice"}, {Name: "Carol"}}, Total: 2})
	}
}

// TestGuestOfAccount checks that /guest with the name of a guest who counts as an account does not
// bring the account back, and that only admins bring back a guest who was removed.
func TestGuestOfAccount(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, carol, 3, 1)
	oma, tom := g.addGuest(t, "Oma"), g.addGuest(t, "Tom")
	g.record(t, &alice, alice, tom, 3, 1)
	g.asAdmin(t, &zoe, ranking.MergePlayers{From: oma.Player, Into: g.player(t, "Carol")})
	g.memberLeft(t, carol, 0)
	if n, ok := g.guest(t, &bob, "Oma").(ranking.Joined); !ok || !n.Already || n.Back {
		t.Errorf("the guest is answered with %+v", n)
	}
	g.leave(t, carol, ranking.HowLeft)
	g.remove(t, "Tom", false)
	checkNotice(t, g.guest(t, &bob, "Oma"), isOut(ranking.PlayerOut, "Carol"))
	checkNotice(t, g.guest(t, &bob, "Tom"), isOut(ranking.GuestOut, "Tom"))
	g.mustRank(t, "both are out", "Alice")
}
