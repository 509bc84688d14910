package ranking_test

import (
	"cmp"
	"strings"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

func (g *game) leave(t *testing.T, sender command.Person, how ranking.HowOut) {
	t.Helper()
	o := g.origin(&sender)
	must(t, g.Do(t.Context(), o, ranking.Leave{}))
	checkNotice(t, g.notice(t, o.Key), ranking.LeftRanking{Name: ranking.Name{Name: sender.Name}, How: how})
}

// remove has Zoe, an admin, remove a player or bring a player back, and returns the answer.
func (g *game) remove(t *testing.T, name string, back bool) ranking.Notice {
	t.Helper()
	o := g.origin(&zoe)
	must(t, g.Do(asAdmin(t), o, ranking.RemovePlayer{Player: g.player(t, name), Back: back}))
	return g.notice(t, o.Key)
}

// addGuest adds a person without Telegram to the club, and returns them.
func (g *game) addGuest(t *testing.T, name string) command.Person {
	t.Helper()
	g.exec(t, `INSERT INTO players (group_id, folded, display_name) SELECT id, lower($1), $1 FROM groups`, name)
	return command.Person{Name: name, Player: g.player(t, name)}
}

func ofMatch(n int) ranking.Amendment {
	return ranking.Amendment{Match: ranking.MatchRef{Number: n}}
}

func isOut(code ranking.RefusalCode, name string) ranking.Refusal {
	return ranking.Refusal{Code: code, Name: name, Who: &ranking.Name{Name: name}}
}

// TestLeave checks that a person who has left the ranking is not shown there and cannot be entered
// in a match, but can do everything else. The person comes back only by joining.
func TestLeave(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	o := g.origin(nil)
	must(t, g.Do(t.Context(), o, ranking.Leave{}))
	checkNotice(t, g.notice(t, o.Key), ranking.Refusal{Code: ranking.NobodyToJoin})
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, alice, carol, 3, 1)
	g.leave(t, carol, ranking.HowLeft)
	g.leave(t, carol, ranking.HowLeft)
	g.mustRank(t, "Carol has left", "Alice Bob")
	mention := command.Person{Username: carol.Username}
	checkNotice(t, g.record(t, &alice, alice, carol, 3, 1), isOut(ranking.PlayerOut, "Carol"))
	checkNotice(t, g.record(t, &alice, mention, alice, 3, 1), isOut(ranking.PlayerOut, "Carol"))
	checkNotice(t, g.record(t, &carol, carol, alice, 3, 1), isOut(ranking.SenderOut, "Carol"))
	teams := command.Match{
		A: []command.Person{alice, bob}, B: []command.Person{zoe, carol}, Scores: []ladder.Score{{A: 3}},
	}
	checkNotice(t, g.report(t, &alice, 0, teams), isOut(ranking.PlayerOut, "Carol"))
	g.has(t, 2, "matches")
	g.has(t, 3, "players") // the refused reports added nobody
	if _, ok := g.record(t, &carol, alice, bob, 0, 3).(ranking.MatchRecorded); !ok {
		t.Error("Carol cannot report a match of others")
	}
	undone := g.origin(&alice)
	must(t, g.Do(t.Context(), undone, ranking.UndoMatch{Amendment: ofMatch(2)}))
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.RestoreMatch{}))
	g.mustRank(t, "an old match of Carol's is undone and restored", "Alice Bob")

	join := g.origin(&carol)
	must(t, g.Do(t.Context(), join, ranking.Join{}))
	if joined, ok := g.notice(t, join.Key).(ranking.Joined); !ok || !joined.Back || joined.Played != 1 {
		t.Errorf("Carol joins: %+v", joined)
	}
	g.record(t, &alice, alice, carol, 3, 1)
	g.mustRank(t, "Carol is back", "Alice Bob Carol")
	g.verifyClean(t)
}

