package main_test

import (
	"fmt"
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// boardOf returns a group's board, which has a marker in its HTML. ok reports whether the group has
// exactly one.
func boardOf(group *botsim.Chat) (board botsim.Message, ok bool) {
	n := 0
	for _, m := range group.BotMessages() {
		if !m.Deleted && strings.Contains(m.HTML, "object=board") {
			board, n = m, n+1
		}
	}
	return board, n == 1
}

// awaitBoard waits until the group has exactly one board and it contains all the given texts. If
// pinned is set, the board must be the only pinned message. Otherwise, no message may be pinned.
func (b *botFixture) awaitBoard(group *botsim.Chat, pinned bool, want ...string) botsim.Message {
	b.t.Helper()
	var board botsim.Message
	eventually(b.t, fmt.Sprintf("the board says %q, pinned: %t", want, pinned), func() (ok bool) {
		if board, ok = boardOf(group); !ok {
			return false
		}
		for _, part := range want {
			ok = ok && strings.Contains(visible(board), part)
		}
		all := group.AllPinned()
		return ok && (pinned && len(all) == 1 && all[0].ID == board.ID || !pinned && len(all) == 0)
	})
	return board
}

// TestBoard runs the tests of the board with one bot.
func TestBoard(t *testing.T) {
	t.Parallel()
	b := startBotFixture(t, "BOARD_INTERVAL=100ms")
	t.Run("together", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T, *botFixture){
			"life": testBoardLife, "rights": testBoardRights, "topics": testBoardInTopics, "upgrade": testBoardOfAnUpgradedGroup,
			"an early upgrade": testBoardOfAGroupUpgradedEarly, "movement": testBoardMovement,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				own := *b
				own.t = t
				test(t, &own)
			})
		}
	})
	verifyClean(t, b.url)
}

// testBoardLife checks that the board of a group follows the ranking until it is turned off, even
// after members unpin or delete the board's message.
func testBoardLife(t *testing.T, b *botFixture) {
	group := b.group("Chess")
	group.Promote(b.sim.Bot())
	says(t, visible(b.ask(group, b.alice, "/board")), "no board yet", "/board on")
	says(t, visible(b.ask(group, b.alice, "/board on")), "admin")
	says(t, visible(b.ask(group, b.olga, "/board on")), "Here comes the board")
	board := b.awaitBoard(group, true, "No matches yet")
	if board.ReplyTo != 0 || !board.Silent {
		t.Errorf("%+v", board)
	}
	says(t, visible(b.ask(group, b.alice, "/board")), "is a board")
	b.ask(group, b.alice, "/match @bob 3:1")
	first := b.awaitBoard(group, true, "Alice 1516", "bob 1484")
	if first.ID != board.ID {
		t.Errorf("the board was sent again: %+v", first)
	}
	b.ask(group, b.alice, "/undo")
	b.awaitBoard(group, true, "No matches yet")
	b.ask(group, b.alice, "/match @bob 3:1")
	b.awaitBoard(group, true, "Alice 1516")
	group.Rename(b.olga, "Table tennis")
	b.awaitBoard(group, true, "Table tennis")
	frame := b.ask(group, b.olga, "/language")
	b.choose(b.olga, frame, "1c:language:de")
	b.awaitBoard(group, true, "Rangliste")
	b.choose(b.olga, frame, "1c:language", "1c:language:en")
	group.Leave(b.bob)
	eventually(t, "the board shows who is left", func() bool {
		m, ok := boardOf(group)
		return ok && !strings.Contains(visible(m), "1484")
	})

	group.Unpin(first) // the bot must not pin it again
	b.ask(group, b.alice, "/match @carol 3:1")
	again := b.awaitBoard(group, false, "Alice 1531")
	group.Delete(again) // the bot must send a new one
	b.ask(group, b.alice, "/match @carol 3:1")
	next := b.awaitBoard(group, true, "Alice 1545")
	group.MakeTooOld(next)
	b.ask(group, b.alice, "/match @carol 3:1")
	eventually(t, "a message that is too old is replaced", func() bool {
		all := group.AllPinned()
		return len(all) == 1 && all[0].ID > next.ID && strings.Contains(visible(all[0]), "Alice 1558")
	})
	now := group.AllPinned()[0]

	says(t, visible(b.ask(group, b.olga, "/board off")), "The board is off")
	eventually(t, "the board ends", func() bool {
		m, _ := group.Message(now.ID)
		return strings.Contains(visible(m), "As of") && strings.Contains(visible(m), "UTC") && len(group.AllPinned()) == 0
	})
	ended, _ := group.Message(now.ID)
	b.ask(group, b.alice, "/match @carol 3:1")
	b.ask(group, b.olga, "/board on")
	eventually(t, "there is a new board", func() bool {
		all := group.AllPinned()
		return len(all) == 1 && all[0].ID > now.ID
	})
	if m, _ := group.Message(now.ID); m.Edits != ended.Edits {
		t.Errorf("a board that was off has changed: %+v", m)
	}
}

