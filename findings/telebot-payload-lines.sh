#!/bin/sh
# gopkg.in/telebot.v3 v3.3.8: Message.Payload and Context.Args, which hold what stands behind a command, end at the
# first line break. Somebody who reports an evening in one message, a line for each match, gets one match recorded, and
# the handler cannot see that there was more, unless it looks at Message.Text. If the first line has nothing but the
# command, the payload is the second line, or empty if a blank line comes between.
#
# Seen: of "/match @ann 3:1", "@bob 1:3" and "@cid 3:0" in three lines, the handler gets the payload "@ann 3:1".
#
# What helps: take Message.Text, and cut off as much as the entity of the command is long.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >go.mod <<'MOD'
module finding

go 1.26
MOD
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"
	"slices"

	telebot "gopkg.in/telebot.v3"
)

func main() {
	b, err := telebot.NewBot(telebot.Settings{Offline: true, Synchronous: true})
	if err != nil {
		panic(err)
	}
	var payload string
	var args []string
	b.Handle("/match", func(c telebot.Context) error {
		payload, args = c.Message().Payload, c.Args()
		return nil
	})
	ok := true
	for _, report := range []struct {
		text, payload string
		args          []string
	}{
		{"/match @ann 3:1\n@bob 1:3\n@cid 3:0", "@ann 3:1", []string{"@ann", "3:1"}},
		{"/match\n@ann 3:1\n@bob 1:3", "@ann 3:1", []string{"@ann", "3:1"}},
		{"/match\n\n@ann 3:1\n@bob 1:3", "", nil},
	} {
		payload, args = "not handled", nil
		b.ProcessUpdate(telebot.Update{Message: &telebot.Message{Text: report.text}})
		fmt.Printf("%q: the payload is %q, the arguments are %q\n", report.text, payload, args)
		ok = ok && payload == report.payload && slices.Equal(args, report.args)
	}
	if !ok {
		fmt.Println("the handler gets another payload than with v3.3.8")
		os.Exit(1)
	}
}
GO
go get gopkg.in/telebot.v3@v3.3.8 >/dev/null 2>&1
go mod tidy >/dev/null 2>&1
go run .
