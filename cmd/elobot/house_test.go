package main_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
)

// house is a bot in whose groups results are reported, undone and corrected. Olga is the creator of every group, so an
// admin. Starting a bot costs more than most tests do, so many of them share one.
type house struct {
	t                       *testing.T
	sim                     *botsim.Server
	url                     string
	pool                    *pgxpool.Pool
	env                     []string
	bot                     *process
	later                   *atomic.Int64 // by how many seconds Telegram's clock is ahead
	olga, alice, bob, carol botsim.User
}

// startHouse starts a bot that knows everybody by name.
func startHouse(t *testing.T, settings ...string) *house {
	t.Helper()
	b := newHouse(t)
	b.env = append(environment(b.sim, b.url), settings...)
	b.bot = launch(t, b.env, "run")
	b.meet()
	return b
}

// newHouse is a house whose bot is still to be launched.
func newHouse(t *testing.T) *house {
	t.Helper()
	b := &house{t: t, later: new(atomic.Int64)}
	b.sim = botsim.Start(t, botsim.WithClock(func() time.Time {
		return time.Now().Add(time.Duration(b.later.Load()) * time.Second)
	}))
	b.olga, b.alice, b.bob, b.carol = b.sim.User("olga"), b.sim.User("alice"), b.sim.User("bob"), b.sim.User("carol")
	b.url, b.pool = database(t)
	return b
}

// meet lets the bot know everybody by name.
func (b *house) meet() {
	b.t.Helper()
	b.join(b.group("Lobby"), b.olga, b.alice, b.bob, b.carol)
}

func (b *house) group(title string) *botsim.Chat {
	return b.sim.Group(title, b.olga, b.alice, b.bob, b.carol)
}

// join lets people say something for the first time.
func (b *house) join(group *botsim.Chat, people ...botsim.User) {
	b.t.Helper()
	before := len(group.BotMessages())
	for _, p := range people {
		group.Say(p, "/join")
	}
	awaitAnswers(b.t, group, before+len(people))
}

// TestInOneHouse is the tests that need nothing of their own but groups, and sometimes people.
func TestInOneHouse(t *testing.T) {
	t.Parallel()
	h := startHouse(t, "UNDO_WINDOW=1h")
	for _, tc := range []struct { //nolint:paralleltest // one after another: they look at all that there is
		name string
		test func(*testing.T, *house)
	}{
		{"a hundred results", testManyResults},
		{"teams and sets", testTeamsAndSets},
		{"undo button", testUndoButton},
		{"undone by two at once", testUndoneByTwoAtOnce},
		{"undo pressed by all", testUndoPressedByAll},
		{"forged buttons", testForgedButtons},
		{"all ways to take back", testAllWaysToTakeBack},
		{"fixed twice", testFixedTwice},
		{"who may take back", testWhoMayTakeBack},
		{"admins unknown", testAdminsUnknown},
		{"undo window", testUndoWindow},
		{"undo in topics", testUndoInTopics},
		{"undone before it is told", testUndoneBeforeItIsTold},
		{"undo without the card", testUndoWithoutTheCard},
		{"edited result", testEditedResult},
		{"added to a group", testAddedToAGroup},
		{"upgraded group", testUpgradedGroup},
		{"upgraded group is greeted once", testUpgradedGroupIsGreetedOnce},
		{"removed from a group", testRemovedFromAGroup},
		{"who leaves is hidden", testWhoLeavesIsHidden},
		{"nobody has written it", testNobodyHasWrittenIt},
		{"an anonymous admin", testAnAnonymousAdmin},
		{"answers in topics", testAnswersInTopics},
		{"a username passes", testAUsernamePasses},
		{"first report after a change of username", testFirstReportAfterAChangeOfUsername},
		{"claimed by the first command", testClaimedByTheFirstCommand},
		{"people without username", testPeopleWithoutUsername},
		{"two turn out to be one", testTwoTurnOutToBeOne},
		{"ladder of outlandish names", testLadderOfOutlandishNames},
		{"delivered twice", testDeliveredTwice},
		{"server error after the effect", testServerErrorAfterTheEffect},
		{"strange updates", testStrangeUpdates},
		{"malformed notices", testMalformedNotices},
		{"dead notice", testDeadNotice},
		{"dead update", testDeadUpdate},
		{"dead command", testDeadCommand},
		{"dead unreadable update", testDeadUnreadable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h.later.Add(61) // so that nobody asks too much within a minute
			b := *h
			b.t = t
			tc.test(t, &b)
			b.settle()
			if dead := count(t, b.pool, `SELECT count(*) FROM dead_letters`); dead != 0 {
				t.Errorf("there are %d dead letters", dead)
			}
		})
	}
	verifyClean(t, h.url)
	checkNoComplaints(t, h.sim)
}

