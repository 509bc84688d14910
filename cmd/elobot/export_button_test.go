package main_test

import (
	"archive/zip"
	"bytes"
	"slices"
	"strings"
	"testing"

	"elobot/internal/botsim"
)

// exportData is the data of the button below the settings that exports the group.
const exportData = "1x:"

// namesInExport returns the names of the files in an export.
func namesInExport(t *testing.T, m botsim.Message) (names []string) {
	t.Helper()
	if m.Document == nil {
		t.Fatalf("no document: %s", visible(m))
	}
	archive, err := zip.NewReader(bytes.NewReader(m.Document.Content), int64(len(m.Document.Content)))
	must(t, err)
	for _, f := range archive.File {
		names = append(names, f.Name)
	}
	return names
}

// testExportButton checks that an admin gets the export of a group in the private chat, once for
// each press, and that nobody else gets it. An admin to whom the bot cannot write is led to the
// private chat.
func testExportButton(t *testing.T, b *botFixture) {
	group, private := b.group("Chess & Go"), b.sim.Private(b.olga).NotStarted()
	b.ask(group, b.alice, "/match @bob 3:1")
	frame := b.ask(group, b.olga, "/settings")
	says(t, b.press(b.alice, frame, exportData), "Only the group’s admins")
	leads := func() {
		t.Helper()
		answer, err := b.sim.WaitAnswer(testContext(t), b.sim.Press(b.olga, frame, exportData))
		must(t, err)
		equal(t, answer.URL, "https://t.me/elo_bot?start=file", "the answer leads to")
	}
	leads()
	private.Say(b.olga, "/start file")
	b.settle()
	got := private.BotMessages()
	says(t, visible(got[len(got)-1]), "Press the button in the group again")

	says(t, b.choose(b.olga, frame, exportData), "comes to our private chat")
	sent := private.BotMessages()[len(got):]
	if len(sent) != 1 {
		t.Fatalf("%d messages", len(sent))
	}
	says(t, visible(sent[0]), "All data of Chess & Go")
	name := sent[0].Document.Name
	if !strings.HasPrefix(name, "elobot-Chess-Go-20") || !strings.HasSuffix(name, ".zip") {
		t.Errorf("the file is called %q", name)
	}
	if names := namesInExport(t, sent[0]); !slices.Contains(names, "elobot.json") || len(names) < 3 {
		t.Errorf("the export has %q", names)
	}

	private.Kick() // Olga blocks the bot
	b.settle()
	leads()
	private.AddBot(b.olga)
	b.settle()
	b.choose(b.olga, frame, exportData)
	equal(t, len(private.BotMessages()), len(got)+2, "messages in the private chat")
	equal(t, len(group.BotMessages()), 2, "messages in the group")
}

// TestExportAfterARestart checks that an export arrives once, although Telegram delivers the press
// twice and the bot is killed between the press and the sending.
func TestExportAfterARestart(t *testing.T) {
	t.Parallel()
	b := newBotFixture(t)
	b.env = environment(b.sim, b.url)
	b.bot = launch(t, b.env, "run")
	group, private := b.group("Chess"), b.sim.Private(b.olga)
	b.ask(group, b.alice, "/match @bob 3:1")
	frame := b.ask(group, b.olga, "/settings")
	private.Say(b.olga, "/start")
	b.settle()
	b.sim.Fault(botsim.Fault{Kind: botsim.TooManyRequests, Method: "sendDocument", RetryAfter: 1, Times: 1})
	confirm := b.sim.Fault(botsim.Fault{
		Kind: botsim.CutBefore, Method: "getUpdates", Match: func(c botsim.Call) bool { return c.Params["offset"] != "" },
	})
	b.press(b.olga, frame, exportData)
	eventually(t, "the export is refused once", func() bool { return len(b.sim.CallsOf("sendDocument")) > 0 })
	b.bot.kill()
	expireLease(t, b.pool, b.bot)
	confirm()
	if n := b.sim.Pending(); n == 0 {
		t.Fatal("the press is confirmed already")
	}
	b.bot = launch(t, b.env, "run")
	b.finish()
	sent := private.BotMessages()
	if len(sent) != 2 || !slices.Contains(namesInExport(t, sent[1]), "elobot.json") {
		t.Errorf("%d messages", len(sent))
	}
}
