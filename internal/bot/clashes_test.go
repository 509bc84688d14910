package bot

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/catalog"
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

// TestClashes checks that, where names clash, matches count only for the people who are meant,
// whichever button of a question is pressed. The last line of each clash in testdata/clashes.txt
// has the expected outcome: what changes in the database or, if nothing does, the answer.
func TestClashes(t *testing.T) {
	t.Parallel()
	people, clashes := readClashes(t)
	equal(t, len(clashes), 60, "clashes")
	pool := dbtest.Open(t, pgtest.New(t), dbtest.LikeCommands)
	languages := catalog.All()
	for i, c := range clashes {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			isOfGroup := func(l catalog.Language) bool { return l.Tag() == c.language }
			w := &typing{
				t: t, pool: pool, language: languages[slices.IndexFunc(languages, isOfGroup)],
				accounts: int64(i+1) * 100, group: -1_002_000_000_000 - int64(i)*100,
			}
			last := len(c.lines) - 1
			gather := func() *crowd {
				g := w.gather(people)
				for _, line := range c.lines[:last] {
					g.play(line)
				}
				return g
			}
			g := gather()
			happens := g.outcome()
			var ways []string
			for i := range g.said.question(g.hall).buttons {
				if !strings.HasPrefix(happens, refusedAs) {
					break // the question is about what has happened
				}
				if i > 0 { // each button has a group of its own
					g = gather()
				}
				q := g.said.question(g.hall)
				g.said = g.pressAs(g.people[g.sender], q, q.buttons[i])
				ways = append(ways, g.outcome())
			}
			if len(ways) > 0 {
				happens = "asks: " + strings.Join(ways, " / ")
			}
			g.expect(c.lines[last], happens)
		})
	}
}

// clash is a script in which names clash. Its last line is the expected outcome.
type clash struct {
	title, language string
	lines           []string
}

// readClashes returns the people of testdata/clashes.txt as Telegram shows them, and the clashes.
func readClashes(t *testing.T) (people map[string]fields, clashes []clash) {
	t.Helper()
	text, err := os.ReadFile("testdata/clashes.txt")
	must(t, err)
	people = make(map[string]fields)
	shown := strings.NewReplacer(`\u200b`, "\u200b", `\u3164`, "\u3164").Replace(string(text))
	for line := range strings.SplitSeq(shown, "\n") {
		in, isIn := strings.CutPrefix(line, "  ")
		switch {
		case line == "", strings.HasPrefix(strings.TrimSpace(line), "#"):
		case isIn:
			last := &clashes[len(clashes)-1]
			last.lines = append(last.lines, in)
		case line[0] == '@':
			key, name, _ := strings.Cut(line[len("@ "):], ": ")
			people[key] = profile(name)
			people[key]["id"] = int64(len(people))
		default:
			head := strings.SplitN(line, " ", 3)
			clashes = append(clashes, clash{title: head[0] + " " + head[2], language: head[1]})
		}
	}
	return people, clashes
}

// profile returns what Telegram shows of a person. text is the name, followed by an @ and the
// username if there is one.
func profile(text string) fields {
	name, username, _ := strings.Cut(text, " @")
	first, last, _ := strings.Cut(name, " ")
	if last == "Ann" { // her first name is Mary Ann
		first, last = name, ""
	}
	return fields{"first_name": first, "last_name": last, "username": username}
}

// crowd is the group of a clash. Alice is its only admin.
type crowd struct {
	*hall
	people map[string]fields
	sender string   // of the last line
	said   spoken   // the answer to the last line
	before []string // the census before the last line
}

func (g *crowd) IsAdmin(_ context.Context, _ ranking.ExternalChatID, user ladder.UserID) (bool, error) {
	return int64(user) == g.people["alice"]["id"], nil
}

// gather returns a new group, in which Alice has asked for the ranking.
func (w *typing) gather(people map[string]fields) *crowd {
	w.t.Helper()
	w.group--
	g := &crowd{
		hall:   &hall{typing: w, chat: w.group, now: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)},
		people: make(map[string]fields),
	}
	for key, profile := range people {
		g.people[key] = maps.Clone(profile)
		g.people[key]["id"], g.people[key]["language_code"] = w.accounts+profile["id"].(int64), w.language.Tag()
	}
	store, settings := pgranking.NewStore(w.pool, func(outbox.Lane) {}),
		ranking.Settings{ResultsPerMinute: -1, AskUnusual: true}
	questions := stats.NewService(pgstats.NewStore(w.pool, w.pool))
	rankings := ranking.NewService(store, questions, g, slog.New(slog.DiscardHandler), settings)
	g.router = NewRouter(rankings, telegram.Self{ID: 99, Username: "elobot"})
	g.sayAs(g.people["alice"], "/ranking", nil)
	row := w.pool.QueryRow(w.t.Context(),
		`SELECT g.id FROM groups g JOIN chats c ON c.id = g.chat_id WHERE telegram_chat_id = $1`, g.chat)
	must(w.t, row.Scan(&g.id))
	return g
}

