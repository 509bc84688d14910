package main

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// input is a parsed line of the conversation.
type input struct {
	verb   verb
	who    string // who acts, or whom the user becomes; empty for the user
	to     string // the person replied to
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
	verbScene   verb = "scene"
	verbQuit    verb = "quit"
)

// inputHelp explains the forms of input, except a plain message.
var inputHelp = [][2]string{
	{"1, 2, 3 …", "press that button below the last message that has buttons"},
	{"reply TEXT", "reply to elobot’s last question, or else to its last message"},
	{"reply to bob: TEXT", "reply to Bob’s last message"},
	{"as alice", "write as Alice, the group’s admin, from now on; “as me” ends it"},
	{"as \"Bob Smith\"", "write as somebody new, who has no username"},
	{"bob: TEXT", "write one message as Bob; “bob: 1” presses a button as Bob"},
	{"TEXT\\", "the message goes on in the next line; you can also paste several lines"},
	{"scene", "show the rest of what the group has said"},
	{"help", "show this again"},
	{"quit", "end the demo"},
}

var (
	byPerson = regexp.MustCompile(`(?s)^(?:@?(\pL[\pL\pN_]*)|["“]([^"”\n]+)["”])\s*:\s*(\S.*)$`)
	digits   = regexp.MustCompile(`^[0-9]+$`)
)

// parseInput parses a line of the conversation, such as "bob: /match @alice 3:2". An "as" without a
// valid name and a "reply" without a text become verbHelp.
func parseInput(line string) input {
	line = strings.TrimSpace(line)
	switch strings.ToLower(line) {
	case "":
		return input{}
	case "help":
		return input{verb: verbHelp}
	case "scene":
		return input{verb: verbScene}
	case "quit", "exit":
		return input{verb: verbQuit}
	}
	if name, ok := cutWord(line, "as"); ok {
		if who, _, ok := cutPerson(name + ": _"); ok {
			return input{verb: verbBecome, who: who}
		}
		return input{verb: verbHelp}
	}
	if who, rest, ok := cutPerson(line); ok {
		in := parseDeed(rest)
		in.who = who
		return in
	}
	return parseDeed(line)
}

// cutPerson returns the name before a colon at the beginning of a text, and the text after the
// colon. A name without quotes must be one word that begins with a letter, and becomes lower case.
// ok is false if the name, the colon, or the text is missing.
func cutPerson(text string) (who, rest string, ok bool) {
	m := byPerson.FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	return strings.ToLower(m[1]) + m[2], m[3], true
}

func parseDeed(text string) input {
	if digits.MatchString(text) {
		n, _ := strconv.Atoi(text) // a number that is too large becomes the largest int
		return input{verb: verbPress, button: n}
	}
	answer, ok := cutWord(text, "reply")
	if !ok {
		return input{verb: verbSay, text: text}
	}
	if rest, ok := cutWord(answer, "to"); ok {
		if to, text, ok := cutPerson(rest); ok {
			return input{verb: verbReply, to: to, text: text}
		}
	}
	if answer == "" {
		return input{verb: verbHelp}
	}
	return input{verb: verbReply, to: botName, text: answer}
}

// cutWord cuts the first word off a text, and reports whether it equals word, ignoring case.
func cutWord(text, word string) (rest string, ok bool) {
	end := strings.IndexFunc(text+" ", unicode.IsSpace)
	return strings.TrimSpace(text[end:]), strings.EqualFold(text[:end], word)
}
