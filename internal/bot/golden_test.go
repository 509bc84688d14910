package bot

import (
	"flag"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"elobot/internal/catalog"
	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/notice"
	"elobot/internal/outbox"
	"elobot/internal/ranking"
)

var updateGolden = flag.Bool("update", false,
	"write the golden texts of the tests that run instead of comparing with them")

// visible replaces the invisible characters that the bot adds to texts with their escapes.
var visible = strings.NewReplacer(isolate, `\u2068`, endIsolate, `\u2069`, joiner, `\u2060`)

// TestGolden checks that every notice reads as in testdata/golden, in every language. A section in
// the folder notices has what all languages share: the stored notice, which reveals renamed fields,
// and the effects of its buttons. A section of a language has what people see.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, language := range catalog.All() {
		t.Run(language.Tag(), func(t *testing.T) {
			t.Parallel()
			compareGolden(t, language)
		})
	}
}

// compareGolden compares the texts of every notice in one language with the golden files, and sends
// the notice as a text and, if possible, as a table.
func compareGolden(t *testing.T, language catalog.Language) {
	t.Helper()
	sim, client := startSimulator(t)
	group := sim.Group("Table tennis", sim.User("alice"))
	sender := NewSender(client, selfOf(sim), slog.New(slog.DiscardHandler)).WithViews(&fakeViews{}).WithWeb(fakeLink, true)
	sender.WithExports(fakeExports{})
	sender.draw = dot
	for name, notice := range goldenNotices(t) {
		t.Run(name, func(t *testing.T) {
			item, out := renderGolden(t, notice, language)
			_, effects := out.below()
			compareWithGolden(t, "notices", name, fmt.Sprintf("%s %s\n%s", item.Kind, item.Payload, effects))
			compareWithGolden(t, language.Tag(), name, out.shown(notice))
			sent := messageOf(t, group.ID(), notice)
			sent.Language = language.Tag()
			for _, sent.Tables = range []bool{false, true} {
				m := deliver(testContext(t), t, sim, sender, group, sent)
				if strings.ContainsAny(m.Text, "<>") && !strings.Contains(name, "hostile") {
					t.Errorf("markup is left in %q", m.Text)
				}
				if isTable := sent.Tables && out.table != ""; m.Rich != isTable {
					t.Errorf("with tables %t, a table was sent: %t", sent.Tables, m.Rich)
				}
			}
		})
	}
}

func fakeLink(b ranking.WebBoard) string {
	return fmt.Sprintf("https://elo.example.org/g/%d/%s/", b.Group, b.Salt)
}

func renderGolden(t *testing.T, n notice.Notice, language catalog.Language) (outbox.Item, outgoing) {
	t.Helper()
	item := itemOf(t, n)
	item.ID, item.ReplyTo = 5, 7
	out, err := render(item, words{Language: language, tables: true, web: fakeLink, salt: "2"})
	must(t, err)
	return item, out
}

// shown returns everything that people see of a notice: the HTML, the labels of its buttons, the
// table, the line in a merged message if it differs from the HTML, and, if comesOfAPress is true,
// the callback answer unless it equals the first line of the HTML.
func (o outgoing) shown(n notice.Notice) string {
	text := o.html + "\n"
	if labels, _ := o.below(); labels != "" {
		text += "buttons: " + labels + "\n"
	}
	if o.table != "" {
		text += "table: " + o.table + "\n"
	}
	if o.line != "" && o.line != o.html {
		text += "line: " + o.line + "\n"
	}
	first, _, _ := strings.Cut(o.html, "\n")
	if answer := o.callbackAnswer(); comesOfAPress(n) && answer != first {
		text += "callback answer: " + answer + "\n"
	}
	return text
}

// below returns the labels of the buttons below a message, and their effects.
func (o outgoing) below() (labels, effects string) {
	for _, row := range o.buttons {
		for _, b := range row {
			effect := b.data
			if b.copy != "" {
				effect += "copies " + b.copy
			}
			if b.web != "" {
				effect += "opens " + b.web
			}
			if b.starts != "" {
				effect += "starts " + b.starts
			}
			labels += " [" + b.text + "]"
			effects += " [" + effect + "]"
		}
		labels += " /"
		effects += " /"
	}
	return strings.Trim(labels, " /"), strings.Trim(effects, " /")
}

