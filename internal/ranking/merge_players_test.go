package ranking_test

import (
	"cmp"
	"context"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// merged returns the notices of merges in a chat.
func (g *game) merged(t *testing.T, chat ranking.ExternalChatID) []ranking.PlayersMerged {
	t.Helper()
	return notices[ranking.PlayersMerged](t, g, `
		kind = 'players_merged' AND chat_id = (SELECT id FROM chats WHERE telegram_chat_id = $1)`, int64(chat))
}

// TestMergePlayers checks that once Zoe's account shows the username under which others mentioned
// her, the two players become one, and her match against herself is undone.
func TestMergePlayers(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	named := command.Person{Username: "zoe"}
	g.record(t, &alice, alice, named, 3, 1) // zoe 1484, Alice 1516
	g.record(t, &bob, bob, zoe, 3, 1)       // Zoe, by her account: 1484, Bob 1516
	g.record(t, &zoe, zoe, named, 3, 1)     // Zoe 1500, zoe 1468, the same person
	g.record(t, &carol, carol, named, 3, 1) // zoe 1453, Carol 1515
	elsewhere := g.origin(&alice)
	elsewhere.Chat.ID = -200
	must(t, g.RecordMatch(t.Context(), elsewhere, singles(alice, named, 3, 1)))

	withName := zoe
	withName.Username = "Zoe"
	page := g.page(t, &withName)
	type row struct {
		Name           string
		Elo, Won, Lost int
	}
	var got []row
	for _, r := range page.Rows {
		got = append(got, row{r.Name.Name, r.Elo, r.Won, r.Lost})
	}
	// Zoe loses to Alice (−16), to Bob (−15) and to Carol (−15).
	want := []row{{"Alice", 1516, 1, 0}, {"Bob", 1515, 1, 0}, {"Carol", 1515, 1, 0}, {"Zoe", 1454, 0, 3}}
	equal(t, "the ranking", want, got)
	equal(t, "the notices", []ranking.PlayersMerged{{
		Username: "zoe", Name: ranking.Name{Name: "Zoe"}, Undone: []int{3},
		Moved: ranking.Moved{Ratings: []ranking.RatingChange{change("Zoe", 1500, 1454), change("Bob", 1516, 1515)}},
	}}, g.merged(t, club.ID), cmpopts.EquateEmpty())
	if notices := g.merged(t, -200); len(notices) > 0 {
		t.Errorf("a group without changed ratings is notified: %+v", notices)
	}
	cards := g.cards(t, 3)
	if len(cards) != 1 || !cards[0].Undone || cards[0].UndoneBy != nil {
		t.Errorf("the card of the match against oneself: %+v", cards)
	}
	standings := func() int {
		return g.count(t, "group_players s JOIN players p ON p.id = s.player_id WHERE p.telegram_user_id = 26")
	}
	if n := standings(); n != 1 {
		t.Errorf("Zoe has %d standings, although she has not been seen in the other group", n)
	}
	there := g.origin(&withName)
	there.Chat.ID = -200
	must(t, g.ShowRanking(t.Context(), there))
	if n := standings(); n != 2 {
		t.Errorf("Zoe has %d standings, want one in each group", n)
	}
	g.verifyClean(t)

	// From now on, the username means Zoe.
	checkNotice(t, g.record(t, &alice, alice, named, 0, 3), ranking.MatchRecorded{
		Number: 5, Sides: [2]ranking.Side{side(3, "Zoe", 1454, 1473), side(0, "Alice", 1516, 1497)},
	})
	if n := len(g.merged(t, club.ID)); n != 1 {
		t.Errorf("the group was notified of the merge %d times, want 1", n)
	}
	checkNotice(t, g.undo(t, &withName, matchNumber(3)), ranking.Refusal{Code: ranking.UndoneAlready, Number: 3})
}

// TestMergeBeforeUndo checks that an undo by Zoe finds her last match even if it was reported under
// her username.
func TestMergeBeforeUndo(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &zoe, zoe, bob, 3, 1)
	g.record(t, &alice, alice, command.Person{Username: "zoe"}, 3, 1)
	withName := zoe
	withName.Username = "zoe"
	if n, ok := g.undo(t, &withName, ranking.Amendment{}).(ranking.MatchUndone); !ok || n.Number != 2 {
		t.Errorf("notice is %+v", n)
	}
}

