package main

import (
	"bytes"
	"flag"
	"image/png"
	"io"
	"math"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/botsim"
	"elobot/internal/pgtemp/pgtest"
)

var update = flag.Bool("update", false, "update the golden files")

// talk is a demo group whose scene has been played, with its output.
type talk struct {
	t   *testing.T
	s   *demoGroup
	out *strings.Builder
}

// says sends lines, as if from a file, and returns the output.
func (k talk) says(lines ...string) string {
	k.t.Helper()
	k.out.Reset()
	if err := k.s.converse(k.t.Context(), linesOf(strings.NewReader(strings.Join(lines, "\n")))); err != nil {
		k.t.Error(err)
	}
	return k.out.String()
}

// inOrder checks that a text contains the parts in this order.
func (k talk) inOrder(text string, parts ...string) {
	k.t.Helper()
	rest := text
	for _, want := range parts {
		_, after, found := strings.Cut(rest, want)
		if !found {
			k.t.Fatalf("%q is missing or out of order:\n%s", want, text)
		}
		rest = after
	}
}

// dates matches the dates that the scene prints.
var dates = regexp.MustCompile(`((Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day )?\d{1,2} ` +
	`(January|February|March|April|May|June|July|August|September|October|November|December)( \d{4})?`)

// pictures matches the path of a saved picture, whose folder has a random name.
var pictures = regexp.MustCompile(`/\S+/(\d+\.png)`)

// WithoutDates replaces the dates and picture folders of a text, which depend on when and where the
// scene is played.
func WithoutDates(text string) string {
	return pictures.ReplaceAllString(dates.ReplaceAllString(text, "DATE"), "FOLDER/$1")
}