// TestGoldenFilesAreComplete checks that each kind of notice has golden texts, and each section of
// a golden file belongs to a notice or a merged message. -update removes the other sections.
func TestGoldenFilesAreComplete(t *testing.T) {
	t.Parallel()
	notices := goldenNotices(t)
	kinds := noticeKinds()
	for _, n := range notices {
		kinds = slices.DeleteFunc(kinds, func(k string) bool { return k == notice.KindOf(n).Name })
	}
	if len(kinds) > 0 {
		t.Errorf("kinds without a golden file: %q", kinds)
	}
	several := goldenSeveral(t)
	known := map[string]bool{} // by folder, file and section
	for _, language := range catalog.All() {
		for name := range notices {
			known["notices/"+name], known[language.Tag()+"/"+name] = true, true
		}
		for name := range goldenWithNames {
			known[language.Tag()+"/names/"+name] = true
		}
		for name := range several {
			known[language.Tag()+"/several/"+name] = true
		}
	}
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*", "*"))
	if err != nil {
		t.Fatalf("list golden files: %v", err)
	}
	goldens.Lock()
	defer goldens.Unlock()
	for _, path := range files {
		file := openGolden(t, path)
		folder, subject := filepath.Split(strings.TrimSuffix(path, ".txtar"))
		for section := range file.sections {
			switch {
			case known[filepath.Base(folder)+"/"+subject+"/"+section]:
			case *updateGolden:
				delete(file.sections, section)
			default:
				t.Errorf("section %q of %s belongs to no notice", section, path)
			}
		}
		if *updateGolden {
			file.write(t)
		}
	}
}

