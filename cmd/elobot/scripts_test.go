package main_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"elobot/internal/botsim"
)

// TestMonth checks that the bot's messages during a month of a group match the transcripts.
func TestMonth(t *testing.T) {
	t.Parallel()
	playFolder(t, "testdata/month", (*script).quiet)
}

// TestEvening checks that the bot's messages during an evening of a club with ladders and topics
// for two games match the transcripts.
func TestEvening(t *testing.T) {
	t.Parallel()
	playFolder(t, "testdata/evening", (*script).says)
}

// TestNamedLadder checks that the bot's messages match the transcripts in a group whose members put
// the ladder's name first in their commands. The name is a word without any other meaning to the
// bot.
func TestNamedLadder(t *testing.T) {
	t.Parallel()
	playFolder(t, "testdata/named_ladder", (*script).says)
}

// TestYear checks that the bot's messages during a year of a club that starts seasons in two
// ladders match the transcripts.
func TestYear(t *testing.T) {
	t.Parallel()
	playFolder(t, "testdata/year", (*script).says)
}

// playFolder plays the scripts of a folder, each in its language, and compares the bot's messages
// with the scripts. A file is both script and transcript: lines that begin with "|" are the bot's,
// and lines that begin with "~" are the bot's edited messages. With -update, playFolder writes
// these lines. answered is called with the answer to each press, and may note it in the transcript.
func playFolder(t *testing.T, folder string, answered func(s *script, who botsim.User, answer string)) {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.txt")
	must(t, err)
	if len(files) == 0 {
		t.Fatal("there is no transcript")
	}
	for _, file := range files {
		language := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			must(t, err)
			got := playScript(t, language, string(text), answered)
			if flag.Lookup("update").Value.String() == "true" {
				must(t, os.WriteFile(file, []byte(got), 0o600))
			} else if got != string(text) {
				t.Errorf("what was said differs from %s:\n%s", file,
					gocmp.Diff(strings.Split(string(text), "\n"), strings.Split(got, "\n")))
			}
		})
	}
}

// script is a script being played. Its lines are:
//
//	# Name @username        a member; the first member has added the bot
//	— 21 —                  the time is noon UTC, 21 days ago; later lines follow within that day
//	— 2031-03-31 21:59 —    this time, in UTC; it is in the future, so that no timer is due yet
//	! stop                  the bot stops, and messages wait until "! start"
//	= Padel                 the next lines are in this topic, new or known, "General" or "private"
//	x Padel                 the topic is deleted; a later message to it was sent before that
//	Name: text              a message; "\n" is a new line
//	Name > button           a press of the button with this label, in the last message that has it
//	Name ^ text             a reply to the last "Name: text" message of anybody
//	Name ^ "words" text     a reply to the bot's last message with these words
//	Name % text             an edit of the last "Name: text" message
type script struct {
	*botFixture
	language string
	answered func(s *script, who botsim.User, answer string)
	bot      *process // nil while it is stopped
	people   map[string]botsim.User
	members  []botsim.User
	isForum  bool
	group    *botsim.Chat
	topics   map[string]int
	thread   int  // current topic
	private  bool // lines are said in private chats
	last     botsim.Message
	paper    strings.Builder
	seen     map[[2]int64]int // how often each of the bot's messages was edited, by chat and message id
}

// playScript plays the lines of a script, and returns them with the bot's messages. answered is as
// in playFolder.
func playScript(t *testing.T, language, text string, answered func(s *script, who botsim.User, answer string)) string {
	t.Helper()
	s := &script{
		botFixture: newBotFixture(t), language: language, answered: answered, isForum: strings.Contains(text, "\n= "),
		people: make(map[string]botsim.User), topics: map[string]int{"General": 0}, seen: make(map[[2]int64]int),
	}
	s.start()
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "|") || strings.HasPrefix(line, "~") {
			continue
		}
		s.paper.WriteString(line + "\n")
		s.play(line)
	}
	verifyClean(t, s.url)
	return withoutLocalDates(s.paper.String())
}