// conflictingMerge is a store whose first merge conflicts with another transaction.
type conflictingMerge struct {
	ranking.Store
	met atomic.Bool
}

func (s *conflictingMerge) Lock(ctx context.Context, q ranking.Query) (ranking.Locked, *ranking.Snapshot, error) {
	if s.met.CompareAndSwap(false, true) {
		return nil, nil, ranking.ErrConflict
	}
	return s.Store.Lock(ctx, q)
}

// TestMergeConflicts checks that two players who are the same person are merged before a match is
// recorded for them, even if the merge first conflicts with another transaction.
func TestMergeConflicts(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &bob, bob, command.Person{Username: "zoe"}, 3, 1)
	g.record(t, &zoe, zoe, bob, 3, 1)
	named := zoe
	named.Username = "zoe"
	g.Service = g.newService(&conflictingMerge{Store: g.store})
	g.record(t, &named, named, bob, 3, 2)
	g.has(t, 2, "group_players WHERE named_id IS DISTINCT FROM player_id")
	g.verifyClean(t)
}

// TestMergeWithoutMatches checks that an unclaimed player is merged into the account of the same
// person even if an edit has given the player's only match to somebody else.
func TestMergeWithoutMatches(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.report(t, &carol, 0, singles(carol, command.Person{Username: "zed"}, 3, 1)) // m:1
	must(t, g.RecordMatch(t.Context(), editOf(&carol, "m:1", 60), singles(carol, bob, 3, 1)))
	g.pressWizard(t, &carol, ranking.Choice(0))
	must(t, g.Do(t.Context(), g.origin(&alice), ranking.Join{}))
	renamed := alice
	renamed.Username = "zed"
	must(t, g.Do(t.Context(), g.origin(&renamed), ranking.Join{}))
	g.has(t, 1, "sightings WHERE counts_as IS NOT NULL")
	g.hasMatches(t, "m:1 Carol Bob 3:1")
}

// TestClaimOfMerged checks that if an unclaimed player was merged into another player, an account
// that shows the username takes only the username. The matches in which the unclaimed player was
// named stay with the other player, whether or not that player has a standing of their own.
func TestClaimOfMerged(t *testing.T) {
	t.Parallel()
	for name, hasOwn := range map[string]bool{"own standing": true, "passed standing": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			dave, account := command.Person{Username: "dave"}, command.Person{ID: 90, Name: "David"}
			g.record(t, &alice, alice, dave, 3, 1)
			g.join(t, bob)
			if !hasOwn {
				g.exec(t, `DELETE FROM group_players WHERE name = 'Bob'`)
			}
			g.asAdmin(t, &zoe, ranking.MergePlayers{From: g.player(t, "dave"), Into: g.player(t, "Bob")})
			g.record(t, &account, account, carol, 3, 1)
			g.record(t, &bob, bob, alice, 3, 1)
			before := texts(t, g, `SELECT to_jsonb(s)::text FROM group_players s WHERE name = 'Bob'`)
			account.Username = "dave"
			must(t, g.ShowRanking(t.Context(), g.origin(&account)))
			equal(t, "Bob's standing", before, texts(t, g, `SELECT to_jsonb(s)::text FROM group_players s WHERE name = 'Bob'`))
			g.has(t, 1, "match_players WHERE named_id IS NOT NULL")
			equal(t, "a match of @dave", "Alice 3:2 David", sidesOf(t, g.record(t, &alice, alice, dave, 3, 2)))
		})
	}
}

