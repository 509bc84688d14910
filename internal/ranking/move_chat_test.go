package ranking_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"elobot/internal/command"
	"elobot/internal/plainladder"
	"elobot/internal/ranking"
)

// upgrade is a group that becomes a supergroup, and the matches expected in it.
type upgrade struct {
	*game
	older, newer ranking.Chat
	messages     map[ranking.ExternalChatID]int
	before       []plainladder.Match // in the older chat; after the move, of the remaining group
	since        []plainladder.Match // in the newer chat before the move
	moved        bool
}

func newUpgrade(g *game, older ranking.ExternalChatID) *upgrade {
	return &upgrade{
		game:     g,
		older:    ranking.Chat{ID: older, Kind: ranking.Group, Title: "Old title"},
		newer:    ranking.Chat{ID: older - 1_000_000, Kind: ranking.Supergroup, Title: "New title"},
		messages: make(map[ranking.ExternalChatID]int),
	}
}

// from returns the origin of the next message of a sender in a chat.
func (u *upgrade) from(chat ranking.Chat, sender command.Person) ranking.Origin {
	u.messages[chat.ID]++
	n := u.messages[chat.ID]
	return ranking.Origin{
		Key: fmt.Sprintf("m:%d:%d", chat.ID, n), Chat: chat, Sender: &sender, SentAt: time.Unix(1_700_000_000, 0),
		Place: ranking.Place{ReplyTo: int64(100 + n), Thread: 8},
	}
}

// report has the winner report a match in a chat.
func (u *upgrade) report(t *testing.T, chat ranking.Chat, winner, loser command.Person) {
	t.Helper()
	must(t, u.RecordMatch(t.Context(), u.from(chat, winner), singles(winner, loser, 3, 1)))
	list := &u.before
	if chat.ID == u.newer.ID && !u.moved {
		list = &u.since
	}
	*list = append(*list, plainladder.Match{A: []string{winner.Name}, B: []string{loser.Name}, ScoreA: 3, ScoreB: 1})
}

// move moves the older chat to the id of the newer chat.
func (u *upgrade) move(t *testing.T) {
	t.Helper()
	must(t, u.MoveChat(t.Context(), u.older.ID, u.newer.ID))
	u.joined()
}

// joined updates the expected matches after the move: the chat keeps the newer group if that group
// has more matches, and the older group otherwise.
func (u *upgrade) joined() {
	if !u.moved && len(u.since) > len(u.before) {
		u.before = u.since
	}
	u.moved = true
}

// chats returns the chats that either id refers to, with their former ids.
func (u *upgrade) chats(t *testing.T) []string {
	t.Helper()
	return texts(t, u.game, `
		SELECT c.id || ' ' || c.telegram_chat_id || ' ' || c.kind || ' ' || c.title || ' ' ||
		       ARRAY(SELECT telegram_chat_id FROM chat_aliases WHERE chat_id = c.id ORDER BY 1)::text
		FROM chats c WHERE c.telegram_chat_id IN ($1, $2)
		   OR c.id IN (SELECT chat_id FROM chat_aliases WHERE telegram_chat_id IN ($1, $2))`, u.older.ID, u.newer.ID)
}

// mustBeOne checks that both ids refer to one chat, and that its ladder has all matches in order,
// with the ratings of the reference calculation.
func (u *upgrade) mustBeOne(t *testing.T) {
	t.Helper()
	chat := u.chatID(t, u.newer.ID)
	want := fmt.Sprintf("%d %d supergroup %s {%d}", chat, u.newer.ID, u.newer.Title, u.older.ID)
	equal(t, "the chats", []string{want}, u.chats(t))
	type number struct {
		Number        int
		Winner, Loser string
	}
	var numbers []number
	for i, b := range u.before {
		numbers = append(numbers, number{i + 1, b.A[0], b.B[0]})
	}
	stored := rows[number](t, u.game, `
		SELECT m.number, a.display_name, b.display_name FROM matches m
		JOIN groups g ON g.id = m.group_id
		JOIN match_players pa ON pa.match_id = m.id AND pa.side = 1 JOIN players a ON a.id = pa.player_id
		JOIN match_players pb ON pb.match_id = m.id AND pb.side = 2 JOIN players b ON b.id = pb.player_id
		WHERE g.chat_id = $1 ORDER BY m.number`, chat)
	equal(t, "the matches", numbers, stored)
	got := u.standingTable(t, u.newer.ID, byName)
	maps.DeleteFunc(got, func(_ string, p plainladder.Standing) bool { return p.Played == 0 })
	table := plainladder.Play(nil, u.before).Standings
	equal(t, "the ranking, as calculated", table, got)
}