// TestLeaveUnplayed checks that a person without a match can leave the rankings of a group, and
// then has no standing there. A departure from the chat does not change that.
func TestLeaveUnplayed(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.leave(t, alice, ranking.HowLeft)
	must(t, g.Do(t.Context(), g.origin(&bob), ranking.Join{}))
	g.leave(t, bob, ranking.HowLeft)
	g.has(t, 0, "group_players")
	g.memberLeft(t, bob, 0)
	for _, p := range []command.Person{alice, bob} {
		checkNotice(t, g.record(t, &carol, carol, p, 3, 1), isOut(ranking.PlayerOut, p.Name))
		must(t, g.Do(t.Context(), g.origin(&p), ranking.Join{}))
	}
	g.record(t, &carol, alice, bob, 3, 1)
	g.mustRank(t, "both have joined", "Alice Bob")
}

// TestLeaveAllLadders checks that a person who leaves the ranking is out of all ladders of the
// group, even those in which the person has not played. A report in such a ladder does not bring
// the person back.
func TestLeaveAllLadders(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.changeLadder(t, ranking.AddLadder, "chess", "pong")
	g.leave(t, bob, ranking.HowLeft)
	in := func(o ranking.Origin) ranking.Origin {
		o.Ladder = dbtest.Value[ladder.ID](t, g.pool, `SELECT id FROM ladders WHERE name = 'chess'`)
		return o
	}
	o := in(g.origin(&alice))
	must(t, g.RecordMatch(t.Context(), o, singles(alice, bob, 3, 1)))
	checkNotice(t, g.notice(t, o.Key), isOut(ranking.PlayerOut, "Bob"))
	must(t, g.Do(t.Context(), g.origin(&bob), ranking.Join{}))
	must(t, g.RecordMatch(t.Context(), in(g.origin(&alice)), singles(alice, bob, 3, 1)))
	g.has(t, 4, "group_players WHERE left_at IS NULL")
}

// TestRemovePlayer checks that admins can remove any player. A guest or an unclaimed player without
// a match is deleted.
func TestRemovePlayer(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	dave, grandma := command.Person{Username: "dave"}, g.addGuestTo(t)
	g.record(t, &alice, alice, dave, 3, 1)
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, alice, command.Person{Username: "dvae"}, 3, 1)
	g.record(t, &alice, alice, grandma, 3, 1)
	out := func(name string, how ranking.HowOut) ranking.Notice {
		return ranking.LeftRanking{Name: ranking.Name{Name: name}, How: how}
	}
	o := g.origin(&alice)
	must(t, g.Do(t.Context(), o, ranking.RemovePlayer{Player: g.player(t, "Bob")}))
	checkNotice(t, g.notice(t, o.Key), ranking.Refusal{Code: ranking.AdminsOnly})

	checkNotice(t, g.remove(t, "Bob", false), out("Bob", ranking.HowRemoved))
	checkNotice(t, g.remove(t, "dave", false), out("dave", ranking.HowRemoved))
	checkNotice(t, g.remove(t, "Grandma", false), out("Grandma", ranking.HowRemovedGuest))
	g.mustRank(t, "three are removed", "Alice dvae")
	checkNotice(t, g.record(t, &alice, alice, bob, 3, 1), isOut(ranking.PlayerOut, "Bob"))
	checkNotice(t, g.record(t, &alice, alice, dave, 3, 1), isOut(ranking.PlayerOut, "dave"))
	checkNotice(t, g.record(t, &alice, alice, grandma, 3, 1), isOut(ranking.GuestOut, "Grandma"))
	checkNotice(t, g.remove(t, "Bob", true), isOut(ranking.PlayerOut, "Bob"))
	checkNotice(t, g.remove(t, "dave", true), out("dave", ranking.HowBack))
	checkNotice(t, g.remove(t, "Grandma", true), out("Grandma", ranking.HowBack))
	must(t, g.Do(t.Context(), g.origin(&bob), ranking.Join{}))
	g.mustRank(t, "all are back", "Alice Grandma Bob dvae dave")

	// A player whose only match is undone is kept. A player without a match is deleted.
	must(t, g.Do(asAdmin(t), g.origin(&zoe), ranking.UndoMatch{Amendment: ofMatch(3)}))
	g.remove(t, "dvae", false)
	g.has(t, 1, "players WHERE username = 'dvae'")
	g.addGuest(t, "Tom")
	g.exec(t, `INSERT INTO players (group_id, username, display_name) SELECT id, 'eve', 'eve' FROM groups`)
	g.exec(t, `INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo)
		SELECT season_id, p.id, p.display_name, 1500, 1500, 1500
		FROM ladders, players p WHERE display_name IN ('Tom', 'eve')`)
	g.exec(t, `INSERT INTO sightings (group_id, player_id, nick)
		SELECT group_id, id, 'E' FROM players WHERE username = 'eve'`)
	g.remove(t, "Tom", false)
	g.remove(t, "eve", false)
	g.has(t, 0, "players WHERE display_name IN ('Tom', 'eve')")
	g.verifyClean(t)
}

