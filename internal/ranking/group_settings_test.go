package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/plainladder"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/ranking"
)

func choice(name, value string) ranking.ChangeSetting {
	s, _ := ranking.FindSetting(name)
	return ranking.ChangeSetting{Setting: s, Value: value}
}

// choose has an admin press a settings button of the club and returns the answer.
func (g *game) choose(t *testing.T, sender *command.Person, c ranking.ChangeSetting) ranking.Notice {
	t.Helper()
	return g.chooseAs(asAdmin(t), t, sender, c)
}

// chooseAs has the sender press a settings button of the club and returns the answer. ctx
// determines whether the sender is an admin.
func (g *game) chooseAs(
	ctx context.Context, t *testing.T, sender *command.Person, c ranking.ChangeSetting,
) ranking.Notice {
	t.Helper()
	o := below(55, g.press(sender))
	must(t, g.Do(ctx, o, c))
	return g.answer(t, o.Key, toast)
}

// setRules stores the rules of the club, except those about seasons. The rules may have values that
// no button offers.
func (g *game) setRules(t *testing.T, rules ranking.Rules) {
	t.Helper()
	g.storeRules(t, laddersOf, int64(club.ID), rules)
}

// storeRules stores rules, except those about seasons, in the ladders that an SQL condition
// selects. id is the $1 of the condition.
func (g *game) storeRules(t *testing.T, ladders string, id int64, rules ranking.Rules) {
	t.Helper()
	g.exec(t, `
		UPDATE ladders l
		SET start_elo = r.start_elo, place_matches = r.place_matches, hide_days = r.hide_days,
		    k_factor = r.k_factor, draws_allowed = r.draws_allowed,
		    uneven_teams_allowed = r.uneven_teams_allowed,
		    provisional_k_factor = r.provisional_k_factor, provisional_matches = r.provisional_matches,
		    margin_of_victory = r.margin_of_victory
		FROM jsonb_populate_record(NULL::ladders, $2) AS r, groups g JOIN chats ch ON ch.id = g.chat_id
		WHERE l.group_id = g.id AND `+ladders, id, rules)
}

// settings returns the stored settings of the club.
func (g *game) settings(t *testing.T) ranking.GroupSettings {
	t.Helper()
	snap, err := g.store.Read(t.Context(), ranking.Query{Key: "unknown", Chat: club})
	must(t, err)
	return ranking.GroupSettings{Rules: snap.Ladder.Rules, Display: snap.Display, Web: snap.Web}
}

var defaultSettings = ranking.GroupSettings{Rules: defaultRules, Display: ranking.DefaultDisplay()}

func TestShowSettings(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	unknown := func(context.Context) (bool, error) { return false, errors.New("nobody answers") }
	show := func(isAdmin dbtest.IsAdmin) ranking.Notice {
		t.Helper()
		o := g.origin(&alice)
		must(t, g.Do(dbtest.WithAdmin(t.Context(), isAdmin), o, ranking.ShowSettings{}))
		return g.notice(t, o.Key)
	}
	// A new group has the defaults.
	checkNotice(t, show(admin), ranking.SettingsPage{GroupSettings: defaultSettings})
	open := func(isAdmin dbtest.IsAdmin, where string) ranking.Notice {
		t.Helper()
		o := below(55, g.press(&alice))
		must(t, g.Do(dbtest.WithAdmin(t.Context(), isAdmin), o, ranking.ShowSettings{Open: "rating"}))
		return g.answer(t, o.Key, where)
	}
	checkNotice(t, open(admin, "action = 'page' AND edited_message_id = 55"),
		ranking.SettingsPage{GroupSettings: defaultSettings, Open: "rating"})
	checkNotice(t, open(nobodyIsAdmin, toast), ranking.Refusal{Code: ranking.AdminsOnly})
	checkNotice(t, show(nobodyIsAdmin), ranking.Refusal{Code: ranking.AdminsOnly})
	checkNotice(t, show(unknown), ranking.Refusal{Code: ranking.AdminsUnknown})
	g.has(t, 0, "players")
}