func texts(t *testing.T, g *game, sql string, args ...any) []string {
	t.Helper()
	return rows1[string](t, g, sql, args...)
}

// chatID returns the id that the store has given to a chat.
func (g *game) chatID(t *testing.T, chat ranking.ExternalChatID) ranking.ChatID {
	t.Helper()
	return rows1[ranking.ChatID](t, g, `SELECT id FROM chats WHERE telegram_chat_id = $1`, chat)[0]
}

// permutations returns all distinct permutations of words.
func permutations(words []string) [][]string {
	if len(words) == 0 {
		return [][]string{nil}
	}
	var all [][]string
	for i, first := range words {
		if slices.Index(words, first) < i {
			continue // repeated word
		}
		for _, others := range permutations(slices.Concat(words[:i], words[i+1:])) {
			all = append(all, slices.Concat([]string{first}, others))
		}
	}
	return all
}

// TestMoveInAnyOrder checks that the two updates about a move may arrive in any order, mixed with
// commands in the new chat, if it is known, and with a late command from the old chat. A command
// that is redelivered after any of these updates changes nothing.
func TestMoveInAnyOrder(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	group := ranking.ExternalChatID(0)
	for newChat, steps := range map[string][]string{
		"unknown": {"move", "move", "late"}, "empty": {"move", "move", "new", "late"},
		"with matches": {"move", "move", "new", "late"}, "with more matches": {"move", "move", "new", "late"},
	} {
		for _, order := range permutations(steps) {
			group -= 1000
			u := newUpgrade(g, group)
			u.report(t, u.older, alice, bob)
			u.report(t, u.older, carol, alice)
			var want []ranking.GroupDetached
			for _, step := range order {
				if step == "move" && !u.moved && len(u.since) > 0 {
					older, newer := len(u.before), len(u.since)
					want = append(want, ranking.GroupDetached{Kept: max(older, newer), Detached: min(older, newer)})
				}
				u.step(t, step, newChat)
				redelivered := u.from(u.older, alice)
				redelivered.Key = fmt.Sprintf("m:%d:1", u.older.ID)
				must(t, u.RecordMatch(t.Context(), redelivered, singles(alice, bob, 3, 1)))
			}
			u.report(t, u.newer, carol, zoe)
			u.mustBeOne(t)
			equal(t, "notices", want, u.told(t))
			if t.Failed() {
				t.Fatalf("the new chat is %s, and the steps are %v", newChat, order)
			}
		}
	}
}

// step delivers the updates of the named step. newChat is a key of the map in TestMoveInAnyOrder.
func (u *upgrade) step(t *testing.T, what, newChat string) {
	t.Helper()
	switch {
	case what == "move":
		u.move(t)
	case what == "late":
		u.report(t, u.older, alice, zoe)
	case newChat == "empty":
		must(t, u.Do(t.Context(), u.from(u.newer, zoe), ranking.Join{}))
	default:
		u.report(t, u.newer, bob, carol)
		u.report(t, u.newer, zoe, bob)
		if newChat == "with more matches" {
			u.report(t, u.newer, bob, zoe)
			u.report(t, u.newer, alice, zoe)
		}
	}
}

// told returns the chat's notices about detached groups.
func (u *upgrade) told(t *testing.T) []ranking.GroupDetached {
	t.Helper()
	return notices[ranking.GroupDetached](t, u.game, `chat_id = $1 AND kind = 'group_detached'`, u.chatID(t, u.newer.ID))
}

