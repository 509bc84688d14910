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

// botFixture is a bot with its simulator and database. Olga is an admin of the groups that the
// method group creates. Starting a bot takes longer than most tests, so many tests share a bot.
type botFixture struct {
	t                       *testing.T
	sim                     *botsim.Server
	url                     string
	pool                    *pgxpool.Pool
	env                     []string
	bot                     *process
	later                   *atomic.Int64 // seconds by which Telegram's clock is ahead
	olga, alice, bob, carol botsim.User
}

// startBotFixture starts a bot that knows all users of the fixture.
func startBotFixture(t *testing.T, settings ...string) *botFixture {
	t.Helper()
	b := newBotFixture(t)
	b.env = append(environment(b.sim, b.url), settings...)
	b.bot = launch(t, b.env, "run")
	b.joinAll()
	return b
}

// newBotFixture returns a botFixture without a running bot. options are further options of the
// simulator.
func newBotFixture(t *testing.T, options ...botsim.Option) *botFixture {
	t.Helper()
	b := &botFixture{t: t, later: new(atomic.Int64)}
	b.sim = startTelegram(t, append(options, botsim.WithClock(func() time.Time {
		return time.Now().Add(time.Duration(b.later.Load()) * time.Second)
	}))...)
	b.olga, b.alice, b.bob, b.carol = b.sim.User("olga"), b.sim.User("alice"), b.sim.User("bob"), b.sim.User("carol")
	b.url, b.pool = database(t)
	return b
}

// joinAll makes all users of the fixture join one group, so that the bot knows them.
func (b *botFixture) joinAll() {
	b.t.Helper()
	b.join(b.group("Lobby"), b.olga, b.alice, b.bob, b.carol)
}

func (b *botFixture) group(title string) *botsim.Chat {
	return b.sim.Group(title, b.olga, b.alice, b.bob, b.carol)
}

// seen has people send a command in a group, so that the bot knows their usernames there.
func (b *botFixture) seen(group *botsim.Chat, people ...botsim.User) {
	b.t.Helper()
	for _, p := range people {
		b.ask(group, p, "/me")
	}
}

// join has people send /join in a group and waits for the answers.
func (b *botFixture) join(group *botsim.Chat, people ...botsim.User) {
	b.t.Helper()
	before := len(group.BotMessages())
	for _, p := range people {
		group.Say(p, "/join")
	}
	awaitAnswers(b.t, group, before+len(people))
}

// TestWithSharedBot runs tests one after another with the same bot. None of them may leave a dead
// letter.
func TestWithSharedBot(t *testing.T) {
	t.Parallel()
	h := startBotFixture(t, "UNDO_WINDOW=1h")
	for _, tc := range []struct { //nolint:paralleltest // sequential, because they look at the whole database
		name string
		test func(*testing.T, *botFixture)
	}{
		{"a hundred results", testManyResults},
		{"undo button", testUndoButton},
		{"restore button", testRestoreButton},
		{"all ways to take back", testAllWaysToAmend},
		{"admins unknown", testAdminsUnknown},
		{"prompts", testPrompts},
		{"undo window", testUndoWindow},
		{"undo in topics", testUndoInTopics},
		{"undone before the card is sent", testUndoneBeforeTheCardIsSent},
		{"undo without the card", testUndoWithoutTheCard},
		{"edited result", testEditedResult}, {"edited commands", testEditedCommands},
		{"added to a group", testAddedToAGroup},
		{"settings", testSettings},
		{"tables", testTables},
		{"export", testExportButton},
		{"charts", testCharts}, {"charts refused", testChartsRefused},
		{"chart of unknown outcome", testChartOfUnknownOutcome},
		{"upgraded group", testUpgradedGroup},
		{"removed from a group", testRemovedFromAGroup},
		{"an anonymous admin", testAnAnonymousAdmin},
		{"topic not found", testTopicNotFound},
		{"people without username", testPeopleWithoutUsername},
		{"delivered twice", testDeliveredTwice}, {"ephemeral results", testEphemeralResults},
		{"server error after the effect", testServerErrorAfterTheEffect},
		{"strange updates", testStrangeUpdates},
		{"malformed notices", testMalformedNotices},
		{"dead notice", testDeadNotice},
		{"dead update", testDeadUpdate},
		{"dead command", testDeadCommand},
		{"dead unreadable update", testDeadUnreadable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h.later.Add(61) // the previous test may have used up the per-minute limits
			b := *h
			b.t = t
			tc.test(t, &b)
			b.settle()
			checkNoDeadLetters(t, b.pool)
		})
	}
	verifyClean(t, h.url)
}

