package ranking_test

import (
	"strings"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
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

// TestLeave: who has left the ranking is not shown there and cannot be entered in a match, but can
// do everything else, and comes back only by joining.
func TestLeave(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	o := g.origin(nil)
	must(t, g.Do(t.Context(), o, ranking.Leave{}))
	checkNotice(t, g.notice(t, o.Key), ranking.Refusal{Code: ranking.NobodyToJoin})
	g.record(t, &alice, alice, bob, 3, 1)
	g.record(t, &alice, alice, carol, 3, 1)
	g.leave(t, carol, ranking.HowLeft)
	g.leave(t, carol, ranking.HowAlready)
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
	g.has(t, 3, "players") // nobody was added by what was refused
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

// TestLeaveUnplayed: a group keeps the wish of a person who has no match there, but nothing else.
// The wish survives a departure from the chat.
func TestLeaveUnplayed(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.leave(t, alice, ranking.HowNoted)
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

// TestLeaveAllLadders: the wish holds in all ladders of the group, even those in which the person
// has not played, and a new player there is no reason to end it.
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

// TestRemovePlayer: admins remove any player. Of a guest or an unclaimed player without a match,
// nothing stays.
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

	// a player whose only match is undone stays, without a match nothing does
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

// addGuestTo makes the club known and adds the guest Grandma.
func (g *game) addGuestTo(t *testing.T) command.Person {
	t.Helper()
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.Join{}))
	return g.addGuest(t, "Grandma")
}

// TestLeaveAgainstResult: a result that was decided before a person left, and is written after
// that, is decided again.
func TestLeaveAgainstResult(t *testing.T) {
	t.Parallel()
	for name, isNew := range map[string]bool{"known": false, "new": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			g.record(t, &alice, alice, zoe, 3, 1)
			if !isNew {
				g.record(t, &alice, alice, bob, 3, 1)
			} else { // Bob is known from another group
				o := g.origin(&bob)
				o.Chat.ID--
				must(t, g.Do(t.Context(), o, ranking.Join{}))
			}
			before := g.count(t, "matches")
			how := map[bool]ranking.HowOut{false: ranking.HowLeft, true: ranking.HowNoted}[isNew]
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

// TestPromptsOfWhoLeft: open prompts that name a person who leaves are closed, and their messages
// say why. Others stay open, and whatever is pressed, nobody who left is entered.
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

// TestWizardLeavesOut: a wizard does not offer who has left the ranking, is not started against
// them or by them, and refuses their name.
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

// TestFixWithWhoLeft: neither a fix nor an edit enters a person who has left.
func TestFixWithWhoLeft(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	reported := g.origin(&alice)
	must(t, g.RecordMatch(t.Context(), reported, singles(alice, bob, 3, 1)))
	g.leave(t, carol, ranking.HowNoted)
	o := saying(g.origin(&alice), "match", "@ @", alice, carol)
	must(t, g.Do(t.Context(), o, ranking.FixPlayers{Amendment: ofMatch(1), Lineup: o.Said}))
	checkNotice(t, g.notice(t, o.Key), isOut(ranking.PlayerOut, "Carol"))
	edit := g.origin(&alice)
	edit.Message, edit.Trigger = reported.Key, ranking.ByEdit
	must(t, g.RecordMatch(t.Context(), edit, singles(alice, carol, 3, 1)))
	checkNotice(t, g.notice(t, edit.Key), isOut(ranking.PlayerOut, "Carol"))
	g.has(t, 0, "match_players JOIN players ON id = player_id WHERE display_name = 'Carol'")
}
