package ranking_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// rename sends a Rename, and returns the answer.
func (g *game) rename(t *testing.T, sender *command.Person, r ranking.Rename) ranking.Notice {
	t.Helper()
	return g.renameAs(t.Context(), t, sender, r)
}

func (g *game) renameAs(ctx context.Context, t *testing.T, sender *command.Person, r ranking.Rename) ranking.Notice {
	t.Helper()
	o := g.origin(sender)
	o.SentAt = o.SentAt.Add(time.Duration(g.keys) * 5 * time.Second) // below the rate limit
	must(t, g.Do(ctx, o, r))
	return g.notice(t, o.Key)
}

func (g *game) join(t *testing.T, who command.Person) {
	t.Helper()
	must(t, g.Do(t.Context(), g.origin(&who), ranking.Join{}))
}

func (g *game) player(t *testing.T, name string) ladder.PlayerID {
	t.Helper()
	return dbtest.Value[ladder.PlayerID](t, g.pool, `SELECT id FROM players WHERE display_name = $1`, name)
}

const shownNames = `SELECT string_agg(name, ' ' ORDER BY id) FROM group_players`

// TestNick checks that a nick is the name in all current standings, until it ends. Messages that
// show another name of the account do not change it, and both names mean the player in a report.
func TestNick(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	checkNotice(t, g.rename(t, &bob, ranking.Rename{}), ranking.NickShown{Name: "Bob"})
	checkNotice(t, g.rename(t, &bob, ranking.Rename{Nick: "Big Lebowski"}),
		ranking.Renamed{Was: "Bob", Name: "Big Lebowski"})
	checkNotice(t, g.rename(t, &bob, ranking.Rename{Nick: "Big Lebowski"}), ranking.Refusal{Code: ranking.SameSetting})
	checkNotice(t, g.rename(t, &bob, ranking.Rename{}), ranking.NickShown{Nick: "Big Lebowski", Name: "Bob"})
	checkNotice(t, g.rename(t, nil, ranking.Rename{Nick: "x"}), ranking.Refusal{Code: ranking.NobodyToName})
	checkNotice(t, g.rename(t, &zoe, ranking.Rename{Nick: "Zozo"}), ranking.Refusal{Code: ranking.NotJoined})

	robert := bob
	robert.Name = "Robert"
	g.record(t, &robert, robert, alice, 3, 1)
	equal(t, "the names", texts(t, g, shownNames), []string{"Alice Big Lebowski"})
	for i, name := range []string{"big lebowski", "Big", "Robert", `"Big L."`} {
		must(t, g.Do(t.Context(), saying(g.origin(&alice), "match", fmt.Sprint(name, " ", i+4, ":0")), ranking.ReadReport{}))
	}
	g.has(t, 6, "matches")

	g.join(t, robert)
	checkNotice(t, g.rename(t, &robert, ranking.Rename{Off: true}),
		ranking.Renamed{Was: "Big Lebowski", Name: "Robert", Off: true})
	equal(t, "the names", texts(t, g, shownNames), []string{"Alice Robert"})
	checkNotice(t, g.rename(t, &robert, ranking.Rename{Off: true}), ranking.Refusal{Code: ranking.SameSetting})
}

// TestNickEverywhere checks that a nick is also the name in the other rankings of the group, in
// rankings that the player enters later, and in new seasons, but not in another group.
func TestNickEverywhere(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.exec(t, dbtest.PadelLadders(`true`))
	checkNotice(t, g.rename(t, &bob, ranking.Rename{Nick: "Lebowski"}), ranking.Renamed{Was: "Bob", Name: "Lebowski"})
	o := saying(g.origin(&alice), "match", "padel @ 3:1", bob)
	o.Said.MayNameLadder = true
	must(t, g.Do(t.Context(), o, ranking.ReadReport{}))
	equal(t, "the names", texts(t, g, shownNames), []string{"Alice Lebowski Alice Lebowski"})
	o.Key, o.Chat = "elsewhere", ranking.Chat{ID: -4242, Kind: ranking.Supergroup}
	must(t, g.Do(t.Context(), saying(o, "match", "@ 3:1", bob), ranking.ReadReport{}))
	equal(t, "the names", texts(t, g, shownNames), []string{"Alice Lebowski Alice Lebowski Alice Bob"})
}

