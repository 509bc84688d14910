package ranking_test

import (
	"context"
	"testing"

	"elobot/internal/ranking"
)

// TestLanguageChosen: an admin chooses the group's language, which is told to them alone, and who adds the bot again does not
// change it.
func TestLanguageChosen(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	press := func(key, language string, isAdmin func(context.Context) (bool, error)) {
		t.Helper()
		o := g.origin(&alice)
		o.Key, o.Button, o.Chat.Language = key, key, "uk"
		must(t, g.ChangeDisplay(t.Context(), o, ranking.DisplayChange{
			Change: func(d ranking.Display) ranking.Display {
				d.Language = language
				return d
			},
			IsAdmin: isAdmin, Shown: 55,
		}))
	}
	press("c:1", "de", nobodyIsAdmin)
	press("c:2", "de", admin)
	press("c:3", "de", admin)
	toast := "action = 'callback_answer' AND language = 'uk'" // of who pressed
	name := ranking.Name{Name: "Alice"}
	checkNotice(t, g.answer(t, "c:1", toast), ranking.Refusal{Code: ranking.AdminsOnly})
	checkNotice(t, g.answer(t, "c:2", toast), ranking.LanguageChanged{Language: "de"})
	checkNotice(t, g.answer(t, "c:2", "action = 'page' AND edited_message_id = 55 AND language IS NULL"),
		ranking.GroupSettings{Rules: defaultRules, Display: ranking.Display{Language: "de"}, ChangedBy: &ranking.Reporter{Name: &name}})
	checkNotice(t, g.answer(t, "c:3", toast), ranking.Refusal{Code: ranking.SameRules})
	g.has(t, 4, "outbox")

	added := g.origin(nil)
	added.Chat.Language = "es"
	must(t, g.BotRemoved(t.Context(), added))
	must(t, g.BotAdded(t.Context(), added, ranking.Joined{}))
	if n := g.count(t, "chats WHERE language = 'de'"); n != 1 {
		t.Error("the group no longer has the language that its admin chose")
	}
}

// TestPrivateAnswersAreInTheSendersLanguage: the language of a private chat is that of the person as of now.
func TestPrivateAnswersAreInTheSendersLanguage(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	for _, language := range []string{"de", "ru", ""} {
		o := g.origin(&alice)
		o.Chat = ranking.Chat{ID: ranking.ExternalChatID(alice.ID), Kind: ranking.Private, Language: language}
		must(t, g.Answer(t.Context(), o, ranking.Refusal{Code: ranking.UnknownButton}))
		if n := g.count(t, "outbox WHERE key = '"+o.Key+"' AND coalesce(language, '') = '"+language+"'"); n != 1 {
			t.Errorf("the answer is not in the language %q", language)
		}
	}
}

// TestTablesChosen: an admin switches tables on, once, which does not choose a language.
func TestTablesChosen(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	for _, key := range []string{"c:1", "c:2"} {
		o := g.origin(&alice)
		o.Key, o.Button = key, key
		must(t, g.ChangeDisplay(t.Context(), o, ranking.DisplayChange{
			Change: func(d ranking.Display) ranking.Display {
				d.Tables = true
				return d
			},
			IsAdmin: admin, Shown: 55,
		}))
	}
	checkNotice(t, g.answer(t, "c:1", "action = 'callback_answer'"), ranking.TablesChanged{Tables: true})
	checkNotice(t, g.answer(t, "c:2", "action = 'callback_answer'"), ranking.Refusal{Code: ranking.SameRules})
	if n := g.count(t, "chats WHERE tables AND NOT language_chosen"); n != 1 {
		t.Error("the group has no tables, or a language that nobody chose")
	}
	g.has(t, 1, "handled_commands WHERE outcome = 'display_changed'")
}

// TestDarkChartsChosen: charts are light until an admin switches that, once.
func TestDarkChartsChosen(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	for _, key := range []string{"c:1", "c:2"} {
		o := g.origin(&alice)
		o.Key, o.Button = key, key
		must(t, g.ChangeDisplay(t.Context(), o, ranking.DisplayChange{
			Change: func(d ranking.Display) ranking.Display {
				d.DarkCharts = true
				return d
			},
			IsAdmin: admin, Shown: 55,
		}))
	}
	checkNotice(t, g.answer(t, "c:1", "action = 'callback_answer'"), ranking.DarkChartsChanged{Dark: true})
	checkNotice(t, g.answer(t, "c:2", "action = 'callback_answer'"), ranking.Refusal{Code: ranking.SameRules})
	if n := g.count(t, "chats WHERE dark_charts AND celebrations AND NOT tables AND NOT language_chosen"); n != 1 {
		t.Error("charts are light, or something else has changed")
	}
}

// TestCelebrationsChosen: cards celebrate until an admin switches that off, once.
func TestCelebrationsChosen(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	for _, key := range []string{"c:1", "c:2"} {
		o := g.origin(&alice)
		o.Key, o.Button = key, key
		must(t, g.ChangeDisplay(t.Context(), o, ranking.DisplayChange{
			Change: func(d ranking.Display) ranking.Display {
				d.NoCelebrations = true
				return d
			},
			IsAdmin: admin, Shown: 55,
		}))
	}
	checkNotice(t, g.answer(t, "c:1", "action = 'callback_answer'"), ranking.CelebrationsChanged{})
	checkNotice(t, g.answer(t, "c:2", "action = 'callback_answer'"), ranking.Refusal{Code: ranking.SameRules})
	if n := g.count(t, "chats WHERE NOT celebrations AND NOT tables AND NOT language_chosen"); n != 1 {
		t.Error("the group still celebrates, or something else has changed")
	}
}