// TestDetachedGroup checks that of two groups with matches, the group with fewer matches is
// detached or, in a tie, the newer group. The log says so once, and Verify still checks the
// detached group.
func TestDetachedGroup(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		older, newer int // number of matches in each group
		detached     string
	}{
		"fewer in the newer": {2, 1, "newer"}, "fewer in the older": {1, 2, "older"}, "as many": {1, 1, "newer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			g.corrupted = true
			u, logged := newUpgrade(g, -1000), &logRecords{}
			groups := make(map[string]ranking.GroupID)
			for _, chat := range []struct {
				name string
				ranking.Chat
				matches int
			}{{"older", u.older, tc.older}, {"newer", u.newer, tc.newer}} {
				for range chat.matches {
					u.report(t, chat.Chat, alice, bob)
				}
				groups[chat.name] = rows1[ranking.GroupID](t, g,
					`SELECT id FROM groups WHERE chat_id = $1`, g.chatID(t, chat.ID))[0]
			}
			s := newQuietService(g.store, logged)
			for range 2 {
				must(t, s.MoveChat(t.Context(), u.older.ID, u.newer.ID))
			}
			u.joined()
			u.mustBeOne(t)
			g.verifyClean(t)
			detached := groups[tc.detached]
			if len(logged.all) != 1 || logged.all[0]["group_id"] != detached || logged.all[0]["chat_id"] != u.newer.ID ||
				logged.all[0]["matches"] != int64(min(tc.older, tc.newer)) {
				t.Errorf("logged %v", logged.all)
			}
			found, err := g.store.DetachedGroups(t.Context(), u.older.ID)
			must(t, err)
			want := []ranking.DetachedGroup{
				{Group: detached, Matches: min(tc.older, tc.newer), Chat: u.newer.ID, Title: u.newer.Title},
			}
			equal(t, "groups without a chat", want, found)
			g.exec(t, `UPDATE group_players SET streak = 0`)
			var differ []ranking.GroupID
			must(t, ranking.Verify(t.Context(), g.store, u.newer.ID, func(f ranking.Finding) {
				differ = append(differ, f.Detached)
				if f.Chat != u.newer.ID || f.Title != u.newer.Title {
					t.Errorf("found %+v", f)
				}
			}, func(ranking.Progress) {}))
			slices.Sort(differ)
			equal(t, "groups of the differences, 0 for the one with the chat",
				[]ranking.GroupID{0, 0, detached, detached}, differ)
		})
	}
}

// TestMoveOfAnUnknownChat checks that after the move of an unknown chat to a known chat, late
// commands from the old id reach the new chat. A move between two unknown ids does nothing.
func TestMoveOfAnUnknownChat(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	u := newUpgrade(g, -1000)
	u.move(t)
	g.has(t, 0, "chats")
	g.has(t, 0, "chat_aliases")
	u.report(t, u.newer, alice, bob)
	u.move(t)
	u.report(t, u.older, bob, carol)
	u.mustBeOne(t)
	if got := u.told(t); len(got) > 0 {
		t.Errorf("notice is %+v", got)
	}
}

// TestMoveOfAnEmptyGroup checks that if one of the groups has no matches, the chat keeps the other
// group, with the people of both groups and the settings of the older group.
func TestMoveOfAnEmptyGroup(t *testing.T) {
	t.Parallel()
	for _, empty := range []string{"older", "newer"} {
		t.Run(empty, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			u := newUpgrade(g, -1000)
			played, unplayed := u.older, u.newer
			if empty == "older" {
				played, unplayed = unplayed, played
			}
			u.report(t, played, alice, bob)
			u.report(t, played, bob, carol)
			must(t, g.Do(t.Context(), u.from(unplayed, carol), ranking.Join{}))
			must(t, g.Do(t.Context(), u.from(unplayed, zoe), ranking.Join{}))
			for k, chat := range map[string]ranking.Chat{"16": u.older, "24": u.newer} {
				o := u.from(chat, carol)
				o.Button, o.Pressed = o.Key, 55
				must(t, g.Do(asAdmin(t), o, choice("k", k)))
			}
			for name, value := range map[string]string{ranking.SettingWeb: ranking.On, ranking.SettingSeasons: ranking.Monthly} {
				o := u.from(u.older, carol)
				o.Button, o.Pressed = o.Key, 55
				must(t, g.Do(asAdmin(t), o, choice(name, value)))
			}
			g.exec(t, `
				INSERT INTO players (group_id, username, display_name)
				SELECT id, name, name FROM groups, (VALUES ('dave', 2), ('Dave', 0), ('erin', 0)) AS unclaimed (name, matches)
				WHERE last_match_number = matches`)
			salt := `SELECT coalesce(web_salt::text, '') FROM groups g JOIN chats c ON c.id = g.chat_id
				WHERE telegram_chat_id = $1 AND web_on`
			link := texts(t, g, salt, u.older.ID)
			u.move(t)
			u.mustBeOne(t)
			if got := u.told(t); len(got) > 0 {
				t.Errorf("notice is %+v", got)
			}
			if got := rows1[int](t, g, `SELECT k_factor FROM ladders`); !slices.Equal(got, []int{16}) {
				t.Errorf("the K-factors of the ladders are %v, want that of the older group", got)
			}
			if got := texts(t, g, salt, u.newer.ID); len(link) != 1 || link[0] == "" || !slices.Equal(got, link) {
				t.Errorf("the salt of the web board is %q, want that of the older group, %q", got, link)
			}
			g.has(t, 1, "ladders WHERE season_months = 1")
			people := texts(t, g, `
				SELECT concat_ws(' ', p.display_name, s.name, p.group_id = (SELECT id FROM groups)) FROM players p
				LEFT JOIN group_players s ON s.player_id = p.id WHERE p.merged_into IS NULL ORDER BY 1`)
			want := []string{"Alice Alice", "Bob Bob", "Carol Carol", "Zoe Zoe", "dave t", "erin t"}
			equal(t, "people with their standings", want, people)
			g.has(t, 0, "elo_history WHERE superseded_at < 'infinity'")
			g.has(t, 1, "groups")

			// The current season has an end, and no timer of the other group remains.
			must(t, g.fire(t.Context(), g.Service))
			g.has(t, 1, "ladders JOIN seasons s ON s.id = season_id WHERE s.ends_at IS NOT NULL")
			g.has(t, 1, "timers")
		})
	}
}

