package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/catalog"
	"elobot/internal/intake"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
	"elobot/internal/telegram"
)

// club is a group whose default ladder is chess. Topic 20 is bound to zorb, and topic 30 to darts,
// which is archived. Alice and Bob have played one match in each ladder, matches 1 to 3. All
// members are admins.
type club struct {
	t      *testing.T
	pool   *pgxpool.Pool
	router *Router
	now    time.Time
	last   int64 // id of the last message or press
}

// answers has the answers of the bot to a message or a press.
type answers struct {
	ladder string // in the first notice that names a ladder
	items  []outbox.Item
	to     fields // the message that was answered
}

const (
	ownTopic            = 20
	archivedTopic       = 30
	clubID        int64 = -1002000000001
)

func (c *club) IsAdmin(context.Context, ranking.ExternalChatID, ladder.UserID) (bool, error) {
	return true, nil
}

func newClub(t *testing.T) *club {
	t.Helper()
	pool := dbtest.Open(t, pgtest.New(t), dbtest.LikeCommands)
	c := &club{t: t, pool: pool, now: time.Now().Add(-20 * time.Hour).Truncate(time.Second)}
	rankings := ranking.NewService(
		pgranking.NewStore(pool, func(outbox.Lane) {}), stats.NewService(pgstats.NewStore(pool, pool)), c,
		slog.New(slog.DiscardHandler), ranking.Settings{ResultsPerMinute: -1, AskUnusual: true})
	c.router = NewRouter(rankings, telegram.Self{ID: 99, Username: "elobot"})
	c.say(0, nil, "/match @bobby 6:1")
	c.exec(`UPDATE ladders SET name = 'chess'`)
	for name, thread := range map[string]int{"zorb": ownTopic, "darts": archivedTopic} {
		c.exec(`
			WITH l AS (INSERT INTO ladders (group_id, is_default, name, season_id)
			           SELECT id, false, $1, nextval('seasons_id_seq') FROM groups RETURNING *)
			INSERT INTO seasons (id, group_id, ladder_id, number) OVERRIDING SYSTEM VALUE
			SELECT season_id, group_id, id, 1 FROM l`, name)
		c.exec(`
			INSERT INTO topics (chat_id, thread_id, ladder_id)
			SELECT chats.id, $2, ladders.id FROM chats, ladders WHERE name = $1`, name, thread)
	}
	c.say(ownTopic, nil, "/match @bobby 6:2")
	c.say(archivedTopic, nil, "/match @bobby 6:3")
	c.exec(`UPDATE ladders SET archived_at = now() WHERE name = 'darts'`)
	return c
}

func (c *club) exec(sql string, args ...any) {
	c.t.Helper()
	if _, err := c.pool.Exec(c.t.Context(), sql, args...); err != nil {
		c.t.Fatal(err)
	}
}

type fields = map[string]any

// message returns a message of Alice in a topic, or in General if thread is 0. Unless to is nil,
// the message replies to it.
func (c *club) message(thread int, to fields, text string) fields {
	c.now = c.now.Add(time.Minute) // avoids the question limit
	c.last++
	m := fields{
		"message_id": c.last, "date": c.now.Unix(), "chat": fields{"id": clubID, "type": "supergroup", "title": "Club"},
		"from": fields{"id": 7, "first_name": "Alice", "username": "alice"}, "text": text,
	}
	if thread != 0 {
		m["message_thread_id"], m["is_topic_message"] = thread, true
	}
	if to != nil {
		m["reply_to_message"] = to
	}
	head, _, _ := strings.Cut(text, " ")
	if strings.HasPrefix(head, "/") {
		m["entities"] = []fields{{"type": "bot_command", "offset": 0, "length": len(head)}}
	}
	for at := range text {
		if text[at] == '@' {
			name, _, _ := strings.Cut(text[at:], " ")
			entities, _ := m["entities"].([]fields)
			m["entities"] = append(entities, fields{"type": "mention", "offset": at, "length": len(name)})
		}
	}
	return m
}

func (c *club) say(thread int, to fields, text string) answers {
	c.t.Helper()
	m := c.message(thread, to, text)
	s := c.handle(fields{"message": m})
	s.to = m
	return s
}

func (c *club) edit(m fields, text string) answers {
	c.t.Helper()
	edited := c.message(0, nil, text)
	edited["message_id"], edited["date"], edited["edit_date"] = m["message_id"], m["date"], m["date"]
	return c.handle(fields{"edited_message": edited})
}

// press handles the press of a button below a message of the bot, in General.
func (c *club) press(to fields, out outgoing, data string) answers {
	c.t.Helper()
	below := c.message(0, to, "")
	below["from"] = fields{"id": 99, "is_bot": true, "first_name": "elobot", "username": "elobot"}
	var rows [][]fields
	for _, row := range out.buttons {
		for _, b := range row {
			rows = append(rows, []fields{{"text": b.text, "callback_data": b.data}})
		}
	}
	below["reply_markup"] = fields{"inline_keyboard": rows}
	s := c.handle(fields{"callback_query": fields{
		"id": fmt.Sprint(c.last), "from": fields{"id": 7, "first_name": "Alice", "username": "alice"}, "message": below, "data": data,
	}})
	s.to = to
	return s
}