func (s *script) start() {
	s.t.Helper()
	s.bot = launch(s.t, append(plainEnvironment(s.sim, s.url),
		"SEND_LIMIT_PRIVATE=off", "SEND_LIMIT_GROUP=off", "SEND_LIMIT_TOTAL=off", "SEND_MERGE=off", "ASK_UNUSUAL=",
		// The board must not depend on how long the script takes.
		"BOARD_INTERVAL=1h"), "run")
}

func (s *script) play(line string) {
	s.t.Helper()
	mark, rest, _ := strings.Cut(line, " ")
	switch mark {
	case "":
	case "#":
		name, username, _ := strings.Cut(rest, " @")
		first, last, _ := strings.Cut(name, " ")
		u := s.sim.AddUser(botsim.User{FirstName: first, LastName: last, Username: username, LanguageCode: s.language})
		s.people[first], s.members = u, append(s.members, u)
	case "—":
		if s.group == nil {
			s.setClock(noon(30))
			s.addGroup()
		}
		text := strings.Trim(rest, "— ")
		if days, err := strconv.Atoi(text); err == nil {
			s.setClock(noon(days))
			break
		}
		at, err := time.Parse("2006-01-02 15:04", text)
		must(s.t, err)
		s.setClock(at)
	case "!":
		if rest == "stop" {
			_, _ = s.bot.stop(s.t)
			s.bot = nil
			break
		}
		s.start()
		s.settle()
		s.allNews()
	case "=":
		s.private = rest == "private"
		if _, ok := s.topics[rest]; !ok && !s.private {
			s.topics[rest] = s.group.Topic(s.members[0], rest).ID
		}
		s.thread = s.topics[rest]
	case "x":
		s.group.DeleteTopic(s.topics[rest])
	default:
		s.say(line)
	}
}

// noon returns the time of noon in UTC, the given number of days ago.
func noon(daysAgo int) time.Time {
	return time.Now().UTC().Truncate(24*time.Hour).Add(12*time.Hour).AddDate(0, 0, -daysAgo)
}

func (s *script) setClock(at time.Time) {
	s.later.Store(int64(time.Until(at) / time.Second))
}

func (s *script) addGroup() {
	if s.isForum {
		s.group = s.sim.Forum("Club", s.members...)
	} else {
		s.group = s.sim.Group("Club", s.members...)
	}
	s.group.Promote(s.sim.Bot())
}

// say plays a line in which a person does something, and notes the bot's answers.
func (s *script) say(line string) {
	s.t.Helper()
	s.later.Add(20)
	at := strings.IndexAny(line, ":>^%")
	name, what := strings.TrimSpace(line[:max(0, at)]), strings.ReplaceAll(strings.TrimSpace(line[at+1:]), `\n`, "\n")
	who, ok := s.people[name]
	if !ok {
		s.t.Fatalf("%s\nwho says %q?", &s.paper, line)
	}
	chat, thread, answer := s.group, s.thread, ""
	if s.private {
		chat, thread = s.sim.Private(who), 0
	}
	switch line[at] {
	case '>':
		answer = s.pressLabel(chat, who, what)
	case '^':
		to := s.last
		if words, text, quoted := strings.Cut(strings.TrimPrefix(what, `"`), `" `); quoted {
			to, what = s.botMessage(words), text
		}
		chat.Reply(who, to, what)
	case '%':
		chat.Edit(s.last, what)
	default:
		s.last = chat.Post(botsim.Post{From: who, Text: what, ThreadID: thread})
	}
	if s.bot == nil {
		return
	}
	s.settle()
	s.allNews()
	if answer != "" {
		s.answered(s, who, answer)
	}
}

// quiet ignores the answer to a press, because the resulting change is noted anyway.
func (*script) quiet(botsim.User, string) {}

// says notes the answer to a press, which only one person sees.
func (s *script) says(who botsim.User, answer string) {
	fmt.Fprintf(&s.paper, "| (%s: %s)\n", who.FirstName, answer)
}