// testBoardMovement checks that the board shows how many places players have moved within a week.
func testBoardMovement(t *testing.T, b *botFixture) {
	group := b.group("Darts")
	group.Promote(b.sim.Bot())
	b.ask(group, b.olga, "/board on")
	for range 3 { // players need three matches to have a place
		b.ask(group, b.alice, "/match @bob 3:1")
		b.ask(group, b.alice, "/match @carol 2:2")
	}
	for range 7 {
		b.ask(group, b.alice, "/match @bob 0:3")
	}
	b.settle()
	board := b.awaitBoard(group, true, "bob 1")
	if strings.Contains(visible(board), "▲") {
		t.Errorf("there is movement already:\n%s", visible(board))
	}
	const early = `
		FROM ladders l JOIN groups g ON g.id = l.group_id JOIN chats c ON c.id = g.chat_id
		WHERE l.id = m.ladder_id AND c.title = 'Darts' AND m.number <= 6`
	b.exec(`UPDATE matches m SET played_at = played_at - interval '8 days'` + early)
	b.ask(group, b.alice, "/match @bob 0:3")
	b.awaitBoard(group, true, "▲2")
	b.exec(`UPDATE matches m SET played_at = played_at + interval '8 days'` + early)
}

// testBoardRights checks that, if the bot may not pin the board, it says so once, and once more
// after it has gained the right and lost it again. It pins the board as soon as it may.
func testBoardRights(t *testing.T, b *botFixture) {
	group := b.group("Go")
	b.ask(group, b.olga, "/board on")
	board := b.awaitBoard(group, false)
	told := func() (n int) {
		for _, m := range group.BotMessages() {
			if strings.Contains(visible(m), "can’t pin the board") {
				n++
			}
		}
		return n
	}
	eventually(t, "the chat is told", func() bool { return told() == 1 })
	b.ask(group, b.alice, "/match @bob 3:1")
	if now := b.awaitBoard(group, false, "Alice 1516"); now.ID != board.ID {
		t.Errorf("%+v", now)
	}
	group.Promote(b.sim.Bot())
	b.awaitBoard(group, true, "Alice 1516")
	group.AllowPins(false)
	b.ask(group, b.alice, "/match @bob 3:1")
	b.awaitBoard(group, true, "Alice 1531") // still pinned
	group.Delete(board)
	b.ask(group, b.alice, "/match @bob 3:1")
	next := b.awaitBoard(group, false, "Alice 1544")
	eventually(t, "the chat is told again, because the right was taken", func() bool { return told() == 2 })
	group.AllowPins(true)
	if now := b.awaitBoard(group, true, "Alice 1544"); now.ID != next.ID {
		t.Errorf("%+v", now)
	}
}

// testBoardInTopics checks that the board is in the topic in which it was last turned on.
func testBoardInTopics(t *testing.T, b *botFixture) {
	group := b.sim.Forum("Club", b.olga, b.alice, b.bob, b.carol)
	group.Promote(b.sim.Bot())
	results, talk := group.Topic(b.olga, "Results"), group.Topic(b.olga, "Talk")
	say := func(thread int, text string) botsim.Message {
		return group.Post(botsim.Post{From: b.olga, Text: text, ThreadID: thread})
	}
	b.answer(say(results.ID, "/board on"))
	first := b.awaitBoard(group, true)
	b.answer(say(results.ID, "/match @bob 3:1"))
	if now := b.awaitBoard(group, true, "1516"); first.ThreadID != results.ID || now.ID != first.ID {
		t.Errorf("message %d in topic %d, then %d; the topic is %d", first.ID, first.ThreadID, now.ID, results.ID)
	}
	says(t, visible(b.answer(say(talk.ID, "/board on"))), "moves to this topic")
	eventually(t, "the board is in the other topic, and the old one has ended", func() bool {
		old, _ := group.Message(first.ID)
		second, ok := boardOf(group)
		all := group.AllPinned()
		return ok && second.ThreadID == talk.ID && strings.Contains(visible(second), "1516") &&
			strings.Contains(visible(old), "As of") && len(all) == 1 && all[0].ID == second.ID
	})
}

// testBoardOfAnUpgradedGroup checks that the board is sent again to the supergroup, because message
// ids do not carry over.
func testBoardOfAnUpgradedGroup(_ *testing.T, b *botFixture) {
	group := b.sim.BasicGroup("Chess", b.olga, b.alice, b.bob)
	group.Promote(b.sim.Bot())
	b.ask(group, b.olga, "/board on")
	b.awaitBoard(group, true)
	upgraded := group.Migrate()
	b.ask(upgraded, b.alice, "/match @bob 3:1")
	b.awaitBoard(upgraded, true, "Alice 1516")
}

// testBoardOfAGroupUpgradedEarly checks that the supergroup has one correct board even if the bot
// joins the supergroup before it learns which group was upgraded.
func testBoardOfAGroupUpgradedEarly(_ *testing.T, b *botFixture) {
	group := b.sim.BasicGroup("Chess", b.olga, b.alice, b.bob)
	group.Promote(b.sim.Bot())
	b.ask(group, b.olga, "/board on")
	b.awaitBoard(group, true)
	b.settle()
	upgraded := group.MigrateJoinFirst()
	b.ask(upgraded, b.olga, "/board on")
	b.ask(upgraded, b.alice, "/match @bob 3:1")
	b.awaitBoard(upgraded, true, "Alice 1516")
}