func (c *club) handle(update fields) (s answers) {
	c.t.Helper()
	var before int64
	must(c.t, c.pool.QueryRow(c.t.Context(), `SELECT coalesce(max(id), 0) FROM outbox`).Scan(&before))
	raw, err := json.Marshal(update)
	must(c.t, err)
	if err := c.router.Handle(c.t.Context(), decoded(intake.Update{ID: c.last, Raw: raw, SentAt: c.now})); err != nil {
		c.t.Fatalf("%s: %v", raw, err)
	}
	rows, _ := c.pool.Query(c.t.Context(), `
		SELECT id, kind, payload, coalesce(reply_to, 0) FROM outbox
		WHERE id > $1 AND kind <> 'acknowledged' ORDER BY id`, before)
	s.items, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (item outbox.Item, err error) {
		return item, row.Scan(&item.ID, &item.Kind, &item.Payload, &item.ReplyTo)
	})
	must(c.t, err)
	for _, item := range slices.Backward(s.items) {
		if _, label, err := read[struct{}](item); err == nil && label.Name != "" {
			s.ladder = label.Name
		}
	}
	return s
}

// TestWhichLadder checks that each command is about the right ladder, whether it is sent in
// General, in the topic of another ladder, with the name of that ladder, in reply to the report of
// a match in that ladder, or in the topic of an archived ladder.
func TestWhichLadder(t *testing.T) {
	t.Parallel()
	anywhere := func(ladder string) [5]string { return [5]string{ladder, ladder, ladder, ladder, ladder} }
	var (
		ofLadder = [5]string{"chess", "zorb", "zorb", "zorb", "darts"}
		unnamed  = [5]string{"chess", "zorb", "", "zorb", "darts"}
	)
	rows := map[string]struct {
		args string
		// want has the ladder that the answer is about if the command is sent in General, in the
		// topic of zorb, with the name zorb, in reply to a report in zorb, and in the topic of the
		// archived ladder. A case with an empty string is not tried.
		want   [5]string
		before string // a command that must come first
	}{
		"start":    {"", unnamed, ""},
		"match":    {"@bobby 3:1", ofLadder, ""},
		"ranking":  {"", ofLadder, ""},
		"stats":    {"", ofLadder, ""},
		"h2h":      {"@bobby", ofLadder, ""},
		"records":  {"", ofLadder, ""},
		"matches":  {"", ofLadder, ""},
		"history":  {"", ofLadder, ""},
		"chart":    {"@bobby", ofLadder, ""},
		"odds":     {"@bobby", ofLadder, ""},
		"teams":    {"@alice @bobby @carol @dave", ofLadder, ""},
		"undo":     {"2", [5]string{"zorb", "zorb", "", "zorb", "zorb"}, "/restore 2"},
		"restore":  {"2", [5]string{"zorb", "zorb", "", "zorb", "zorb"}, "/undo 2"},
		"fix":      {"2 6:%d", [5]string{"zorb", "zorb", "", "zorb", "zorb"}, ""},
		"join":     {"", anywhere("chess"), ""}, // concerns the group
		"nick":     {"", anywhere("chess"), ""}, // concerns the group
		"guest":    {"Tom", unnamed, ""},
		"leave":    {"", anywhere("chess"), ""}, // concerns the group
		"player":   {"@bobby", unnamed, ""},
		"settings": {"", ofLadder, ""},
		"ladder":   {"", anywhere("chess"), ""}, // its list says which one applies
		"board":    {"", ofLadder, ""},
		"season":   {"", ofLadder, ""},
		"alltime":  {"", ofLadder, ""},
		"web":      {"", anywhere("chess"), ""}, // concerns the group
		"forgetme": {"", unnamed, ""},           // concerns all groups
		"help":     {"", unnamed, ""},
		"mydata":   {"", unnamed, ""},
		"about":    {"", unnamed, ""},
	}
	for _, cmd := range commands() {
		row, ok := rows[cmd.Name]
		if !ok {
			t.Errorf("/%s has no row: say which ladder it means", cmd.Name)
			continue
		}
		equal(t, row.want[2] == "zorb", cmd.OfLadder, "/%s: it may begin with the name of a ladder", cmd.Name)
		t.Run(cmd.Name, func(t *testing.T) {
			t.Parallel()
			c := newClub(t)
			reported := c.message(0, nil, "/match @bobby 6:2")
			reported["message_id"] = 2
			for i, place := range []struct {
				name   string
				thread int
				words  string
				to     fields
			}{
				{name: "General"}, {name: "topic", thread: ownTopic}, {name: "name", words: "zorb "},
				{name: "reply", to: reported}, {name: "archived", thread: archivedTopic},
			} {
				if row.want[i] == "" {
					continue
				}
				if row.before != "" {
					c.say(0, nil, row.before)
				}
				args := row.args
				if strings.Contains(args, "%d") {
					args = fmt.Sprintf(args, 3+i%2)
				}
				got := c.say(place.thread, place.to, strings.TrimSpace("/"+cmd.Name+" "+place.words+args))
				if len(got.items) == 0 || got.ladder != row.want[i] {
					t.Errorf("/%s, %s: the answer is about %q, want %q: %s",
						cmd.Name, place.name, got.ladder, row.want[i], payloads(got))
				}
			}
		})
	}
}

