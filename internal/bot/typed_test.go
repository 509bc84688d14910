package bot

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/catalog"
	"elobot/internal/intake"
	"elobot/internal/ladder"
	"elobot/internal/outbox"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
	"elobot/internal/telegram"
)

// judgedTables names the tables in testdata/tables that TestTables judges. No row is wrong in any
// language, and differs.txt has each row that is not right.
var judgedTables = []string{"dates", "draws", "endings", "games", "slips"}

// TestTables checks that the message of each row of a table has the outcome that the row or
// differs.txt expects. It sends each message in a group of its own. The head of the table says how
// the groups are set up. If a report is in doubt, TestTables presses the buttons of the question.
// The verdict about a row is
//
//   - right: as expected;
//   - asked: the bot asks, although the row expects a refusal, or a result to which a button leads;
//   - refused: the row expects a result, but the bot neither records one nor asks; or the row
//     expects a question, but no button leads to a result;
//   - wrong: the results recorded, or those behind the buttons, contradict the row, or something is
//     stored although no match is recorded; no row may be wrong;
//   - differs: anything else.
//
// The method verdict and the methods that it calls have the exact rules. The file differs.txt lists
// the rows that are not right, with what happens and who is right.
func TestTables(t *testing.T) {
	t.Parallel()
	for _, table := range judgedTables {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			runTable(t, table)
		})
	}
}