// TestTypedSetting checks that if a command changes a setting, the answer in the chat names the old
// and the new value. An anonymous admin may change settings, too.
func TestTypedSetting(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	typed := func(ctx context.Context, sender *command.Person, c ranking.ChangeSetting) ranking.Notice {
		o := g.origin(sender)
		must(t, g.Do(ctx, o, c))
		return g.notice(t, o.Key)
	}
	checkNotice(t, typed(asAdmin(t), &alice, choice("k", "24")),
		ranking.SettingChanged{Name: "k", Before: "32", After: "24"})
	checkNotice(t, typed(t.Context(), nil, choice("margin", "on")),
		ranking.SettingChanged{Name: "margin", Before: "off", After: "on"})
	checkNotice(t, typed(asAdmin(t), &alice, choice("k", "24")), ranking.Refusal{Code: ranking.SameSetting})
	checkNotice(t, typed(t.Context(), &bob, choice("k", "16")), ranking.Refusal{Code: ranking.AdminsOnly})
	if rules := g.settings(t).Rules; rules.K != 24 || !rules.Margin {
		t.Errorf("the rules are %+v", rules)
	}
}

// TestChangeSetting checks that every offered value of a setting can be chosen, and so can known
// time zones, even in a chat that the bot does not know yet. The message with the buttons shows the
// new settings, the answer to the press says what changed, and the chat gets no other message.
func TestChangeSetting(t *testing.T) {
	t.Parallel()
	for _, s := range ranking.AllSettings() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			now, name, chosen := defaultSettings, ranking.Name{Name: "Alice"}, 0
			values := s.Choices
			switch s.Name {
			case ranking.SettingZone:
				values = []string{
					"Europe/Berlin", "Local", "Europe/Berlin", "Mars/Olympus_Mons", "America/Argentina/Buenos_Aires", "UTC",
				}
			default:
				values = append(values, "de", "de")
			}
			for _, value := range values {
				before := now
				// The value is already chosen, or invalid.
				if now = s.With(now, value); now == before && value != ranking.NewLink {
					checkNotice(t, g.choose(t, &alice, choice(s.Name, value)), ranking.Refusal{Code: ranking.SameSetting})
					continue
				}
				chosen++
				o := below(55, g.press(&alice))
				must(t, g.Do(asAdmin(t), o, choice(s.Name, value)))
				checkNotice(t, g.answer(t, o.Key, toast),
					ranking.SettingChanged{Name: s.Name, Before: s.Value(before), After: value})
				page := ranking.SettingsPage{GroupSettings: now, Open: string(s.Group), ChangedBy: &ranking.Reporter{Name: &name}}
				// Automatic seasons end at midnight in the group's time zone. When they are turned
				// on and the zone is still UTC, the page asks for the zone.
				if s.Name == ranking.SettingSeasons && chosen == 1 {
					page.Open = ranking.SettingZone
				}
				checkNotice(t, g.answer(t, o.Key, "action = 'page' AND edited_message_id = 55 AND language IS NULL"), page)
				if got := g.settings(t); got != now {
					t.Errorf("the settings are %+v, want %+v", got, now)
				}
			}
			if chosen == 0 {
				t.Error("nothing was chosen")
			}
			g.has(t, 0, "outbox WHERE action = 'send'")
		})
	}
}

// TestTypedSeasons checks that the answer to a command that starts automatic seasons confirms the
// change. If the chat still has the initial time zone, the answer also asks for the zone in which
// the seasons end.
func TestTypedSeasons(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	monthly := choice(ranking.SettingSeasons, ranking.Monthly)
	now, o := monthly.Setting.With(defaultSettings, ranking.Monthly), g.origin(&alice)
	must(t, g.Do(asAdmin(t), o, monthly))
	changed := ranking.SettingChanged{Name: ranking.SettingSeasons, Before: ranking.Manual, After: ranking.Monthly}
	checkNotice(t, g.answer(t, o.Key, "action = 'send'"),
		ranking.SettingsPage{GroupSettings: now, Changed: &changed, Open: ranking.SettingZone})
	if got := g.settings(t); got != now {
		t.Errorf("the settings are %+v, want %+v", got, now)
	}
}