func goldenNotices(t *testing.T) map[string]notice.Notice {
	t.Helper()
	all := map[string]notice.Notice{}
	add := func(prefix string, some map[string]notice.Notice) {
		for name, n := range some {
			all[prefix+"/"+name] = n
		}
	}
	add("match", goldenMatches())
	add("match", goldenTeamsAndSets())
	add("match", goldenAmendedCards())
	add("undone", goldenUndone())
	add("restored", goldenRestored())
	add("fixed", goldenFixed())
	add("merged", goldenMerged())
	add("ladder", goldenLadders())
	add("moved", goldenMoved())
	add("season", goldenSeasons())
	add("move_hint", goldenMoveHints())
	add("ranking", goldenRankings())
	add("matches", goldenMatchLists())
	add("odds", goldenOdds())
	add("about", goldenAbout())
	add("settings", goldenSettings())
	add("board", goldenBoards())
	add("web", goldenWeb())
	add("me", goldenMe())
	add("h2h", goldenHeadToHeads())
	add("records", goldenRecords())
	add("chart", goldenCharts())
	add("people", goldenUnclearPeople())
	add("player", goldenPlayerCards())
	add("mapping", goldenMappingPrompts())
	add("undone_day", goldenUndoneDays())
	add("not_recorded", goldenNotRecorded())
	add("fix_offer", goldenFixOffers())
	add("undo", goldenUndoPrompts())
	add("report", goldenReportPrompts())
	add("wizard", goldenWizards())
	add("import", goldenImports(t))
	add("which", goldenWhich())
	add("command_failed", map[string]notice.Notice{
		"command": CommandFailed{Command: "/match @bob 3:1"}, "press": CommandFailed{}, "hostile": CommandFailed{Command: hostile},
	})
	all["chart/no_photos"] = NoPhotos{}
	all["document/refused"], all["document/too_large"] = NoDocument{}, NoDocument{TooLarge: true}
	all["export/sent"], all["export/not_started"] = ranking.SentPrivately{}, ranking.NotStarted{}
	all["export/caption"] = ranking.ExportedGroup{Chat: -100, Title: "Table tennis", TimeZone: "Europe/Berlin"}
	all["export/hostile"] = ranking.ExportedGroup{Chat: -100, Title: hostile}
	all["my_data/caption"] = MyData{User: 5, Username: "alice"}
	all["person_settings/on_web"] = ranking.PersonSettings{}
	all["person_settings/off_web"] = ranking.PersonSettings{OffWeb: true}
	all["private_only/mydata"] = PrivateOnly{Command: nameMyData}
	all["forget/prompt"], all["forget/done"] = ranking.ForgetPrompt{}, ranking.ForgetDone{}
	all["help/forgetme"] = Help{Topic: nameForget}
	all["left_ranking/former"] = ranking.LeftRanking{Name: called(ranking.Former + "7"), How: ranking.HowOver}
	all["greeting/for_file"] = Greeting{Private: true, ForFile: true}
	add("results_summary", goldenSummaries())
	all["group_detached/both"] = ranking.GroupDetached{Kept: 12, Detached: 1}
	add("setting_changed", goldenChangedSettings())
	add("joined", map[string]notice.Notice{
		"new":             ranking.Joined{Name: called("Alice"), Elo: 1500},
		"again":           ranking.Joined{Name: called("Alice"), Elo: 1500, Already: true},
		"played":          ranking.Joined{Name: called("Alice"), Elo: 1516, Already: true, Played: 3},
		"back":            ranking.Joined{Name: called("Alice"), Elo: 1516, Already: true, Back: true, Played: 3},
		"back_not_played": ranking.Joined{Name: called("Alice"), Elo: 1500, Already: true, Back: true},
		"hostile":         ranking.Joined{Name: called(hostile), Elo: 1500},
		"guest":           ranking.Joined{Name: called("Grandma"), Guest: true, Elo: 1500},
		"guest_again":     ranking.Joined{Name: called("Aunt May"), Guest: true, Elo: 1516, Already: true, Played: 3},
		"guest_back":      ranking.Joined{Name: called("Grandma"), Guest: true, Elo: 1516, Already: true, Back: true, Played: 3},
		"guest_hostile":   ranking.Joined{Name: called(hostile), Guest: true, Elo: 1500},
	})
	add("nick", map[string]notice.Notice{
		"changed":         ranking.Renamed{Was: "Robert", Name: "Bobby"},
		"off":             ranking.Renamed{Was: "Bobby", Name: "Robert", Off: true},
		"changed_hostile": ranking.Renamed{Was: ranking.Nameless, Name: hostile, Number: 2},
		"shown":           ranking.NickShown{Nick: "Bobby", Name: "Robert"},
		"none":            ranking.NickShown{Name: ranking.Nameless, Number: 2},
	})
	for _, how := range constants(t, "../ranking", ofType("HowOut")) {
		all["left_ranking/"+how] = ranking.LeftRanking{Name: called("Carol"), How: ranking.HowOut(how)}
	}
	all["left_ranking/hostile"] = ranking.LeftRanking{Name: called(hostile), How: ranking.HowRemovedGuest}
	for _, c := range constants(t, "../ranking", ofType("RefusalCode")) {
		all["refusal/"+c] = ranking.Refusal{Code: ranking.RefusalCode(c), Name: "scorebot", Number: 42,
			Minutes: 24 * 60, Matches: 41_000}
	}
	for _, code := range []ranking.RefusalCode{ranking.NothingOfYours, ranking.TooLate,
		ranking.UndoneLongAgo, ranking.NothingToRestore} {
		all["refusal/"+string(code)+"_by_minutes"] = ranking.Refusal{Code: code, Number: 42, Minutes: 90}
	}
	for code, instead := range map[ranking.RefusalCode]string{
		ranking.TooLate: "/undo 1234567", ranking.NotYours: "/fix 1234567 30:28 28:30 30:28 28:30 30:28",
		ranking.NotUndoneByYou: "/restore 1234567",
		ranking.SeasonClosed:   "/undo 1234567", ranking.AdminsOnly: "/settings zone America/Argentina/ComodRivadavia",
		ranking.AdminsOnlyPrompt: "/undo 42",
	} {
		all["refusal/"+string(code)+"_of_a_press"] = ranking.Refusal{Code: code, Number: 1234567,
			Minutes: 1440, Instead: instead}
	}
	all["refusal/too_late_by_one_minute"] = ranking.Refusal{Code: ranking.TooLate, Number: 42, Minutes: 1}
	all["refusal/too_late_by_one_hour"] = ranking.Refusal{Code: ranking.TooLate, Number: 42, Minutes: 60}
	all["refusal/name_taken"] = ranking.Refusal{Code: ranking.NameTaken, Name: "Bob S.", Near: new(called("Bob"))}
	all["refusal/no_such_player_near"] = ranking.Refusal{Code: ranking.NoSuchPlayer,
		Name: "@dve", Near: new(called("Dave"))}
	all["refusal/nick_taken_near"] = ranking.Refusal{Code: ranking.NickTaken, Name: "bob", Near: new(called("Bob"))}
	all["refusal/out_account"] = ranking.Refusal{Code: ranking.PlayerOut, Name: "Carol", Who: new(called("Carol"))}
	all["refusal/no_such_game"] = ranking.Refusal{Code: ranking.NoSuchLadder, Name: "chess", Ladders: "tennis, padel"}
	all["refusal/no_season_over"] = ranking.Refusal{Code: ranking.NoSuchSeason}
	all["refusal/unknown"] = ranking.Refusal{Code: "of tomorrow"}
	for _, r := range constants(t, "../command", ofType("Reason")) {
		all["wrong_form/"+r] = ranking.WrongForm{Command: command.NameMatch, Reason: command.Reason(r),
			Detail: details[command.Reason(r)]}
	}
	for name, reasons := range wrongForms {
		for _, r := range reasons {
			all["wrong_form/"+name+"_"+string(r)] = ranking.WrongForm{Command: name, Reason: r, Detail: details[r]}
		}
	}
	for _, name := range []string{command.NameOdds, command.NameTeams} {
		for _, r := range []command.Reason{command.ReasonNoOpponent, command.ReasonPlayers, command.ReasonUnexpectedWord} {
			all["wrong_form/of_"+name+"_"+string(r)] = ranking.WrongForm{Command: name, Reason: r, Detail: details[r]}
		}
	}
	for _, r := range teamReasons(t) {
		all["wrong_form/teams_"+string(r)] = ranking.WrongForm{Command: command.NameMatch, Reason: r,
			Detail: details[r], Teams: true}
	}
	for _, name := range []string{command.NameUndo, command.NameRestore, command.NameFix} {
		all["wrong_form/"+name+"_mention"] = ranking.WrongForm{Command: name,
			Reason: command.ReasonUnexpectedWord, Detail: "@bob"}
	}
	all["wrong_form/corrected"] = ranking.WrongForm{
		Command: command.NameMatch, Reason: command.ReasonNegativeNumber, Detail: "-1", Corrected: "/match @bob 3:1",
	}
	for _, name := range []string{"ranking", "records", "settings", "stats"} {
		all["wrong_form/of_"+name] = ranking.WrongForm{Command: name, Reason: command.ReasonUnexpectedWord, Detail: "5"}
	}
	all["wrong_form/unknown"] = ranking.WrongForm{Command: command.NameMatch, Reason: "of tomorrow", Detail: "x"}
	all["wrong_form/hostile"] = ranking.WrongForm{Command: command.NameMatch,
		Reason: command.ReasonUnexpectedWord, Detail: hostile}
	for where, private := range map[string]bool{"group": false, "private": true} {
		all["greeting/"+where] = Greeting{Private: private}
		all["help/all_"+where] = Help{Private: private}
		for _, topic := range helpTopics() {
			if !private {
				all["help/about_"+string(topic)] = Help{List: topic}
			}
		}
		for _, topic := range append(slices.Clone(groupCommands), "stats", "settings", "board", "web", nameMyData,
			namePlayer, nameLadder, command.NameSeason, "alltime") {
			all["help/"+topic+"_"+where] = Help{Topic: topic, Private: private}
		}
	}
	all["group_only/stats_other"] = GroupOnly{Command: "stats" + " @bob"}
	for _, name := range groupCommands {
		all["group_only/"+name] = GroupOnly{Command: name}
	}
	for _, name := range slices.Concat(offeredInstead, offeredAnywhere) {
		all["offer/"+name] = Offer{Command: name}
	}
	all["unknown_command/plain"] = UnknownCommand{}
	all["unknown_command/meant"] = UnknownCommand{Meant: "match @bob 3:1"}
	all["unknown_command/hostile"] = UnknownCommand{Meant: "match " + hostile}
	return all
}

