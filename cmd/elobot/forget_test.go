package main_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/postgres"
)

// dump returns what pg_dump writes about the database, with each row in a line. The server runs
// the program, because this machine need not have it.
func dump(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	conn, err := pool.Acquire(testContext(t))
	must(t, err)
	defer conn.Release()
	var bin, sockets, port string
	must(t, conn.QueryRow(testContext(t), `
		SELECT (SELECT setting FROM pg_config WHERE name = 'BINDIR'), current_setting('unix_socket_directories'),
		       current_setting('port')`).Scan(&bin, &sockets, &port))
	config := pool.Config().ConnConfig
	socket, _, _ := strings.Cut(sockets, ",")
	program := fmt.Sprintf(`PGPASSWORD='%s' '%s/pg_dump' --inserts --no-sync --host="$(cd '%s' && pwd)" --port=%s `+
		`--username='%s' '%s'`,
		config.Password, bin, socket, port, config.User, config.Database)
	_, err = conn.Exec(testContext(t), `CREATE TEMP TABLE dumped (line text)`)
	must(t, err)
	defer func() { _, _ = conn.Exec(t.Context(), `DROP TABLE dumped`) }()
	_, err = conn.Exec(testContext(t), fmt.Sprintf(
		`COPY dumped FROM PROGRAM '%s' (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02')`,
		strings.ReplaceAll(program, "'", "''")))
	must(t, err)
	rows, err := conn.Query(testContext(t), `SELECT line FROM dumped WHERE line IS NOT NULL`)
	must(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	return lines
}

// tracesIn returns how names and ids would appear in a dump: as they are, in HTML, in JSON, and as
// hashes.
func tracesIn(names ...string) (all []string) {
	for _, name := range names {
		inJSON, _ := json.Marshal(name)
		ascii := strings.Trim(strconv.QuoteToASCII(name), `"`)
		all = append(all, name, html.EscapeString(name), strings.Trim(string(inJSON), `"`), ascii,
			fmt.Sprintf("%x", sha256.Sum256([]byte(name))))
	}
	for i := range all {
		all[i] = strings.ToLower(all[i])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// checkDump checks that a dump of the database has the traces, or that it has none of them.
func checkDump(t *testing.T, pool *pgxpool.Pool, has bool, traces []string) {
	t.Helper()
	found := make(map[string]int)
	for _, line := range dump(t, pool) {
		for _, trace := range traces {
			if strings.Contains(strings.ToLower(line), trace) {
				found[trace]++
				if !has {
					t.Errorf("%q is in %s", trace, line)
				}
			}
		}
	}
	if has && len(found) == 0 {
		t.Error("the dump has no trace before")
	}
	t.Logf("traces found: %v", found)
}

// forgetFixture is a bot with a person who has left traces everywhere.
type forgetFixture struct {
	*botFixture
	person botsim.User
	group  *botsim.Chat
	board  string         // path of the web board
	nicked botsim.Message // the answer to /nick
	prompt botsim.Message
	traces []string
}

func newForgetFixture(t *testing.T) *forgetFixture {
	t.Helper()
	b := &forgetFixture{botFixture: startBotFixture(t,
		"LISTEN_ADDR=127.0.0.1:0", "PUBLIC_URL="+publicURL, "BOARD_INTERVAL=100ms")}
	b.group = b.botFixture.group("Chess")
	group, olga, alice := b.group, b.olga, b.alice
	b.person = b.sim.AddUser(botsim.User{
		ID: 700700707, FirstName: `Zeb "&<`, LastName: "Ünique", Username: "zebquax", LanguageCode: "en"})
	b.traces = tracesIn(`Zeb "&<`, "Ünique", "zebquax", "zebnow", "@zebnow", "Zebguest", "Zebnick", "700700707")
	group.Join(b.person)
	// named in a result and in a prompt before the bot has seen the person
	b.ask(group, alice, "/match @zebquax 3:1")
	b.ask(group, b.bob, "/match @zebquax")
	b.dead(b.alice, "/match @zebquax 2:2")
	b.ask(group, b.person, "/match @bob 3:0")
	b.dead(b.person, "/match @bob 2:2")
	b.ask(group, b.bob, "/match @zebquax")
	// a guest who turns out to be the person
	b.ask(group, olga, "/guest Zebguest")
	b.ask(group, alice, "/match Zebguest 1:3")
	card := b.ask(group, olga, "/player Zebguest")
	for _, label := range []string{"Merge", `Zeb "&< Ünique`, "Merge"} {
		card = b.pressed(olga, card, label)
	}
	b.send(olga, b.importPage(group, olga), "zebquax.csv", importedFile)
	// a final table, a board and a web page
	group.Promote(b.sim.Bot())
	b.ask(group, olga, "/board on")
	b.settle()
	b.board = b.botFixture.board(group, "on")
	b.later.Add(3600)
	season := b.ask(group, olga, "/season new")
	b.pressed(olga, season, "Start it")
	// a former username, and a nick
	b.person = b.sim.AddUser(botsim.User{ID: b.person.ID, FirstName: `Zeb "&<`, LastName: "Ünique", Username: "zebnow"})
	b.nicked = b.ask(group, b.person, "/nick Zebnick")
	b.send(olga, b.importPage(group, olga), "zebnick.csv", "date,winner,loser\n2026-01-04,Zebnick,Zebunknown\n")
	b.ask(group, b.carol, "/match Zebnick 3:2")
	b.prompt = b.ask(group, b.carol, "/match @zebnow")
	b.ask(group, b.carol, "/stats zebnick the great")
	b.sim.Private(b.person)
	b.sim.Private(b.person).Say(b.person, "/stats")
	b.settle()
	return b
}

const importedFile = "date,a,b,score\n2026-01-02,@zebquax,Bob,3:1\n2026-01-03,Bob,Alice,3:2\n"

// update returns the update of a message in the group.
func (b *forgetFixture) update(from botsim.User, id int, text string, at time.Time, entities any) json.RawMessage {
	b.t.Helper()
	raw, err := json.Marshal(map[string]any{"message": map[string]any{
		"message_id": id, "date": at.Unix(), "text": text, "entities": entities,
		"chat": map[string]any{"id": b.group.ID(), "type": "supergroup", "title": "Chess"},
		"from": map[string]any{"id": from.ID, "first_name": from.FirstName, "last_name": from.LastName,
			"username": from.Username},
	}})
	must(b.t, err)
	return raw
}

// dead delivers a message that becomes a dead letter.
func (b *forgetFixture) dead(from botsim.User, text string) {
	b.t.Helper()
	before := count(b.t, b.pool, `SELECT count(*) FROM dead_letters`)
	b.sim.Update(b.update(from, 90_000, text, time.Now().Add(-25*time.Hour), "none"))
	eventually(b.t, "there is a dead letter", func() bool {
		return count(b.t, b.pool, `SELECT count(*) FROM dead_letters`) > before
	})
}

// ratings returns all standings without the names.
func (b *forgetFixture) ratings() []string {
	b.t.Helper()
	return collect(b.t, b.pool, pgx.RowTo[string], `
		SELECT concat_ws(' ', id, season_id, player_id, elo, played, won, lost, streak) FROM group_players ORDER BY id`)
}

// forgetMe has the person press the button below /forgetme in the private chat, and returns the
// press and the message afterwards.
func (b *forgetFixture) forgetMe() (press string, m botsim.Message) {
	b.t.Helper()
	private := b.sim.Private(b.person)
	private.Say(b.person, "/forgetme")
	all := awaitAnswers(b.t, private, len(private.BotMessages())+1)
	m = all[len(all)-1]
	says(b.t, visible(m), "Shall I forget who you are?", "cannot be undone")
	press = b.sim.Press(b.person, m, dataOf(b.t, m, "Forget me"))
	b.callbackAnswer(press)
	b.settle()
	return press, b.now(m)
}

// TestForgetMe checks that nothing in the database tells of a person who was forgotten, that what
// the groups see follows, and that ratings stay.
func TestForgetMe(t *testing.T) {
	t.Parallel()
	b := newForgetFixture(t)
	group := b.group
	before, players := b.ratings(), count(t, b.pool, `SELECT count(*) FROM players`)
	checkDump(t, b.pool, true, b.traces)
	if status, page := browse(t, b.bot, b.board); status != http.StatusOK || !strings.Contains(page, "Zebnick") {
		t.Errorf("the page is %d %s", status, page)
	}
	elsewhere := b.ask(group, b.person, "/forgetme")
	equal(t, elsewhere.Buttons[0][0].URL, "https://t.me/"+b.sim.Bot().Username+"?start=forgetme", "link")
	cards := len(group.BotMessages())
	_, m := b.forgetMe()
	says(t, visible(m), "I don’t know who you are any more")
	equal(t, buttons(m), "", "buttons")

	equal(t, b.ratings(), before, "ratings")
	equal(t, len(group.BotMessages()), cards, "messages in the group")
	b.awaitBoard(group, true, "Former player 1")
	eventually(t, "the question is over", func() bool { return len(b.now(b.prompt).Buttons) == 0 })
	shows := func(text string) bool {
		return slices.ContainsFunc(group.BotMessages(), func(m botsim.Message) bool {
			return strings.Contains(visible(m), text)
		})
	}
	if !shows("🥇 Former player 1") || !shows("beat Former player 1") || shows("beat Zeb") || shows("🥇 Zeb") {
		t.Errorf("the final table or the cards show somebody else: %v", group.BotMessages())
	}
	if status, page := browse(t, b.bot, b.board); status != http.StatusOK || strings.Contains(page, "Zebnick") ||
		!strings.Contains(page, "Former player 1") {
		t.Errorf("the page is %d %s", status, page)
	}
	_, err := postgres.Purge(testContext(t), b.pool, nil)
	must(t, err)
	checkDump(t, b.pool, false, b.traces)
	equal(t, count(t, b.pool, `SELECT count(*) FROM players`), players, "players")
	verifyClean(t, b.url)

	// Neither the press nor a message nor the file brings anybody back.
	b.sim.Update(b.update(b.person, b.nicked.ReplyTo, "/nick Zebnick", time.Now(),
		[]any{map[string]any{"type": "bot_command", "offset": 0, "length": 5}}))
	b.sim.Update(json.RawMessage(fmt.Sprintf(
		`{"callback_query":{"id":"again","from":{"id":%[1]d,"first_name":"Zeb"},"data":"1fm:","message":{"message_id":%[2]d,`+
			`"date":1,"chat":{"id":%[1]d,"type":"private"},"from":{"id":%[3]d},`+
			`"reply_markup":{"inline_keyboard":[[{"text":"x","callback_data":"1fm:"}]]}}}}`, b.person.ID, m.ID, b.sim.Bot().ID)))
	b.settle()
	checkDump(t, b.pool, false, b.traces)
	matches := b.matches(group)
	asked := b.send(b.olga, b.importPage(group, b.olga), "again.csv", importedFile)
	says(t, visible(b.pressed(b.olga, asked, "All new guests")), "Nothing was imported")
	equal(t, b.matches(group), matches, "matches")
	equal(t, count(t, b.pool, `SELECT count(*) FROM players`), players, "players after the same file")
	// Whoever names the person again means somebody new.
	b.ask(group, b.alice, "/match @zebnow 3:1")
	equal(t, b.matches(group), matches+1, "matches")
	equal(t, count(t, b.pool, `SELECT count(*) FROM players WHERE username = 'zebnow'`), 1, "new players")
	verifyClean(t, b.url)
}

// TestForgetCommand checks that `elobot forget` asks, forgets a person who was only named, and
// deletes everything of a group.
func TestForgetCommand(t *testing.T) {
	t.Parallel()
	b := newForgetFixture(t)
	env := []string{"DATABASE_URL=" + b.url}
	other := b.botFixture.group("Darts")
	b.ask(other, b.alice, "/match @bob 3:1")
	b.ask(b.group, b.alice, "/match @zebnamed 3:1")
	before := b.ratings()
	code, out, errs := output(t, env, "forget", "--username=@zebnamed")
	equal(t, code, 1, "exit code without an answer: %s", errs)
	says(t, out, "in 1 group, as 1 player, with 1 match")
	checkDump(t, b.pool, true, tracesIn("zebnamed"))
	code, out, errs = output(t, env, "forget", "--username=@zebnamed", "--yes")
	equal(t, code, 0, "exit code: %s", errs)
	says(t, out, "forgotten")
	b.settle()
	checkDump(t, b.pool, false, tracesIn("zebnamed"))
	equal(t, b.ratings(), before, "ratings")
	code, _, errs = output(t, env, "forget", "--user="+strconv.FormatInt(b.person.ID, 10), "--yes")
	equal(t, code, 0, "exit code: %s", errs)
	b.settle()
	_, err := postgres.Purge(testContext(t), b.pool, nil)
	must(t, err)
	checkDump(t, b.pool, false, b.traces)
	verifyClean(t, b.url)

	b.group.Kick()
	b.settle()
	code, out, errs = output(t, env, "forget", fmt.Sprint("--group=", b.group.ID()), "--yes")
	equal(t, code, 0, "exit code: %s", errs)
	says(t, out, `"Chess": 1 ranking, `)
	checkDump(t, b.pool, false, append(tracesIn(fmt.Sprint(b.group.ID())), "'chess'", `"chess"`))
	equal(t, b.matches(other), 1, "matches of the other group")
	if status, _ := browse(t, b.bot, b.board); status != http.StatusNotFound {
		t.Errorf("the page of the group is %d", status)
	}
	verifyClean(t, b.url)
	code, _, errs = output(t, env, "forget", fmt.Sprint("--group=", b.group.ID()), "--yes")
	equal(t, code, 1, "exit code for a group that is gone")
	says(t, errs, "there is no group with the Telegram id")
	b.group.AddBot(b.olga)
	b.ask(b.group, b.alice, "/match @bob 3:1")
	b.finish()
}