// botMessage returns the bot's last message in the group with these words.
func (s *script) botMessage(words string) botsim.Message {
	s.t.Helper()
	all := s.group.BotMessages()
	for i := len(all) - 1; i >= 0; i-- {
		if strings.Contains(visible(all[i]), words) && !all[i].Deleted {
			return all[i]
		}
	}
	s.t.Fatalf("%s\nthe bot has not said %q", &s.paper, words)
	return botsim.Message{}
}

// pressLabel presses the button with the given label in the last message that has it, and returns
// the callback answer.
func (s *script) pressLabel(chat *botsim.Chat, who botsim.User, label string) (answer string) {
	s.t.Helper()
	all := chat.BotMessages()
	var labels []string
	for i := len(all) - 1; i >= 0; i-- {
		for _, row := range all[i].Buttons {
			for _, button := range row {
				is := visible(botsim.Message{Text: button.Text})
				if labels = append(labels, is); is == label && !all[i].Deleted {
					return s.press(who, all[i], button.CallbackData)
				}
			}
		}
	}
	s.t.Fatalf("%s\nno message has a button %q, only %q", &s.paper, label, labels)
	return ""
}

// allNews notes the bot's new and edited messages in all chats since the last call.
func (s *script) allNews() {
	s.news(s.group)
	for _, m := range s.members {
		if c := s.sim.Chat(m.ID); c != nil {
			s.news(c)
		}
	}
}

// news notes the bot's new and edited messages in a chat since the last call, with button labels in
// brackets, and with the topic if it is not the current one.
func (s *script) news(chat *botsim.Chat) {
	all := chat.BotMessages()
	// Put replies first, because messages of different lanes arrive in any order.
	slices.SortStableFunc(all, func(a, b botsim.Message) int { return cmp.Compare(min(1, b.ReplyTo), min(1, a.ReplyTo)) })
	for _, m := range all {
		key := [2]int64{m.ChatID, int64(m.ID)}
		edits, known := s.seen[key]
		if known && edits == m.Edits {
			continue
		}
		s.seen[key] = m.Edits
		mark := "|"
		if known {
			mark = "~"
		}
		if chat == s.group && (s.private || m.ThreadID != s.thread) {
			fmt.Fprintf(&s.paper, "%s (%s)\n", mark, s.topic(m.ThreadID))
		}
		if m.Photo != nil {
			fmt.Fprintf(&s.paper, "%s (%s)\n", mark, "picture")
		}
		for line := range strings.Lines(visible(m)) {
			s.paper.WriteString(strings.TrimRight(mark+" "+strings.TrimRight(line, "\n"), " ") + "\n")
		}
		for _, row := range m.Buttons {
			s.paper.WriteString(mark)
			for _, button := range row {
				s.paper.WriteString(" [" + visible(botsim.Message{Text: button.Text}) + "]")
			}
			s.paper.WriteString("\n")
		}
	}
}

func (s *script) topic(thread int) string {
	for name, id := range s.topics {
		if id == thread {
			return name
		}
	}
	return "?"
}

var (
	localDates = regexp.MustCompile(`(?i)\d{1,2}(\.| de|) (` + otherMonths + `|` + monthNames + `)( de)?( \d{4})?`)
	months     = regexp.MustCompile(`(?i)\b(` + monthNames + `)\b( de)?( \d{4})?`)
	times      = regexp.MustCompile(`\d\d:\d\d UTC`)
)

const (
	monthNames = `januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|` +
		`enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre`
	// otherMonths lists month names that are replaced only if they follow a day of the month.
	otherMonths = `january|february|march|may|june|july|october|december|` +
		`января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря`
)

// withoutLocalDates replaces the dates and times in a text, because they depend on when the script
// is played.
func withoutLocalDates(text string) string {
	return times.ReplaceAllString(
		months.ReplaceAllString(localDates.ReplaceAllString(text, "DATUM"), "MONAT"), "HH:MM UTC")
}
