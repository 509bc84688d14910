package ranking_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// upgrade is a group that becomes a supergroup, with the matches that it must have.
type upgrade struct {
	*game
	older, newer ranking.Chat
	messages     map[ranking.ExternalChatID]int
	before       []countedMatch // matches of the older chat, and after the move of both
	since        []countedMatch // matches of the newer chat before the move
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
func (u *upgrade) from(chat ranking.Chat, sender ranking.Person) ranking.Origin {
	u.messages[chat.ID]++
	n := u.messages[chat.ID]
	return ranking.Origin{
		Key: fmt.Sprintf("m:%d:%d", chat.ID, n), Chat: chat, Sender: &sender, SentAt: time.Unix(1_700_000_000, 0),
		ReplyTo: int64(100 + n), Thread: 8,
	}
}

// report has the winner report a match in a chat.
func (u *upgrade) report(t *testing.T, chat ranking.Chat, winner, loser ranking.Person) {
	t.Helper()
	must(t, u.RecordMatch(t.Context(), u.from(chat, winner), singles(winner, loser, 3, 1)))
	list := &u.before
	if chat.ID == u.newer.ID && !u.moved {
		list = &u.since
	}
	*list = append(*list, countedMatch{A: []string{winner.Name}, B: []string{loser.Name}, ScoreA: 3, ScoreB: 1})
}

// move moves the older chat to the id of the newer one.
func (u *upgrade) move(t *testing.T) {
	t.Helper()
	must(t, u.MoveChat(t.Context(), u.older.ID, u.newer.ID))
	if !u.moved {
		u.moved = true
		u.before = append(u.before, u.since...)
	}
}

// chats returns the chats to which either id refers, with their former ids.
func (u *upgrade) chats(t *testing.T) []string {
	t.Helper()
	return texts(t, u.game, `
		SELECT c.id || ' ' || c.telegram_chat_id || ' ' || c.kind || ' ' || c.title || ' ' ||
		       ARRAY(SELECT telegram_chat_id FROM chat_aliases WHERE chat_id = c.id ORDER BY 1)::text
		FROM chats c WHERE c.telegram_chat_id IN ($1, $2)
		   OR c.id IN (SELECT chat_id FROM chat_aliases WHERE telegram_chat_id IN ($1, $2))`, u.older.ID, u.newer.ID)
}

// mustBeOne checks that both ids refer to the chat, and that its ladder has all matches in the right order and the ratings
// of the reference calculation.
func (u *upgrade) mustBeOne(t *testing.T, chat ranking.ChatID) {
	t.Helper()
	want := fmt.Sprintf("%d %d supergroup %s {%d}", chat, u.newer.ID, u.newer.Title, u.older.ID)
	if diff := cmp.Diff([]string{want}, u.chats(t)); diff != "" {
		t.Errorf("the chats (-want +got):\n%s", diff)
	}
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
	if diff := cmp.Diff(numbers, stored); diff != "" {
		t.Errorf("the matches (-want +got):\n%s", diff)
	}
	got := u.standingTable(t, u.newer.ID, byName)
	maps.DeleteFunc(got, func(_ string, p standingRow) bool { return p.Played == 0 })
	table, _ := recalculate(nil, u.before)
	if diff := cmp.Diff(table, got); diff != "" {
		t.Errorf("the ranking (-reference +stored):\n%s", diff)
	}
}

func texts(t *testing.T, g *game, sql string, args ...any) []string {
	t.Helper()
	type text struct{ Text string }
	var all []string
	for _, r := range rows[text](t, g, sql, args...) {
		all = append(all, r.Text)
	}
	return all
}

// chatID returns the store's id of a chat.
func (g *game) chatID(t *testing.T, chat ranking.ExternalChatID) (id ranking.ChatID) {
	t.Helper()
	must(t, g.pool.QueryRow(t.Context(), `SELECT id FROM chats WHERE telegram_chat_id = $1`, chat).Scan(&id))
	return id
}

// permutations returns all distinct permutations of words.
func permutations(words []string) [][]string {
	if len(words) == 0 {
		return [][]string{nil}
	}
	var all [][]string
	for i, first := range words {
		if slices.Index(words, first) < i {
			continue // duplicate word
		}
		for _, others := range permutations(slices.Concat(words[:i], words[i+1:])) {
			all = append(all, slices.Concat([]string{first}, others))
		}
	}
	return all
}

// TestMoveInAnyOrder delivers two updates about a move in any order, together with commands in the new chat (if it is
// known) and a late command from the old chat. After each of them it redelivers a command that was handled before.
func TestMoveInAnyOrder(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	group := ranking.ExternalChatID(0)
	for newChat, steps := range map[string][]string{
		"unknown": {"move", "move", "late"}, "empty": {"move", "move", "new", "late"}, "with matches": {"move", "move", "new", "late"},
	} {
		for _, order := range permutations(steps) {
			group -= 1000
			u := newUpgrade(g, group)
			u.report(t, u.older, alice, bob)
			u.report(t, u.older, carol, alice)
			chat, wantJoined := g.chatID(t, u.older.ID), 0
			for _, step := range order {
				if step == "move" && !u.moved && len(u.since) > 0 {
					wantJoined++
				}
				u.step(t, step, newChat)
				redelivered := u.from(u.older, alice)
				redelivered.Key = fmt.Sprintf("m:%d:1", u.older.ID)
				must(t, u.RecordMatch(t.Context(), redelivered, singles(alice, bob, 3, 1)))
			}
			u.report(t, u.newer, carol, zoe)
			u.mustBeOne(t, chat)
			if got := u.groupsJoined(t, chat); len(got) != wantJoined {
				t.Errorf("notices are %+v, want %d", got, wantJoined)
			}
			if t.Failed() {
				t.Fatalf("the new chat is %s, and the steps are %v", newChat, order)
			}
		}
	}
}

// step delivers one update.
func (u *upgrade) step(t *testing.T, what, newChat string) {
	t.Helper()
	switch {
	case what == "move":
		u.move(t)
	case what == "late":
		u.report(t, u.older, alice, zoe)
	case newChat == "empty":
		must(t, u.Join(t.Context(), u.from(u.newer, zoe)))
	case newChat == "with matches":
		u.report(t, u.newer, bob, carol)
		u.report(t, u.newer, zoe, bob)
	}
}

// groupsJoined returns the notices of joined groups in a chat.
func (g *game) groupsJoined(t *testing.T, chat ranking.ChatID) []ranking.GroupsMerged {
	t.Helper()
	var all []ranking.GroupsMerged
	for _, payload := range texts(t, g, `
		SELECT payload::text FROM outbox WHERE chat_id = $1 AND kind = 'groups_merged' ORDER BY id`, chat) {
		all = append(all, decode[ranking.GroupsMerged](t, g, []byte(payload)).(ranking.GroupsMerged))
	}
	return all
}

// TestMoveIsIdempotent: a repeated move changes nothing, and neither does a move of unknown chats.
func TestMoveIsIdempotent(t *testing.T) {
	t.Parallel()
	for name, known := range map[string][]int{"nobody": nil, "the old one": {0}, "the new one": {1}, "both": {0, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			u := newUpgrade(g, -1000)
			for _, i := range known {
				u.report(t, []ranking.Chat{u.older, u.newer}[i], alice, bob)
			}
			u.move(t)
			once := g.everything(t)
			if len(known) == 0 && strings.TrimSpace(once) != "" {
				t.Errorf("the database is not empty:\n%s", once)
			}
			for range 2 {
				u.move(t)
				must(t, g.MoveChat(t.Context(), u.newer.ID, u.newer.ID))
			}
			if diff := cmp.Diff(once, g.everything(t)); diff != "" {
				t.Errorf("the second move changed something (-once +twice):\n%s", diff)
			}
		})
	}
}