// TestClaimTooFarBack checks that if a merge of an unclaimed player into an account would replay
// too many matches, an account that shows the username takes only the username.
func TestClaimTooFarBack(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	dave, account := command.Person{Username: "dave"}, command.Person{ID: 90, Name: "David"}
	g.record(t, &alice, alice, dave, 3, 1)
	g.record(t, &account, account, alice, 3, 1)
	g.Service = g.newServiceOn(g.store, ranking.Settings{ResultsPerMinute: -1, LongestReplay: 1})
	account.Username = "dave"
	must(t, g.ShowRanking(t.Context(), g.origin(&account)))
	g.has(t, 0, "sightings WHERE counts_as IS NOT NULL")
	equal(t, "a match of @dave", "Alice 3:2 David", sidesOf(t, g.record(t, &alice, alice, dave, 3, 2)))
}

// TestSplitAgainstResult checks that a result is decided again if one of its players is split from
// another player between the decision and the write. This also holds if nobody had a standing in
// the ladder.
func TestSplitAgainstResult(t *testing.T) {
	t.Parallel()
	g := newLadders(t)
	dave := command.Person{Username: "dave"}
	g.record(t, &alice, alice, dave, 3, 1)
	g.asAdmin(t, &zoe, ranking.MergePlayers{From: g.player(t, "dave"), Into: g.player(t, "Bob")})
	store := &overtakenApply{Store: newStore(g.pool), do: func() {
		g.asAdmin(t, &zoe, ranking.SplitPlayer{Player: g.player(t, "dave")})
	}}
	g.inLadder(t, "padel", &alice, 60, func(o ranking.Origin) error {
		return g.newService(store).RecordMatch(t.Context(), o, singles(alice, dave, 3, 1))
	})
	equal(t, "those who play padel", []string{"Alice", "dave"}, texts(t, g, `
		SELECT s.name FROM group_players s JOIN ladders l USING (season_id) WHERE l.name = 'padel' ORDER BY s.name`))
}

// TestClaimByTheMerged checks that a person for whose account an unclaimed player counts can show
// that player's username. The nick stays.
func TestClaimByTheMerged(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	named, before, withName := command.Person{Username: "zoe"}, command.Person{Username: "zed"}, zoe
	withName.Username = "zoe"
	g.record(t, &alice, alice, named, 3, 1)
	g.record(t, &alice, bob, before, 3, 1)
	g.asAdmin(t, &alice, ranking.Rename{Player: g.player(t, "zoe"), Nick: "Ace"})
	g.asAdmin(t, &alice, ranking.MergePlayers{From: g.player(t, "zed"), Into: g.player(t, "zoe")})
	before.ID, before.Name = zoe.ID, zoe.Name
	for _, who := range []*command.Person{&before, &withName} {
		must(t, g.ShowRanking(t.Context(), g.origin(who)))
		g.mustRank(t, "Zoe has shown a username", "Alice Bob Ace")
		g.has(t, 1, "sightings WHERE counts_as IS NOT NULL")
	}
	g.has(t, 0, "players WHERE username = 'zoe' AND telegram_user_id IS NULL")
}

