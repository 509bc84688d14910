package main

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// input is what a line of the conversation means.
type input struct {
	verb   verb
	who    string // who does it, or who the user becomes; empty for the user
	to     string // to whom a reply goes
	text   string // of a message
	button int
}

type verb string

const (
	verbNothing verb = ""
	verbSay     verb = "say"
	verbReply   verb = "reply"
	verbPress   verb = "press"
	verbBecome  verb = "become"
	verbHelp    verb = "help"
	verbQuit    verb = "quit"
)

// inputHelp explains the lines that parseInput reads.
const inputHelp = `What you type goes to the group: try /match @alice 3:2, /match, /ranking or /help. Apart from that:
  1, 2, 3 …            press that button below the last message that has buttons
  reply TEXT           reply to elobot’s last question, or else to its last message
  reply to bob: TEXT   reply to Bob’s last message
  as alice             write as Alice, the group’s admin, from now on
  bob: TEXT            write one line as Bob; “bob: 1” presses a button as Bob
  help                 show this again
  quit                 end the demo`

var (
	personName = regexp.MustCompile(`^@?(\pL[\pL\pN_]*)$`)
	byPerson   = regexp.MustCompile(`^@?(\pL[\pL\pN_]*)\s*:\s*(\S.*)$`)
	digits     = regexp.MustCompile(`^[0-9]+$`)
)

// parseInput parses a line of the conversation, such as "bob: /match @alice 3:2". Half a command asks for help.
func parseInput(line string) input {
	line = strings.TrimSpace(line)
	switch strings.ToLower(line) {
	case "":
		return input{}
	case "help":
		return input{verb: verbHelp}
	case "quit", "exit":
		return input{verb: verbQuit}
	}
	if name, ok := cutWord(line, "as"); ok {
		if m := personName.FindStringSubmatch(name); m != nil {
			return input{verb: verbBecome, who: strings.ToLower(m[1])}
		}
		return input{verb: verbHelp}
	}
	if m := byPerson.FindStringSubmatch(line); m != nil {
		in := parseDeed(m[2])
		in.who = strings.ToLower(m[1])
		return in
	}
	return parseDeed(line)
}

func parseDeed(text string) input {
	if digits.MatchString(text) {
		n, _ := strconv.Atoi(text) // the largest int if it is too large; there is no such button either
		return input{verb: verbPress, button: n}
	}
	answer, ok := cutWord(text, "reply")
	if !ok {
		return input{verb: verbSay, text: text}
	}
	if rest, ok := cutWord(answer, "to"); ok {
		if m := byPerson.FindStringSubmatch(rest); m != nil {
			return input{verb: verbReply, to: strings.ToLower(m[1]), text: m[2]}
		}
	}
	if answer == "" {
		return input{verb: verbHelp}
	}
	return input{verb: verbReply, to: botName, text: answer}
}

// cutWord returns what follows a word at the beginning of a text.
func cutWord(text, word string) (rest string, ok bool) {
	end := strings.IndexFunc(text+" ", unicode.IsSpace)
	return strings.TrimSpace(text[end:]), strings.EqualFold(text[:end], word)
}