// TestLateCommand checks that after the move, a command from the old id takes effect in the chat.
// The chat keeps its title. The answer is neither a reply nor in a topic, because the old ids of
// messages and topics may now mean others.
func TestLateCommand(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	u := newUpgrade(g, -1000)
	u.report(t, u.older, alice, bob)
	u.move(t)
	u.report(t, u.newer, alice, bob)
	type row struct {
		Kind          string
		Reply, Thread int64
	}
	last := func() row {
		return rows[row](t, g, `
			SELECT kind, coalesce(reply_to, 0), coalesce(thread_id, 0) FROM outbox ORDER BY id DESC LIMIT 1`)[0]
	}
	if got, want := last(), (row{"match_recorded", 101, 8}); got != want {
		t.Errorf("a command is answered with %+v, want %+v", got, want)
	}
	for name, command := range map[string]func(ranking.Origin) error{
		"match_undone": func(o ranking.Origin) error {
			return g.Do(t.Context(), o, ranking.UndoMatch{Amendment: matchNumber(1)})
		},
		"joined":       func(o ranking.Origin) error { return g.Do(t.Context(), o, ranking.Join{}) },
		"ranking_page": func(o ranking.Origin) error { return g.ShowRanking(t.Context(), o) },
		"match_recorded": func(o ranking.Origin) error {
			return g.RecordMatch(t.Context(), o, singles(zoe, carol, 3, 1))
		},
	} {
		must(t, command(u.from(u.older, alice)))
		if name == "match_undone" { // otherwise the last notice is the edit of the card
			g.exec(t, `DELETE FROM outbox WHERE action = 'edit'`)
		}
		if got, want := last(), (row{name, 0, 0}); got != want {
			t.Errorf("a late command is answered with %+v, want %+v", got, want)
		}
	}
	want := []string{fmt.Sprintf("1 %d supergroup New title {%d}", u.newer.ID, u.older.ID)}
	equal(t, "the chats", want, u.chats(t))
}

// TestVerifyDetached checks that a group whose players were merged is still found consistent after
// it has lost its chat.
func TestVerifyDetached(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	u := newUpgrade(g, -1000)
	for range 3 {
		u.report(t, u.older, alice, bob)
	}
	named := zoe
	named.Username = "zoe"
	u.report(t, u.newer, alice, command.Person{Username: "zoe"})
	must(t, u.RecordMatch(t.Context(), u.from(u.newer, zoe), singles(zoe, bob, 3, 1)))
	must(t, u.ShowRanking(t.Context(), u.from(u.newer, named)))
	g.has(t, 1, "sightings WHERE counts_as IS NOT NULL")
	u.move(t)
	g.verifyClean(t)
}
