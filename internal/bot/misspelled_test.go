package bot

import (
	"strings"
	"testing"
)

func TestIsSlip(t *testing.T) {
	t.Parallel()
	const name = "match"
	for _, word := range []string{"mach", "atch", "matc", "mattch", "smatch", "matchs", "mitch", "hatch",
		"matck", "amtch", "macth", "mathc"} {
		if !isSlip(word, name) || !isSlip(name, word) {
			t.Errorf("%s is no slip of %s", word, name)
		}
	}
	for short, name := range map[string]string{"list": "lost", "tip": "top"} {
		if isSlip(short, name) {
			t.Errorf("%s is a slip of %s", short, name)
		}
	}
	for _, word := range []string{"", "match", "mat", "matches", "catcm", "tamch", "mtcah", "mcath2",
		"chat", "mtahc", "m", "rematch"} {
		if isSlip(word, name) || isSlip(name, word) {
			t.Errorf("%s is a slip of %s", word, name)
		}
	}
}

// TestMisspelledCommands checks that the bot answers a misspelled command with the command that it
// resembles. In a group, a command that is short or resembles none may be meant for another bot.
// The bot ignores it, unless it names this bot.
func TestMisspelledCommands(t *testing.T) {
	t.Parallel()
	meant := func(command string) string { return `answer unknown_command {"meant":"` + command + `"}` }
	const unknown, greeting = "answer unknown_command {}", `answer greeting {"private":true}`
	long := strings.Repeat("a", 26)
	for text, want := range map[string][2]string{ // in a group, and in private
		"/matsh":                                {meant("match"), meant("match")},
		"/MATSH @bob 3:1":                       {meant("match @bob 3:1"), meant("match @bob 3:1")},
		"/macth@elo_bot  @bob 3:1":              {meant("match @bob 3:1"), meant("match @bob 3:1")},
		"/matsh " + long:                        {meant("match " + long), meant("match " + long)},
		"/matsh " + long + "a":                  {meant("match"), meant("match")},
		"/matsh @bob\n3:1":                      {meant("match"), meant("match")},
		"/matsh [Dan 2](tg://user?id=1004) 3:1": {meant("match"), meant("match")},
		"/matsh <b>":                            {meant(`match \u003cb\u003e`), meant(`match \u003cb\u003e`)},
		"/leaderbord 2":                         {meant("leaderboard 2"), meant("leaderboard 2")},
		"/mach @bob 3:1":                        {meant("match @bob 3:1"), meant("match @bob 3:1")},
		"/stat":                                 {meant("stats"), meant("stats")},
		"/hepl":                                 {meant("help"), meant("help")},
		"/stop":                                 {ignored, meant("top")},
		"/list":                                 {ignored, unknown},
		"/mach@elo_bot":                         {meant("match"), meant("match")},
		"/mach@other_bot":                       {ignored, greeting},
		"/matsh@other_bot":                      {ignored, greeting},
		"/hel":                                  {ignored, meant("help")},
		"/rematch @bob 3:1":                     {ignored, unknown},
		"/matchdays @bob 3:1":                   {ignored, unknown},
		"/matchdays@elo_bot":                    {unknown, unknown},
		"/matches @bob 3:1":                     {meant("match @bob 3:1"), `answer group_only {"command":"matches"}`},
		"/":                                     {ignored, greeting},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.group.Say(w.alice, text)
			w.expect(text, none(want[0])...)
			w.sim.Private(w.alice).Say(w.alice, text)
			w.expect(text, none(want[1])...)
		})
	}
}
