#!/bin/sh
# github.com/go-telegram/bot v1.24.0: a handler of MatchTypeCommand or MatchTypeCommandStartOnly for "match" does not
# get "/match@our_bot 3:1". Both compare the whole entity of the command, so that the bot's own name makes it another
# command. In groups, Telegram's apps write that form when somebody chooses a command from the list, and with the usual
# privacy mode it is the one that always reaches a bot among several. In a private chat, where bots are tried out,
# nobody sees it.
#
# Seen: of three reports, "/match 3:1" alone reaches either handler; the one with the bot's name and the one in capital
# letters do not, and neither is there an error.
#
# What helps: RegisterHandlerMatchFunc with a function that cuts the entity at "@" and compares what stands behind it
# with the username that getMe gave.
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
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// handled returns those of the texts that reach a handler of the command "match".
func handled(kind bot.MatchType, texts []string) []string {
	var got []string
	none := func(context.Context, *bot.Bot, *models.Update) {}
	b, err := bot.New("1:x", bot.WithSkipGetMe(), bot.WithNotAsyncHandlers(), bot.WithDefaultHandler(none))
	if err != nil {
		panic(err)
	}
	b.RegisterHandler(bot.HandlerTypeMessageText, "match", kind, func(_ context.Context, _ *bot.Bot, u *models.Update) {
		got = append(got, u.Message.Text)
	})
	for _, text := range texts {
		command := models.MessageEntity{Type: models.MessageEntityTypeBotCommand, Length: strings.Index(text, " ")}
		b.ProcessUpdate(context.Background(), &models.Update{Message: &models.Message{
			Text: text, Entities: []models.MessageEntity{command},
			Chat: models.Chat{ID: -1001, Type: models.ChatTypeSupergroup},
		}})
	}
	return got
}

func main() {
	texts := []string{"/match 3:1", "/match@our_bot 3:1", "/Match 3:1"}
	for _, kind := range []bot.MatchType{bot.MatchTypeCommand, bot.MatchTypeCommandStartOnly} {
		got := handled(kind, texts)
		fmt.Printf("of %q, the handler gets %q\n", texts, got)
		if len(got) != 1 || got[0] != texts[0] {
			fmt.Println("it gets others than with v1.24.0")
			os.Exit(1)
		}
	}
}
GO
go get github.com/go-telegram/bot@v1.24.0 >/dev/null 2>&1
go mod tidy >/dev/null 2>&1
go run .