// TestClaimOfGuest checks that if an unclaimed player counts as a guest or as another unclaimed
// player, that player counts as the account as soon as the account is seen. The ratings stay. An
// account that was removed as a guest stays out until it joins; an admin cannot bring it back.
func TestClaimOfGuest(t *testing.T) {
	t.Parallel()
	for _, other := range []command.Person{{Name: "Oma"}, {Username: "oma"}} {
		g := newGame(t)
		dave := command.Person{Username: "dave"}
		g.record(t, &alice, alice, dave, 3, 1)
		if other.Username == "" {
			other = g.addGuest(t, "Oma")
		}
		g.record(t, &alice, alice, other, 1, 3)
		g.record(t, &bob, bob, dave, 3, 1)
		oma := g.player(t, cmp.Or(other.Name, other.Username))
		g.asAdmin(t, &zoe, ranking.MergePlayers{From: g.player(t, "dave"), Into: oma})
		before := texts(t, g, `SELECT elo::text FROM group_players WHERE player_id = $1`, oma)
		g.asAdmin(t, &zoe, ranking.RemovePlayer{Player: oma})
		notices := g.count(t, "outbox")

		account := command.Person{ID: 90, Username: "dave", Name: "David"}
		must(t, g.ShowRanking(t.Context(), g.origin(&account)))
		g.has(t, notices+1, "outbox") // only the ranking
		david := g.player(t, "David")
		card := g.asAdmin(t, &zoe, ranking.Ask{Question: stats.PlayerCardQuestion{Player: david}, OfAdmins: true})
		if c := card.(stats.PlayerCard); !c.Account || !c.Out || len(c.Names) != 2 {
			t.Errorf("the card is %+v", c)
		}
		checkNotice(t, g.record(t, &alice, alice, other, 3, 0), isOut(ranking.PlayerOut, "David"))
		checkNotice(t, g.asAdmin(t, &zoe, ranking.RemovePlayer{Player: david, Back: true}), isOut(ranking.PlayerOut, "David"))
		g.join(t, account)
		equal(t, "the rating", before, texts(t, g, `SELECT elo::text FROM group_players WHERE player_id = $1`, david))
		equal(t, "a match", "Alice 3:0 David", sidesOf(t, g.record(t, &alice, alice, other, 3, 0)))
		g.verifyClean(t)
	}
}

// TestMergeReplaysOthers checks that a merge and a split can replay a match in which another player
// already counts for somebody else.
func TestMergeReplaysOthers(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	dave, eve := command.Person{Username: "dave"}, command.Person{Username: "eve"}
	g.report(t, &alice, 0, singles(alice, bob, 3, 1))
	teams := command.Match{A: []command.Person{carol, dave}, B: []command.Person{zoe, eve}, Scores: []ladder.Score{{A: 3}}}
	g.report(t, &alice, 60, teams)
	want := g.standings(t)
	g.asAdmin(t, &zoe, ranking.MergePlayers{From: g.player(t, "dave"), Into: g.player(t, "Bob")})
	g.asAdmin(t, &zoe, ranking.MergePlayers{From: g.player(t, "eve"), Into: g.player(t, "Carol")})
	g.verifyClean(t) // Bob last played in match 1
	g.asAdmin(t, &zoe, ranking.SplitPlayer{Player: g.player(t, "eve")})
	g.asAdmin(t, &zoe, ranking.SplitPlayer{Player: g.player(t, "dave")})
	equal(t, "the standings after the splits", want, g.standings(t))
}

// TestUndoOfTheMerged checks that a person who counts as another player can undo and restore the
// last match without naming it, and that the ranking marks the player's row.
func TestUndoOfTheMerged(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, carol, 3, 1)
	g.record(t, &alice, alice, bob, 3, 1)
	g.asAdmin(t, &zoe, ranking.MergePlayers{From: g.player(t, "Bob"), Into: g.player(t, "Carol")})
	if n, ok := g.undo(t, &bob, ranking.Amendment{}).(ranking.MatchUndone); !ok || n.Number != 2 {
		t.Errorf("the undo is answered with %+v", n)
	}
	o := g.origin(&bob)
	must(t, g.Do(t.Context(), o, ranking.RestoreMatch{}))
	if n, ok := g.notice(t, o.Key).(ranking.MatchRestored); !ok || n.Number != 2 {
		t.Errorf("the restore is answered with %+v", n)
	}
	for _, row := range g.page(t, &bob).Rows {
		if row.Mine != (row.Name.Name == "Carol") {
			t.Errorf("the ranking shows Bob the row %+v", row)
		}
	}
}
