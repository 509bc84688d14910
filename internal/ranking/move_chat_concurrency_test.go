package ranking_test

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// TestMoveConcurrently checks that each command is handled and only one chat remains if two
// instances handle a move at once, while they also handle reports, joins, undos and merges in both
// chats.
func TestMoveConcurrently(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	instances := []*ranking.Service{g.Service, g.newInstance()}
	for round := range moveRounds {
		older := ranking.ExternalChatID(-1000 * (round + 1))
		u := newUpgrade(g, older)
		if round&1 != 0 { // otherwise a concurrent command creates the chat
			u.report(t, u.older, alice, bob)
		}
		if round&2 != 0 {
			u.report(t, u.newer, bob, carol)
		}
		ghost := command.Person{Username: fmt.Sprintf("ghost%d", round)}
		seen := command.Person{ID: ladder.UserID(1000 + round), Username: ghost.Username, Name: "Ghost"}
		var work errgroup.Group
		for i, service := range instances {
			for c, chat := range []ranking.Chat{u.older, u.newer} {
				origin := func(n int) ranking.Origin {
					sender := fourPlayers[(n+c)%4]
					return ranking.Origin{
						Key: fmt.Sprintf("m:%d:%d", chat.ID, 1000*(i+1)+n), Chat: chat, Sender: &sender,
						// The rounds are a minute apart to stay below the question limit.
						SentAt: time.Now().Add(time.Duration(round) * time.Minute),
					}
				}
				work.Go(func() error {
					for n := range 4 {
						o, err := origin(n), error(nil)
						switch n % 4 {
						case 0:
							err = service.RecordMatch(t.Context(), o, singles(*o.Sender, ghost, 3, 1))
						case 1:
							err = service.Do(t.Context(), o, ranking.Join{})
						case 2:
							err = service.RecordMatch(t.Context(), o, singles(*o.Sender, seen, 3, i))
						case 3:
							err = service.Do(asAdmin(t), o, ranking.UndoMatch{Amendment: ranking.Amendment{}})
						}
						if err != nil {
							return fmt.Errorf("instance %d, command %d in %s: %w", i, n, chat.Title, err)
						}
					}
					return nil
				})
				work.Go(func() error { return service.MoveChat(t.Context(), u.older.ID, u.newer.ID) })
			}
		}
		must(t, work.Wait())
		u.move(t)
		if got := u.chats(t); len(got) != 1 {
			t.Errorf("the chats are %v, want one", got)
		}
		g.has(t, 16, fmt.Sprintf(`handled_commands WHERE key LIKE 'm:%d:____' OR key LIKE 'm:%d:____'`,
			u.older.ID, u.newer.ID))
	}
	if n := g.count(t, `outbox WHERE payload->>'code' = 'inconsistent'`); n > 0 {
		t.Errorf("%d commands found inconsistent ratings", n)
	}
	g.has(t, moveRounds, `chats`)
}

// TestButtonsAfterMove checks that buttons of cards from before the move still undo the match on
// the card, unless the match's group was detached.
func TestButtonsAfterMove(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	u := newUpgrade(g, -1000)
	u.report(t, u.older, alice, bob)
	u.report(t, u.older, alice, bob)
	u.report(t, u.newer, alice, bob)
	u.move(t)
	for _, tc := range []struct {
		chat   ranking.Chat
		number int            // of the button
		match  ladder.MatchID // of the card
		undone ladder.MatchID
	}{
		{u.newer, 1, 3, 0}, {u.newer, 1, 1, 1}, {u.older, 1, 1, 1}, {u.newer, 2, 2, 2},
	} {
		o := u.from(tc.chat, alice)
		o.Button = o.Key
		key := texts(t, g, `SELECT idempotency_key FROM matches WHERE id = $1`, tc.match)[0]
		amendment := ranking.Amendment{
			Match: ranking.MatchRef{Number: tc.number, Tag: ranking.TagOf(key)}, Changes: new(int),
		}
		must(t, g.Do(t.Context(), o, ranking.UndoMatch{Amendment: amendment}))
		got := rows1[ladder.MatchID](t, g, `SELECT coalesce(max(id), 0) FROM matches WHERE undone_at IS NOT NULL`)[0]
		if got != tc.undone {
			t.Errorf("the button of match %d, #%d, undoes %d, want %d", tc.match, tc.number, got, tc.undone)
		}
		g.exec(t, `UPDATE matches SET undone_at = NULL, undone_by = NULL, changes = 0`)
		season := rows1[ladder.SeasonID](t, g, `SELECT season_id FROM matches WHERE id = 1`)[0]
		if _, err := ranking.Repair(t.Context(), g.store, u.newer.ID, season); err != nil {
			t.Fatal(err)
		}
	}
}
