package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/tools/txtar"

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

// TestRefusalOrder checks that the bot, if it has several reasons to refuse a command, gives the
// reason that comes first in a fixed order. Each script in testdata/refusal_order.txt removes one
// reason after another. The head of the file describes the scripts. With -update, the test writes
// the file.
func TestRefusalOrder(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "refusal_order.txt")
	scripts, err := txtar.ParseFile(path)
	must(t, err)
	pool := dbtest.Open(t, pgtest.New(t), dbtest.LikeCommands)
	t.Run("scripts", func(t *testing.T) {
		for i := range scripts.Files[1:] {
			club, script := string(scripts.Files[0].Data), &scripts.Files[i+1]
			t.Run(script.Name, func(t *testing.T) {
				t.Parallel()
				g := newScripted(t, pool, int64(i+1))
				if !strings.HasPrefix(script.Name, "new group") {
					g.play(club)
				}
				got := g.play(string(script.Data))
				if *updateGolden {
					script.Data = []byte(got)
				}
				equal(t, got, string(script.Data), "script")
			})
		}
	})
	if *updateGolden {
		must(t, os.WriteFile(path, txtar.Format(scripts), 0o644))
	}
}

// scripted is the group of a script.
type scripted struct {
	*hall

	thread        map[string]int64  // ids of topics by name
	wrote         map[string]fields // last /match by person
	posted        []fields          // messages of the bot
	update        fields            // the last update
	adminsUnknown bool              // Telegram does not answer who is an admin
	allAreAdmins  bool
}

const (
	// scriptResults is the maximum number of results that the bot accepts per person per minute.
	scriptResults = 5
	// scriptPace is the time between two steps. It is long enough that only the step "has sent too
	// many" exceeds a limit.
	scriptPace = 15 * time.Second
)

// unknownData is the data of a button that the bot does not have.
const unknownData = "1zz:"

// scriptCast lists people. The first is the admin of the group. From Dave on, they have not yet
// written in the group, and Zed is not in it.
var scriptCast = []string{"Alice", "Bob", "Carol", "Dave", "Erin", "Frank", "Grace", "Zed"}

func newScripted(t *testing.T, pool *pgxpool.Pool, number int64) *scripted {
	t.Helper()
	english := &typing{t: t, pool: pool, language: catalog.All()[0], accounts: 100 * number}
	g := &scripted{
		hall:   &hall{typing: english, chat: -1_002_000_000_000 - number},
		thread: map[string]int64{"padel": 20, "darts": 30}, wrote: make(map[string]fields),
	}
	g.now = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	settings := ranking.Settings{ResultsPerMinute: scriptResults, LongestReplay: 3, AskUnusual: true}
	store, log := pgranking.NewStore(pool, func(outbox.Lane) {}), slog.New(slog.DiscardHandler)
	rankings := ranking.NewService(store, stats.NewService(pgstats.NewStore(pool, pool)), g, log, settings)
	g.router = NewRouter(rankings, telegram.Self{ID: 99, Username: "elobot"})
	return g
}

func (g *scripted) IsAdmin(_ context.Context, _ ranking.ExternalChatID, user ladder.UserID) (bool, error) {
	if g.adminsUnknown {
		return false, errors.New("no answer from Telegram")
	}
	return g.allAreAdmins || int64(user) == g.accounts, nil
}

// play carries out the steps of a script, and returns the script with the bot's answers. It leaves
// out the answers to steps in parentheses, and fails if one of these is refused.
func (g *scripted) play(script string) string {
	g.t.Helper()
	var b strings.Builder
	for line := range strings.Lines(script) {
		step := strings.TrimSpace(line)
		if strings.HasPrefix(step, ">") {
			continue
		}
		b.WriteString(line)
		if step == "" || strings.HasPrefix(step, "#") {
			continue
		}
		given, isGiven := strings.CutPrefix(step, "(")
		said, isRefused := g.take(strings.TrimSuffix(given, ")"))
		if isGiven && isRefused {
			g.t.Fatalf("%s: %q", step, said)
		}
		for _, text := range said {
			if !isGiven {
				b.WriteString("> " + text + "\n")
			}
		}
	}
	return b.String()
}