// teamReasons returns the reasons whose answers the golden files show for a /match with teams. It
// leaves out reasons that such a command cannot have.
func teamReasons(t *testing.T) []command.Reason {
	t.Helper()
	var reasons []command.Reason
	for _, r := range constants(t, "../command", ofType("Reason")) {
		switch r := command.Reason(r); r {
		case command.ReasonEmpty, command.ReasonNoOpponent, command.ReasonNameBothPlayers,
			command.ReasonNoSuchNumber, command.ReasonPlayers:
		default:
			reasons = append(reasons, r)
		}
	}
	return reasons
}

// groupCommands has some of the commands that work only in groups.
var groupCommands = []string{
	command.NameMatch, "ranking", "join", nameNick, nameGuest, "leave",
	command.NameUndo, command.NameRestore, command.NameFix,
	"h2h", "records", "chart",
	"matches", "history", command.NameOdds, command.NameTeams,
}

// hostile is a name with markup, a mention, a command, tags, a link and a direction mark.
const hostile = "<b>&amp; \"x\" 'y' @bob /start #tag $USD t.me/x\u202e"

// details has the words that the answers to malformed commands quote, by the reason why the command
// is malformed.
var details = map[command.Reason]string{
	command.ReasonTooManyPeople:   "@carol",
	command.ReasonSamePerson:      "@alice",
	command.ReasonBot:             "@elo_bot",
	command.ReasonUnknownMention:  "@ab",
	command.ReasonUnexpectedWord:  "against",
	command.ReasonNoSuchNumber:    "0",
	command.ReasonIncompleteScore: "3",
	command.ReasonThirdNumber:     "7",
	command.ReasonSeveralScores:   "9:11",
	command.ReasonNegativeNumber:  "-1",
	command.ReasonDecimalNumber:   "2.5",
	command.ReasonScoreTooLarge:   "1000",
	command.ReasonUnclearTotal:    "3:1",
	command.ReasonUnknownName:     "robert",
	command.ReasonUnclearName:     "bob",
}