// ask says something in a group and returns the bot's answer.
func (b *house) ask(group *botsim.Chat, from botsim.User, text string) botsim.Message {
	b.t.Helper()
	return b.answer(group.Say(from, text))
}

// answer waits for what the bot says in reply to a message.
func (b *house) answer(m botsim.Message) botsim.Message {
	b.t.Helper()
	group := b.sim.Chat(m.ChatID)
	for n := 1; ; {
		all := awaitAnswers(b.t, group, n)
		if i := slices.IndexFunc(all, func(a botsim.Message) bool { return a.ReplyTo == m.ID }); i >= 0 {
			return all[i]
		}
		n = len(all) + 1
	}
}

// press presses a button below a message and returns what whoever does so is told.
func (b *house) press(from botsim.User, m botsim.Message, data string) string {
	b.t.Helper()
	return b.toast(b.sim.Press(from, m, data))
}

func (b *house) toast(press string) string {
	b.t.Helper()
	answer, err := b.sim.WaitAnswer(testContext(b.t), press)
	if err != nil {
		b.t.Fatal(err)
	}
	return visible(botsim.Message{Text: answer.Text})
}

// settle waits until everything is taken and sent, and written down as sent: a change before that makes one edit
// with what has changed it already.
func (b *house) settle() {
	b.t.Helper()
	eventually(b.t, "everything is taken and sent", func() bool {
		return b.sim.Pending() == 0 &&
			count(b.t, b.pool, `SELECT count(*) FROM outbox WHERE state IN ('planned', 'sending')`) == 0
	})
}

// finish checks what must be so after everything.
func (b *house) finish() {
	b.t.Helper()
	b.settle()
	if n := count(b.t, b.pool, `SELECT count(*) FROM dead_letters`); n != 0 {
		b.t.Errorf("there are %d dead letters", n)
	}
	verifyClean(b.t, b.url)
	checkNoComplaints(b.t, b.sim)
}

// matches is how many matches of a group are recorded.
func (b *house) matches(group *botsim.Chat) int {
	b.t.Helper()
	return count(b.t, b.pool, `
		SELECT count(*) FROM matches m JOIN groups g ON g.id = m.group_id JOIN chats c ON c.id = g.chat_id
		WHERE c.telegram_chat_id = $1`, group.ID())
}

// standing is how somebody stands in a group, as the database has it.
type standing struct {
	ID, Elo, Played int
	Name            string
	UserID          int64
}

// standings are those of a group.
func (b *house) standings(group *botsim.Chat) []standing {
	b.t.Helper()
	return collect(b.t, b.pool, pgx.RowToStructByPos[standing], `
		SELECT s.id, s.elo, s.played, s.name, coalesce(p.telegram_user_id, 0)
		FROM group_players s JOIN players p ON p.id = s.player_id JOIN ladders l ON l.id = s.ladder_id
		JOIN groups g ON g.id = l.group_id JOIN chats c ON c.id = g.chat_id WHERE c.telegram_chat_id = $1`, group.ID())
}

// exec changes the database beside the bot.
func (b *house) exec(sql string, args ...any) {
	b.t.Helper()
	if _, err := b.pool.Exec(b.t.Context(), sql, args...); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
}

// letters are the dead letters of the house, of which the next one has the number 1.
func (b *house) letters() letters {
	b.t.Helper()
	b.exec(`TRUNCATE dead_letters RESTART IDENTITY`)
	return letters{b.t, []string{"DATABASE_URL=" + b.url}, b.pool}
}

// says checks that a text says all of this.
func says(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, part := range want {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}