// TestOldButtonsOfMerged checks that old buttons about a player who counts as another one by now
// neither remove, bring back nor rename the other one.
func TestOldButtonsOfMerged(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	oma := g.addGuest(t, "Oma")
	g.asAdmin(t, &zoe, ranking.MergePlayers{From: oma.Player, Into: g.player(t, "Bob")})
	refused := ranking.Refusal{Code: ranking.UnknownButton}
	for _, op := range []ranking.Operation{
		ranking.RemovePlayer{Player: oma.Player},
		ranking.RemovePlayer{Player: oma.Player, Back: true},
		ranking.Rename{Player: oma.Player, Nick: "Granny"},
		ranking.Rename{Player: oma.Player, Off: true},
	} {
		checkNotice(t, g.asAdmin(t, &zoe, op), refused)
	}
	g.mustRank(t, "Bob plays on", "Alice Bob")
}

// TestOldButtonsOfDeleted checks that old buttons about a guest who was deleted neither merge,
// show, remove nor bring back the guest.
func TestOldButtonsOfDeleted(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	oma, to := g.addGuest(t, "Oma"), g.player(t, "Bob")
	merge := ranking.MergePlayers{From: oma.Player, Into: to, MappingStep: ranking.MappingStep{Ask: ranking.AskMerge}}
	asked := g.asAdmin(t, &zoe, merge).(ranking.MappingPrompt)
	g.remove(t, "Oma", false)
	confirmed := merge
	confirmed.MappingStep = ranking.MappingStep{Shown: &asked.Shown}
	for _, op := range []ranking.Operation{
		merge, confirmed, ranking.MergePlayers{From: oma.Player, Into: to}, ranking.MergePlayers{From: to, Into: oma.Player},
		ranking.Ask{Question: stats.PlayerCardQuestion{Player: oma.Player}, OfAdmins: true},
		ranking.RemovePlayer{Player: oma.Player}, ranking.RemovePlayer{Player: oma.Player, Back: true},
		ranking.Rename{Player: oma.Player, Nick: "Oma"},
	} {
		checkNotice(t, g.asAdmin(t, &zoe, op), ranking.Refusal{Code: ranking.UnknownButton})
	}
	g.has(t, 0, "sightings WHERE counts_as IS NOT NULL OR nick IS NOT NULL")
}

// TestMergeIntoWhoLeft checks that a person who has left the ranking stays out of it if a present
// player is merged into that person, whether or not the person had a standing, until the person
// joins. A split makes the other player present again.
func TestMergeIntoWhoLeft(t *testing.T) {
	t.Parallel()
	for name, hasStanding := range map[string]bool{"with a standing": true, "without a standing": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			g.record(t, &alice, alice, bob, 3, 1)
			if hasStanding {
				g.record(t, &alice, alice, carol, 3, 1)
			}
			g.leave(t, carol, ranking.HowLeft)
			oma := g.addGuest(t, "Oma")
			g.record(t, &alice, alice, oma, 3, 1)
			merge := ranking.MergePlayers{From: oma.Player, Into: g.player(t, "Carol")}
			g.asAdmin(t, &zoe, merge)
			g.mustRank(t, "Oma counts as Carol", "Alice Bob")
			checkNotice(t, g.record(t, &alice, alice, carol, 3, 1), isOut(ranking.PlayerOut, "Carol"))
			g.asAdmin(t, &zoe, ranking.SplitPlayer{Player: oma.Player})
			g.mustRank(t, "Oma is split", "Alice Oma Bob")
			g.asAdmin(t, &zoe, merge)
			// This state was once possible: a person is out, but has the standing of a member.
			g.exec(t, `UPDATE group_players SET left_at = NULL WHERE name = 'Carol'`)
			g.join(t, carol)
			g.record(t, &alice, alice, carol, 3, 1)
			g.mustRank(t, "Carol has joined", "Alice Bob Carol")
		})
	}
}