// take carries out a step. It returns the bot's answers, and whether any of them is a refusal.
func (g *scripted) take(step string) (said []string, isRefused bool) {
	g.t.Helper()
	who, rest, _ := strings.Cut(step, " ")
	switch {
	case step == "admins unknown", step == "admins known":
		g.adminsUnknown = step == "admins unknown"
		return nil, false
	case who == "wait":
		wait, err := time.ParseDuration(rest)
		must(g.t, err)
		g.now = g.now.Add(wait)
		return nil, false
	case strings.HasPrefix(rest, "has sent too many "):
		g.flood(who, strings.TrimPrefix(rest, "has sent too many "))
		return nil, false
	case step == "the ratings are inconsistent":
		g.exec(`
			UPDATE elo_history SET superseded_at = now() WHERE id = (
				SELECT min(h.id) FROM elo_history h JOIN matches m ON m.id = match_id JOIN groups g ON g.id = group_id
				JOIN chats c ON c.id = chat_id WHERE telegram_chat_id = $1)`, g.chat)
		return nil, false
	case step == "again", step == "an operator has it handled again":
	case strings.HasPrefix(rest, "presses "):
		g.update = g.press(who, strings.TrimPrefix(rest, "presses "))
	default:
		g.update = g.message(step)
	}
	g.deliver(step == "an operator has it handled again")
	return g.hear()
}

// flood sends as many questions, results or presses as a person may send per minute. None of them
// has an effect, and flood discards the answers.
func (g *scripted) flood(who, what string) {
	g.t.Helper()
	message := func(text string) func(string) fields {
		return func(who string) fields { return g.message(who + ": " + text) }
	}
	kinds := map[string]struct {
		update func(who string) fields
		count  int
	}{
		"questions": {message("/help"), 20},
		"results":   {message("/undo x"), scriptResults},
		"presses":   {func(who string) fields { return g.press(who, unknownData) }, 60},
	}
	kind, ok := kinds[what]
	if !ok {
		g.t.Fatalf("nobody can send %s", what)
	}
	for range kind.count {
		g.update = kind.update(who)
		g.now = g.now.Add(-scriptPace)
		g.deliver(false)
	}
	g.hear()
}

// scriptMessage matches a step that sends a message: sender, topic, privacy, edit or reply, target,
// and text.
var scriptMessage = regexp.MustCompile(`^(\w+)(?: in (\w+))?( privately)?( edits)?( replies)?(?: to ([^:]+))?: (.*)$`)

// scriptMentions matches the mentions in a message, such as @bob and %Bob.
var scriptMentions = regexp.MustCompile(`[%@]\w+`)

// scriptLines matches the notation for repeated lines of a message, as in {@bob 3:1 × 21}.
var scriptLines = regexp.MustCompile(`\{(.*) × (\d+)\}`)

// message returns the update of a step that matches scriptMessage.
func (g *scripted) message(step string) fields {
	g.t.Helper()
	part := scriptMessage.FindStringSubmatch(step)
	if part == nil {
		g.t.Fatalf("%q is no step", step)
	}
	who, topic, to := part[1], part[2], part[6]
	isPrivate, isEdit, isReply := part[3] != "", part[4] != "", part[5] != ""
	g.now = g.now.Add(scriptPace)
	g.last++
	if lines := scriptLines.FindStringSubmatch(part[7]); lines != nil {
		count, _ := strconv.Atoi(lines[2])
		part[7] = strings.Replace(part[7], lines[0], strings.Join(slices.Repeat(lines[1:2], count), " ⏎ "), 1)
	}
	text, entities := g.mentions(strings.ReplaceAll(part[7], " ⏎ ", "\n"))
	m := fields{
		"message_id": g.last, "date": g.now.Unix(), "chat": g.shown(), "from": g.member(who),
		"text": text, "entities": entities,
	}
	switch {
	case isPrivate:
		m["chat"] = fields{"id": g.member(who)["id"], "type": "private", "first_name": who}
	case who == "Group":
		m["sender_chat"] = g.shown()
	case who == "Channel":
		m["sender_chat"] = fields{"id": g.chat - 1_000_000, "type": "channel", "title": "News"}
	}
	if topic != "" {
		m["message_thread_id"], m["is_topic_message"] = g.thread[topic], true
	}
	switch {
	case isReply && to == "":
		m["reply_to_message"] = g.posted[len(g.posted)-1]
	case isReply && g.wrote[to] != nil:
		m["reply_to_message"] = g.wrote[to]
	case isReply:
		m["reply_to_message"], _ = g.button(to)
	}
	if isEdit {
		edited := g.wrote[who]
		m["message_id"], m["date"], m["edit_date"] = edited["message_id"], edited["date"], g.now.Unix()
		return fields{"edited_message": m}
	}
	if strings.HasPrefix(text, "/match") {
		g.wrote[who] = m
	}
	return fields{"message": m}
}