// play carries out a line of a clash: it checks an outcome, sends a message, replies to one,
// presses a button, or changes a person's profile.
func (g *crowd) play(line string) {
	g.t.Helper()
	if strings.HasPrefix(line, "= ") {
		g.expect(line, g.outcome())
		return
	}
	if who, text, says := strings.Cut(line, ": "); says {
		for key := range strings.FieldsSeq(who) {
			g.sender, g.before = key, g.census()
			g.said = g.sayAs(g.people[key], text, nil)
		}
		return
	}
	part := strings.SplitN(line, " ", 3)
	from, text := g.people[part[0]], part[2]
	if part[1] == "is" {
		maps.Copy(from, profile(text))
		return
	}
	g.sender, g.before = part[0], g.census()
	shown := question{to: g.said.to}
	for _, out := range g.said.out {
		shown.buttons = append(shown.buttons, slices.Concat(out.buttons...)...)
	}
	if part[1] == "^" {
		g.said = g.sayAs(from, text, g.below(shown))
		return
	}
	at := slices.IndexFunc(shown.buttons, func(b button) bool { return plainText(b.text) == text })
	if at < 0 {
		g.t.Fatalf("%s: there is only\n%s", line, g.said.text())
	}
	g.said = g.pressAs(from, shown, shown.buttons[at])
}

const refusedAs = "refused: " // begins an outcome without changes

// expect checks that happens is the outcome that the line gives. Of a refusal, the line gives only
// a part.
func (g *crowd) expect(line, happens string) {
	g.t.Helper()
	want := strings.TrimPrefix(line, "= ")
	part, isRefused := strings.CutPrefix(want, refusedAs)
	if isRefused && strings.HasPrefix(happens, refusedAs) && strings.Contains(happens, part) {
		return
	}
	equal(g.t, happens, want, "outcome")
}

// outcome returns what has changed in the database since before the last line or, if nothing has,
// the answer.
func (g *crowd) outcome() string {
	g.t.Helper()
	var all []string
	after := g.census()
	for _, line := range after {
		if !slices.Contains(g.before, line) {
			all = append(all, strings.Replace(line, "#", "recorded #", 1))
		}
	}
	for _, line := range g.before {
		if !slices.Contains(after, line) {
			all = append(all, "no more "+line)
		}
	}
	return cmp.Or(strings.Join(all, "; "), refusedAs+g.said.text())
}

// census returns a line for each player of the group, and for each match that counts.
func (g *crowd) census() (all []string) {
	g.t.Helper()
	rows, _ := g.pool.Query( //nolint:rowserrcheck // ForEachRow does
		g.t.Context(), `
		SELECT p.id, coalesce(telegram_user_id, 0), coalesce(p.username, ''), display_name, coalesce(nick, '')
		FROM players p LEFT JOIN sightings s ON s.player_id = p.id AND s.group_id = $1
		WHERE p.group_id = $1 OR s.group_id = $1 ORDER BY p.id`, g.id)
	names := make(map[int64]string)
	var id, account int64
	var username, name, nick string
	_, err := pgx.ForEachRow(rows, []any{&id, &account, &username, &name, &nick}, func() error {
		names[id] = cmp.Or(nick, name)
		if username != "" {
			names[id] = "@" + username
		}
		for key, p := range g.people { // an unclaimed player stands for the person with that username
			if p["id"] == account || account == 0 && username != "" && p["username"] == username {
				names[id] = key
			}
		}
		line := "player " + names[id]
		if nick != "" && nick != names[id] {
			line += " called " + nick
		}
		all = append(all, line)
		return nil
	})
	must(g.t, err)
	rows, _ = g.pool.Query( //nolint:rowserrcheck // ForEachRow does
		g.t.Context(), `
		SELECT number, coalesce((array[0, 1, -1])[winner::integer + 1], sign(score_a - score_b)::integer),
		       coalesce(' in ' || nullif(l.name, 'main'), ''), coalesce(stand_ins_a, 0), coalesce(stand_ins_b, 0),
		       array(SELECT player_id FROM match_players WHERE match_id = m.id AND side = 1 ORDER BY place),
		       array(SELECT player_id FROM match_players WHERE match_id = m.id AND side = 2 ORDER BY place)
		FROM matches m JOIN ladders l ON l.id = m.ladder_id
		WHERE m.group_id = $1 AND undone_at IS NULL ORDER BY number`, g.id)
	var number, won int
	var in string
	var standIns [2]int
	var players [2][]int64
	columns := []any{&number, &won, &in, &standIns[0], &standIns[1], &players[0], &players[1]}
	_, err = pgx.ForEachRow(rows, columns, func() error {
		var sides [2]string
		for i, side := range players {
			var who []string
			for _, p := range side {
				who = append(who, names[p])
			}
			sides[i] = strings.Join(append(who, slices.Repeat([]string{"a stand-in"}, standIns[i])...), " + ")
		}
		sign := " > "
		if won < 0 {
			slices.Reverse(sides[:])
		} else if won == 0 {
			sign = " = "
		}
		all = append(all, fmt.Sprintf("#%d: %s", number, sides[0]+sign+sides[1]+in))
		return nil
	})
	must(g.t, err)
	return all
}
