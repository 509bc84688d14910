package main_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"elobot/internal/botsim"
)

// TestMyData checks that /mydata sends a person each row of the database that has their id, or one
// of their names and usernames, of now and of before. The person was first named in a prompt and in
// a dead letter, has a nick and a new username, is in an import, a final table and a web board, and
// was merged with a guest. The file names nobody else but opponents. In a group, the answer leads
// to the private chat.
func TestMyData(t *testing.T) {
	t.Parallel()
	b := startBotFixture(t, "LISTEN_ADDR=127.0.0.1:0", "PUBLIC_URL="+publicURL)
	zoe := botsim.User{ID: 777000777, FirstName: `"Ж" <Quuxley>`, Username: "zoe_was", LanguageCode: "en"}
	b.sim.AddUser(zoe)
	group := b.sim.Group("Chess", b.olga, b.alice, b.bob, b.carol, zoe)
	b.board(group, "on")
	b.ask(group, b.alice, "/match @carol 3:1")
	b.ask(group, b.alice, "/match @zoe_was")
	b.exec(`ALTER TABLE matches ADD CONSTRAINT broken CHECK (score_a <> 17) NOT VALID`)
	b.ask(group, b.carol, "/match @zoe_was 17:1")
	b.ask(group, zoe, "/match @bob 17:1")
	b.exec(`ALTER TABLE matches DROP CONSTRAINT broken`)
	b.ask(group, zoe, "/match @bob 3:1")
	b.ask(group, zoe, "/nick Zozo")
	zoe.Username = "zoe_now"
	b.sim.AddUser(zoe)
	b.ask(group, zoe, "/me")
	b.ask(group, b.bob, "/guest Nanna")
	b.ask(group, b.bob, "/match Nanna 2:3")
	b.settle()
	card := b.ask(group, b.olga, "/player nanna")
	for _, label := range []string{"Merge", "Zozo", "Merge"} {
		card = b.pressed(b.olga, card, label)
	}
	b.send(b.olga, b.importPage(group, b.olga), "club.csv", "winner,loser\nZozo,Bob\n")
	b.pressed(b.olga, b.ask(group, b.olga, "/season new"), "Start it")
	b.ask(group, zoe, "/match @bob 3:2")
	b.ask(group, b.bob, "/fix 5 3:0")

	other := b.group("Go") // without her
	b.ask(other, b.alice, "/match @zoe_now")

	private := b.sim.Private(zoe).NotStarted()
	answer := b.ask(group, zoe, "/mydata")
	says(t, visible(answer), "only works in our private chat")
	equal(t, answer.Buttons[0][0].URL, "https://t.me/elo_bot?start=mydata", "link below the answer")
	private.Say(zoe, "/start mydata")
	b.settle()
	sent := private.BotMessages()
	if len(sent) != 1 || sent[0].Document == nil {
		t.Fatalf("%d messages: %+v", len(sent), sent)
	}
	text := string(sent[0].Document.Content)
	var got map[string][]json.RawMessage
	must(t, json.Unmarshal(sent[0].Document.Content, &got))
	found := 0
	for _, table := range collect(t, b.pool, pgx.RowTo[string], `
		SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'`) {
		row := "t::text"
		if table == "dead_letters" {
			row += ` || convert_from(payload, 'UTF8')`
		}
		for _, term := range []string{"777000777", "zoe_was", "zoe_now", "Quuxley", "Zozo", "Nanna"} {
			stored := count(t, b.pool, fmt.Sprintf(`SELECT count(*) FROM %s t WHERE %s ILIKE '%%%s%%'`, table, row, term))
			mine := 0
			for _, r := range got[table] {
				mine += min(1, strings.Count(strings.ToLower(string(r)), strings.ToLower(term)))
			}
			if found += stored; mine < stored {
				t.Errorf("%s has %q in %d rows, and the file in %d", table, term, stored, mine)
			}
		}
	}
	t.Logf("%d bytes, %d finds in the database", len(text), found)
	for _, name := range []string{"alice", "carol", "olga", "@bob"} {
		if strings.Contains(strings.ToLower(text), name) {
			t.Errorf("the file names %s", name)
		}
	}
	says(t, text, `"Bob"`)
	b.ask(other, b.alice, "/match Zozo 3:1") // somebody else
	private.Say(zoe, "/mydata")
	b.settle()
	again := string(private.BotMessages()[1].Document.Content)
	equal(t, strings.Count(again, "Zozo"), strings.Count(text, "Zozo"), "how often the second file has the nick")
	verifyClean(t, b.url)
}