// TestNicksRefused checks that a nick is refused if it means another player or has another meaning
// in a command.
func TestNicksRefused(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	bobSmith := command.Person{ID: bob.ID, Username: "bobby", Name: "Bob Smith"}
	dima := command.Person{ID: 77, Name: "Дима"}
	g.record(t, &alice, alice, command.Person{ID: bob.ID, Username: "old_bob", Name: "Bob Smith"}, 3, 1)
	g.record(t, &bobSmith, bobSmith, carol, 3, 1)
	g.record(t, &dima, dima, command.Person{Username: "ghost"}, 3, 1)
	g.exec(t, dbtest.PadelLadders(`true`))
	checkNotice(t, g.rename(t, &carol, ranking.Rename{Nick: "Ёжик"}), ranking.Renamed{Was: "Carol", Name: "Ёжик"})
	g.join(t, command.Person{ID: 78, Username: "quiet", Name: "Quentin"})
	g.exec(t, `DELETE FROM group_players WHERE name = 'Quentin'`) // seen, but not a player

	for nick, holder := range map[string]string{
		"bob smith": "Bob Smith", "BOB": "Bob Smith", "Bob S.": "Bob Smith", "Bobby": "Bob Smith", "old_bob": "Bob Smith",
		"ежик": "Ёжик", "carol": "Ёжик", "Диму": "Дима", "Ghost": "ghost", "quiet": "Quentin",
	} {
		checkNotice(t, g.rename(t, &alice, ranking.Rename{Nick: nick}),
			ranking.Refusal{Code: ranking.NickTaken, Name: nick, Near: &ranking.Name{Name: holder}})
	}
	for _, nick := range []string{
		"won", "Alice beat", "vs", "Draw", "ich", "победил", "42", "3:1", "Padel", "padel King", "tennis", "off",
		"today", "🔥", "Bob over", "Bob Carol", "Bob 3", "a@b", strings.Repeat("x", 33),
		"Player 2", "PERSON-7", "Persona 3", "pessoa 1", "Игрок 4", "гравець 12",
	} {
		checkNotice(t, g.rename(t, &alice, ranking.Rename{Nick: nick}),
			ranking.Refusal{Code: ranking.NickUnusable, Name: command.Excerpt(nick)})
	}
	for _, nick := range []string{"alice", "Alicia de la Hoya", "Bob Marley", "Player Two", strings.Repeat("x", 32)} {
		if n, ok := g.rename(t, &alice, ranking.Rename{Nick: nick}).(ranking.Renamed); !ok {
			t.Errorf("the nick %q is refused: %+v", nick, n)
		}
	}
}

// TestClashingNick checks that the bot asks whom a report means if a name is both a player's nick
// and a newer player's own name.
func TestClashingNick(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.rename(t, &bob, ranking.Rename{Nick: "Lebowski"})
	g.join(t, command.Person{ID: 78, Name: "Lebowski"})
	must(t, g.Do(t.Context(), saying(g.origin(&alice), "match", "lebowski 4:1"), ranking.ReadReport{}))
	g.has(t, 1, "matches")
	g.has(t, 1, "prompts WHERE kind = 'report'")
	checkNotice(t, g.rename(t, &alice, ranking.Rename{Nick: "Lebowski"}),
		ranking.Refusal{Code: ranking.NickTaken, Name: "Lebowski", Near: &ranking.Name{Name: "Lebowski"}})
}

// TestNickOfNameless checks that the answers to a player without a name have the number that
// messages show in place of the name.
func TestNickOfNameless(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.join(t, command.Person{ID: 78, Name: ranking.Nameless})
	second := command.Person{ID: 79, Name: ranking.Nameless}
	g.join(t, second)
	checkNotice(t, g.rename(t, &second, ranking.Rename{}), ranking.NickShown{Name: ranking.Nameless, Number: 2})
	checkNotice(t, g.rename(t, &second, ranking.Rename{Nick: "Zorro"}),
		ranking.Renamed{Was: ranking.Nameless, Name: "Zorro", Number: 2})
	checkNotice(t, g.rename(t, &second, ranking.Rename{}),
		ranking.NickShown{Nick: "Zorro", Name: ranking.Nameless, Number: 2})
	checkNotice(t, g.typed(t, &alice, "player 2 3:1"), // the name means nobody now
		ranking.WrongForm{Command: "match", Reason: command.ReasonUnexpectedWord, Detail: "player"})
	checkNotice(t, g.rename(t, &second, ranking.Rename{Off: true}),
		ranking.Renamed{Was: "Zorro", Name: ranking.Nameless, Off: true, Number: 2})
}

// TestRenameOthers checks that admins can rename other players, even unclaimed players and guests.
// The nick stays when the account of an unclaimed player is seen.
func TestRenameOthers(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	dave := command.Person{Username: "dave"}
	g.record(t, &alice, alice, dave, 3, 1)
	g.exec(t, `
		WITH guest AS (
		    INSERT INTO players (group_id, display_name, folded) SELECT id, 'Grandma', 'grandma' FROM groups RETURNING id)
		INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo)
		SELECT season_id, guest.id, 'Grandma', 1500, 1500, 1500 FROM guest, ladders`)
	big := ranking.Rename{Player: g.player(t, "dave"), Nick: "Big Lebowski"}
	checkNotice(t, g.renameAs(dbtest.WithAdmin(t.Context(), nobodyIsAdmin), t, &bob, big),
		ranking.Refusal{Code: ranking.AdminsOnly})
	ctx := dbtest.WithAdmin(t.Context(), admin)
	checkNotice(t, g.renameAs(ctx, t, &alice, big), ranking.Renamed{Was: "dave", Name: "Big Lebowski"})
	checkNotice(t, g.renameAs(ctx, t, &alice, ranking.Rename{Player: g.player(t, "Grandma"), Nick: "Oma"}),
		ranking.Renamed{Was: "Grandma", Name: "Oma"})
	checkNotice(t, g.renameAs(ctx, t, &alice, ranking.Rename{Player: 999, Nick: "Nope"}),
		ranking.Refusal{Code: ranking.UnknownButton})

	seen := command.Person{ID: 90, Username: "dave", Name: "David"}
	g.record(t, &seen, seen, alice, 3, 1)
	equal(t, "the names", texts(t, g, shownNames), []string{"Alice Big Lebowski Oma"})
	checkNotice(t, g.rename(t, &seen, ranking.Rename{Off: true}),
		ranking.Renamed{Was: "Big Lebowski", Name: "David", Off: true})
}
