package main

import "elobot/internal/botsim"

// sceneMembers lists the members of the group. The first member created the group.
var sceneMembers = []botsim.User{
	{FirstName: "Alice", Username: "alice"},
	{FirstName: "Bob", Username: "bobby"},
	{FirstName: "Carol", Username: "carol"},
	{FirstName: "David", Username: "david"},
	{FirstName: "Erin", Username: "erin"},
	{FirstName: "Frank", Username: "frank"},
}

type day struct {
	ago   int // how many days ago
	lines []line
}

// line is a message that a person sends to the group. With replyTo, the message replies to the last
// message of the person with that name. With press, the person instead presses the button with this
// label below the last message that has buttons.
type line struct {
	from, text, replyTo, press string
	pins                       bool // the bot pins a message in response
	later                      bool // sent after a pause
}

// scene is the conversation that the demo plays: the first day of a group, and the four weeks that
// follow. Except for the dates, the scene must look the same on any day. The ranking shows how
// places have changed within a week, so no match may be played about a week before the end. Only
// one match may be an upset of ladder.MinUpset or more, because it is then the upset of its month
// whenever the demo runs.
var scene = []day{
	{28, []line{
		{from: "alice", text: "/start"},
		{from: "alice", text: "/match @bobby 3:1"},
		{from: "carol", text: "/match @david 2:3"},
		{from: "bob", text: "Revenge!"},
		{from: "bob", text: "/match @alice 3:2"},
		{from: "david", text: "/match @alice @carol 3:0"},
		{from: "carol", text: "best of three, anyone?"},
		{from: "alice", text: "/match 3-1", replyTo: "carol"},
		{from: "bob", text: "/match @david 2:2"},
		{from: "david", text: "/match @carol 3"},
		{from: "david", text: "/match @carol 3:1"},
		{from: "carol", text: "/match @carol @david vs @alice @bobby 10:8"},
		{from: "bob", text: "/match @carol 11:7 9:11 11:5"},
		{from: "carol", text: "/match @bobby 1:2"},
		{from: "carol", press: "Cancel"},
		{from: "alice", text: "/match @bobby 1:3"},
		{from: "alice", text: "/fix 3:1", replyTo: "alice"},
		{from: "alice", press: "Yes, a win for Alice"},
		{from: "david", text: "/match @carol 3:0"},
		{from: "carol", text: "we have not even played!"},
		{from: "carol", text: "/undo"},
		{from: "bob", text: "/ranking"},
	}},
	{21, []line{
		{from: "frank", text: "Erin and I played our first games here, and lost some."},
		{from: "frank", text: "/match @erin 1:3\n@alice 1:3\n@carol 0:3\n@erin @bobby 3:0\n@erin @carol 3:2"},
		{from: "david", text: "/match @bobby 3:1\n@carol 3:0\n@frank 3:2"},
	}},
	{12, []line{
		{from: "erin", text: "/match @alice 1:3\n@frank 3:1"},
		{from: "alice", text: "/match @frank 3:0\n@bobby 3:2"},
		{from: "david", text: "/match @alice 3:2\n@erin 3:1"},
		{from: "alice", text: "/board on", pins: true},
	}},
	{2, []line{
		{from: "alice", text: "/match @erin 3:1\n@bobby 3:1"},
		{from: "frank", text: "/match @bobby 3:2\n@carol 0:3"},
	}},
	{0, []line{
		{from: "carol", text: "/match @david 3:2"},
		{from: "david", text: "beginner’s luck"},
		{from: "alice", text: "/match @david 3:1"},
		{from: "bob", text: "/ranking", later: true},
		{from: "alice", text: "/chart"},
		{from: "alice", press: "By match"},
		{from: "alice", text: "/stats"},
		{from: "alice", text: "/h2h @bobby"},
		{from: "alice", text: "/odds @bobby"},
		{from: "erin", text: "/teams @alice @bobby @erin @frank"},
		{from: "erin", press: "Next best"},
	}},
}