func TestSettingRefused(t *testing.T) {
	t.Parallel()
	nobodyKnows := func(context.Context) (bool, error) { return false, errors.New("no answer") }
	for name, tc := range map[string]struct {
		value   string
		isAdmin dbtest.IsAdmin
		want    ranking.RefusalCode
	}{
		"a member":       {"24", nobodyIsAdmin, ranking.AdminsOnly},
		"admins unknown": {"24", nobodyKnows, ranking.AdminsUnknown},
		"the same value": {"32", nobodyIsAdmin, ranking.SameSetting},
		"no choice":      {"33", admin, ranking.SameSetting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			g.record(t, &alice, alice, bob, 3, 1)
			ctx := dbtest.WithAdmin(t.Context(), tc.isAdmin)
			checkNotice(t, g.chooseAs(ctx, t, &carol, choice("k", tc.value)), ranking.Refusal{Code: tc.want})
			if got := g.settings(t); got != defaultSettings {
				t.Errorf("the settings are %+v", got)
			}
			g.has(t, 0, "players WHERE display_name = 'Carol'")
		})
	}
}

// TestLanguageChosen checks that the answer to an admin's press is in the language of the admin's
// app. Adding the bot again does not change the language that the admin chose for the group, even
// if the group had that language from the start.
func TestLanguageChosen(t *testing.T) {
	t.Parallel()
	for _, chosen := range []string{"de", "uk"} {
		t.Run(chosen, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			o := below(55, g.press(&alice))
			o.Chat.Language = "uk"
			must(t, g.Do(asAdmin(t), o, choice("language", chosen)))
			checkNotice(t, g.answer(t, o.Key, toast+" AND language = 'uk'"),
				ranking.SettingChanged{Name: "language", Before: "uk", After: chosen})

			added := g.origin(nil)
			added.Chat.Language = "es"
			must(t, g.BotRemoved(t.Context(), added))
			must(t, g.BotAdded(t.Context(), added, ranking.Joined{}))
			g.has(t, 1, "chats WHERE language = '"+chosen+"'")
		})
	}
}

// TestPrivateAnswersAreInTheSendersLanguage checks that answers in a private chat are in the
// current language of the sender's app.
func TestPrivateAnswersAreInTheSendersLanguage(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	for _, language := range []string{"de", "ru", ""} {
		o := g.origin(&alice)
		o.Chat = ranking.Chat{ID: ranking.ExternalChatID(alice.ID), Kind: ranking.Private, Language: language}
		must(t, g.Do(t.Context(), o, ranking.Say{Notice: ranking.Refusal{Code: ranking.UnknownButton}}))
		g.has(t, 1, "outbox WHERE key = '"+o.Key+"' AND coalesce(language, '') = '"+language+"'")
	}
}

// TestRulesApply checks that changed rules apply from the next match on. A new provisional K-factor
// also applies to players who have played before, as long as they have played few enough matches.
func TestRulesApply(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 0)
	g.setRules(t, ranking.Rules{Start: 1600, PlaceMatches: 1, HideDays: 30, UnevenTeamsAllowed: true,
		RatingRules: ladder.RatingRules{
			K: 20, Provisional: ladder.Provisional{K: 40, Matches: 2}, Margin: true,
		}})
	g.record(t, &alice, carol, alice, 3, 1)
	card := g.record(t, &alice, alice, bob, 2, 1)
	o := g.origin(&alice)
	must(t, g.RecordMatch(t.Context(), o, singles(alice, bob, 1, 1)))
	checkNotice(t, g.notice(t, o.Key), ranking.Refusal{Code: ranking.NoDraws})
	// In match 2, Alice loses 40·1.5 times her expected score of 0.381. In match 3, her third, she
	// gains 20 times Bob's expected score of 0.487. Bob loses 40 times that score, because the
	// match is only his second.
	want := []plainladder.Entry{
		historyEntry(1, "Alice", 1500, 1516, 32, 1500, 0, 0), historyEntry(1, "Bob", 1500, 1484, 32, 1500, 0, 0),
		historyEntry(2, "Carol", 1600, 1623, 40, 1600, 0, 0), historyEntry(2, "Alice", 1516, 1493, 40, 1516, 1, 1),
		historyEntry(3, "Alice", 1493, 1503, 20, 1516, -1, 1), historyEntry(3, "Bob", 1484, 1465, 40, 1500, -1, 0),
	}
	if got := g.currentHistory(t, club.ID, byName); !slices.Equal(got, want) {
		t.Errorf("the history is\n%v, want\n%v", got, want)
	}
	wantSides := [2]ranking.Side{
		{Score: 2, Players: []ranking.RatingChange{change("Alice", 1493, 1503)}},
		{Score: 1, Players: []ranking.RatingChange{change("Bob", 1484, 1465)}},
	}
	checkNotice(t, card, ranking.MatchRecorded{Number: 3, Sides: wantSides})
}