// everything returns the contents of all tables.
func (g *game) everything(t *testing.T) string {
	t.Helper()
	var all []string
	for _, table := range texts(t, g, `
		SELECT relname::text FROM pg_class
		WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'schema_migrations' ORDER BY 1`) {
		all = append(all, texts(t, g, fmt.Sprintf(`SELECT '%s ' || r::text FROM %[1]s r ORDER BY 1`, table))...)
	}
	return strings.Join(all, "\n")
}

// TestMoveOfAnUnknownChat: after the move of an unknown chat, late commands from its old id reach the new chat.
func TestMoveOfAnUnknownChat(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	u := newUpgrade(g, -1000)
	u.report(t, u.newer, alice, bob)
	chat := g.chatID(t, u.newer.ID)
	u.move(t)
	u.report(t, u.older, bob, carol)
	u.mustBeOne(t, chat)
	if got := u.groupsJoined(t, chat); len(got) > 0 {
		t.Errorf("notice is %+v", got)
	}
}

// TestMoveOfAnEmptyGroup: matches that are appended to a group without matches stay unchanged.
func TestMoveOfAnEmptyGroup(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	u := newUpgrade(g, -1000)
	u.report(t, u.newer, alice, bob)
	u.report(t, u.newer, bob, carol)
	must(t, g.Join(t.Context(), u.from(u.older, carol)))
	chat := g.chatID(t, u.older.ID)
	u.move(t)
	u.mustBeOne(t, chat)
	if got := u.groupsJoined(t, chat); len(got) > 0 {
		t.Errorf("notice is %+v", got)
	}
	g.has(t, 0, "elo_history WHERE superseded_at IS NOT NULL")
}

