package transfer_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"elobot/internal/bot"
	"elobot/internal/transfer"
)

// reasons are the words of the .want files, by the reasons that they are told as. The bot's parser
// does not tell apart all that a member would.
var reasons = map[transfer.Reason]string{
	transfer.Unreadable:  "ask words no-sender no-opponent reply-missing other-chat code self",
	transfer.InDoubt:     "ask ambiguous",
	transfer.SamePlayer:  "self",
	transfer.LostTopic:   "topic-lost",
	transfer.NotWritten:  "forwarded via-bot",
	transfer.DayTooEarly: "day",
	transfer.Numbered:    "number restore",
	transfer.NoTarget:    "no-target unclear-target reply-missing",
	transfer.WhichMatch:  "which",
	transfer.OnlyAdmins:  "not-theirs too-late",
	transfer.BadClock:    "time-twice time-never",
}

var wantOption = regexp.MustCompile(`--(\w+)(?: (?:"([^"]*)"|(-?\w\S*)))?`)

// TestExportsOfChats checks that the exports in testdata/telegram yield what the files beside them
// say, which were written without the code.
func TestExportsOfChats(t *testing.T) {
	t.Parallel()
	wants, err := filepath.Glob("testdata/telegram/*.want")
	if err != nil || len(wants) < 15 {
		t.Fatal(wants, err)
	}
	for _, path := range wants {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			w := readWant(t, path)
			data, err := os.ReadFile(filepath.Join("testdata/telegram", w.file))
			if err != nil {
				t.Fatal(err)
			}
			w.options.Group = -1_000_000_000_000 - idOf(data)
			f, err := transfer.ReadChat(bytes.NewReader(data), w.options)
			if err != nil {
				t.Fatal(err)
			}
			if got := w.summary(f); got != w.text {
				t.Errorf("read:\n%s\nwant:\n%s", got, w.text)
			}
		})
	}
}

// TestLongIDs checks that members who were chosen from the list are known by ids of more than 32
// bits. Only the ids of writers had other bits there once.
func TestLongIDs(t *testing.T) {
	t.Parallel()
	const file = `{"name": "Club", "type": "private_supergroup", "id": 1, "messages": [
		{"id": 1, "type": "message", "date_unixtime": "1700000000", "from": "Ann", "from_id": "user7000000001",
		 "text": [{"type": "bot_command", "text": "/match"}, " ",
		          {"type": "mention_name", "text": "Bob", "user_id": 7000000002}, " 3:1"]}]}`
	o := transfer.ChatOptions{Commands: bot.CommandNames()}
	o.Zone, o.Now = time.UTC, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	f, err := transfer.ReadChat(strings.NewReader(file), o)
	if err != nil || len(f.Rows) != 1 {
		t.Fatal(f.Refused, err)
	}
	for side, want := range []int64{7_000_000_001, 7_000_000_002} {
		if got := f.Accounts[f.Rows[0].Sides[side][0]]; got != want {
			t.Errorf("side %d is the account %d, want %d", side, got, want)
		}
	}
}

// idOf returns the first id of a chat in a file.
func idOf(data []byte) (id int64) {
	_, rest, _ := bytes.Cut(data, []byte(`"id": `))
	_, _ = fmt.Sscan(string(rest[:20]), &id)
	return id
}

// want is a .want file.
type want struct {
	file, text string
	options    transfer.ChatOptions
	people     map[string]string
	names      []string // that were typed
	topics     map[string]string
	words      map[int]string // why messages are refused
}

func readWant(t *testing.T, path string) want {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w := want{
		file:   strings.TrimSuffix(filepath.Base(path), ".want") + ".json",
		people: map[string]string{}, topics: map[string]string{}, words: map[int]string{},
	}
	o := &w.options
	o.Zone, o.Now, o.Commands = time.UTC, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), bot.CommandNames()
	o.Topics, o.Accounts = map[int64]string{}, map[string]int64{}
	var lines []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		fields := strings.Fields(value)
		switch {
		case strings.HasPrefix(line, "#"):
		case key == "file":
			w.file = value
		case key == "options":
			for _, option := range wantOption.FindAllStringSubmatch(value, -1) {
				switch argument := cmp.Or(option[2], option[3]); option[1] {
				case "zone":
					if o.Zone, err = time.LoadLocation(argument); err != nil { //nolint:forbidigo // a test
						t.Fatal(err)
					}
					o.HasZone = true
				case "chat":
					o.Chat = argument
				case "bot":
					o.Bots = append(o.Bots, argument)
				case "results":
					o.Talk = true
				}
			}
		case key == "bot":
			o.BotID, err = strconv.ParseInt(fields[0], 10, 64)
			o.Bots = append(o.Bots, strings.TrimPrefix(fields[1], "@"))
		case key == "names":
			w.names = fields
			lines = append(lines, line)
		case key == "ladders":
			o.Ladders = fields
		case key == "topics":
			for _, field := range fields {
				topic, ladder, _ := strings.Cut(field, "=")
				id, _ := strconv.ParseInt(topic, 10, 64)
				o.Topics[id], w.topics[topic] = ladder, ladder
			}
		case key == "people":
			for _, field := range fields {
				name, who, _ := strings.Cut(field, "=")
				w.people[name] = who
				o.Accounts[name], _ = strconv.ParseInt(who, 10, 64)
			}
		case strings.Contains(line, " SKIPPED "), strings.Contains(line, ": APPLIED "), line == "":
		case strings.Contains(line, " PLAYED "):
			lines = append(lines, w.played(line))
		case strings.Contains(line, ": REFUSED "):
			_, word, _ := strings.Cut(line, ": REFUSED ")
			id, _ := strconv.Atoi(strings.TrimPrefix(key, "message "))
			w.words[id] = word
			lines = append(lines, line)
		default:
			lines = append(lines, line)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	w.text = strings.Join(lines, "\n")
	return w
}