// TestTablesAreComplete checks that each table has forty rows in each language, with only settings
// and kinds of expectations that exist. differs.txt names only rows that exist.
func TestTablesAreComplete(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/tables/*.txt")
	if err != nil || len(files) != len(judgedTables)+1 { // and differs.txt
		t.Fatalf("tables %q: %v", files, err)
	}
	known := make(map[string]bool)
	for _, name := range judgedTables {
		count := make(map[string]int)
		for _, row := range readTable(t, name) {
			count[row.language]++
			known[row.language+" "+row.number+" "+name] = true
			kind, _, _ := strings.Cut(row.expected, " ")
			if !slices.Contains([]string{"recorded", "asked", "refused", "shows", "says"}, kind) {
				t.Errorf("%s %s: nobody can expect %q", row.language, row.number, row.expected)
			}
			if _, ok := settingsOfTables[row.setting]; !ok {
				t.Errorf("%s %s: the setting %q is unknown", row.language, row.number, row.setting)
			}
		}
		for language, n := range count {
			if n != 40 || len(count) != len(catalog.All()) {
				t.Errorf("%s: %d rows in %s, and %d languages", name, n, language, len(count))
			}
		}
	}
	for row := range readDiffers(t) {
		if !known[row] {
			t.Errorf("differs.txt: no table has the row %s", row)
		}
	}
}

// TestDateWithYear checks that a report counts on the date that it gives, and that its card says
// so. The same date of another year is too far back, so the card says that the match counts from
// now.
func TestDateWithYear(t *testing.T) {
	t.Parallel()
	w := englishTyping(t)
	const today, now = "28 November 2026", "counts from now"
	for date, want := range map[string]string{
		"28.11.": today, "28.11.2026": today, "28.11.26": today, "2026-11-28": today, "November 28, 2026": today,
		"28.11.2025": now, "28.11.25": now, "2025-11-28": now, "11/28/2025": now, "November 28, 2025": now,
		"28 November 2016": now, "29.11.2026": now, "27.11.": "27 November 2026", "29.11.": now,
	} {
		o := w.try(typedRow{language: "en", setting: "base", message: "/match Bob 3:1 " + date})
		said := o.said.text()
		if len(o.results) != 1 || !strings.Contains(said, want) || strings.Contains(said, now) != (want == now) {
			t.Errorf("%s: recorded %v: %s", date, o.results, said)
		}
	}
}

// TestDateWithoutScore checks that a report without a score keeps its date until the score is
// known.
func TestDateWithoutScore(t *testing.T) {
	t.Parallel()
	w := englishTyping(t)
	for text, want := range map[string]string{
		"/match Bob 27.11.": "27 November 2026", "/match last friday @bob": "27 November 2026", "/match Bob 2 days ago": "counts from now",
		"/match Bob Dave vs Carol Erin on 2026-11-20": "20 November 2026", "/match Bob yesterday": "27 November 2026",
	} {
		o := w.try(typedRow{language: "en", setting: "base", message: text}, 0)
		if len(o.results) != 1 || !strings.Contains(o.said.text(), want) {
			t.Errorf("%s: recorded %v: %s", text, o.results, o.said.text())
		}
	}
	o := w.try(typedRow{language: "en", setting: "base", message: "/match Bob last friday"})
	typed := o.h.say("3:1", o.h.below(o.asks))
	if len(o.h.recorded(typed)) != 1 || !strings.Contains(typed.text(), "27 November 2026") {
		t.Errorf("the score is typed: %s", typed.text())
	}
	o = w.try(typedRow{language: "en", setting: "base", message: "/match"})
	typed = o.h.say("Bob last friday", o.h.below(o.asks))
	if !strings.HasPrefix(typed.text(), "The score is missing") {
		t.Errorf("the opponent is typed: %s", typed.text())
	}
}

// TestScoreIsNoLadder checks that a score at the start of a report is not taken for a misspelled
// name of a ladder.
func TestScoreIsNoLadder(t *testing.T) {
	t.Parallel()
	h := englishTyping(t).enter(settingsOfTables["base"])
	h.exec(`UPDATE ladders SET name = '2v2' WHERE group_id = $1`, h.id)
	for _, text := range []string{"/match 2:2 bob", "/match 2:2 @dave", "/match 2-2 gg @erin",
		"/match 2:2 @bob @dave vs @carol @erin"} {
		said := h.say(text, nil)
		if recorded := h.recorded(said); len(recorded) != 1 {
			t.Errorf("%s: recorded %v, said %s", text, recorded, said.text())
		}
	}
}

// TestSeasonByName checks that a number means the season with that number or, if there is none, a
// season with that name. After /ranking, a number that is not a year is a page instead.
func TestSeasonByName(t *testing.T) {
	t.Parallel()
	w := englishTyping(t)
	h := w.enter(settingsOfTables["season25"])
	h.exec(`UPDATE seasons SET name = '1' WHERE group_id = $1 AND number = 2`, h.id)
	for text, want := range map[string]string{
		"/ranking 2025": "season 1 (2025)", "/season 2025": "season 1 (2025)", "/ranking season 2025": "season 1 (2025)", "/season 1": "season 1 (2025)",
		"/season 2": "season 2 (1)", "/ranking 2024": "There is no season 2024 here.", "/ranking 999": "No matches in season 2 yet.",
	} {
		if said := h.say(text, nil).text(); !strings.Contains(said, want) {
			t.Errorf("%s: %s", text, said)
		}
	}
}

// englishTyping returns a typing in English, with its own database.
func englishTyping(t *testing.T) *typing {
	t.Helper()
	pool := dbtest.Open(t, pgtest.New(t), dbtest.LikeCommands)
	return &typing{t: t, pool: pool, language: catalog.All()[0], accounts: 100, group: -1_002_000_000_000,
		entered: make(map[string]string)}
}

type typedRow struct{ language, number, setting, message, expected, note string }

func readTable(t *testing.T, name string) (rows []typedRow) {
	t.Helper()
	eachLine(t, name, func(line string) {
		f := strings.Split(line, " | ")
		if len(f) != 5 {
			t.Fatalf("%s: %d fields in %q", name, len(f), line)
		}
		language, number, _ := strings.Cut(f[0], " ")
		rows = append(rows, typedRow{language, number, f[1], strings.ReplaceAll(f[2], " ⏎ ", "\n"), f[3], f[4]})
	})
	return rows
}

// readDiffers returns what happens in the rows that are not right, by language, number and table.
func readDiffers(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	eachLine(t, "differs", func(line string) {
		row, rest, ok := strings.Cut(line, ": ")
		happens, who, also := strings.Cut(rest, " | ")
		if !ok || !also || who == "" {
			t.Fatalf("differs: say what happens and who is right: %q", line)
		}
		all[row] = happens
	})
	return all
}

// eachLine calls do with each line of a table that is neither empty nor a comment.
func eachLine(t *testing.T, name string, do func(string)) {
	t.Helper()
	table, err := os.ReadFile(filepath.Join("testdata", "tables", name+".txt"))
	must(t, err)
	for line := range strings.Lines(string(table)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			do(line)
		}
	}
}

// runTable judges the rows of a table. Rows of one language run one after another, because they
// share their people.
func runTable(t *testing.T, table string) {
	pool := dbtest.Open(t, pgtest.New(t), dbtest.LikeCommands)
	rows, differs := readTable(t, table), readDiffers(t)
	var lock sync.Mutex
	count := make(map[string]int)
	t.Run("rows", func(t *testing.T) {
		for at, language := range catalog.All() {
			if underRace && at > 0 { // a race in one language is a race in all
				break
			}
			t.Run(language.Tag(), func(t *testing.T) {
				t.Parallel()
				w := &typing{
					t: t, pool: pool, language: language, accounts: int64(at+1) * 100, group: -1_002_000_000_000 - int64(at)*10_000,
					entered: make(map[string]string),
				}
				for _, row := range rows {
					if row.language != language.Tag() {
						continue
					}
					verdict, happens := w.judge(row)
					lock.Lock()
					count[verdict]++
					lock.Unlock()
					name := row.language + " " + row.number + " " + table
					text := fmt.Sprintf("%s: %s, %s\n\t%s\n\texpected %s (%s)",
						name, verdict, happens, row.message, row.expected, row.note)
					switch want, known := differs[name]; {
					case verdict == "wrong", verdict != "right" && !known, verdict == "right" && known:
						t.Error(text)
					case known && want != verdict+", "+happens:
						t.Errorf("%s\n\tdiffers.txt says %s", text, want)
					}
				}
			})
		}
	})
	t.Logf("%s: right %d, asked %d, refused %d, differs %d, wrong %d",
		table, count["right"], count["asked"], count["refused"], count["differs"], count["wrong"])
}

// usernames has the usernames of the people in the tables, in the order of firstNames. The first
// person sends the messages.
var usernames = []string{"alice", "bob", "carol", "dave", "erin", "frank", "tom", "alexander",
	"dove", "dennis", "darts", "april"}

// firstNames has the first names of the people in usernames, by language.
var firstNames = map[string][]string{
	"en":    strings.Fields("Alice Bob Carol Dave Erin Frank Tom Alexander Dove Dennis Darts April"),
	"de":    strings.Fields("Alice Bob Carol Dave Erin Frank Tom Alexander Dove Dennis Darts April"),
	"es":    strings.Fields("Alice Bob Carol Dave Erin Frank Tom Alexander Dove Denis Dardos Abril"),
	"pt-BR": strings.Fields("Alice Bob Carol Dave Erin Frank Tom Alexander Dove Denis Dardos Abril"),
	"ru":    strings.Fields("Алиса Боб Кэрол Дэйв Эрин Фрэнк Том Александр Дав Деннис Дартс Марта"),
	"uk":    strings.Fields("Аліса Боб Керол Дейв Ерін Френк Том Олександр Дав Деніс Дартс Серпень"),
}

// games has the names of ladders by language, in the order of the English names.
var games = map[string][]string{
	"en":    strings.Split("tennis, padel, darts, chess, table football, table tennis", ", "),
	"de":    strings.Split("Tennis, Padel, Darts, Schach, Kicker, Tischtennis", ", "),
	"es":    strings.Split("tenis, pádel, dardos, ajedrez, futbolín, tenis de mesa", ", "),
	"pt-BR": strings.Split("tênis, padel, dardos, xadrez, pebolim, tênis de mesa", ", "),
	"ru":    strings.Split("теннис, падел, дартс, шахматы, кикер, настольный теннис", ", "),
	"uk":    strings.Split("теніс, падел, дартс, шахи, кікер, настільний теніс", ", "),
}

// gameIn translates the English name of a ladder.
func gameIn(language, game string) string { return games[language][slices.Index(games["en"], game)] }

// setting is the state of a group before the message of a row.
type setting struct {
	ladders []string // English names, the default ladder first; none for a single unnamed ladder
	extra   string   // username of another player
	first   []string // messages of Alice or @dve before anyone else plays
	last    []string // messages of Alice at the end
	sql     string   // run before the last messages, with the group as $1
	replies bool     // the message replies to a message of Bob
}

// settingsOfTables has the settings described in the heads of the tables. In a setting with @dve,
// that person became a player before Dave did.
var settingsOfTables = map[string]setting{
	"one": {}, "base": {},
	"onenamed": {ladders: []string{"tennis"}},
	"named":    {ladders: []string{"tennis", "padel"}},
	"many":     {ladders: []string{"tennis", "padel", "darts", "chess", "table football"}},
	"tt":       {ladders: []string{"table tennis", "padel"}},
	"dennis":   {ladders: []string{"tennis", "padel"}, extra: "dennis"},
	"darts":    {ladders: []string{"tennis", "padel"}, extra: "darts"},
	"reply":    {ladders: []string{"tennis", "padel"}, replies: true},
	"nodraws":  {sql: `UPDATE ladders SET draws_allowed = false WHERE group_id = $1`},
	"m42":      {sql: `UPDATE groups SET last_match_number = 41 WHERE id = $1`, last: []string{"/match @carol 2:0"}},
	"dove":     {extra: "dove"},
	"dve":      {first: []string{"/match @dve 3:1"}},
	"undone":   {first: []string{"/match @dve 3:1", "/undo 1"}},
	"joined":   {first: []string{"@dve /join", "/match @dve 3:1", "/undo 1"}},
	"restored": {first: []string{"/match @dve 3:1", "/undo 1", "/restore 1"}},
	"month":    {extra: "april"},
	"season25": {sql: `UPDATE seasons SET name = '2025' WHERE group_id = $1`, last: []string{"/season new"}},
}

// typing sends the messages of a group's members in one language.
type typing struct {
	t        *testing.T
	pool     *pgxpool.Pool
	language catalog.Language
	accounts int64 // first account id of the language
	group    int64 // Telegram id of the last group
	// entered has the census of a new group for each setting, by the setting's name.
	entered map[string]string
}

// hall is the group of a row.
type hall struct {
	*typing
	router   *Router
	chat, id int64 // its Telegram id, and its id in groups
	now      time.Time
	last     int64                 // id of the last message
	seen     int64                 // id of the last notice
	people   map[int64]outbox.Name // players, with their usernames as marks
	labels   map[string]string     // English names of the ladders, by their names in the language
}

func (h *hall) IsAdmin(context.Context, ranking.ExternalChatID, ladder.UserID) (bool, error) {
	return true, nil
}

func (w *typing) enter(s setting) *hall {
	w.t.Helper()
	w.group--
	store, settings := pgranking.NewStore(w.pool, func(outbox.Lane) {}),
		ranking.Settings{ResultsPerMinute: -1, AskUnusual: true}
	h := &hall{typing: w, chat: w.group, labels: map[string]string{"": ""},
		now: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)}
	questions := stats.NewService(pgstats.NewStore(w.pool, w.pool))
	rankings := ranking.NewService(store, questions, h, slog.New(slog.DiscardHandler), settings)
	h.router = NewRouter(rankings, telegram.Self{ID: 99, Username: "elobot"})
	for _, text := range s.first {
		h.say(text, nil)
	}
	// One match makes players of the first eight people, because a match for each would take most
	// of the test's time.
	lines := "/match %0 %1 %2 %3 vs %4 %5 %6 %7 3:1"
	if i := slices.Index(usernames, s.extra); i > 0 {
		lines += fmt.Sprintf("\n%%%d 3:1", i)
	}
	h.say(lines, nil)
	row := w.pool.QueryRow(w.t.Context(), `
		WITH c AS (UPDATE chats SET language = $1, time_zone = 'Europe/Berlin' WHERE telegram_chat_id = $2 RETURNING id)
		SELECT g.id FROM groups g JOIN c ON c.id = g.chat_id`, w.language.Tag(), h.chat)
	must(w.t, row.Scan(&h.id))
	for i, name := range s.ladders {
		named := gameIn(w.language.Tag(), name)
		h.labels[named] = name
		if i == 0 {
			h.exec(`UPDATE ladders SET name = $2 WHERE group_id = $1`, h.id, named)
			continue
		}
		h.exec(`
			WITH l AS (INSERT INTO ladders (group_id, is_default, name, season_id)
			           VALUES ($1, false, $2, nextval('seasons_id_seq')) RETURNING *)
			INSERT INTO seasons (id, group_id, ladder_id, number) OVERRIDING SYSTEM VALUE
			SELECT season_id, group_id, id, 1 FROM l`, h.id, named)
	}
	if s.sql != "" {
		h.exec(s.sql, h.id)
	}
	for _, text := range s.last {
		if q := h.say(text, nil).question(h); len(q.buttons) > 0 && q.kind != "match_recorded" {
			h.press(q, q.buttons[0])
		}
	}
	h.now = h.now.Add(time.Hour)
	return h
}

func (h *hall) exec(sql string, args ...any) {
	h.t.Helper()
	if _, err := h.pool.Exec(h.t.Context(), sql, args...); err != nil {
		h.t.Fatal(err)
	}
}

// account returns a person of the tables as they appear in updates.
func (h *hall) account(of int) fields {
	return fields{
		"id": h.accounts + int64(of), "first_name": firstNames[h.language.Tag()][of], "username": usernames[of], "language_code": h.language.Tag(),
	}
}

var tokens = regexp.MustCompile(`%\d+|@\w+`)

// say handles a message of Alice. In the text, %1 stands for the account of Bob, %2 for Carol, and
// so on. A text that begins with @dve is sent by that person.
func (h *hall) say(text string, to fields) spoken {
	h.t.Helper()
	if rest, ok := strings.CutPrefix(text, "@dve "); ok {
		return h.sayAs(fields{"id": h.accounts + 99, "first_name": "Dve", "username": "dve"}, rest, to)
	}
	return h.sayAs(h.account(0), text, to)
}

// sayAs is like say, for a message of any member.
func (h *hall) sayAs(from fields, text string, to fields) spoken {
	h.t.Helper()
	h.now = h.now.Add(time.Minute)
	h.last++
	head, _, _ := strings.Cut(strings.ReplaceAll(text, "\n", " "), " ")
	entities := []fields{{"type": "bot_command", "offset": 0, "length": len(head)}}
	var b strings.Builder
	end := 0
	for _, at := range tokens.FindAllStringIndex(text, -1) {
		b.WriteString(text[end:at[0]])
		end = at[1]
		token := text[at[0]:at[1]]
		entity := fields{"type": "mention", "offset": len(utf16.Encode([]rune(b.String())))}
		if number, ok := strings.CutPrefix(token, "%"); ok {
			of, _ := strconv.Atoi(number)
			user := h.account(of)
			token, entity["type"], entity["user"] = user["first_name"].(string), "text_mention", user
		}
		b.WriteString(token)
		entity["length"] = len(utf16.Encode([]rune(token)))
		entities = append(entities, entity)
	}
	b.WriteString(text[end:])
	m := fields{
		"message_id": h.last, "date": h.now.Unix(), "chat": fields{"id": h.chat, "type": "supergroup", "title": "Club"},
		"from": from, "text": b.String(), "entities": entities,
	}
	if to != nil {
		m["reply_to_message"] = to
	}
	return h.handle(fields{"message": m}, m)
}

// press handles Alice's press of a button of a question.
func (h *hall) press(q question, b button) spoken {
	h.t.Helper()
	return h.pressAs(h.account(0), q, b)
}

// pressAs is like press, for a press of any member.
func (h *hall) pressAs(from fields, q question, b button) spoken {
	h.t.Helper()
	h.now = h.now.Add(time.Second)
	below := h.below(q)
	press := fields{"id": fmt.Sprint(h.chat, h.last), "from": from, "message": below, "data": b.data}
	return h.handle(fields{"callback_query": press}, q.to)
}

// below returns a message of the bot with the buttons of a question.
func (h *hall) below(q question) fields {
	h.last++
	var row []fields
	for _, b := range q.buttons {
		row = append(row, fields{"text": b.text, "callback_data": b.data})
	}
	return fields{
		"message_id": h.last, "date": h.now.Unix(), "chat": fields{"id": h.chat, "type": "supergroup", "title": "Club"},
		"from":             fields{"id": 99, "is_bot": true, "first_name": "elobot", "username": "elobot"},
		"reply_to_message": q.to, "reply_markup": fields{"inline_keyboard": [][]fields{row}},
	}
}

// spoken is the bot's answer to a message or a press: the notices, as people see them.
type spoken struct {
	items []outbox.Item
	out   []outgoing
	to    fields // the message that led to it
}

func (h *hall) handle(update, to fields) spoken {
	h.t.Helper()
	raw, err := json.Marshal(update)
	must(h.t, err)
	if err := h.router.Handle(h.t.Context(), decoded(intake.Update{ID: h.last, Raw: raw, SentAt: h.now})); err != nil {
		h.t.Fatalf("%s: %v", raw, err)
	}
	rows, _ := h.pool.Query(h.t.Context(), `
		SELECT o.id, o.kind, payload, coalesce(reply_to, 0) FROM outbox o JOIN chats c ON c.id = chat_id
		WHERE telegram_chat_id = $1 AND o.id > $2 AND o.kind <> 'acknowledged' ORDER BY o.id`, h.chat, h.seen)
	s := spoken{to: to}
	s.items, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (item outbox.Item, err error) {
		return item, row.Scan(&item.ID, &item.Kind, &item.Payload, &item.ReplyTo)
	})
	must(h.t, err)
	h.meet()
	for _, item := range s.items {
		h.seen = item.ID
		item.Names = make(map[int64]outbox.Name)
		for id, name := range h.people {
			item.Names[id] = outbox.Name{Name: name.Name}
		}
		zone := ranking.Display{TimeZone: "Europe/Berlin"}.Zone()
		out, err := render(item, words{Language: h.language, zone: zone})
		must(h.t, err)
		s.out = append(s.out, out)
	}
	return s
}

// meet reads the names of the people who write in this language, and of the group's unclaimed
// players, into h.people.
func (h *hall) meet() {
	h.t.Helper()
	h.people = make(map[int64]outbox.Name)
	rows, err := h.pool.Query(h.t.Context(), `
		SELECT p.id, display_name, coalesce(username, '') FROM players p
		WHERE telegram_user_id BETWEEN $1 AND $1 + 99
		   OR group_id = (SELECT g.id FROM groups g JOIN chats c ON c.id = g.chat_id WHERE telegram_chat_id = $2)`,
		h.accounts, h.chat)
	must(h.t, err)
	defer rows.Close()
	for rows.Next() {
		var id int64
		var name outbox.Name
		must(h.t, rows.Scan(&id, &name.Name, &name.Mark))
		h.people[id] = name
	}
	must(h.t, rows.Err())
}

// text returns the whole answer as plain text, with the labels of buttons.
func (s spoken) text() string {
	var b strings.Builder
	for _, out := range s.out {
		b.WriteString(plainText(out.html) + "\n")
		for _, row := range out.buttons {
			for _, button := range row {
				b.WriteString(button.text + " " + button.copy + "\n")
			}
		}
	}
	return b.String()
}

// plainText returns a text without markup and invisible characters.
func plainText(html string) string {
	return strings.NewReplacer(isolate, "", endIsolate, "", joiner, "").Replace(plain(html))
}

// question is a question of the bot, with its buttons except the cancel button.
type question struct {
	kind    string
	buttons []button
	to      fields
}

// question returns the first question in the answer. It has no buttons if there is no question.
func (s spoken) question(h *hall) question {
	for i, out := range s.out {
		q := question{kind: s.items[i].Kind, to: s.to}
		for _, b := range slices.Concat(out.buttons...) {
			if b.data != "" && b.text != (words{Language: h.language}).cancel() {
				q.buttons = append(q.buttons, b)
			}
		}
		if len(q.buttons) > 0 && q.kind != "match_recorded" {
			return q
		}
	}
	return question{to: s.to}
}

// result is a match in the notation of the tables: the winner on the left, and in a draw the side
// whose name sorts first.
type result struct {
	sides  [2]string
	isDraw bool
	scores [][2]string // score and sets; none for a match without a score
	kept   string      // games that do not count, as typed
	ladder string
}

func (r result) String() string {
	text := r.sides[0] + map[bool]string{true: "=", false: ">"}[r.isDraw] + r.sides[1]
	for _, s := range r.scores {
		text += " " + s[0] + ":" + s[1]
	}
	if r.kept != "" {
		text += fmt.Sprintf(" kept %q", r.kept)
	}
	if r.ladder != "" {
		text += " in " + r.ladder
	}
	return text
}

// turned returns the result with the players of a side, and the sides of a draw, in the order of
// the tables.
func (r result) turned() result {
	for i := range r.sides {
		r.sides[i] = strings.Join(slices.Sorted(strings.SplitSeq(r.sides[i], "+")), "+")
	}
	if r.isDraw && r.sides[0] > r.sides[1] {
		r.sides[0], r.sides[1] = r.sides[1], r.sides[0]
		for i, s := range r.scores {
			r.scores[i] = [2]string{s[1], s[0]}
		}
	}
	return r
}

var (
	oneScore  = regexp.MustCompile(`(\d*½|\d+):(\d*½|\d+)`)
	keptGames = regexp.MustCompile(`\d+[:–x-]\d+(\(\d+\))?( \d+[:–x-]\d+(\(\d+\))?)*`)
	resultRow = regexp.MustCompile(`^([a-z+]+)([>=])([a-z+]+)((?: [\d½]+:[\d½]+)*)(?: kept "([^"]*)")?(?: in ([a-z ]+))?$`)
)

// readResult reads a result as the tables write it.
func readResult(text string) (r result, ok bool) {
	m := resultRow.FindStringSubmatch(strings.TrimSuffix(text, " without a score"))
	if m == nil {
		return r, false
	}
	r = result{sides: [2]string{m[1], m[3]}, isDraw: m[2] == "=", kept: m[5], ladder: m[6]}
	for _, s := range oneScore.FindAllStringSubmatch(m[4], -1) {
		r.scores = append(r.scores, [2]string{s[1], s[2]})
	}
	return r.turned(), true
}

// recorded returns the recorded matches as their cards show them, and checks that they are stored
// in the same way.
func (h *hall) recorded(s spoken) (all []result) {
	h.t.Helper()
	for i, item := range s.items {
		var card ranking.MatchRecorded
		if item.Kind != "match_recorded" && item.Kind != "match_fixed" {
			continue
		}
		must(h.t, json.Unmarshal(item.Payload, &card))
		var r result
		for side, of := range card.Sides {
			var names []string
			for _, p := range of.Players {
				names = append(names, strings.ToLower(h.people[int64(p.Name.Player)].Mark))
			}
			r.sides[side] = strings.Join(names, "+")
		}
		text := plainText(s.out[i].html)
		head, rest, _ := strings.Cut(text, "\n")
		if card.Past {
			head, _, _ = strings.Cut(rest, "\n")
		}
		if item.Kind == "match_fixed" {
			head = head[:strings.LastIndex(head, " (")] // without the previous score
		}
		var a, b, winner *int
		var turns bool
		var label string
		row := h.pool.QueryRow(h.t.Context(), `
			SELECT score_a, score_b, winner::integer, coalesce(l.name, ''),
			       (SELECT side = 2 FROM match_players WHERE match_id = m.id AND player_id = $3)
			FROM matches m JOIN ladders l ON l.id = m.ladder_id
			WHERE m.group_id = $1 AND m.number = $2 AND undone_at IS NULL`,
			h.id, card.Number, card.Sides[0].Players[0].Name.Player)
		must(h.t, row.Scan(&a, &b, &winner, &label, &turns))
		r.ladder = h.labels[label]
		won := 0
		if winner != nil {
			won = map[int]int{0: 0, 1: 1, 2: -1}[*winner]
			r.kept = keptGames.FindString(text)
		} else {
			won = cmp.Compare(*a, *b)
			for _, score := range oneScore.FindAllStringSubmatch(head, -1) {
				r.scores = append(r.scores, [2]string{score[1], score[2]})
			}
		}
		if turns {
			won = -won
			a, b = b, a
		}
		r.isDraw = won == 0
		isStored := won >= 0
		if winner == nil && !strings.Contains(head, "½") {
			isStored = isStored && len(r.scores) > 0 && r.scores[0] == [2]string{strconv.Itoa(*a), strconv.Itoa(*b)}
		}
		if !isStored {
			h.t.Errorf("%s is stored otherwise: %v, %v, winner %v", text, a, b, won)
		}
		all = append(all, r.turned())
	}
	return all
}

// leaf has the results recorded after one way of answering all questions.
type leaf []result

// outcome is the effect of a message or a press.
type outcome struct {
	said    spoken
	h       *hall
	results []result
	asks    question
	leaves  []leaf
	stored  string // the census after the message, if it changed although nothing is recorded
	before  string // the census of the group before the message
}

// try sends the message of a row in a new group. Then it presses a button of each of the bot's
// questions in turn: presses has the indexes of the buttons.
func (w *typing) try(row typedRow, presses ...int) (o outcome) {
	w.t.Helper()
	s := settingsOfTables[row.setting]
	h := w.enter(s)
	var to fields
	if s.replies {
		to = fields{
			"message_id": 1, "date": h.now.Unix(), "from": h.account(1), "text": "hi", "chat": fields{"id": h.chat, "type": "supergroup"},
		}
	}
	if _, ok := w.entered[row.setting]; !ok {
		w.entered[row.setting] = h.census()
	}
	o = h.outcome(h.say(row.message, to), w.entered[row.setting])
	for _, at := range presses {
		o = o.press(at)
	}
	return o
}

// outcome returns what a message or a press has led to. before is the census of the group before
// the row's message.
func (h *hall) outcome(said spoken, before string) outcome {
	o := outcome{h: h, said: said, results: h.recorded(said), asks: said.question(h), before: before}
	if len(o.results) == 0 {
		if after := h.census(); after != before {
			o.stored = after
		}
	}
	return o
}

// press presses the button with this index, if the question has that many.
func (o outcome) press(at int) outcome {
	if at >= len(o.asks.buttons) {
		return o
	}
	return o.h.outcome(o.h.press(o.asks, o.asks.buttons[at]), o.before)
}

// census returns the usernames of the group's unclaimed players, how many group_players it has, and
// how many of its matches are not undone.
func (h *hall) census() (all string) {
	h.t.Helper()
	if err := h.pool.QueryRow(h.t.Context(), `
		SELECT concat_ws(' ', (SELECT string_agg(username, ' ' ORDER BY username) FROM players WHERE group_id = $1),
			(SELECT count(*) FROM group_players p JOIN seasons s ON s.id = p.season_id WHERE s.group_id = $1),
			(SELECT count(*) FROM matches WHERE group_id = $1 AND undone_at IS NULL))`, h.id).Scan(&all); err != nil {
		h.t.Fatal(err)
	}
	return all
}

// isReport reports whether the message of a row is a report, other than a bare /match.
func (row typedRow) isReport() bool {
	head, _, _ := strings.Cut(row.message, " ")
	return slices.Contains([]string{"/match", "/won", "/lost", "/draw"}, head) && row.message != "/match"
}

// explore returns the outcome of a row's message. If the message is a report, the outcome says what
// each button of the bot's first two questions leads to. The first button of each question is
// pressed in the same group, the others in groups of their own.
func (w *typing) explore(row typedRow) outcome {
	o := w.try(row)
	if !row.isReport() {
		return o
	}
	for i := range o.asks.buttons {
		next := o.press(0)
		if i > 0 {
			next = w.try(row, i)
		}
		if len(next.results) > 0 || len(next.asks.buttons) == 0 {
			o.leaves = append(o.leaves, next.results)
			continue
		}
		for j := range next.asks.buttons {
			last := next.press(0)
			if j > 0 {
				last = w.try(row, i, j)
			}
			o.leaves = append(o.leaves, last.results)
		}
	}
	return o
}

func (o outcome) happens() string {
	var parts []string
	for _, r := range o.results {
		parts = append(parts, "recorded "+r.String())
	}
	var ways []string
	for _, l := range o.leaves {
		ways = append(ways, strings.Trim(fmt.Sprint([]result(l)), "[]"))
	}
	if len(ways) > 0 {
		parts = append(parts, o.asks.kind+" "+strings.Join(ways, " / "))
	}
	for _, item := range o.said.items {
		var why struct{ Code, Reason, Detail, Word string }
		if item.Kind != "match_recorded" && len(ways) == 0 && json.Unmarshal(item.Payload, &why) == nil {
			parts = append(parts, strings.Join(
				strings.Fields(fmt.Sprint(item.Kind, " ", why.Code, " ", why.Reason, " ", why.Detail, " ", why.Word)), " "))
		}
	}
	if o.stored != "" {
		parts = append(parts, "stored "+o.stored)
	}
	return strings.Join(parts, "; ")
}

func (w *typing) judge(row typedRow) (verdict, happens string) {
	o := w.explore(row)
	return o.verdict(row), o.happens()
}

// ofDay matches the day of a match in a note.
var ofDay = regexp.MustCompile(`\bof (\d+) November\b`)

func (o outcome) verdict(row typedRow) string {
	if o.stored != "" {
		return "wrong"
	}
	kind, rest, _ := strings.Cut(row.expected, " ")
	switch kind {
	case "recorded":
		return o.recordedAs(row, rest)
	case "asked":
		asked, also, both := strings.Cut(rest, "; recorded ")
		if want, ok := readResult(also); both && (!ok || !isSame(o.results, want)) {
			return "wrong"
		}
		return o.askedAs(row, asked, both)
	}
	if len(o.results) > 0 {
		return "wrong"
	}
	if kind == "refused" {
		return o.refusedAs(rest)
	}
	return o.answersAs(row, kind, rest)
}

func isSame(all []result, want result) bool { return len(all) == 1 && all[0].String() == want.String() }

// recordedAs judges a row that expects a result, rest.
func (o outcome) recordedAs(row typedRow, rest string) string {
	want, ok := readResult(rest)
	switch {
	case !ok:
		return "the table cannot be read"
	// A draw in a single game needs no score.
	case len(o.results) == 1 && rest == o.results[0].String()+" ½:½":
		return "differs"
	case len(o.results) > 0 && !isSame(o.results, want):
		return "wrong"
	case len(o.results) > 0:
		w, said, day := words{Language: o.h.language}, o.said.text(), ""
		if m := ofDay.FindStringSubmatch(row.note); m != nil {
			date, _ := strconv.Atoi(m[1])
			day = w.Date(time.Date(2026, time.November, date, 0, 0, 0, 0, time.UTC))
		}
		past := plainText(w.Text("note.past", nil))
		isFromNow := strings.HasPrefix(said, past)
		return right(strings.Contains(row.note, "counts from now") == isFromNow && strings.Contains(said, day))
	case len(o.leaves) == 0:
		return "refused"
	case slices.ContainsFunc(o.leaves, func(l leaf) bool { return isSame(l, want) }):
		return "asked"
	default:
		return "wrong"
	}
}

// askedAs judges a row that expects a question, asked, whose buttons must lead to the results in
// the row. also means that the row expects a recorded result too.
func (o outcome) askedAs(row typedRow, asked string, also bool) string {
	what, options, _ := strings.Cut(asked, ": ")
	var meant []result // the results in the note; some press must record each
	for part := range strings.SplitSeq(row.note, "; ") {
		_, after, found := strings.Cut(part, "it is ")
		if !found {
			after = part
		}
		if r, ok := readResult(strings.TrimPrefix(after, "the draw ")); ok {
			meant = append(meant, r)
		}
	}
	var all []result
	for _, l := range o.leaves {
		all = append(all, l...)
	}
	switch {
	case len(o.results) > 0 && !also:
		return "wrong"
	case what == "opponent" && len(o.asks.buttons) > 0:
		names := strings.Split(options, " / ")
		for _, b := range o.asks.buttons {
			names = slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(b.text, o.h.nameOf(n)) })
		}
		return right(len(names) == 0 && !strings.Contains(strings.ToLower(o.said.text()), "dve"))
	case len(all) == 0:
		return "refused"
	}
	some := func(is func(result) bool) bool { return slices.ContainsFunc(all, is) }
	for _, want := range meant {
		if !some(func(r result) bool {
			r.ladder = want.ladder
			return r.String() == want.String() || want.isDraw && r.String() == want.String()+" ½:½"
		}) {
			return "wrong"
		}
	}
	var wanted []string
	for part := range strings.SplitSeq(options, ", ") {
		wanted = append(wanted, strings.Split(part, " / ")...)
	}
	if what == "game" {
		_, list, _ := strings.Cut(options, "; ")
		word := strings.Trim(strings.Fields(row.message)[1], ":,")
		if !strings.Contains(strings.ToLower(o.said.text()), strings.ToLower(word)) {
			return "differs"
		}
		wanted = strings.Split(list, " / ")
		if wanted[len(wanted)-1] == "two others" {
			wanted = wanted[:len(wanted)-1]
			if len(all) != len(wanted)+2 {
				return "wrong"
			}
		} else if len(all) != len(wanted) {
			return "wrong"
		}
	}
	for _, option := range wanted {
		if !some(func(r result) bool {
			switch what {
			case "game":
				return r.ladder == option
			case "winner":
				return !r.isDraw && r.sides[0] == option &&
					(r.kept != "" || !keptGames.MatchString(row.message)) && len(r.scores) == 0
			case "counts":
				return len(r.scores) == 1 &&
					(r.scores[0][0]+":"+r.scores[0][1] == option || r.scores[0][1]+":"+r.scores[0][0] == option)
			case "reading":
				text := r.String()
				isScore, isDraw := strings.Contains(text, " 1:2") || strings.Contains(text, " 2:1"), strings.Contains(text, "½")
				return strings.HasSuffix(option, "1:2") && isScore && !isDraw || strings.HasSuffix(option, "a draw") && isDraw
			case "newplayer":
				username := strings.TrimPrefix(option, "new @")
				return slices.Contains(strings.Split(r.sides[0]+"+"+r.sides[1], "+"), username)
			default:
				return false
			}
		}) {
			return "wrong"
		}
	}
	return "right"
}

func right(ok bool) string {
	if ok {
		return "right"
	}
	return "differs"
}

func (h *hall) nameOf(username string) string {
	return firstNames[h.language.Tag()][slices.Index(usernames, username)]
}

// refusedAs judges a row that expects a refusal for the reason in rest.
func (o outcome) refusedAs(rest string) string {
	text := o.said.text()
	switch {
	case len(o.leaves) > 0:
		return "asked"
	case rest == "draws are off":
		return right(len(o.said.items) == 1 && strings.Contains(string(o.said.items[0].Payload), string(ranking.NoDraws)))
	}
	head, near, offers := strings.Cut(rest, ", offers ")
	_, quoted, _ := strings.Cut(head, `"`)
	quoted, _, _ = strings.Cut(quoted, `"`)
	if offers && !strings.Contains(text, o.h.nameOf(near)) && !strings.Contains(text, "@"+near) {
		return "differs"
	}
	isForeign := strings.HasPrefix(rest, "unknown name") && strings.Contains(text, "@bobby")
	return right(strings.Contains(text, quoted) && !isForeign)
}

// sinces maps the last word of a row's expectation to the start of the period that the answer must
// cover.
var sinces = map[string]string{"today": "2026-11-28T00:00:00+01:00", "week": "2026-11-23T00:00:00+01:00"}

// answersAs judges a row that expects an answer to a member's question: kind is "shows" or "says",
// and rest is the content.
func (o outcome) answersAs(row typedRow, kind, rest string) string {
	if len(o.said.items) == 0 {
		return "differs"
	}
	item, text := o.said.items[0], o.said.text()
	isAbout := func(name string) bool { return strings.Contains(text, name) }
	words := strings.Fields(rest)
	if kind == "says" {
		for at, name := range firstNames[row.language] {
			if isAbout(name) && usernames[at] != "darts" {
				return "differs"
			}
		}
		switch words[0] {
		case "rankings":
			return right(isAbout(gameIn(row.language, "tennis")) && isAbout(gameIn(row.language, "padel")))
		case "no":
			return right(isAbout("2025") && item.Kind != "unclear_people")
		default:
			return right(item.Kind != "unclear_people" && item.Kind != "my_standing")
		}
	}
	switch {
	case words[0] == "chart":
		return right(item.Kind == "chart")
	case words[0] == "season":
		return right(item.Kind == "season_table" && isAbout("2025"))
	case words[0] == "matches", words[len(words)-1] == "today", words[len(words)-1] == "week":
		since, err := time.Parse(time.RFC3339, sinces[words[len(words)-1]])
		return right(err == nil && slices.ContainsFunc(instants(item.Payload), since.Equal))
	case len(words) == 3: // with or without a person
		return right(item.Kind == "ranking_page" && isAbout("dve") == (words[1] == "with"))
	default:
		_, label, err := read[struct{}](item)
		return right(err == nil && item.Kind == "ranking_page" && (len(words) == 1 || o.h.labels[label.Name] == words[1]))
	}
}

var instant = regexp.MustCompile(`"(\d{4}-\d\d-\d\dT[^"]*)"`)

func instants(payload []byte) (all []time.Time) {
	for _, m := range instant.FindAllSubmatch(payload, -1) {
		if at, err := time.Parse(time.RFC3339, string(m[1])); err == nil {
			all = append(all, at)
		}
	}
	return all
}
