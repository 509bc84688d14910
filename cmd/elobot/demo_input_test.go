package main

import (
	"math"
	"testing"
)

func TestParseInput(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]input{
		"":    {},
		" \t": {},

		"/match @alice 3:2":         {verb: verbSay, text: "/match @alice 3:2"},
		"  good game!\r":            {verb: verbSay, text: "good game!"},
		"bob: /match @alice 3:2":    {verb: verbSay, who: "bob", text: "/match @alice 3:2"},
		" @Bob :well played ":       {verb: verbSay, who: "bob", text: "well played"},
		"Zoë: hi":                   {verb: verbSay, who: "zoë", text: "hi"},
		"best of three: anyone?":    {verb: verbSay, text: "best of three: anyone?"},
		"bob:":                      {verb: verbSay, text: "bob:"},
		"3:1":                       {verb: verbSay, text: "3:1"},
		"3-1":                       {verb: verbSay, text: "3-1"},
		"3 1":                       {verb: verbSay, text: "3 1"},
		"-3":                        {verb: verbSay, text: "-3"},
		"7: eleven":                 {verb: verbSay, text: "7: eleven"},
		"bob: 3:1":                  {verb: verbSay, who: "bob", text: "3:1"},
		"help me":                   {verb: verbSay, text: "help me"},
		"/help":                     {verb: verbSay, text: "/help"},
		"bob: as carol":             {verb: verbSay, who: "bob", text: "as carol"},
		"bob: quit":                 {verb: verbSay, who: "bob", text: "quit"},
		"assume":                    {verb: verbSay, text: "assume"},
		"replying":                  {verb: verbSay, text: "replying"},
		"1":                         {verb: verbPress, button: 1},
		" 12 ":                      {verb: verbPress, button: 12},
		"0":                         {verb: verbPress},
		"99999999999999999999":      {verb: verbPress, button: math.MaxInt},
		"bob: 2":                    {verb: verbPress, who: "bob", button: 2},
		"reply 3:1":                 {verb: verbReply, to: botName, text: "3:1"},
		"Reply   @bob 3:1":          {verb: verbReply, to: botName, text: "@bob 3:1"},
		"reply\t3":                  {verb: verbReply, to: botName, text: "3"},
		"reply bob: 3:1":            {verb: verbReply, to: botName, text: "bob: 3:1"},
		"bob: reply 3:1":            {verb: verbReply, who: "bob", to: botName, text: "3:1"},
		"reply to @Bob: /match 3:1": {verb: verbReply, to: "bob", text: "/match 3:1"},
		"reply to elobot: 3:1":      {verb: verbReply, to: botName, text: "3:1"},
		"reply to that":             {verb: verbReply, to: botName, text: "to that"},
		"as alice":                  {verb: verbBecome, who: "alice"},
		"AS  @Alice":                {verb: verbBecome, who: "alice"},
		"help":                      {verb: verbHelp},
		"as":                        {verb: verbHelp},
		"as alice /settings":        {verb: verbHelp},
		"as 7":                      {verb: verbHelp},
		"reply":                     {verb: verbHelp},
		"bob: reply":                {verb: verbHelp, who: "bob"},
		"quit":                      {verb: verbQuit},
		"Exit":                      {verb: verbQuit},
	} {
		if got := parseInput(line); got != want {
			t.Errorf("%q is parsed as %+v, want %+v", line, got, want)
		}
	}
}
