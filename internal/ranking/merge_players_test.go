package ranking_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// merged returns the notices of merges in a chat.
func (g *game) merged(t *testing.T, chat ranking.ExternalChatID) []ranking.PlayersMerged {
	t.Helper()
	return notices[ranking.PlayersMerged](t, g, `
		kind = 'players_merged' AND chat_id = (SELECT id FROM chats WHERE telegram_chat_id = $1)`, int64(chat))
}

// TestMergePlayers: once Zoe's account shows the username under which others mentioned her, the two
// players become one, and her match against herself is undone.
func TestMergePlayers(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	named := command.Person{Username: "zoe"}
	g.record(t, &alice, alice, named, 3, 1) // zoe 1484, Alice 1516
	g.record(t, &bob, bob, zoe, 3, 1)       // Zoe, by her account: 1484, Bob 1516
	g.record(t, &zoe, zoe, named, 3, 1)     // 1500 : 1468 – against herself
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

// TestMergeBeforeUndo: an undo by Zoe finds her last match even if it was reported under her
// username.
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

func (s *conflictingMerge) LockPlayers(
	ctx context.Context, unclaimed, claimed ladder.PlayerID,
) (ranking.Merging, *ranking.Mapping, error) {
	if s.met.CompareAndSwap(false, true) {
		return nil, nil, ranking.ErrConflict
	}
	return s.Store.LockPlayers(ctx, unclaimed, claimed)
}

// TestMergeConflicts: two players who are the same person are merged before a match is recorded for
// them, even if the merge first conflicts with another transaction.
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

// TestMergeWithoutMatches: an unclaimed player is merged into the account of the same person even
// if an edit has given the player's only match to somebody else.
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