func called(name string) ranking.Name { return ranking.Name{Name: name} }

func side(name ranking.Name, score, before, after int) ranking.Side {
	return ranking.Side{Score: score, Players: []ranking.RatingChange{{Name: name, Before: before, After: after}}}
}

func goldenMatches() map[string]notice.Notice {
	alice, bob, carol := called("Alice"), called("Bob"), called("Carol")
	win := ranking.MatchRecorded{Number: 7, Sides: [2]ranking.Side{side(alice, 3, 1500, 1516), side(bob, 1, 1500, 1484)}}
	with := func(change func(*ranking.MatchRecorded)) ranking.MatchRecorded {
		m := win
		change(&m)
		return m
	}
	sides := func(a, b ranking.Side) ranking.MatchRecorded {
		return with(func(m *ranking.MatchRecorded) { m.Sides = [2]ranking.Side{a, b} })
	}
	return map[string]notice.Notice{
		"win":                 with(func(m *ranking.MatchRecorded) { m.Tag = "Aa0_-zZ9" }),
		"lost_by_first_named": sides(side(bob, 3, 1484, 1502), side(alice, 0, 1516, 1498)),
		"draw":                sides(side(alice, 2, 1600, 1592), side(bob, 2, 1400, 1408)),
		"draw_of_equals":      sides(side(alice, 1, 1500, 1500), side(bob, 1, 1500, 1500)),
		"nothing_to_gain":     sides(side(alice, 3, 3000, 3000), side(bob, 0, 100, 100)),
		"cut_at_lowest":       sides(side(alice, 3, 20, 30), side(bob, 1, 10, 0)),
		"cut_at_highest":      sides(side(alice, 3, 9990, 10000), side(bob, 1, 9980, 9970)),
		"large_score":         sides(side(alice, 999, 1500, 1516), side(bob, 0, 1500, 1484)),
		"new_player":          with(func(m *ranking.MatchRecorded) { m.NewPlayers = []ranking.Name{bob} }),
		"two_new_players":     with(func(m *ranking.MatchRecorded) { m.NewPlayers = []ranking.Name{alice, bob} }),
		"reported_by_third":   with(func(m *ranking.MatchRecorded) { m.ReportedBy = &ranking.Reporter{Name: &carol} }),
		"in_season":           with(func(m *ranking.MatchRecorded) { m.Season = 2 }),
		"past":                with(func(m *ranking.MatchRecorded) { m.Past = true }),
		"other_day": with(func(m *ranking.MatchRecorded) {
			m.Day, m.Moved = time.Date(2026, time.November, 29, 22, 59, 59, 999_999_000, time.UTC), 3
		}),
		"other_day_one": with(func(m *ranking.MatchRecorded) {
			m.Day, m.Moved, m.Season = time.Date(2026, time.November, 29, 22, 59, 59, 999_999_000, time.UTC), 1, 2
		}),
		"reported_by_admin": with(func(m *ranking.MatchRecorded) { m.ReportedBy = &ranking.Reporter{} }),
		"marked_names":      sides(side(ranking.Name{Name: "Bob", Mark: "bob_2"}, 3, 1500, 1516), side(ranking.Name{Name: "Bob", Mark: "2"}, 1, 1500, 1484)),
		"hostile_names":     sides(side(called(hostile), 3, 1500, 1516), side(called("محمد"), 1, 1500, 1484)),
		"new_and_reported": with(func(m *ranking.MatchRecorded) {
			m.NewPlayers, m.ReportedBy = []ranking.Name{bob}, &ranking.Reporter{Name: &carol}
		}),
		"number_one":    with(celebrating(ladder.NewNumberOne, 0, alice)),
		"upset":         with(celebrating(ladder.UpsetOfMonth, 214, alice)),
		"personal_best": with(celebrating(ladder.PersonalBest, 1516, alice)),
		"streak":        with(celebrating(ladder.WinningStreak, 15, alice)),
		"streak_and_notes": with(func(m *ranking.MatchRecorded) {
			celebrating(ladder.WinningStreak, 5, alice)(m)
			m.NewPlayers, m.ReportedBy = []ranking.Name{bob}, &ranking.Reporter{Name: &carol}
		}),
		"upset_of_doubles": with(func(m *ranking.MatchRecorded) {
			m.Sides = [2]ranking.Side{double(alice, bob, 3, 8), double(carol, called("Dave"), 1, -8)}
			celebrating(ladder.UpsetOfMonth, 120, alice, bob)(m)
		}),
		// This card has names in all places where a card can have them before it is undone.
		"upset_and_notes": with(func(m *ranking.MatchRecorded) {
			m.NewPlayers, m.ReportedBy = []ranking.Name{bob}, &ranking.Reporter{Name: &carol}
			celebrating(ladder.UpsetOfMonth, 120, alice)(m)
		}),
		"upset_of_teams":      with(celebrating(ladder.UpsetOfMonth, 120, alice, bob, carol, called("Dave"), called("Eve"))),
		"celebration_unknown": with(celebrating("of tomorrow", 5, alice)),
		"celebration_hostile": with(celebrating(ladder.NewNumberOne, 0, called(hostile))),
		"doubles":             sides(double(alice, bob, 3, 8), double(carol, called("Dave"), 1, -8)),
		"hostile_new_and_report": with(func(m *ranking.MatchRecorded) {
			h := called(hostile)
			m.NewPlayers, m.ReportedBy = []ranking.Name{h}, &ranking.Reporter{Name: &h}
		}),
	}
}

// celebrating returns a change that adds a celebration to a card.
func celebrating(kind ladder.CelebrationKind, number int, players ...ranking.Name) func(*ranking.MatchRecorded) {
	return func(m *ranking.MatchRecorded) {
		m.Celebration = &ranking.Celebration{Kind: kind, Players: players, Number: number}
	}
}

func double(a, b ranking.Name, score, change int) ranking.Side {
	return ranking.Side{Score: score, Players: []ranking.RatingChange{
		{Name: a, Before: 1500, After: 1500 + change}, {Name: b, Before: 1500, After: 1500 + change},
	}}
}
