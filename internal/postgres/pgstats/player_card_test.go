package pgstats_test

import (
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestPlayerCard checks that a player's card lists all players who count as that player, with the
// number of the group's matches in which each was named. All of them have the same card, as does an
// unclaimed player merged long ago. A group has no card for a player whom it does not know.
func TestPlayerCard(t *testing.T) {
	t.Parallel()
	w, store, alice, bob, carol := crowd(t)
	club := dbtest.Ladder(t, w.Pool, dbtest.Club.ID)
	read := func(p ladder.PlayerID) stats.PlayerCard {
		t.Helper()
		c, err := store.PlayerCard(t.Context(), club, p)
		dbtest.Must(t, err)
		return c
	}
	named := func(p ladder.PlayerID, matches int) stats.NamedPlayer {
		return stats.NamedPlayer{Name: ranking.Name{Player: p}, Matches: matches}
	}
	want := stats.PlayerCard{
		Name: ranking.Name{Player: bob}, Username: "bob", Account: true, Names: []stats.NamedPlayer{named(bob, 2)},
	}
	dbtest.Equal(t, "an account", want, read(bob), cmpopts.EquateEmpty())
	guest := dbtest.Value[ladder.PlayerID](t, w.Pool, `
		INSERT INTO players (group_id, display_name, folded) SELECT id, 'Tom', 'tom' FROM groups RETURNING id`)
	dbtest.Equal(t, "a guest", stats.PlayerCard{
		Name: ranking.Name{Player: guest}, Names: []stats.NamedPlayer{named(guest, 0)},
	}, read(guest), cmpopts.EquateEmpty())
	old := dbtest.Value[ladder.PlayerID](t, w.Pool,
		`INSERT INTO players (display_name, merged_into) VALUES ('bobby', $1) RETURNING id`, bob)
	dbtest.Exec(t, w.Pool, `
		INSERT INTO sightings (group_id, player_id, counts_as) SELECT id, $1, $2 FROM groups;`, guest, bob)
	dbtest.Exec(t, w.Pool, `UPDATE sightings SET nick = 'Bobby', out_at = now() WHERE player_id = $1`, bob)
	dbtest.Exec(t, w.Pool, `UPDATE match_players SET named_id = $1 WHERE player_id = $2
		AND match_id = (SELECT id FROM matches WHERE number = 3)`, guest, bob)
	want.Own, want.Out, want.Merged = "Bob", true, []string{"bobby"}
	want.Names = []stats.NamedPlayer{named(bob, 1), named(guest, 1)}
	for _, p := range []ladder.PlayerID{bob, guest, old} {
		dbtest.Equal(t, "one of three", want, read(p))
	}
	if c := read(alice); len(c.Names) != 1 || c.Names[0].Matches != 3 {
		t.Errorf("the card of another player is %+v", c)
	}
	dbtest.Exec(t, w.Pool, `INSERT INTO chats (telegram_chat_id, kind) VALUES (-200, 'group');
		INSERT INTO groups (chat_id) SELECT id FROM chats WHERE telegram_chat_id = -200;`)
	dbtest.Exec(t, w.Pool, `UPDATE sightings SET group_id = (SELECT max(id) FROM groups) WHERE player_id = $1`, carol)
	if c := read(carol); len(c.Names) != 1 {
		t.Errorf("the card of a player who was not seen is %+v", c)
	}
	dbtest.Exec(t, w.Pool, `DELETE FROM group_players WHERE player_id = $1`, carol)
	if c := read(carol); len(c.Names) != 0 {
		t.Errorf("the card of a player of another group is %+v", c)
	}
}
