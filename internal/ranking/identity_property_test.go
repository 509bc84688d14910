package ranking_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/plainladder"
	"elobot/internal/ranking"
)

var otherClub = ranking.Chat{ID: -200, Kind: ranking.Supergroup, Title: "Other Club"}

// playedMatch is a match of the model. Its players are accounts or, if unclaimed, usernames.
type playedMatch struct {
	A, B   string
	Undone bool
}

// peopleOfGroup models who is who in a group. Usernames are in lower case.
type peopleOfGroup struct {
	seen      map[string]string // username → the account last seen with it
	unclaimed map[string]bool
	matches   []playedMatch
}

// identities models who is who in all groups. It follows the documented rules, not the code.
type identities struct {
	known  map[string]bool // accounts
	groups map[ranking.ExternalChatID]*peopleOfGroup
}

func newIdentities() *identities {
	m := &identities{known: make(map[string]bool), groups: make(map[ranking.ExternalChatID]*peopleOfGroup)}
	for _, chat := range []ranking.Chat{club, otherClub} {
		m.groups[chat.ID] = &peopleOfGroup{seen: make(map[string]string), unclaimed: make(map[string]bool)}
	}
	return m
}

func accountOf(p command.Person) string { return fmt.Sprint(p.ID) }

// see records that a group has seen an account with a username. needed reports whether a command
// needs the person as a player. Otherwise, an unknown person becomes known only by claiming a
// player.
func (m *identities) see(chat ranking.ExternalChatID, p command.Person, needed bool) {
	g, account, username := m.groups[chat], accountOf(p), strings.ToLower(p.Username)
	claims := g.unclaimed[username]
	if !m.known[account] && !needed && !claims {
		return
	}
	m.known[account] = true
	for name, holder := range g.seen {
		if holder == account {
			delete(g.seen, name)
		}
	}
	if username != "" {
		g.seen[username] = account
	}
	if !claims {
		return
	}
	delete(g.unclaimed, username)
	for i := range g.matches {
		match := &g.matches[i]
		if slices.Contains([]string{match.A, match.B}, account) && slices.Contains([]string{match.A, match.B}, username) {
			match.Undone = true
			continue // the account cannot play against itself
		}
		for _, player := range []*string{&match.A, &match.B} {
			if *player == username && !match.Undone {
				*player = account
			}
		}
	}
}

// mentioned returns the player meant by a username in a group, and adds an unclaimed player if
// there is none.
func (m *identities) mentioned(chat ranking.ExternalChatID, username string) string {
	g, username := m.groups[chat], strings.ToLower(username)
	if account := g.seen[username]; account != "" {
		return account
	}
	g.unclaimed[username] = true
	return username
}

// identityGame takes the same steps with the service and with the model.
type identityGame struct {
	*game
	*identities
	tb rapid.TB
}

func (g *identityGame) send(
	chat ranking.Chat, sender command.Person, command func(context.Context, ranking.Origin) error,
) {
	g.tb.Helper()
	o := g.origin(&sender)
	o.Chat = chat
	if err := command(context.Background(), o); err != nil {
		g.tb.Fatalf("%s: %v", o.Key, err)
	}
}

// match has the sender report a win over a mentioned person.
func (g *identityGame) match(chat ranking.Chat, sender command.Person, username string) {
	g.tb.Helper()
	g.send(chat, sender, func(ctx context.Context, o ranking.Origin) error {
		return g.RecordMatch(ctx, o, singles(sender, named(username), 3, 1))
	})
	g.see(chat.ID, sender, true)
	of := g.groups[chat.ID]
	of.matches = append(of.matches, playedMatch{A: accountOf(sender), B: g.mentioned(chat.ID, username)})
}

// show has an update show a person to the group, without a command that needs the person as a
// player. If how is "asks", the person asks for the ranking. If it is "is replied to", Carol sends
// a command in reply to the person. Otherwise, the update is about membership.
func (g *identityGame) show(chat ranking.Chat, who command.Person, how string) {
	g.tb.Helper()
	g.send(chat, carol, func(ctx context.Context, o ranking.Origin) error {
		switch how {
		case "asks":
			o.Sender = &who
			return g.ShowRanking(ctx, o)
		case "is replied to":
			o.VisibleUsers = []command.Person{who}
			return g.Do(ctx, o, ranking.Say{Notice: ranking.Refusal{Code: ranking.NoDraws}})
		default:
			o.Sender, o.VisibleUsers = nil, []command.Person{who}
			return g.MembersSeen(ctx, o)
		}
	})
	if how == "is replied to" {
		g.see(chat.ID, carol, false)
	}
	g.see(chat.ID, who, false)
}