// payloads formats the notices for an error message.
func payloads(s answers) string {
	var all []string
	for _, item := range s.items {
		all = append(all, item.Kind+" "+string(item.Payload))
	}
	return strings.Join(all, "\n")
}

// TestWhichLadderOfAButton checks that the buttons below answers about zorb stay about zorb, even
// in General, where chess applies, unless they are about the group. The test must press a button of
// every callback.
func TestWhichLadderOfAButton(t *testing.T) {
	t.Parallel()
	ofGroup := []string{helpCode, ladderCode, renameCode, aboutCode}
	c := newClub(t)
	type below struct {
		kind string
		out  outgoing
		data string
		to   fields
	}
	var next []below
	seen, codes := make(map[string]bool), make(map[string]bool)
	english := words{Language: catalog.All()[0]}
	add := func(kind string, out outgoing, to fields) {
		for _, b := range slices.Concat(out.buttons...) {
			if found, _, ok := findCallback(b.data); ok && !codes[found.Code+kind] && !seen[b.data] {
				seen[b.data] = true
				next = append(next, below{kind, out, b.data, to})
			}
		}
	}
	look := func(s answers) {
		for _, item := range s.items {
			out, err := render(item, english)
			must(t, err)
			add(item.Kind, out, s.to)
		}
	}
	for i := range 12 { // more than a page of matches and of players
		c.say(ownTopic, nil, fmt.Sprintf("/match @player%d 3:%d", i, i%3))
	}
	report := c.message(ownTopic, nil, "/match @bobby 3:0")
	look(c.handle(fields{"message": report}))
	edited := c.edit(report, "/match @bobby 3:1")
	edited.to = report
	look(edited)
	look(c.say(ownTopic, nil, "/fix"))
	for _, text := range []string{
		"/match zorb", "/match zorb @bobby", "/ranking zorb", "/stats zorb", "/stats zorb @bobby", "/records zorb", "/matches zorb",
		"/history zorb", "/chart zorb", "/teams zorb @alice @bobby @player1 @player2", "/settings zorb", "/h2h zorb @bobby", "/fix 2 2:6",
		"/help", "/stats zorb play", "/season zorb new", "/player @bobby",
	} {
		look(c.say(0, nil, text))
	}
	// The answers to the commands above do not include the following notices.
	c.say(0, nil, "/undo 2")
	var card ranking.MatchRecorded
	var zorb ladder.ID
	row := c.pool.QueryRow(t.Context(),
		`SELECT o.payload, m.ladder_id FROM outbox o, matches m WHERE o.key = m.idempotency_key AND m.number = 2`)
	must(t, row.Scan(&card, &zorb))
	card.Undone, card.UndoneBy, card.Changes = true, &ranking.Reporter{}, 1
	board := stats.Board{RankingPage: stats.RankingPage{Rows: make([]stats.Row, 1), Total: 99}, On: true}
	for _, n := range []notice.Notice{card, board, ranking.FirstLadderPrompt{Name: "go"},
		ranking.RenamePrompt{Name: "go"}} {
		out, err := render(itemOf(t, n), english)
		must(t, err)
		add(notice.KindOf(n).Name, out.inLadder(zorb), nil)
	}
	for len(next) > 0 && len(seen) < 400 {
		b := next[0]
		next = next[1:]
		found, _, _ := findCallback(b.data)
		got := c.press(b.to, b.out, b.data)
		codes[found.Code], codes[found.Code+b.kind] = true, true
		unknown := strings.Contains(payloads(got), string(ranking.UnknownButton)) ||
			found.Code == pickCode && strings.Contains(payloads(got), "unclear_people")
		if unknown || !slices.Contains(ofGroup, found.Code) && got.ladder != "zorb" {
			t.Errorf("%s below %s leads to %q: %s", b.data, b.kind, got.ladder, payloads(got))
		}
		look(got)
	}
	prompt, err := render(itemOf(t, ranking.RenamePrompt{Name: "go"}), english)
	must(t, err)
	if got := payloads(c.press(nil, prompt, prompt.buttons[1][0].data)); !strings.HasPrefix(got, "ladder_list ") {
		t.Errorf("the canceled new name leads to %s", got)
	}
	for _, callback := range callbacks() {
		if !codes[callback.Code] && !callback.Private {
			t.Errorf("no button of %s (%s) was pressed", callback.Command, callback.Code)
		}
	}
}