// TestRemovedAndClaimed checks that an unclaimed player whom an admin has removed stays out when an
// account that is known from another group shows the username.
func TestRemovedAndClaimed(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	dave, account := command.Person{Username: "dave"}, command.Person{ID: 90, Username: "dave", Name: "David"}
	g.record(t, &alice, alice, dave, 3, 1)
	elsewhere := g.origin(&account)
	elsewhere.Chat.ID--
	must(t, g.Do(t.Context(), elsewhere, ranking.Join{}))
	unnamed := command.Person{ID: account.ID, Name: account.Name}
	must(t, g.ShowRanking(t.Context(), g.origin(&unnamed)))
	g.remove(t, "dave", false)
	must(t, g.ShowRanking(t.Context(), g.origin(&account)))
	g.has(t, 1, "sightings WHERE counts_as IS NOT NULL")
	checkNotice(t, g.record(t, &alice, alice, dave, 3, 1), isOut(ranking.PlayerOut, "David"))
	g.mustRank(t, "David is out", "Alice")
	g.join(t, account)
	g.record(t, &alice, alice, dave, 3, 1)
	g.mustRank(t, "David has joined", "Alice David")
}

// addGuestTo stores the club and adds the guest Grandma.
func (g *game) addGuestTo(t *testing.T) command.Person {
	t.Helper()
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.Join{}))
	return g.addGuest(t, "Grandma")
}

// TestLeaveAgainstResult checks that a result is decided again if one of its players leaves between
// the decision and the write, even if the player had left the chat before.
func TestLeaveAgainstResult(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"known", "new", "gone"} {
		isNew := name == "new"
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			g.record(t, &alice, alice, zoe, 3, 1)
			if !isNew {
				g.record(t, &alice, alice, bob, 3, 1)
				if name == "gone" {
					g.memberLeft(t, bob, 0)
				}
			} else { // Bob is known from another group
				o := g.origin(&bob)
				o.Chat.ID--
				must(t, g.Do(t.Context(), o, ranking.Join{}))
			}
			before := g.count(t, "matches")
			how := ranking.HowLeft
			store := &overtakenApply{Store: newStore(g.pool), do: func() { g.leave(t, bob, how) }}
			o := g.origin(&alice)
			must(t, g.newService(store).RecordMatch(t.Context(), o, singles(alice, bob, 3, 1)))
			switch n := g.notice(t, o.Key).(type) {
			case ranking.Refusal:
				equal(t, "refused", isOut(ranking.PlayerOut, "Bob"), n)
				g.has(t, before, "matches")
			case ranking.MatchRecorded:
				g.has(t, before+1, "matches")
			default:
				t.Errorf("the answer is %+v", n)
			}
			g.mustRank(t, "Bob has left", "Alice Zoe")
			g.verifyClean(t)
		})
	}
}

// TestRemoveAgainstResult checks that a result is decided again if one of its players, who has no
// standing, is deleted between the read and the write.
func TestRemoveAgainstResult(t *testing.T) {
	t.Parallel()
	for _, username := range []string{"", "dave"} {
		g := newGame(t)
		gone := g.addGuestTo(t)
		if username != "" {
			gone = command.Person{Username: username}
			g.exec(t, `INSERT INTO players (group_id, username, display_name) SELECT id, $1, $1 FROM groups`, username)
		}
		store := &overtakenApply{Store: newStore(g.pool), do: func() { g.remove(t, cmp.Or(username, gone.Name), false) }}
		o := g.origin(&alice)
		must(t, g.newService(store).RecordMatch(t.Context(), o, singles(alice, gone, 3, 1)))
		g.has(t, 0, "group_players JOIN sightings USING (player_id) WHERE out_at IS NOT NULL")
		if n, _ := g.notice(t, o.Key).(ranking.Refusal); username == "" && n.Code != ranking.GuestOut {
			t.Errorf("the result of a guest is answered with %+v", n)
		}
	}
}