// shown returns the group as it appears in updates.
func (g *scripted) shown() fields { return fields{"id": g.chat, "type": "supergroup", "title": "Club"} }

// member returns a sender as they appear in updates.
func (g *scripted) member(who string) fields {
	at := slices.Index(scriptCast, who)
	if at < 0 { // an anonymous admin, or a channel
		return fields{"id": 1087968824, "is_bot": true, "first_name": "Group", "username": "GroupAnonymousBot"}
	}
	return fields{"id": g.accounts + int64(at), "first_name": who, "username": strings.ToLower(who)}
}

// mentions returns a text with the entities of its command and its mentions. In the text, %Bob
// mentions Bob's account without its username.
func (g *scripted) mentions(text string) (plain string, entities []fields) {
	if head := strings.Fields(text)[0]; strings.HasPrefix(head, "/") {
		entities = append(entities, fields{"type": "bot_command", "offset": 0, "length": len(head)})
	}
	end := 0
	for _, at := range scriptMentions.FindAllStringIndex(text, -1) {
		plain += text[end:at[0]]
		end = at[1]
		token, entity := text[at[0]:end], fields{"type": "mention", "offset": len(utf16.Encode([]rune(plain)))}
		if name, isAccount := strings.CutPrefix(token, "%"); isAccount {
			token, entity["type"] = name, "text_mention"
			entity["user"] = fields{"id": g.member(name)["id"], "first_name": name}
		}
		entity["length"] = len(token)
		plain, entities = plain+token, append(entities, entity)
	}
	return plain + text[end:], entities
}

// press returns the update of a press of the button with this label. The label may be followed by "
// as " and another answer to the same question. Instead of a label, there may be the data of a
// button that the bot has not made.
func (g *scripted) press(who, label string) fields {
	g.t.Helper()
	g.now = g.now.Add(scriptPace)
	label, answer, isOther := strings.Cut(label, " as ")
	below, data := fields{}, label
	_, _, isData := findCallback(label)
	if isData = isData || label == unknownData; !isData {
		below, data = g.button(label)
	}
	if isOther {
		data = scriptAnswer.ReplaceAllString(data, ":"+answer+"$1")
	}
	if isData || isOther {
		below = g.botMessage("", [][]fields{{{"text": label, "callback_data": data}}})
	}
	g.last++
	return fields{"callback_query": fields{
		"id": fmt.Sprint(g.chat, g.last), "from": g.member(who), "message": below, "data": data,
	}}
}

// scriptAnswer matches the end of a cancel button's data: the answer, and the ladder.
var scriptAnswer = regexp.MustCompile(`:\w+(@\d+)?$`)

// button returns the last message that has a button with this label, and the button's data. If the
// label begins with "the first ", it returns the first such message.
func (g *scripted) button(label string) (m fields, data string) {
	g.t.Helper()
	var labels []string
	posted := slices.Clone(g.posted)
	name, isFirst := strings.CutPrefix(label, "the first ")
	if !isFirst {
		slices.Reverse(posted)
	}
	for _, m := range posted {
		for _, row := range m["reply_markup"].(fields)["inline_keyboard"].([][]fields) {
			for _, b := range row {
				if b["text"] == name {
					return m, b["callback_data"].(string)
				}
				labels = append(labels, b["text"].(string))
			}
		}
	}
	g.t.Fatalf("there is no button %q, but there are %q", label, labels)
	return nil, ""
}

