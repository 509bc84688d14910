package bot

import (
	"strings"
	"testing"

	"elobot/internal/botsim"
	"elobot/internal/catalog"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// TestWebButton checks that a ranking has a button that opens the web board, if the board is on and
// Telegram accepts such an address in buttons. If Telegram rejects the button anyway, the message
// is sent without it.
func TestWebButton(t *testing.T) {
	t.Parallel()
	shown := stats.RankingPage{Rows: rankingRows(10), Page: 1, Total: 11, Web: &ranking.WebBoard{Group: 3}}
	rejects := botsim.Fault{
		Kind:        botsim.Reject,
		Description: "Bad Request: inline keyboard button URL 'https://elo.example.org/g/3/2/' is invalid: Wrong HTTP URL",
		Match:       func(c botsim.Call) bool { return strings.Contains(c.Params["reply_markup"], "elo.example.org") },
	}
	for what, tc := range map[string]struct {
		fits, rejected, isTable, off bool
		want                         string
	}{
		"with it": {fits: true, want: "https://elo.example.org/g/3/2/"}, "in a table": {fits: true, isTable: true, want: "https://elo.example.org/g/3/2/"},
		"an address for no button": {}, "turned off since": {fits: true, off: true}, "rejected": {fits: true, rejected: true}, "rejected in a table": {fits: true, rejected: true, isTable: true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := newPost(t)
			p.sender.WithWeb(fakeLink, tc.fits)
			if tc.rejected {
				p.sim.Fault(rejects)
			}
			m := messageOf(t, p.group.ID(), shown)
			m.Tables = tc.isTable
			if !tc.off {
				m.WebSalt = "2"
			}
			p.mustSend(t, m)
			sent := p.group.BotMessages()
			if len(sent) != 1 || sent[0].Rich != tc.isTable {
				t.Fatalf("%+v", sent)
			}
			link := ""
			for _, row := range sent[0].Buttons {
				for _, b := range row {
					link += b.URL
				}
			}
			if link != tc.want || len(sent[0].Buttons) == 0 {
				t.Errorf("the buttons are %+v", sent[0].Buttons)
			}
		})
	}
}

// TestWebLinkIsSent checks that /web gives the link, in all languages. Without a configured
// address, /web and the answer to turning the board on name PUBLIC_URL instead.
func TestWebLinkIsSent(t *testing.T) {
	t.Parallel()
	board := ranking.WebShown{Web: &ranking.WebBoard{Group: 3}}
	for _, l := range catalog.All() {
		for link, want := range map[bool]string{true: "https://elo.example.org/g/3/2/", false: "PUBLIC_URL"} {
			w := words{Language: l, salt: "2"}
			if link {
				w.web = fakeLink
			}
			changed := w.settingChanged(ranking.SettingChanged{Name: ranking.SettingWeb, Before: ranking.Off, After: ranking.On})
			if text := w.webShown(board); !strings.Contains(text, want) || strings.Contains(changed, "PUBLIC_URL") == link {
				t.Errorf("%s: %s %s", l.Tag(), text, changed)
			}
		}
	}
}

// TestBoardWithWebButton checks that a board's message changes when the web board is turned on or
// gets a new link.
func TestBoardWithWebButton(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	p.sender.WithWeb(fakeLink, true)
	prints := make(map[string]string)
	for _, salt := range []string{"", "a", "b"} {
		b := stats.Board{RankingPage: page(1516), On: true}
		if salt != "" {
			b.Web = &ranking.WebBoard{Group: 3, Salt: salt}
		}
		m := p.board(t, 1516, 0)
		look := p.sender.fingerprint(m, p.sender.boardMessage(m, b))
		if other, ok := prints[look]; ok {
			t.Errorf("with the salts %q and %q, it looks the same", salt, other)
		}
		prints[look] = salt
	}
}