// TestMoveTwice moves a chat twice, with the updates in any order, and then records a match from each of its ids.
func TestMoveTwice(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	group := ranking.ExternalChatID(0)
	for _, lastChat := range []string{"unknown", "with matches"} {
		for _, order := range permutations([]string{"first", "second", "between"}) {
			group -= 1000
			u := newUpgrade(g, group)
			between := ranking.Chat{ID: u.older.ID - 500_000, Kind: ranking.Supergroup, Title: "Title between"}
			u.report(t, u.older, alice, bob)
			chat := g.chatID(t, u.older.ID)
			if lastChat == "with matches" {
				u.report(t, u.newer, bob, carol)
			}
			for range 2 { // the second round redelivers what came too early
				for _, step := range order {
					var err error
					switch step {
					case "first":
						err = g.MoveChat(t.Context(), u.older.ID, between.ID)
					case "second":
						err = g.MoveChat(t.Context(), between.ID, u.newer.ID)
					case "between":
						err = g.Answer(t.Context(), u.from(between, zoe), ranking.Refusal{})
					}
					must(t, err)
				}
			}
			u.moved, u.before = true, append(u.before, u.since...)
			for _, chat := range []ranking.Chat{u.older, between, u.newer} {
				u.report(t, chat, carol, alice)
			}
			want := []string{fmt.Sprintf("%d %d supergroup New title {%d,%d}", chat, u.newer.ID, between.ID, u.older.ID)}
			if diff := cmp.Diff(want, u.chats(t)); diff != "" {
				t.Fatalf("the chats (-want +got):\n%s", diff)
			}
			g.exec(t, `DELETE FROM chat_aliases WHERE telegram_chat_id = $1`, between.ID)
			u.mustBeOne(t, chat)
			if t.Failed() {
				t.Fatalf("the last chat is %s, and the steps are %v", lastChat, order)
			}
		}
	}
}

// TestLateCommand: a command from the old id counts for the chat after the move. Its answer replies to no message, because
// another one may have its id by now, and it does not change the chat's title.
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
	if got, want := last(), (row{ranking.KindMatchRecorded, 101, 8}); got != want {
		t.Errorf("a command is answered with %+v, want %+v", got, want)
	}
	for name, command := range map[string]func(ranking.Origin) error{
		ranking.KindMatchUndone: func(o ranking.Origin) error { return g.UndoMatch(t.Context(), o, matchNumber(1)) },
		ranking.KindJoined:      func(o ranking.Origin) error { return g.Join(t.Context(), o) },
		stats.KindRankingPage:   func(o ranking.Origin) error { return g.ShowRanking(t.Context(), o) },
		ranking.KindMatchRecorded: func(o ranking.Origin) error {
			return g.RecordMatch(t.Context(), o, singles(zoe, carol, 3, 1))
		},
	} {
		must(t, command(u.from(u.older, alice)))
		if name == ranking.KindMatchUndone { // otherwise the edit of its card is the last notice
			g.exec(t, `DELETE FROM outbox WHERE action = 'edit'`)
		}
		if got, want := last(), (row{name, 0, 0}); got != want {
			t.Errorf("a late command is answered with %+v, want %+v", got, want)
		}
	}
	want := []string{fmt.Sprintf("1 %d supergroup New title {%d}", u.newer.ID, u.older.ID)}
	if diff := cmp.Diff(want, u.chats(t)); diff != "" {
		t.Errorf("the chats (-want +got):\n%s", diff)
	}
}

