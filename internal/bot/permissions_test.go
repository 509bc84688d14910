package bot

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

// somebody is a column of docs/permissions.md.
type somebody struct {
	title, name string
	is          string
}

var permittedPeople = []somebody{
	{"member", "Dave", "in the group, not in the match"},
	{"player", "Bob", "has played match #1"},
	{"reporter", "Carol", "has reported match #1, and not played in it"},
	{"admin", "Alice", "has neither played nor reported match #1"},
	{"anonymous", "Group", "an admin who writes as the group, and so cannot press buttons"},
	{"was admin", "Frank", "has opened the settings as an admin, and is none any more"},
	{"has left", "Grace", "has joined the ranking, and then left the group"},
	{"ignored", "Erin", "has played match #1, and admins have the bot ignore her"},
	{"outsider", "Zed", "was never in the group, and sends the data of a button below a message that has none"},
}

// permitted is a row of docs/permissions.md: a typed command, or the press of the last button whose
// data match a pattern.
type permitted struct {
	says   string // a message, or what a button does
	before string // steps of a script
	button string // a pattern of the button's data, empty for a message
}

// permittedClub sets up a group. Match #1 is Bob's and Erin's, and Carol has reported it.
const permittedClub = "(Bob: /join)\n(Erin: /join)\n(Grace: /join)\n(Carol: /match @bob @erin 3:1)\n"

var permittedRows = []permitted{
	{says: "/start"}, {says: "/help"}, {says: "/about"},
	{says: "/match @bob 3:2"}, {says: "/match @bob @carol 3:2"}, {says: "/match"},
	{says: "/undo 1"}, {says: "/fix 1 3:2"}, {says: "/restore 1", before: "(Carol: /undo 1)"},
	{says: "/join"}, {says: "/leave"}, {says: "/nick Ace"}, {says: "/guest Tom"},
	{says: "/ranking"}, {says: "/stats @bob"}, {says: "/h2h @bob @carol"}, {says: "/records"}, {says: "/matches"},
	{says: "/history @bob"}, {says: "/chart @bob"}, {says: "/odds @bob @carol"}, {says: "/teams @alice @bob @carol @erin"},
	{says: "/season"}, {says: "/season new"}, {says: "/alltime"}, {says: "/web"},
	{says: "/board"}, {says: "/board on"}, {says: "/settings"}, {says: "/settings k 24"}, {says: "/player @bob"},
	{says: "/ladder"}, {says: "/ladder rename tennis"},
	{says: "/ladder new padel", before: "(Alice: /ladder rename tennis)"},

	{says: "Undo, below the card", button: `^1u:`},
	{says: "Undo, below a question about a fix", before: "(Carol: /fix)", button: `^1uf:`},
	{says: "Restore", before: "(Carol: /undo 1)", button: `^1b:`},
	{says: "Fix, after an edit", before: "(Carol edits: /match @bob @erin 3:2)", button: `^1f:`},
	{says: "The answer to a question that an admin was asked", before: "(Alice: /undo 1)", button: `^1q:`},
	{says: "The answer to a question about the sender’s own result", before: "(Carol: /match)", button: `^1q:`},
	{says: "A page of the settings", before: "(Alice: /settings)", button: `^1c:rating`},
	{says: "A value of a setting", before: "(Alice: /settings)\n(Alice presses Reporting ›)", button: `^1c:draws:off`},
	{says: "Export", before: "(Alice: /settings)", button: `^1x:`},
	{says: "Import", before: "(Alice: /settings)", button: `^1j:`},
	{says: "The start of a season", before: "(Alice: /season new)", button: `^1ns:`},
	{says: "A nick, a merge or a split", before: "(Alice: /player @bob)", button: `^1y:nick`},
	{says: "Remove", before: "(Alice: /player @bob)", button: `^1y:remove`},
	{says: "Ignore results", before: "(Alice: /player @bob)", button: `^1y:ignore`},
	{says: "Undo last 24 h", before: "(Alice: /player @carol)", button: `^1y:undo_day`},
	{says: "A page of the help", before: "(Bob: /help)", button: `^1i:`},
	{says: "Other teams", before: "(Bob: /teams @alice @bob @carol @erin)", button: `^1n:`},
	{says: "Report of one of the teams", before: "(Bob: /teams @alice @bob @carol @erin)", button: `^1w:`},
	{says: "Cancel, below the question for a ranking’s name", button: `1l:padel`},
	{says: "A ranking’s new name", button: `1rn:padel`},
	{says: "One of several names", before: "(Carol: /stats bobb)", button: `^1k:`},
	{says: "A page of the ranking", button: `1p:1:1001`},
	{says: "Records of another time", before: "(Bob: /records)", button: `^1e:`},
	{says: "The others on the board", button: `1a:`},
}

// notTried are the codes of buttons that lead only to questions, as those of a page of the ranking
// do, and of buttons in private chats, which are about their only member.
var notTried = []string{
	playerCode, againstCode, matchesCode, historyCode, chartCode, postChartCode, offWebCode, forgetCode,
}

// lacksPermission lists the refusals of people who may not do something.
var lacksPermission = []ranking.RefusalCode{
	ranking.AdminsOnly, ranking.NotYours, ranking.NotUndoneByYou, ranking.NotYourPrompt, ranking.NotYourReport,
	ranking.AdminsOnlyPrompt, ranking.SenderIgnored, ranking.UnknownButton, ranking.NobodyToJoin, ranking.NobodyToName,
}