// playedScene starts the bot and plays the scene so that it ends at the given time. It compares the
// output with the golden file.
func playedScene(t *testing.T, end time.Time) talk {
	t.Helper()
	var out strings.Builder
	clock := &demoClock{ahead: time.Until(end)}
	k := talk{t, newDemoGroup(botsim.Start(t, botsim.WithClock(clock.now)), clock, newTranscript(&out, false)), &out}
	t.Cleanup(k.s.leave)
	if err := k.s.startBot(t.Context(), pgtest.New(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.s.endBot() })
	k.s.folder = t.TempDir()
	if err := k.s.play(t.Context(), scene, math.MaxInt); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/scene.txt"
	shown := WithoutDates(out.String())
	if *update {
		if err := os.WriteFile(file, []byte(shown), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || shown != string(want) {
		t.Errorf("the scene differs from %s, %v:\n%s", file, err, shown)
	}
	return k
}

// TestDemoGroup checks that the scene reads as in the golden file, even if a leap day ends during
// it, and the group can be used afterward.
func TestDemoGroup(t *testing.T) {
	t.Parallel()
	k := playedScene(t, time.Date(2028, time.February, 29, 23, 59, 58, 0, time.UTC))
	k.presses()
	k.answers()
	k.replies()
	k.explains()
	k.alternates()
	k.takesAnything()
	k.shows()
	k.slowsDown()
	if err := k.s.converse(t.Context(), linesOf(strings.NewReader(strings.Repeat("x", 2<<20)))); err == nil ||
		!strings.Contains(err.Error(), "read input") {
		t.Errorf("input that cannot be read ends with %v", err)
	}
	if err := k.s.close(t.Context()); err != nil {
		t.Error(err)
	}
}

// presses checks that any member can press the buttons of the last message that has buttons. An
// undo or a restore edits the card, and the next press uses its new button.
func (k talk) presses() {
	k.t.Helper()
	k.inOrder(k.says("alice: /match @carol 3:0", "1", "carol: 1", "david: 1", "carol: 1", "/ranking"),
		"Now you. You write as “You”, who is new here. Alice is the group’s admin.", "/chart", "“help” lists",
		"Alice beat Carol 3:0", "│ [1] Undo\n", "You pressed [Undo] below “Alice beat Carol 3:0”", "Only those who played",
		"Carol pressed [Undo]", "undone by Carol", "edited its earlier message:", "undone by Carol", "│ [1] Restore\n",
		"David pressed [Restore]", "Only the person who undid match",
		"Carol pressed [Restore]", "restored by Carol", "edited its earlier message:", "Alice beat Carol 3:0", "│ [1] Undo\n",
		"You  /ranking", "won–drawn–lost")
}

// answers checks that every button of a message can be pressed, even a button that an edit has
// added, and a button that only copies a text. When a prompt has lost its buttons, numbers refer to
// the last message that still has buttons.
func (k talk) answers() {
	k.t.Helper()
	k.inOrder(k.says("/settings", "as alice", "/settings", "3", "2", "1",
		"/match @bobby 3:1", "/match @bobby 3:1", "2", "2", "1", "/mathc @david 3:1", "1", "as you", "/help"),
		"You  /settings", "Only the group’s admins", "You write as “Alice”, the group’s admin.",
		"Alice  /settings", "│ [1] Display ›   [2] Time ›\n",
		"Alice pressed [Ratings ›] below “Settings”", "│ [2] K-factor ›\n",
		"Alice pressed [K-factor ›] below “Settings”", "│ [1] K 16   [2] K 24   [3] ✓ K 32   [4] K 48\n",
		"Alice pressed [K 16] below “Settings”", "edited its earlier message:", "K-factor: 16",
		"Another game?\n         │ [1] Another game   [2] Cancel\n", "Alice pressed [Cancel] below “You’ve just reported this result", "Not recorded: Alice canceled.",
		"There is no button 2 below “Alice beat Bob 3:1”. The last one is 1.", "Alice pressed [Undo] below “Alice beat Bob 3:1”", "Match #33 undone",
		"Alice pressed [Copy the corrected command]", " · copies: /match @david 3:1", "You write as “You”.", "You  /help")
}

// replies checks that a prompt can be answered by a reply until it is closed, whatever came in
// between. A command can reply to the last message of the bot or of a person.
func (k talk) replies() {
	k.t.Helper()
	k.inOrder(k.says("as carol", "/match", "reply to elobot: erin", "reply 3", "/ranking",
		"reply 3:2", "reply /undo", "reply to frank: /match 3:1", "reply to zed: hi", "as you"),
		"Carol  /match", "Who did you play?", "Carol  erin  (in reply to elobot)", "You against Erin: how did it end?",
		"Carol  3  (in reply to elobot)", "A score has two numbers", "won–drawn–lost", "Carol  3:2  (in reply to elobot)", "Carol beat Erin 3:2",
		"Carol  /undo  (in reply to elobot)", "Match #34 undone", "Carol  /match 3:1  (in reply to Frank)", "Carol beat Frank 3:1",
		"There is no message of zed to reply to.")
}

// explains checks that the demo says when the bot ignores a message, and answers incomplete input
// with its help. Input after quit is ignored.
func (k talk) explains() {
	k.t.Helper()
	const ignored = "elobot does not answer that. " +
		"It takes the commands that /help lists, and replies: “reply TEXT”. See “help”.\n"
	k.inOrder(k.says("/foo", "3:1", "reply thanks", "press", "7", "as", "help", "Exit", "too late"),
		"You  /foo\n"+ignored, "You  3:1\n"+ignored, "You  thanks  (in reply to elobot)\n"+ignored, "You  press\n"+ignored,
		"There is no button 7 below “Carol beat Frank 3:1”.", "You write as “You”. What you type", "1, 2, 3", "reply TEXT", "as alice", "quit",
		"You write as “You”. What you type")
	if shown := k.out.String(); strings.Contains(shown, "too late") || strings.Contains(shown, "Exit") {
		k.t.Errorf("the conversation goes on after its end:\n%s", shown)
	}
}

// alternates checks that each answer follows its command even if all commands come at once.
// Commands that the bot ignores do not block the others.
func (k talk) alternates() {
	k.t.Helper()
	k.inOrder(k.says("zoe: /match @alice 3:2", "/match@other_bot @bobby 3:0",
		"zoe: /unknown", "", "yan: /match @bobby 3:0", "no command", "  /ranking", "zoe : /match"),
		"/match @alice 3:2", "Zoe beat Alice 3:2", "new player: Zoe", "/match@other_bot", "/unknown", "/match @bobby 3:0", "Yan beat Bob 3:0",
		"You  no command", "/ranking", "won–drawn–lost", "Zoe  /match", "Who did you play?")
}

// takesAnything checks that overlong messages are refused, and no message can control the terminal.
func (k talk) takesAnything() {
	k.t.Helper()
	longest, emoji := strings.Repeat("x", 4096), strings.Repeat("\U0001f3d3", 2049)
	shown := k.says(longest, longest+"y", emoji, strings.Repeat("z", 900_000), "3:1", "7: eleven",
		"zoe: \x1b[31mred\x1b]0;title\a \u009b2Jcleared \x9b \x7f\b", "zoe: the end", "/help")
	for want, times := range map[string]int{
		longest: 1, longest + "y": 0, emoji: 0, "zzz": 0, "does not accept messages of more than 4096": 3,
		"You  3:1": 1, "You  7: eleven": 1, "Zoe  [31mred]0;title 2Jcleared \ufffd": 1, "Zoe  the end": 1,
	} {
		if got := strings.Count(shown, want); got != times {
			k.t.Errorf("the conversation shows %.30q %d times, want %d", want, got, times)
		}
	}
	if i := strings.IndexFunc(shown, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }); i >= 0 {
		k.t.Errorf("a control character reaches the terminal: %q", shown[max(0, i-20):i+5])
	}
}

// shows checks that tables are drawn. A chart becomes a file, and the demo prints its path and the
// address of the page with the same chart. Messages may have several lines, and names several
// words.
func (k talk) shows() {
	k.t.Helper()
	shown := k.says("alice: /settings tables on", "/ranking", "alice: /settings tables off", "/chart @alice",
		`"Bob Smith": /match @alice 1:3\`, "@carol 3:1", `as "Bob Smith"`, "/chart", "as me", "scene")
	k.inOrder(shown, "You  /ranking", "│ ──┬", "#│Player│Rating│", "│ ──┴",
		"You  /chart @alice", "│ [picture, "+k.s.folder+"/", "│ [as a page: "+k.s.board+"player/",
		"Bob Smith  /match @alice 1:3\n          @carol 3:1\n", "Bob Smith", "You write as “Bob Smith”.", "[as a page: "+k.s.board+"]", "You write as “You”.",
		"You have seen it all.")
	path := regexp.MustCompile(`\[picture, (\S+)\]`).FindStringSubmatch(shown)
	page := regexp.MustCompile(`\[as a page: (\S+/player/\d+)\]`).FindStringSubmatch(shown)
	if path == nil || page == nil {
		k.t.Fatalf("there is no picture:\n%s", shown)
	}
	content, err := os.ReadFile(path[1])
	if err != nil {
		k.t.Fatal(err)
	}
	if c, err := png.DecodeConfig(bytes.NewReader(content)); err != nil || c.Width != 1280 {
		k.t.Errorf("the picture is %+v, %v", c, err)
	}
	resp, err := http.Get(page[1]) //nolint:noctx // of this test's own server
	if err != nil {
		k.t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(body), "Alice") {
		k.t.Errorf("the page is %q, %v", body, err)
	}
}

// slowsDown checks that the demo says that a person is over the limit on questions, instead of
// saying that the bot ignores the command.
func (k talk) slowsDown() {
	k.t.Helper()
	many := slices.Repeat([]string{"yuri: /ranking"}, 22)
	shown := k.says(append(many, "yuri: hello", "/ranking")...)
	k.inOrder(shown, "Yuri  /ranking\nelobot has asked Yuri to slow down",
		"Yuri  hello\nelobot does not answer that", "You  /ranking\n  elobot │ Ranking")
}

// TestSceneBegins checks that at first only the beginning of the scene is shown, up to an answer of
// the bot, and that the input “scene” shows the rest. The scene ends just after the beginning of a
// year.
func TestSceneBegins(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	clock := &demoClock{ahead: time.Until(time.Date(2027, time.January, 1, 0, 0, 1, 0, time.UTC))}
	k := talk{t, newDemoGroup(botsim.Start(t, botsim.WithClock(clock.now)), clock, newTranscript(&out, false)), &out}
	t.Cleanup(k.s.leave)
	k.s.folder = t.TempDir()
	if err := k.s.startBot(t.Context(), pgtest.New(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.s.endBot() })
	if err := k.s.play(t.Context(), scene, shownAtFirst); err != nil {
		t.Fatal(err)
	}
	beginning := out.String()
	if lines := strings.Count(beginning, "\n"); lines > 3+shownAtFirst || lines < 15 ||
		!strings.HasSuffix(beginning, "[1] Undo\n") {
		t.Errorf("%d lines are shown:\n%s", lines, beginning)
	}
	shown := k.says("1", "reply hi", "scene", "scene", "2")
	k.inOrder(shown, "“scene” shows the rest", "Now you.",
		"You pressed [Undo] below “david beat Carol 3:2” · private answer: Only", "You  hi  (in reply to elobot)")
	if _, begun, _ := strings.Cut(beginning+shown, "Now you."); strings.Count(beginning+shown, "\n")-
		strings.Count(begun, "\n") > 40 {
		t.Errorf("more than 40 lines are shown at first:\n%s", beginning+shown)
	}
	_, rest, _ := strings.Cut(shown, "See “help”.\n")
	rest, after, _ := strings.Cut(rest, "You have seen it all.")
	k.inOrder(after, "You pressed [Next best] below “Teams")
	want, err := os.ReadFile("testdata/scene.txt")
	if got := WithoutDates(beginning + rest); err != nil || got != string(want) {
		t.Errorf("beginning and rest are not the scene: %v\n%s", err,
			cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")))
	}
}