var (
	wantTopic  = regexp.MustCompile(` topic=(\S+) ladder=(\S+)`)
	wantBeyond = regexp.MustCompile(` by=\S+| fixed=\S+`)
)

// played returns a line as summary writes it: without who reported the match and what corrected it,
// and with the ladder of the topic.
func (w want) played(line string) string {
	line = wantBeyond.ReplaceAllString(line, "")
	m := wantTopic.FindStringSubmatch(line)
	ladder := m[2]
	if ladder == "-" {
		ladder = cmp.Or(w.topics[m[1]], "-")
	}
	return wantTopic.ReplaceAllString(line, " ladder="+ladder)
}

// summary returns what a file yields, with the people.
func (w want) summary(f transfer.File) string {
	var lines, names, ids []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	switch f.Ask {
	case transfer.AskChat:
		for _, c := range f.Chats {
			ids = append(ids, fmt.Sprint(c.ID))
		}
		return "ASK chat " + strings.Join(ids, " ")
	case transfer.AskZone:
		return "ASK zone"
	}
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	byLine := func(a, b transfer.Row) int { return cmp.Compare(a.Line, b.Line) }
	for _, r := range slices.SortedStableFunc(slices.Values(f.Rows), byLine) {
		for _, name := range slices.Concat(r.Sides[:]...) {
			if _, isAccount := f.Accounts[name]; !isAccount && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		if w.people[name] == "" {
			return "ASK people " + strings.Join(names, " ")
		}
	}
	for _, r := range f.Rows {
		id := fmt.Sprint(r.Line)
		if _, nth, ok := strings.Cut(r.ID, "#"); ok {
			id += "#" + nth
		}
		who := func(side int) string {
			all := slices.Clone(r.Sides[side])
			for i, name := range all {
				if a, ok := f.Accounts[name]; ok {
					all[i] = fmt.Sprintf("id:%d", a)
				}
			}
			return strings.Join(all, ",")
		}
		isOut := func(name string) bool { return w.people[name] == "leave-out" }
		if slices.ContainsFunc(slices.Concat(r.Sides[:]...), isOut) {
			add("message %d: LEFT OUT people", r.Line)
			continue
		}
		ids = append(ids, id)
		when, winner, score, sets := at(r.When), "draw", "-", "-"
		if r.IsDay {
			when = r.When.Format(time.DateOnly)
		}
		if r.Result.A != r.Result.B {
			winner = map[bool]string{true: "a", false: "b"}[r.Result.A > r.Result.B]
		}
		if r.Result.HasPoints() {
			score = r.Result.Score.String()
		}
		for i, s := range r.Result.Sets {
			sets = strings.TrimPrefix(sets+","[:min(i, 1)]+s.String(), "-")
		}
		add("message %d: PLAYED when=%s ladder=%s a=%s b=%s winner=%s score=%s sets=%s id=%s",
			r.Line, when, cmp.Or(r.Ladder, "-"), who(0), who(1), winner, score, sets, id)
	}
	for _, l := range f.LeftOut {
		switch l.Reason {
		case transfer.Undone:
			add("message %d: LEFT OUT undone=%d", l.Line, l.Other)
		case transfer.OtherBot:
			add("message %d: LEFT OUT other-bot", l.Line)
		default:
			add("message %d: LEFT OUT %s", l.Line, l.Reason)
		}
	}
	for _, r := range f.Refused {
		word := w.words[r.Line]
		if !slices.Contains(strings.Fields(reasons[r.Reason]), word) {
			word = "as " + string(r.Reason)
		}
		add("message %d: REFUSED %s", r.Line, word)
	}
	span := fmt.Sprintf("messages: %d, %s to %s", f.Chat.Messages, at(f.Chat.First), at(f.Chat.Last))
	if unclear := fmt.Sprintf("messages: %d", f.Chat.Messages); slices.Contains(strings.Split(w.text, "\n"), unclear) {
		span = unclear // the time of some message is
	}
	lines = append(lines, span)
	// Nobody is asked about names that are only in results that do not count.
	all := slices.DeleteFunc(slices.Clone(w.names), func(name string) bool { return !slices.Contains(names, name) })
	slices.Sort(all)
	if slices.Sort(names); slices.Equal(all, names) {
		all = w.names
	}
	add("names: %s", strings.Join(all, " "))
	add("results: %s", strings.Join(ids, " "))
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