// TestPromptsOfWhoLeft checks that when a person leaves, open prompts that name the person are
// closed, and their messages say why. Other prompts stay open. No press of a button enters a person
// who has left.
func TestPromptsOfWhoLeft(t *testing.T) {
	t.Parallel()
	asks := map[string]struct {
		ask    func(t *testing.T, g *game)
		closes bool
	}{
		"a duplicate":           {func(t *testing.T, g *game) { g.report(t, &alice, 11, singles(alice, carol, 3, 1)) }, true},
		"a duplicate of others": {func(t *testing.T, g *game) { g.report(t, &alice, 1, singles(alice, bob, 3, 1)) }, false},
		"a wizard for the score": {func(t *testing.T, g *game) {
			must(t, g.Do(t.Context(), g.at(&alice, 60), ranking.StartWizard{Opponent: &carol}))
		}, true},
		"a wizard for the opponent": {func(t *testing.T, g *game) {
			must(t, g.Do(t.Context(), g.at(&alice, 60), ranking.StartWizard{}))
		}, false},
		"a wizard of their own": {func(t *testing.T, g *game) {
			must(t, g.Do(t.Context(), g.at(&carol, 60), ranking.StartWizard{}))
		}, true},
		"an undo": {func(t *testing.T, g *game) {
			must(t, g.Do(asAdmin(t), g.at(&zoe, 60), ranking.UndoMatch{Amendment: ofMatch(2)}))
		}, true},
		"an undo of others": {func(t *testing.T, g *game) {
			must(t, g.Do(asAdmin(t), g.at(&zoe, 60), ranking.UndoMatch{Amendment: ofMatch(1)}))
		}, false},
		"a name in doubt": {func(t *testing.T, g *game) {
			g.doubt(t, g.at(&alice, 60), command.Report{Doubt: command.DoubtName, Word: "C", Readings: []command.Reading{
				{singles(alice, bob, 3, 0)}, {singles(alice, command.Person{Username: "CAROL"}, 3, 0)},
			}})
		}, true},
	}
	for name, tc := range asks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newAskingGame(t)
			g.report(t, &alice, 0, singles(alice, bob, 3, 1))
			g.report(t, &alice, 10, singles(alice, carol, 3, 1))
			tc.ask(t, g)
			g.exec(t, `UPDATE prompts SET telegram_message_id = 77, delivered_at = now()`)
			g.leave(t, carol, ranking.HowLeft)
			want, told := "open", 0
			if tc.closes {
				want, told = "expired", 1
			}
			g.mustEnd(t, "after Carol has left", false, want)
			g.has(t, told, `outbox WHERE action = 'page' AND edited_message_id = 77 AND payload ->> 'how' = 'over'`)
		})
	}
}

// TestPromptsOfTheMerged checks that when a person leaves, open prompts that name a player who
// counts as that person are closed. When a guest or an unclaimed player without a match is deleted,
// open prompts that name that player are closed.
func TestPromptsOfTheMerged(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	dave, lone := command.Person{Username: "Dave"}, command.Person{Username: "lone"}
	grandma, tom := g.addGuestTo(t), g.addGuest(t, "Tom")
	g.report(t, &zoe, 0, singles(zoe, dave, 3, 1))
	g.report(t, &alice, 10, singles(grandma, carol, 3, 1))
	g.exec(t, `INSERT INTO players (group_id, username, display_name) SELECT id, 'lone', 'lone' FROM groups`)
	for _, from := range []ladder.PlayerID{g.player(t, "Dave"), grandma.Player, g.player(t, "Zoe")} {
		g.asAdmin(t, &zoe, ranking.MergePlayers{From: from, Into: g.player(t, "Carol")})
	}
	for _, p := range []command.Person{dave, grandma, zoe, lone, tom} {
		g.doubt(t, g.at(&alice, 60), command.Report{Doubt: command.DoubtName, Word: "C", Readings: []command.Reading{
			{singles(alice, bob, 3, 0)}, {singles(alice, p, 3, 0)},
		}})
	}
	g.exec(t, `UPDATE prompts SET telegram_message_id = 70 + id, delivered_at = now()`)
	g.remove(t, "lone", false)
	g.has(t, 1, "prompts WHERE closed_as = 'expired'")
	g.remove(t, "Tom", false)
	g.has(t, 2, "prompts WHERE closed_as = 'expired'")
	g.leave(t, carol, ranking.HowLeft)
	g.has(t, 5, "prompts WHERE closed_as = 'expired'")
	g.has(t, 5, `outbox WHERE action = 'page' AND payload ->> 'how' = 'over'`)
}