// TestPermissions checks that docs/permissions.md says who may use each command and each button, by
// trying each of them as each of the people in a group of its own. With -update, it writes the
// page.
func TestPermissions(t *testing.T) {
	t.Parallel()
	for _, c := range commands() {
		isOf := func(r permitted) bool { return r.button == "" && strings.Fields(r.says)[0] == "/"+c.Name }
		if !c.OnlyPrivate && !slices.ContainsFunc(permittedRows, isOf) {
			t.Errorf("/%s is not tried", c.Name)
		}
	}
	for _, c := range callbacks() {
		isOf := func(r permitted) bool { return strings.HasPrefix(strings.TrimPrefix(r.button, "^"), "1"+c.Code+":") }
		if slices.Contains(notTried, c.Code) == slices.ContainsFunc(permittedRows, isOf) {
			t.Errorf("buttons with the code %s are either tried or listed in notTried", c.Code)
		}
	}
	pool := dbtest.Open(t, pgtest.New(t), dbtest.LikeCommands)
	cells := make([][]string, len(permittedRows))
	t.Run("rows", func(t *testing.T) {
		for i, row := range permittedRows {
			cells[i] = make([]string, len(permittedPeople))
			t.Run(row.says, func(t *testing.T) {
				t.Parallel()
				for j, p := range permittedPeople {
					cells[i][j] = row.try(t, pool, p, int64(1+i*len(permittedPeople)+j))
				}
			})
		}
	})
	const path = "../../docs/permissions.md"
	if *updateGolden {
		must(t, os.WriteFile(path, []byte(permissionsPage(cells)), 0o644))
	}
	page, err := os.ReadFile(path)
	must(t, err)
	equal(t, string(page), permissionsPage(cells), "docs/permissions.md")
}

// try has a person do what the row says, and returns the cell.
func (r permitted) try(t *testing.T, pool *pgxpool.Pool, p somebody, number int64) string {
	t.Helper()
	if r.button != "" && p.name == "Group" || r.button == "" && p.name == "Zed" {
		return "–"
	}
	g := newScripted(t, pool, number)
	g.play(permittedClub)
	switch p.name {
	case "Frank":
		g.allAreAdmins = true
		g.play("(Frank: /settings)")
		g.allAreAdmins = false
	case "Grace":
		left := g.message("Grace: left")["message"].(fields)
		delete(left, "text")
		delete(left, "entities")
		left["left_chat_member"] = g.member("Grace")
		g.update = fields{"message": left}
		g.deliver(false)
		g.hear()
	}
	g.play(r.before)
	g.exec(`
		UPDATE sightings SET ignored_at = now() WHERE username = 'erin' AND group_id = (
		    SELECT g.id FROM groups g JOIN chats c ON c.id = g.chat_id WHERE telegram_chat_id = $1)`, g.chat)
	if r.button == "" {
		g.update = g.message(p.name + ": " + r.says)
	} else {
		below, data := g.buttonLike(r.button)
		if p.name == "Zed" {
			below = g.botMessage("", [][]fields{})
		}
		g.update = g.press(p.name, data)
		g.update["callback_query"].(fields)["message"] = below
	}
	g.deliver(false)
	codes := dbtest.Values[string](t, pool, `
		SELECT payload ->> 'code' FROM outbox WHERE kind = 'refusal' AND id > $1
		  AND chat_id = (SELECT id FROM chats WHERE telegram_chat_id = $2)`, g.seen, g.chat)
	for _, code := range codes {
		if slices.Contains(lacksPermission, ranking.RefusalCode(code)) {
			return "no"
		}
	}
	return "yes"
}

// buttonLike returns the last message that has a button with data like the pattern, and the data. A
// pattern without an anchor is the data of a button that no message has.
func (g *scripted) buttonLike(pattern string) (below fields, data string) {
	g.t.Helper()
	if !strings.HasPrefix(pattern, "^") {
		return g.botMessage("", [][]fields{{{"text": "", "callback_data": pattern}}}), pattern
	}
	like := regexp.MustCompile(pattern)
	for _, m := range slices.Backward(g.posted) {
		for _, b := range slices.Concat(m["reply_markup"].(fields)["inline_keyboard"].([][]fields)...) {
			if data, _ := b["callback_data"].(string); like.MatchString(data) {
				return m, data
			}
		}
	}
	g.t.Fatalf("there is no button with data like %s", pattern)
	return nil, ""
}

func permissionsPage(cells [][]string) string {
	var b strings.Builder
	b.WriteString(`# Who may do what

Written by a test that has each of these people use each command and press each button, in a group
with the default settings: *yes* if the bot does it or refuses for another reason, *no* if they lack
the permission, – if Telegram has no way to do it.

`)
	for _, p := range permittedPeople {
		fmt.Fprintf(&b, "- **%s**: %s\n", p.title, p.is)
	}
	table := func(title string, isButton bool) {
		fmt.Fprintf(&b, "\n## %s\n\n|", title)
		for _, p := range permittedPeople {
			b.WriteString(" | " + p.title)
		}
		b.WriteString(" |\n|" + strings.Repeat(" --- |", len(permittedPeople)+1) + "\n")
		for i, row := range permittedRows {
			if (row.button != "") == isButton {
				says := row.says
				if !isButton {
					says = "`" + says + "`"
				}
				b.WriteString("| " + says + " | " + strings.Join(cells[i], " | ") + " |\n")
			}
		}
	}
	table("Commands", false)
	table("Buttons", true)
	b.WriteString(`
A match may be undone, fixed or moved by its players and its reporter for a day; later, and in
seasons that are over, by admins alone. In [the settings](ratings.md#the-rules), admins choose who
reports matches. Buttons that only ask questions, such as those below a ranking, are for everybody
but the ignored. In a private chat, everybody asks about themselves only.
`)
	return b.String()
}
