package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/botsim"
	"elobot/internal/postgres/dbtest"
)

// TestImportOfAnExportedHistory checks that the exported history of a group, imported into an empty
// group of another database, gives the same matches and ratings in the same rankings. The history
// has topics, edits, replies, corrections, and people of one name. Importing it again, also into
// the group itself, records nothing.
func TestImportOfAnExportedHistory(t *testing.T) {
	t.Parallel()
	b := newBotFixture(t)
	b.later.Store(-3 * 24 * 60 * 60) // the command refuses what is in the future
	b.env = environment(b.sim, b.url)
	b.bot = launch(t, b.env, "run")
	sams := []botsim.User{b.sim.AddUser(botsim.User{FirstName: "Sam"}), b.sim.AddUser(botsim.User{FirstName: "Sam"})}
	people := append([]botsim.User{b.alice, b.bob, b.carol}, sams...)
	forum := b.sim.Forum("Club", append([]botsim.User{b.olga}, people...)...)
	forum.Say(b.olga, "welcome")
	b.seen(forum, people...)
	padel := forum.Topic(b.olga, "Padel").ID
	post := func(from botsim.User, topic, reply int, text string, entities ...botsim.Entity) botsim.Message {
		b.later.Add(61 + int64(len(text)))
		return forum.Post(botsim.Post{From: from, Text: text, ThreadID: topic, ReplyTo: reply, Entities: entities})
	}
	b.answer(post(b.olga, 0, 0, "/ladder rename chess"))
	b.answer(post(b.olga, 0, 0, "/ladder new padel"))
	b.answer(post(b.olga, padel, 0, "/ladder use padel"))

	random := rand.New(rand.NewPCG(1, 0)) // the same history each time
	const results = 200
	for n := range results {
		order := random.Perm(len(people))
		who, other := people[order[0]], people[order[1]]
		topic := []int{0, padel}[n%2]
		score := fmt.Sprintf(" %d:%d", random.IntN(4), 4+random.IntN(4))
		entities := []botsim.Entity{
			{Type: "bot_command", Length: len("/match")},
			{Type: "text_mention", Offset: len("/match "), Length: len(utf16.Encode([]rune(other.FirstName))), User: &other},
		}
		named := "/match " + other.FirstName + score
		if other.Username != "" && n%3 > 0 {
			named, entities = "/match @"+other.Username+score, nil
		}
		var match botsim.Message
		switch n % 8 {
		case 0: // in reply to the opponent
			talk := post(other, topic, 0, "good game")
			match = post(who, topic, talk.ID, []string{"/won", "/lost", "/draw"}[n%3])
		case 1: // a slip
			match = post(who, topic, 0, strings.Replace(named, "/match", "match", 1))
			match = forum.EditAt(match, "/match @alice @bob 3:2", match.Date)
		case 2:
			match = post(who, 0, 0, "/match padel @carol @alice 11:9 7:11 11:4")
		default:
			match = post(who, topic, 0, named, entities...)
		}
		card := b.answer(match)
		switch n % 11 {
		case 3:
			b.answer(post(who, topic, match.ID, "/undo"))
		case 4:
			post(b.olga, topic, card.ID, "thanks")
		case 5:
			b.answer(post(who, topic, card.ID, "/undo"))
		case 6: // the winner comes first on a card
			b.answer(post(who, topic, card.ID, "/fix 21:19"))
		case 7:
			b.answer(post(who, topic, match.ID, "/fix 2:2"))
		}
	}
	b.finish()

	folder := t.TempDir()
	file, list := filepath.Join(folder, "result.json"), filepath.Join(folder, "people.csv")
	history := telegramHistory{title: "Club", messages: forum.Messages(), zone: time.UTC}
	must(t, os.WriteFile(file, history.json(t), 0o600))
	names := "name,who\n"
	for _, p := range people[:3] {
		names += fmt.Sprintf("@%s,%d\n", p.Username, p.ID)
	}
	must(t, os.WriteFile(list, []byte(names), 0o600))

	url, pool := database(t)
	dbtest.Exec(t, pool, fmt.Sprintf(`
		INSERT INTO chats (telegram_chat_id, kind, title) VALUES (%d, 'supergroup', 'Club');
		INSERT INTO bot (telegram_user_id) VALUES (%d);
		INSERT INTO groups (chat_id) VALUES (1);
		`, forum.ID(), forum.BotMessages()[0].From.ID)+dbtest.DefaultLadders+dbtest.PadelLadders("true"))
	execute(t, pool, `UPDATE ladders SET name = 'chess' WHERE is_default`)
	run := func(url string) string {
		t.Helper()
		p := prepare([]string{"DATABASE_URL=" + url}, "import", file, fmt.Sprintf("--group=%d", forum.ID()), "--people="+list)
		out, err := p.cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	_ = run(url)
	if diff := cmp.Diff(played(t, b.pool), played(t, pool)); diff != "" {
		t.Errorf("the imported group differs (-played +imported):\n%s", diff)
	}
	verifyClean(t, url)
	for _, url := range []string{url, b.url} {
		says(t, run(url), "New: 0\n", "Nothing was written")
	}
}

// played returns the matches that count and the ratings of each ranking of a group, without what a
// member does not see.
func played(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	return collect(t, pool, pgx.RowTo[string], `
		SELECT concat_ws(' ', l.name, extract(epoch FROM played_at)::bigint, score_a, score_b, sets, (
		    SELECT string_agg(concat_ws(':', mp.side, p.telegram_user_id, h.elo_before, h.elo_after), ' ' ORDER BY mp.place)
		    FROM match_players mp JOIN players p ON p.id = mp.player_id
		    JOIN elo_history h ON h.match_id = m.id AND h.player_id = p.id AND h.superseded_at = 'infinity'
		    WHERE mp.match_id = m.id)) AS line
		FROM matches m JOIN ladders l ON l.id = m.ladder_id
		JOIN groups g ON g.id = m.group_id JOIN chats c ON c.id = g.chat_id
		WHERE undone_at IS NULL AND c.title = 'Club'
		UNION ALL
		SELECT concat_ws(' ',
		    l.name, s.number, p.telegram_user_id, p.display_name, elo, best_elo, played, won, drawn, lost, streak)
		FROM group_players gp JOIN seasons s ON s.id = gp.season_id JOIN ladders l ON l.id = s.ladder_id
		JOIN players p ON p.id = gp.player_id JOIN groups g ON g.id = l.group_id JOIN chats c ON c.id = g.chat_id
		WHERE c.title = 'Club' AND gp.played > 0
		ORDER BY line`)
}
