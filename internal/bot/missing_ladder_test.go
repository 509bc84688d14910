package bot

import (
	"encoding/json"
	"testing"

	"elobot/internal/catalog"
	"elobot/internal/command"
	"elobot/internal/ranking"
)

// TestMissingLadder checks that the bot asks which ladder is meant if a report names a game that
// has no ladder, even if it asks other questions too. It records the match in the ladder of the
// pressed button.
func TestMissingLadder(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	question := func(s answers) (outgoing, ranking.ReportPrompt) {
		t.Helper()
		var n ranking.ReportPrompt
		item := s.items[len(s.items)-1]
		must(t, json.Unmarshal(item.Payload, &n))
		out, err := render(item, words{Language: catalog.All()[0]})
		must(t, err)
		return out, n
	}
	for _, text := range []string{"/match tennis @bobby", "/match tennis @carol beat 3:1 @bobby",
		"/match zorbb @carol 3:1 last friday"} {
		s := c.say(0, nil, text)
		to, presses := s.to, 0
		var asked []command.Doubt
		for len(s.items) > 0 && ranking.IsPrompt(s.items[len(s.items)-1].Kind) {
			out, n := question(s)
			asked = append(asked, n.Doubt)
			button := out.buttons[0][0]
			if n.Doubt == ranking.DoubtGame && len(n.Options) > 1 {
				button = out.buttons[1][0]
			}
			s = c.press(to, out, button.data)
			if presses++; presses > 5 {
				break
			}
		}
		last := asked[len(asked)-1]
		if last != ranking.DoubtGame && text != "/match zorbb @carol 3:1 last friday" || s.ladder != "zorb" {
			t.Errorf("%s: asked %q, recorded in %q", text, asked, s.ladder)
		}
	}
}

// TestLadderOfTheGame checks that a game means the ladder with that game in its name, in any
// language, unless several ladders have it. The bot also asks about an unknown game in a later
// line. A word that is a player's username means the player, not the game.
func TestLadderOfTheGame(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	c.exec(`UPDATE ladders SET name = 'Tennis Club' WHERE name = 'zorb'`)
	c.say(0, nil, "/match @padel 6:5") // Padel is only a username
	c.exec(`UPDATE group_players SET name = 'Igor' WHERE name ILIKE '%padel'`)
	for _, tc := range []struct{ text, ladder, asks string }{
		{text: "/match теннис @bobby 1:0", ladder: "Tennis Club"},
		{text: "/match padel 1:0", ladder: "chess"},
		{"/match tennis @bobby 4:0\ngolf @carol 2:0", "Tennis Club", "golf"},
		{"/match @bobby 3:0\ngolf @carol 2:0", "chess", "golf"},
		{"/match tennis @bobby 5:0", "Tennis doubles", "tennis"},
	} {
		if tc.ladder == "Tennis doubles" {
			c.exec(`UPDATE ladders SET name = 'Tennis doubles' WHERE name = 'chess'`)
		}
		s := c.say(0, nil, tc.text)
		var n ranking.ReportPrompt
		for _, item := range s.items {
			if err := json.Unmarshal(item.Payload, &n); ranking.IsPrompt(item.Kind) && err != nil {
				t.Fatal(err)
			}
		}
		if s.ladder != tc.ladder || n.Word != tc.asks {
			t.Errorf("%q: recorded in %q, asked about %q: %s", tc.text, s.ladder, n.Word, payloads(s))
		}
	}
}