// TestWizardLeavesOut checks that a wizard does not offer a person who has left the ranking, and
// refuses that person's name. No wizard starts by or against that person.
func TestWizardLeavesOut(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, alice, carol, 3, 1)
	start := func(sender command.Person, opponent *command.Person) ranking.Notice {
		t.Helper()
		o := g.origin(&sender)
		must(t, g.Do(t.Context(), o, ranking.StartWizard{Opponent: opponent}))
		return g.notice(t, o.Key)
	}
	offered := func(n ranking.Notice) string {
		t.Helper()
		prompt, ok := n.(ranking.OpponentPrompt)
		if !ok {
			t.Fatalf("the notice is %+v", n)
		}
		var names []string
		for _, o := range prompt.Opponents {
			names = append(names, o.Name)
		}
		return strings.Join(names, " ")
	}
	asked := start(alice, nil)
	equal(t, "offered", "Carol Bob", offered(asked))
	ref := g.newestPrompt(t)
	g.leave(t, carol, ranking.HowLeft)
	o := below(77, g.origin(&alice))
	o.Button = o.Key
	must(t, g.Do(t.Context(), o, answerBy(ref, ranking.ScoreAgainst{Score: ladder.Score{A: 3}})))
	checkNotice(t, g.callbackAnswer(t, o), isOut(ranking.PlayerOut, "Carol"))
	equal(t, "offered", "Bob", offered(start(alice, nil)))
	checkNotice(t, start(alice, &carol), isOut(ranking.PlayerOut, "Carol"))
	checkNotice(t, start(carol, nil), isOut(ranking.SenderOut, "Carol"))
	g.has(t, 2, "matches")
}

// TestFixWithWhoLeft checks that neither a fix nor an edit enters a person who has left.
func TestFixWithWhoLeft(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	reported := g.origin(&alice)
	must(t, g.RecordMatch(t.Context(), reported, singles(alice, bob, 3, 1)))
	g.leave(t, carol, ranking.HowLeft)
	o := saying(g.origin(&alice), "match", "@ @", alice, carol)
	must(t, g.Do(t.Context(), o, ranking.FixPlayers{Amendment: ofMatch(1), Lineup: o.Said}))
	checkNotice(t, g.notice(t, o.Key), isOut(ranking.PlayerOut, "Carol"))
	edit := g.origin(&alice)
	edit.Message, edit.Trigger = reported.Key, ranking.ByEdit
	must(t, g.RecordMatch(t.Context(), edit, singles(alice, carol, 3, 1)))
	checkNotice(t, g.notice(t, edit.Key), isOut(ranking.PlayerOut, "Carol"))
	g.has(t, 0, "match_players JOIN players ON id = player_id WHERE display_name = 'Carol'")
}

// TestRemoveWhoCounts checks that the removal of a player for whom two others count does not harm
// these two, even if their only match was against each other and therefore does not count.
func TestRemoveWhoCounts(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	dave, eve, grandma := command.Person{Username: "dave"}, command.Person{Username: "eve"}, g.addGuestTo(t)
	g.record(t, &alice, dave, eve, 3, 1)
	for _, from := range []string{"dave", "eve"} {
		g.asAdmin(t, &zoe, ranking.MergePlayers{From: g.player(t, from), Into: grandma.Player})
	}
	g.remove(t, "Grandma", false)
	if n, ok := g.asAdmin(t, &zoe, ranking.SplitPlayer{Player: g.player(t, "dave")}).(ranking.PlayersMerged); !ok {
		t.Fatalf("the split is answered with %+v", n)
	}
	equal(t, "those who have played", []string{"Grandma 1", "dave 1"},
		texts(t, g, `SELECT concat_ws(' ', name, played) FROM group_players WHERE played > 0 ORDER BY name COLLATE "C"`))
}
