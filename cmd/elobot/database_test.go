package main_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp/pgtest"
)

// TestStopWhileWaitingForTheDatabase: whoever stops a bot that has not started yet does not wait for its patience.
func TestStopWhileWaitingForTheDatabase(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	stop := func(t *testing.T, bot *process) {
		t.Helper()
		code, took := bot.stop(t)
		t.Logf("stopped after %v", took)
		if code != 0 || took > 3*time.Second {
			t.Errorf("the bot ended after %v with %d", took, code)
		}
	}
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		bot := launch(t, environment(sim, "postgres://elobot@127.0.0.1:1/elobot"), "run")
		eventually(t, "the bot says that it waits", func() bool {
			return strings.Contains(bot.output.String(), "the database does not answer yet")
		})
		stop(t, bot)
	})
	t.Run("no word", func(t *testing.T) {
		t.Parallel()
		url, _ := database(t)
		line := newProxy(t, url)
		line.stall()
		bot := launch(t, environment(sim, line.url), "run")
		eventually(t, "the bot has asked", func() bool { return line.held.Load() > 0 })
		stop(t, bot)
	})
}

// TestStopWhileTheDatabaseHangs: a database that has fallen silent does not keep the bot from ending, and what was on
// its way then is neither lost nor doubled.
func TestStopWhileTheDatabaseHangs(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	url, pool := database(t)
	line := newProxy(t, url)
	alice, bob := sim.User("alice"), sim.User("bob")
	group := sim.Group("Chess", alice, bob)
	bot := launch(t, environment(sim, line.url), "run")
	var said []botsim.Message
	const matches = 200
	for i := range matches {
		said = append(said, group.Say(alice, fmt.Sprintf("/match @bob %d:%d", i%10, i%7)))
	}
	awaitAnswers(t, group, 20)
	line.stall()
	eventually(t, "the bot waits for an answer", func() bool { return line.held.Load() > 0 })
	code, took := bot.stop(t)
	if code != 0 || took > 10*time.Second {
		t.Errorf("the bot ended after %v with %d", took, code)
	}
	t.Logf("stopped after %v with %d updates not confirmed", took, sim.Pending())
	line.resume()
	launch(t, environment(sim, line.url), "run")
	awaitSettled(t, sim, pool, group)
	for i, m := range checkAnswered(t, pool, group, said) {
		if want := fmt.Sprintf("Match #%d", i+1); !strings.Contains(visible(m), want) {
			t.Fatalf("answer %d is\n%s", i+1, visible(m))
		}
	}
	if n := count(t, pool, `SELECT count(*) FROM matches`); n != matches {
		t.Errorf("%d matches were recorded, want %d", n, matches)
	}
	if n := count(t, pool, `SELECT count(*) FROM dead_letters`); n != 0 {
		t.Errorf("there are %d dead letters", n)
	}
}

// TestNothingBeforeTheDatabase: until the database has answered, the bot neither listens nor asks Telegram for anything.
func TestNothingBeforeTheDatabase(t *testing.T) {
	t.Parallel()
	for name, more := range map[string][]string{
		"polled":    nil,
		"delivered": {"WEBHOOK_URL=http://127.0.0.1/telegram", "WEBHOOK_SECRET=" + webhookSecret},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sim := botsim.Start(t)
			url, _ := database(t)
			line := newProxy(t, url)
			line.stall()
			address := freeAddress(t)
			listens := func() bool {
				conn, err := net.Dial("tcp", address)
				if err == nil {
					err = conn.Close()
				}
				return err == nil
			}
			bot := launch(t, append(append(environment(sim, line.url), "LISTEN_ADDR="+address), more...), "run")
			eventually(t, "the bot has asked the database", func() bool { return line.held.Load() > 0 })
			if listens() {
				t.Error("the bot listens before the database has answered")
			}
			if calls := sim.Calls(); len(calls) > 0 {
				t.Errorf("the bot calls %s before the database has answered", calls[0].Method)
			}
			line.resume()
			bot.await(t, "msg=ready")
			if !listens() {
				t.Error("the bot does not listen afterwards")
			}
			if name == "polled" {
				eventually(t, "the bot polls", func() bool { return len(sim.CallsOf("getUpdates")) > 0 })
			}
		})
	}
}

// freeAddress is an address on this machine that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}

// TestTransactionPoolingIsRefused: behind a pooler that elobot cannot work with, it ends at the start, and says in one
// sentence what it needs.
func TestTransactionPoolingIsRefused(t *testing.T) {
	t.Parallel()
	sim := botsim.Start(t)
	url, _ := database(t)
	env := environment(sim, pgtest.TransactionPooler(t, url, 2))
	for _, command := range [][]string{{"run"}, {"verify"}, {"dead", "list"}} {
		bot := launch(t, env, command...)
		eventually(t, strings.Join(command, " ")+" ends", func() bool {
			select {
			case <-bot.ended:
				return true
			default:
				return strings.Contains(bot.output.String(), "msg=ready")
			}
		})
		bot.kill()
		said := strings.TrimSpace(bot.output.String())
		last := said[strings.LastIndex(said, "\n")+1:]
		if code := bot.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(last, "pool_mode = session") {
			t.Errorf("%v ends with %d and says\n%s", command, code, said)
		}
	}
	if n := len(sim.Calls()); n != 0 {
		t.Errorf("Telegram was called %d times", n)
	}
}

