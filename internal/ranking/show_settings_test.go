package ranking_test

import (
	"context"
	"errors"
	"testing"

	"elobot/internal/ranking"
)

func TestShowSettings(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	unknown := func(context.Context) (bool, error) { return false, errors.New("nobody answers") }
	show := func(isAdmin func(context.Context) (bool, error)) ranking.Notice {
		t.Helper()
		o := g.origin(&alice)
		must(t, g.ShowSettings(t.Context(), o, isAdmin))
		return g.notice(t, o.Key)
	}
	checkNotice(t, show(admin), ranking.GroupSettings{Rules: defaultRules, Display: ranking.Display{Language: "en"}}) // in a new group
	checkNotice(t, show(nobodyIsAdmin), ranking.Refusal{Code: ranking.AdminsOnly})
	checkNotice(t, show(unknown), ranking.Refusal{Code: ranking.AdminsUnknown})
	g.has(t, 0, "players")
}

// TestRulesChangedByButton: the message with the buttons shows the new rules, who pressed sees what has changed, and the chat
// gets no other message.
func TestRulesChangedByButton(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	changed := defaultRules
	changed.K = 24
	press := func(key string, isAdmin func(context.Context) (bool, error)) {
		t.Helper()
		o := g.origin(&alice)
		o.Key, o.Button = key, key
		must(t, g.ChangeRules(t.Context(), o, ranking.RulesChange{
			Change: func(r ranking.Rules) ranking.Rules { r.K = 24; return r }, IsAdmin: isAdmin, Shown: 55,
		}))
	}
	press("c:1", nobodyIsAdmin)
	press("c:2", admin)
	press("c:3", admin)
	name := ranking.Name{Name: "Alice"}
	by := ranking.Reporter{Name: &name}
	checkNotice(t, g.answer(t, "c:1", "action = 'callback_answer'"), ranking.Refusal{Code: ranking.AdminsOnly})
	checkNotice(t, g.answer(t, "c:2", "action = 'callback_answer'"), ranking.RulesChanged{Before: defaultRules, After: changed})
	checkNotice(t, g.answer(t, "c:2", "action = 'page' AND edited_message_id = 55"), ranking.GroupSettings{Rules: changed, Display: ranking.Display{Language: "en"}, ChangedBy: &by})
	checkNotice(t, g.answer(t, "c:3", "action = 'callback_answer'"), ranking.Refusal{Code: ranking.SameRules})
	g.has(t, 4, "outbox")
	if got := g.rules(t); got != changed {
		t.Errorf("the rules are %+v", got)
	}
}