// TestUndoneMatchIsNotAmongTheFirst checks that the provisional K-factor applies to a player's
// first matches that count. When such a match is undone, a later match takes its place.
func TestUndoneMatchIsNotAmongTheFirst(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 0)
	rules := defaultRules
	rules.Provisional = ladder.Provisional{K: 64, Matches: 1}
	g.setRules(t, rules)
	g.record(t, &alice, alice, carol, 1, 0)
	g.undo(t, &alice, matchNumber(1))
	want := []plainladder.Entry{
		historyEntry(2, "Alice", 1500, 1532, 64, 1500, 0, 0), historyEntry(2, "Carol", 1500, 1468, 64, 1500, 0, 0),
	}
	if got := g.currentHistory(t, club.ID, byName); !slices.Equal(got, want) {
		t.Errorf("the history is\n%v, want\n%v", got, want)
	}
	superseded := rows[plainladder.Entry](t, g, `
		SELECT m.number, p.display_name, elo_before, elo_after, h.k_factor, best_before, streak_before, longest_before
		FROM elo_history h JOIN matches m ON m.id = h.match_id JOIN players p ON p.id = h.player_id
		WHERE superseded_at < 'infinity' AND number = 2 ORDER BY h.id`)
	// Before the undo, match 2 was Alice's second, so it had the ordinary K for her, and she was
	// rated higher.
	before := []plainladder.Entry{
		historyEntry(2, "Alice", 1516, 1531, 32, 1516, 1, 1), historyEntry(2, "Carol", 1500, 1469, 64, 1500, 0, 0),
	}
	if !slices.Equal(superseded, before) {
		t.Errorf("superseded are\n%v, want\n%v", superseded, before)
	}
}

// TestSettingsChangedAtOnce checks that if several admins change different settings at once, on
// several instances, all choices take effect and the message finally shows all of them.
func TestSettingsChangedAtOnce(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	choices := []ranking.ChangeSetting{
		choice("k", "48"), choice("start", "1000"), choice("margin", "on"), choice("draws", "off"),
		choice("tables", "on"), choice("language", "de"),
	}
	want := defaultSettings
	var all errgroup.Group
	for i, c := range choices {
		want = c.Setting.With(want, c.Value)
		service, sender := g.newInstance(), command.Person{ID: ladder.UserID(100 + i), Name: fmt.Sprint("Admin ", i)}
		o := below(55, g.press(&sender))
		all.Go(func() error { return service.Do(asAdmin(t), o, c) })
	}
	must(t, all.Wait())
	if got := g.settings(t); got != want {
		t.Errorf("the settings are %+v, want %+v", got, want)
	}
	pages := notices[ranking.SettingsPage](t, g, `action = 'page'`)
	if last := pages[len(pages)-1].GroupSettings; last != want {
		t.Errorf("the last page shows %+v, want %+v", last, want)
	}
	g.has(t, len(choices), "outbox WHERE kind = 'setting_changed'")
}