// TestMoveUpdatesCards: a move updates waiting cards and does not change sent ones.
func TestMoveUpdatesCards(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	u := newUpgrade(g, -1000)
	u.report(t, u.older, alice, bob) // 1516, 1484
	u.report(t, u.older, alice, bob) // 1531, 1469
	bobby := ranking.Person{ID: 77, Name: "Bob"}
	for _, report := range []ranking.Report{
		singles(zoe, alice, 3, 1), // sent
		singles(bob, alice, 1, 3),
		singles(carol, zoe, 2, 3), // to be fixed
		singles(alice, zoe, 3, 1), // to be undone
		singles(bobby, bob, 3, 1), // being sent
		{
			A: []ranking.Person{zoe, carol}, B: []ranking.Person{alice, bob},
			Scores: []ranking.Score{{A: 11, B: 7}, {A: 11, B: 9}},
		},
	} {
		must(t, g.RecordMatch(t.Context(), u.from(u.newer, carol), report))
	}
	amendment := func(n int) ranking.Amendment {
		return ranking.Amendment{Match: ranking.MatchRef{Number: n}, IsAdmin: admin}
	}
	must(t, g.FixMatch(t.Context(), u.from(u.newer, zoe), amendment(3), []ranking.Score{{A: 1, B: 2}}))
	must(t, g.UndoMatch(t.Context(), u.from(u.newer, zoe), amendment(4)))
	g.exec(t, `UPDATE outbox SET state = 'sent', finished_at = now() WHERE match_id = 3`)
	g.exec(t, `UPDATE outbox SET state = 'sending', attempts = 1 WHERE match_id = 7`)
	type row struct {
		Match   int
		Payload []byte
	}
	cards := func() map[int]ranking.MatchRecorded {
		all := make(map[int]ranking.MatchRecorded)
		for _, r := range rows[row](t, g, `SELECT match_id, payload FROM outbox WHERE kind = 'match_recorded' ORDER BY id`) {
			all[r.Match] = decode[ranking.MatchRecorded](t, g, r.Payload).(ranking.MatchRecorded)
		}
		return all
	}
	before := cards()
	if got := before[4].NewPlayers; len(got) != 1 || got[0].Name != "Bob" {
		t.Fatalf("new in #2: %v", got)
	}
	u.move(t)
	after := cards()
	for match := range 3 { // those of the older group and the sent one
		if diff := cmp.Diff(before[match+1], after[match+1]); diff != "" {
			t.Errorf("the card of match %d (-before +after):\n%s", match+1, diff)
		}
	}
	side := func(score int, all ...ranking.RatingChange) ranking.Side {
		return ranking.Side{Score: score, Players: all}
	}
	bob, otherBob := ranking.Name{Name: "Bob"}, ranking.Name{Name: "Bob"}
	named := func(name ranking.Name, before, after int) ranking.RatingChange {
		return ranking.RatingChange{Name: name, Before: before, After: after}
	}
	byCarol := &ranking.Reporter{Name: &ranking.Name{Name: "Carol"}}
	undone := before[6]
	undone.Number = 6
	for match, want := range map[int]ranking.MatchRecorded{
		4: { // its players are not new here; Zoe gained 17 in the match before, 1500 : 1531
			Number: 4, ReportedBy: byCarol,
			Sides: [2]ranking.Side{side(3, change("Alice", 1514, 1528)), side(1, named(bob, 1469, 1455))},
		},
		5: {
			Number: 5, Changes: 1, Was: &ranking.OldScore{Score: [2]int{2, 3}},
			Sides: [2]ranking.Side{side(2, change("Carol", 1500, 1517)), side(1, change("Zoe", 1517, 1500))},
		},
		6: undone,
		7: {
			Number: 7, ReportedBy: byCarol, NewPlayers: []ranking.Name{otherBob},
			Sides: [2]ranking.Side{side(3, named(otherBob, 1500, 1514)), side(1, named(bob, 1455, 1441))},
		},
		8: {
			Number: 8, Sets: []ranking.SetScore{{11, 7}, {11, 9}},
			Sides: [2]ranking.Side{
				side(2, change("Zoe", 1500, 1515), change("Carol", 1517, 1532)),
				side(0, change("Alice", 1528, 1513), named(bob, 1441, 1426)),
			},
		},
	} {
		checkNotice(t, after[match], want)
	}
	want := []ranking.GroupsMerged{{First: 3, Count: 6}}
	if diff := cmp.Diff(want, g.groupsJoined(t, g.chatID(t, u.newer.ID))); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
}