const (
	lockOthers  = 5  // groups beside the one that somebody else holds
	lockResults = 12 // results in each of them meanwhile
)

// lockTrial is a group that somebody else holds in the database, and others beside it.
type lockTrial struct {
	sim     *botsim.Server
	pool    *pgxpool.Pool
	alice   botsim.User
	blocked *botsim.Chat
	others  []*botsim.Chat
}

// startLockTrial starts a bot and has a match recorded in each group.
func startLockTrial(t *testing.T) *lockTrial {
	t.Helper()
	l := &lockTrial{sim: botsim.Start(t)}
	l.alice = l.sim.User("alice")
	url, pool := database(t)
	l.pool = pool
	l.blocked = l.sim.Group("Blocked", l.alice, l.sim.User("bob"))
	for i := range lockOthers {
		l.others = append(l.others, l.sim.Group(fmt.Sprintf("Group %d", i+1), l.alice, l.sim.User("bob")))
	}
	launch(t, environment(l.sim, url), "run")
	for _, group := range append(l.others, l.blocked) {
		group.Say(l.alice, "/match @bob 3:1")
		awaitAnswers(t, group, 1)
	}
	return l
}

// hold takes the row of the blocked group until it is released.
func (l *lockTrial) hold(t *testing.T) (release func()) {
	t.Helper()
	tx, err := l.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const lock = `SELECT FROM groups g JOIN chats c ON c.id = g.chat_id WHERE c.telegram_chat_id = $1 FOR UPDATE OF g`
	if tag, err := tx.Exec(t.Context(), lock, l.blocked.ID()); err != nil || tag.RowsAffected() != 1 {
		t.Fatalf("take the group: %v (%v)", tag, err)
	}
	return func() {
		if err := tx.Rollback(testContext(t)); err != nil {
			t.Fatal(err)
		}
	}
}

// playBeside reports a result in the group that is held, and results in the others, whose answers it waits for, so many
// at a time. It returns the first report.
func (l *lockTrial) playBeside(t *testing.T, atATime int) (blocked botsim.Message) {
	t.Helper()
	blocked = l.blocked.Say(l.alice, "/match @bob 3:2")
	eventually(t, "the bot waits for the row", func() bool {
		return count(t, l.pool, `
			SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
	})
	for played := 0; played < lockResults; played += atATime {
		for _, group := range l.others {
			for i := range atATime {
				group.Say(l.alice, fmt.Sprintf("/match @bob 3:%d", played+i))
			}
		}
		for _, group := range l.others {
			awaitAnswers(t, group, 1+played+atATime)
		}
		if played == 0 && len(l.blocked.BotMessages()) != 1 {
			t.Error("the other groups were answered only after the one that is held")
		}
	}
	return blocked
}

// results is how many matches of the blocked group are recorded.
func (l *lockTrial) results(t *testing.T) int {
	t.Helper()
	return count(t, l.pool, `
		SELECT count(*) FROM matches m JOIN groups g ON g.id = m.group_id JOIN chats c ON c.id = g.chat_id
		WHERE c.telegram_chat_id = $1`, l.blocked.ID())
}

// TestGroupHeldForAWhile: somebody holds a group's row in the database. The other groups do not notice, and the group's
// own result is recorded when the row is free.
func TestGroupHeldForAWhile(t *testing.T) {
	t.Parallel()
	l := startLockTrial(t)
	release := l.hold(t)
	begun := time.Now()
	said := l.playBeside(t, lockResults/2)
	release()
	held := time.Since(begun)
	t.Logf("held for %v", held)
	answers := awaitAnswers(t, l.blocked, 2)
	if answers[1].ReplyTo != said.ID {
		t.Errorf("the answer is to message %d, want %d", answers[1].ReplyTo, said.ID)
	}
	if recorded := strings.HasSuffix(visible(answers[1]), "Match #2"); recorded != (l.results(t) == 2) {
		t.Errorf("%d matches are recorded, and the answer is\n%s", l.results(t), visible(answers[1]))
	} else if !recorded && held < 5*time.Second {
		t.Errorf("the result was given up within %v", held)
	}
	l.blocked.Say(l.alice, "/ranking") // its answer comes after all others
	if answers := awaitAnswers(t, l.blocked, 3); len(answers) != 3 || answers[2].ReplyTo == said.ID {
		t.Errorf("the result was answered twice")
	}
}

// TestGroupHeldForLong: the row does not get free. Whoever reported the result is asked to do so again, and it counts
// once then.
func TestGroupHeldForLong(t *testing.T) {
	t.Parallel()
	l := startLockTrial(t)
	release := l.hold(t)
	l.playBeside(t, 1)
	if answer := visible(awaitAnswers(t, l.blocked, 2)[1]); !strings.Contains(answer, "again") {
		t.Errorf("the answer is\n%s", answer)
	}
	release()
	if err := l.sim.WaitConfirmed(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if n := l.results(t); n != 1 {
		t.Errorf("%d matches are recorded, want 1", n)
	}
	l.blocked.Say(l.alice, "/match @bob 3:2")
	if answer := visible(awaitAnswers(t, l.blocked, 3)[2]); !strings.HasSuffix(answer, "Match #2") || l.results(t) != 2 {
		t.Errorf("%d matches are recorded, and the answer is\n%s", l.results(t), answer)
	}
}