// botMessage returns a message of the bot. If the last update was a message, the bot's message
// replies to it.
func (g *scripted) botMessage(text string, buttons [][]fields) fields {
	g.last++
	m := fields{
		"message_id": g.last, "date": g.now.Unix(), "chat": g.shown(), "text": text,
		"from":         fields{"id": 99, "is_bot": true, "username": "elobot"},
		"reply_markup": fields{"inline_keyboard": buttons},
	}
	if asked, ok := g.update["message"]; ok {
		m["reply_to_message"] = asked
	}
	return m
}

// deliver passes the last update to the router.
func (g *scripted) deliver(isRetried bool) {
	g.t.Helper()
	raw, err := json.Marshal(g.update)
	must(g.t, err)
	update := intake.Update{ID: g.last, Raw: raw, SentAt: g.now, Retried: isRetried}
	if err := g.router.Handle(g.t.Context(), decoded(update)); err != nil {
		g.t.Fatalf("%s: %v", raw, err)
	}
}

// hear returns the bot's answers since the last call, "nothing" if there are none, and whether any
// of them is a refusal. It omits edits of cards. Of an answer that is not a refusal, it returns
// only the first line.
func (g *scripted) hear() (said []string, isRefused bool) {
	g.t.Helper()
	// Without this update, a later notice would replace a waiting one instead of following it.
	rows, _ := g.pool.Query(g.t.Context(), `
		WITH heard AS (
		    UPDATE outbox o SET state = 'sent', finished_at = now(), supersede_key = NULL FROM chats c
		    WHERE c.id = chat_id AND (telegram_chat_id = $1 OR telegram_chat_id BETWEEN $2 AND $2 + 99) AND o.id > $3
		    RETURNING o.id, o.kind, payload, action)
		SELECT * FROM heard WHERE kind <> 'acknowledged' ORDER BY id`, g.chat, g.accounts, g.seen)
	var actions []outbox.Action
	items, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (item outbox.Item, err error) {
		actions = append(actions, "")
		return item, row.Scan(&item.ID, &item.Kind, &item.Payload, &actions[len(actions)-1])
	})
	must(g.t, err)
	g.meet()
	for i, item := range items {
		g.seen = item.ID
		out := g.post(item)
		kind := notice.KindOf(reflect.Zero(notice.Type(item.Kind)).Interface())
		isRefusal := kind.Refuses || kind.Name == "wrong_form"
		text, rest, _ := strings.Cut(plainText(out.html), "\n")
		switch {
		case isRefusal:
			text = strings.Join(strings.Fields(text+" "+rest), " ")
		case rest != "":
			text += " …"
		}
		isRefused = isRefused || isRefusal
		switch actions[i] {
		case outbox.Send:
			said = append(said, text)
		case outbox.Edit: // edit of a card
		case outbox.Page:
			said = append(said, "instead of the message: "+text)
		case outbox.CallbackAnswer:
			said = append(said, "to the press: "+plainText(out.callbackAnswer()))
		default:
			said = append(said, "("+item.Kind+")")
		}
	}
	if len(said) == 0 {
		said = append(said, "nothing")
	}
	return said, isRefused
}

// post renders a notice, and adds it to the messages of the bot.
func (g *scripted) post(item outbox.Item) outgoing {
	g.t.Helper()
	item.Names = make(map[int64]outbox.Name)
	for id, name := range g.people {
		item.Names[id] = outbox.Name{Name: name.Name}
	}
	out, err := render(item, words{Language: g.language})
	must(g.t, err)
	buttons := [][]fields{}
	for _, row := range out.buttons {
		var shown []fields
		for _, b := range row {
			shown = append(shown, fields{"text": plainText(b.text), "callback_data": b.data})
		}
		buttons = append(buttons, shown)
	}
	g.posted = append(g.posted, g.botMessage(plainText(out.html), buttons))
	return out
}
