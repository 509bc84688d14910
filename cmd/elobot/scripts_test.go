package main_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// TestMonth plays a month of a group in another language, and compares what the bot says. The files in testdata/month are both the script and
// the transcript: lines that begin with "|" are the bot's, and "~" stands before those of an edited message. -update writes them.
func TestMonth(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/month/*.txt")
	must(t, err)
	if len(files) < 2 {
		t.Fatalf("there are %d transcripts", len(files))
	}
	for _, file := range files {
		language := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			must(t, err)
			got := playMonth(t, language, string(text))
			if flag.Lookup("update").Value.String() == "true" {
				must(t, os.WriteFile(file, []byte(got), 0o600))
			} else if got != string(text) {
				t.Errorf("the month differs from %s:\n%s", file, got)
			}
		})
	}
}

// playMonth plays the lines of a script:
//
//	# Name @username        a member; the first one has added the bot
//	— 21 —                  how many days ago it is from here on
//	Name: text              a message; "\n" is a new line
//	Name > button           a press of the button with this label, below the last message that has it
//	Name ^ text             a reply to the last message of somebody else
func playMonth(t *testing.T, language, script string) string {
	t.Helper()
	b := newBotFixture(t)
	launch(t, append(plainEnvironment(b.sim, b.url), "SEND_LIMIT_PRIVATE=off", "SEND_LIMIT_GROUP=off", "SEND_LIMIT_TOTAL=off", "SEND_MERGE=off", "ASK_UNUSUAL="), "run")
	people := make(map[string]botsim.User)
	var members []botsim.User
	var group *botsim.Chat
	var paper strings.Builder
	var lastOther botsim.Message
	seen := make(map[int]int) // messages of the bot to the number of their edits
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "|") || strings.HasPrefix(line, "~") {
			continue
		}
		paper.WriteString(line + "\n")
		switch {
		case line == "":
		case strings.HasPrefix(line, "# "):
			name, username, _ := strings.Cut(line[2:], " @")
			first, last, _ := strings.Cut(name, " ")
			u := b.sim.AddUser(botsim.User{FirstName: first, LastName: last, Username: username, LanguageCode: language})
			people[first], members = u, append(members, u)
		case strings.HasPrefix(line, "— "):
			if group == nil {
				b.later.Store(-30 * 24 * 60 * 60)
				group = b.sim.Group("Club", members...)
				group.Promote(b.sim.Bot())
			}
			days, err := strconv.Atoi(strings.Trim(line, "— "))
			must(t, err)
			b.later.Store(-int64(days) * 24 * 60 * 60)
		default:
			b.later.Add(20)
			at := strings.IndexAny(line, ":>^")
			who, what := people[strings.TrimSpace(line[:at])], strings.ReplaceAll(strings.TrimSpace(line[at+1:]), `\n`, "\n")
			switch line[at] {
			case '>':
				pressLabel(t, b, group, who, what)
			case '^':
				group.Reply(who, lastOther, what)
			default:
				lastOther = group.Say(who, what)
			}
			b.settle()
			paper.WriteString(news(group, seen))
		}
	}
	verifyClean(t, b.url)
	return withoutLocalDates(paper.String())
}

// pressLabel presses the button with a label below the last message that has it.
func pressLabel(t *testing.T, b *botFixture, group *botsim.Chat, who botsim.User, label string) {
	t.Helper()
	all := group.BotMessages()
	var labels []string
	for i := len(all) - 1; i >= 0; i-- {
		for _, row := range all[i].Buttons {
			for _, button := range row {
				is := visible(botsim.Message{Text: button.Text})
				if labels = append(labels, is); is == label {
					b.press(who, all[i], button.CallbackData)
					return
				}
			}
		}
	}
	t.Fatalf("no message has a button %q, only %q", label, labels)
}

// news returns what the bot has sent and edited since the last call, with the labels of buttons in brackets.
func news(group *botsim.Chat, seen map[int]int) string {
	var all strings.Builder
	for _, m := range group.BotMessages() {
		edits, known := seen[m.ID]
		if known && edits == m.Edits {
			continue
		}
		seen[m.ID] = m.Edits
		mark := "|"
		if known {
			mark = "~"
		}
		if m.Photo != nil {
			fmt.Fprintf(&all, "%s (%s)\n", mark, "picture")
		}
		for line := range strings.Lines(visible(m)) {
			all.WriteString(strings.TrimRight(mark+" "+strings.TrimRight(line, "\n"), " ") + "\n")
		}
		for _, row := range m.Buttons {
			all.WriteString(mark)
			for _, button := range row {
				all.WriteString(" [" + visible(botsim.Message{Text: button.Text}) + "]")
			}
			all.WriteString("\n")
		}
	}
	return all.String()
}

var localDates = regexp.MustCompile(`(?i)\d{1,2}(\.| de) (` + monthNames + `)( de)?( \d{4})?`)

const monthNames = `januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre`

// withoutLocalDates replaces the dates in a text, which depend on when the month is played.
func withoutLocalDates(text string) string {
	text = localDates.ReplaceAllString(text, "DATUM")
	return regexp.MustCompile(`(?i)\b(`+monthNames+`)\b( de)?( \d{4})?`).ReplaceAllString(text, "MONAT")
}