// ask sends a message to a group and returns the bot's answer.
func (b *botFixture) ask(group *botsim.Chat, from botsim.User, text string) botsim.Message {
	b.t.Helper()
	return b.answer(group.Say(from, text))
}

// answer waits for the bot's reply to a message.
func (b *botFixture) answer(m botsim.Message) botsim.Message {
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

// press has a person press the button of a message that has the given callback data, and returns
// the callback answer.
func (b *botFixture) press(from botsim.User, m botsim.Message, data string) string {
	b.t.Helper()
	return b.callbackAnswer(b.sim.Press(from, m, data))
}

// choose has a person press buttons below a message, one after another. path lists their callback
// data. It waits for the effects of each press, and returns the last callback answer.
func (b *botFixture) choose(from botsim.User, m botsim.Message, path ...string) (answer string) {
	b.t.Helper()
	for _, data := range path {
		answer = b.press(from, m, data)
		b.settle()
	}
	return answer
}

// callbackAnswer waits for the callback answer to a press, and returns its text.
func (b *botFixture) callbackAnswer(press string) string {
	b.t.Helper()
	answer, err := b.sim.WaitAnswer(testContext(b.t), press)
	must(b.t, err)
	return visible(botsim.Message{Text: answer.Text})
}

// settle waits until all updates are handled and the database lists no notice as planned or being
// sent, except those set aside for a newer release. Waiting for a message in the chat is not
// enough: until a card is marked as sent, an edit would merge with it.
func (b *botFixture) settle() {
	b.t.Helper()
	eventually(b.t, "everything is handled and sent", func() bool {
		return b.sim.Pending() == 0 &&
			count(b.t, b.pool, `SELECT count(*) FROM outbox WHERE state IN ('planned', 'sending') AND deferred_at IS NULL`) == 0
	})
}

// finish settles, and checks that there are no dead letters and that `elobot verify` would find no
// differences.
func (b *botFixture) finish() {
	b.t.Helper()
	b.settle()
	checkNoDeadLetters(b.t, b.pool)
	verifyClean(b.t, b.url)
}

// matches returns the number of matches recorded in a group, including undone ones.
func (b *botFixture) matches(group *botsim.Chat) int {
	b.t.Helper()
	return count(b.t, b.pool, `
		SELECT count(*) FROM matches m JOIN groups g ON g.id = m.group_id JOIN chats c ON c.id = g.chat_id
		WHERE c.telegram_chat_id = $1`, group.ID())
}

// standing is a row of group_players. UserID is 0 for an unclaimed player.
type standing struct {
	ID, Elo, Played int
	Name            string
	UserID          int64
}

// standings returns the standings in the current seasons of all ladders of a group.
func (b *botFixture) standings(group *botsim.Chat) []standing {
	b.t.Helper()
	return collect(b.t, b.pool, pgx.RowToStructByPos[standing], `
		SELECT s.id, s.elo, s.played, s.name, coalesce(p.telegram_user_id, 0)
		FROM group_players s JOIN players p ON p.id = s.player_id JOIN ladders l ON l.season_id = s.season_id
		JOIN groups g ON g.id = l.group_id JOIN chats c ON c.id = g.chat_id WHERE c.telegram_chat_id = $1`, group.ID())
}

func (b *botFixture) exec(sql string, args ...any) {
	b.t.Helper()
	if _, err := b.pool.Exec(b.t.Context(), sql, args...); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
}

// letters deletes all dead letters, restarts their ids at 1, and returns a helper for the
// `elobot dead` commands.
func (b *botFixture) letters() letters {
	b.t.Helper()
	b.exec(`TRUNCATE dead_letters RESTART IDENTITY`)
	return letters{b.t, []string{"DATABASE_URL=" + b.url}, b.pool}
}

// says checks that a text contains all parts.
func says(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, part := range want {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}
