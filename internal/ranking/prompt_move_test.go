package ranking_test

import (
	"testing"
	"time"

	"elobot/internal/ranking"
)

// TestOpenPromptsOfJoinedChats checks that if two chats become one while each has an open prompt,
// both prompts can still be answered or expire. An answer finds the match of the detached group
// gone. When the prompts expire, only the message in the newer chat is edited.
func TestOpenPromptsOfJoinedChats(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"answered", "expired"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			u := newUpgrade(g, -500)
			var prompts []ranking.PromptRef
			for _, chat := range []ranking.Chat{u.older, u.newer} {
				u.report(t, chat, alice, bob)
				o := u.from(chat, zoe)
				o.SentAt = time.Now()
				must(t, g.Do(asAdmin(t), o, ranking.UndoMatch{Amendment: matchNumber(1)}))
				prompts = append(prompts, g.newestPrompt(t))
			}
			g.exec(t, `UPDATE prompts SET delivered_at = now(), telegram_message_id = 60 + id`)
			u.move(t)
			if n := g.count(t, "prompts p JOIN timers t USING (chat_id) JOIN matches m ON m.id = p.match_id"); n != 4 {
				t.Fatalf("%d pairs of prompts and timers in one chat, want 4", n)
			}
			edited := func(id ranking.PromptID) int64 { return rows1[int64](t, g, `SELECT 60 + $1::bigint`, id)[0] }
			if end == "expired" {
				g.due(t)
				must(t, g.fire(t.Context(), g.Service))
				checkNotice(t, g.answer(t, prompts[1].ID.Timer(), "action = 'page'"), ranking.UndoDropped{Number: 1})
				g.has(t, 1, "outbox WHERE action = 'page'")
				return
			}
			for i, id := range prompts {
				o := g.press(&zoe)
				o.Chat, o.Pressed = u.newer, edited(id.ID)
				must(t, g.Do(asAdmin(t), o, answerBy(id, ranking.Choice(0))))
				switch n := g.answer(t, o.Key, "action = 'page'").(type) {
				case ranking.MatchUndone:
					if i == 1 || n.Number != 1 {
						t.Errorf("prompt %d is answered with %+v", i+1, n)
					}
				default:
					checkNotice(t, n, ranking.Refusal{Code: ranking.MatchGone})
				}
			}
			g.has(t, 1, "matches WHERE undone_at IS NOT NULL")
		})
	}
}