// check compares the stored players, matches and ratings of both groups with the model.
func (g *identityGame) check(t *testing.T) {
	t.Helper()
	const player = `(SELECT coalesce(p.telegram_user_id::text, lower(p.username), (
		SELECT 'merged into ' || i.telegram_user_id 
		FROM players i JOIN sightings s ON s.counts_as = i.id WHERE s.player_id = p.id))
		FROM match_players mp JOIN players p ON p.id = mp.player_id WHERE mp.match_id = m.id AND mp.side = %d)`
	for chat, of := range g.groups {
		got := rows[playedMatch](t, g.game, fmt.Sprintf(`SELECT `+player+`, `+player+`, m.undone_at IS NOT NULL
			FROM matches m JOIN groups g ON g.id = m.group_id JOIN chats c ON c.id = g.chat_id
			WHERE c.telegram_chat_id = $1 ORDER BY m.number`, 1, 2), chat)
		var want []playedMatch
		var counted []plainladder.Match
		for _, m := range of.matches {
			if m.Undone { // the merged player stays in the match
				for _, player := range []*string{&m.A, &m.B} {
					if !isAccount(*player) {
						*player = "merged into " + other(m, *player)
					}
				}
			} else {
				counted = append(counted, plainladder.Match{A: []string{m.A}, B: []string{m.B}, ScoreA: 3, ScoreB: 1})
			}
			want = append(want, m)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			g.tb.Errorf("matches in %d (-want +got):\n%s", chat, diff)
		}
		table := g.standingTable(t, chat, "coalesce(p.telegram_user_id::text, lower(p.username))")
		for who, s := range table {
			if s.Played == 0 {
				delete(table, who)
			}
		}
		wanted := plainladder.Play(nil, counted).Standings
		if diff := cmp.Diff(wanted, table); diff != "" {
			g.tb.Errorf("standings in %d (-want +got):\n%s", chat, diff)
		}
	}
	if found := verify(t, g.store); len(found) > 0 {
		g.tb.Errorf("verify finds %+v", found)
	}
}

func isAccount(player string) bool { return strings.Trim(player, "0123456789") == "" }

func other(m playedMatch, player string) string {
	if m.A == player {
		return m.B
	}
	return m.A
}

// TestSameUsernameInAllOrders checks that if one username belongs to different people in two
// groups, and both groups have mentioned the username, each group tells its people apart, no matter
// in which order all this happened.
func TestSameUsernameInAllOrders(t *testing.T) {
	t.Parallel()
	bobby, zoeAsBob := bob, zoe
	zoeAsBob.Username = bob.Username
	steps := map[string]func(g *identityGame){
		"mentioned here":  func(g *identityGame) { g.match(club, alice, "bob") },
		"mentioned there": func(g *identityGame) { g.match(otherClub, alice, "BOB") },
		"Bob here":        func(g *identityGame) { g.match(club, bobby, "carol") },
		"Zoe there":       func(g *identityGame) { g.match(otherClub, zoeAsBob, "carol") },
	}
	d := pgtest.Borrow(t)
	for _, order := range permutations([]string{"mentioned here", "mentioned there", "Bob here", "Zoe there"}) {
		must(t, d.Empty(t.Context()))
		g := &identityGame{newGameOn(d), newIdentities(), t}
		for _, step := range order {
			steps[step](g)
		}
		g.match(club, zoeAsBob, "alice") // Zoe appears here with that username, too
		g.match(club, alice, "bob")
		g.match(otherClub, alice, "bob")
		g.check(t)
		if t.Failed() {
			t.Fatalf("in the order %q", order)
		}
	}
}

// TestAnyoneWithAnyUsername checks that while a few people with changing usernames play, ask and
// are seen in two groups, players, matches and ratings agree with the model.
func TestAnyoneWithAnyUsername(t *testing.T) {
	t.Parallel()
	d := pgtest.Borrow(t)
	rapid.Check(t, func(rt *rapid.T) {
		if err := d.Empty(context.Background()); err != nil {
			rt.Fatal(err)
		}
		g := &identityGame{newGameOn(d), newIdentities(), rt}
		usernames := []string{"a", "A", "b", "c"}
		for range rapid.IntRange(4, 14).Draw(rt, "steps") {
			chat := rapid.SampledFrom([]ranking.Chat{club, otherClub}).Draw(rt, "chat")
			who := someone(rapid.SampledFrom([]ladder.UserID{1, 2, 4}).Draw(rt, "id"),
				rapid.SampledFrom(append(usernames, "")).Draw(rt, "username"), "Somebody")
			how := rapid.SampledFrom([]string{"plays", "plays", "plays", "asks",
				"is replied to", "joins the group"}).Draw(rt, "how")
			mention := rapid.SampledFrom(usernames).Draw(rt, "mention")
			switch {
			case how != "plays":
				g.show(chat, who, how)
			case !strings.EqualFold(mention, who.Username): // otherwise the match is refused
				g.match(chat, who, mention)
			}
		}
		g.check(t)
	})
}
