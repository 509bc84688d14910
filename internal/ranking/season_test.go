package ranking_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// startSeason has an admin ask for a season at the given second and press the button, if there is
// one. It returns the last answer.
func (g *game) startSeason(t *testing.T, seconds int, name string) ranking.Notice {
	t.Helper()
	o := g.at(&alice, seconds)
	must(t, g.Do(asAdmin(t), o, ranking.StartSeason{Name: name}))
	asked, ok := g.notice(t, o.Key).(ranking.SeasonPrompt)
	if !ok {
		return g.notice(t, o.Key)
	}
	return g.pressSeason(t, asked, [2]int{seconds, seconds}, "action = 'page'")
}

// askSeason has an admin ask for a new season at the given second, and returns the question.
func (g *game) askSeason(t *testing.T, seconds int) ranking.SeasonPrompt {
	t.Helper()
	o := g.at(&alice, seconds)
	must(t, g.Do(asAdmin(t), o, ranking.StartSeason{}))
	asked, ok := g.notice(t, o.Key).(ranking.SeasonPrompt)
	if !ok {
		t.Fatalf("a new season is answered with %+v", g.notice(t, o.Key))
	}
	return asked
}

// pressSeason presses the button of a question, and returns the answer that meets the SQL
// condition. at has the seconds of the question and of the press.
func (g *game) pressSeason(t *testing.T, asked ranking.SeasonPrompt, at [2]int, condition string) ranking.Notice {
	t.Helper()
	o := g.at(&alice, at[1])
	o.Button, o.Pressed = o.Key, 5
	start := ranking.StartSeason{Name: asked.Name, Tag: asked.Tag, Asked: g.at(&alice, at[0]).SentAt}
	must(t, g.Do(asAdmin(t), o, start))
	return g.answer(t, o.Key, condition)
}

// seasons returns a line such as "1 Alice 1516 1–0" for each player of each season who has played:
// the season's number, the name, the rating, wins and losses.
func (g *game) seasons(t *testing.T) []string {
	t.Helper()
	return texts(t, g, `
		SELECT concat_ws(' ', n.number, s.name, s.elo, s.won || '–' || s.lost)
		FROM group_players s JOIN seasons n ON n.id = s.season_id
		WHERE s.played > 0 ORDER BY n.ladder_id, n.number, s.name`)
}

func (g *game) mustHaveSeasons(t *testing.T, what string, want ...string) {
	t.Helper()
	equal(t, what, want, g.seasons(t))
}

// told returns the seasons for which a message about the end is waiting, such as "season:1".
func (g *game) told(t *testing.T) []string {
	t.Helper()
	return texts(t, g, `SELECT object FROM outbox WHERE action = 'ensure' AND state = 'planned' ORDER BY id`)
}

// TestSeasons checks that by default, a season starts from scratch. A match counts in the season in
// which its message was sent, even if the message arrives later.
func TestSeasons(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	if n := g.startSeason(t, 0, ""); n != (ranking.Refusal{Code: ranking.SeasonEmpty}) {
		t.Errorf("a season without a match ends: %+v", n)
	}
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 10), singles(alice, bob, 3, 1)))
	g.startSeason(t, 60, "Spring")
	equal(t, "told at the end", []string{"season:1"}, g.told(t))
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 70), singles(bob, alice, 3, 1)))
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 50), singles(alice, bob, 3, 1)))
	late := g.at(&alice, 55)
	must(t, g.RecordMatch(t.Context(), late, singles(alice, carol, 3, 1)))
	if card, _ := g.notice(t, late.Key).(ranking.MatchRecorded); card.Season != 1 || card.Celebration != nil {
		t.Errorf("the card of a late result: %+v", card)
	}
	g.mustHaveSeasons(t, "late results", "1 Alice 1546 3–0", "1 Bob 1469 0–2",
		"1 Carol 1485 0–1", "2 Alice 1484 0–1", "2 Bob 1516 1–0")
	g.verifyClean(t)

	// Only admins may change matches of past seasons.
	o := g.at(&alice, 80)
	must(t, g.Do(t.Context(), o, ranking.UndoMatch{Amendment: matchNumber(1)}))
	checkNotice(t, g.notice(t, o.Key), ranking.Refusal{Code: ranking.SeasonClosed, Number: 1})
	g.exec(t, `UPDATE outbox SET state = 'sent', finished_at = now(), supersede_key = NULL WHERE action = 'ensure'`)
	if undone, _ := g.undoAs(asAdmin(t), t, &alice, matchNumber(1)).(ranking.MatchUndone); undone.Moved.Season != 1 {
		t.Errorf("the answer to an undo in a season that is over: %+v", undone)
	}
	g.mustHaveSeasons(t, "undone when it was over", "1 Alice 1531 2–0", "1 Bob 1484 0–1",
		"1 Carol 1485 0–1", "2 Alice 1484 0–1", "2 Bob 1516 1–0")
	equal(t, "corrected", []string{"season:1"}, g.told(t))
	g.verifyClean(t)

	checkNotice(t, g.startSeason(t, 100, ""), ranking.SeasonStarted{Number: 3, Ended: 2})
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 95), singles(alice, bob, 3, 1)))
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 5), singles(bob, alice, 3, 1)))
	g.mustHaveSeasons(t, "late results of two seasons", "1 Alice 1513 2–1", "1 Bob 1502 1–1", "1 Carol 1485 0–1",
		"2 Alice 1501 1–1", "2 Bob 1499 1–1")
	g.verifyClean(t)
	for number, want := range map[int]string{
		0: "3 []", stats.LastSeason: "2 [Alice 1501 Bob 1499]", 1: "1 [Alice 1513 Bob 1502 Carol 1485]",
	} {
		o := g.at(&alice, 110)
		g.question(t, o, stats.SeasonQuestion{Number: number})
		n, _ := g.notice(t, o.Key).(stats.SeasonTable)
		rows := []string{}
		for _, r := range n.Rows {
			rows = append(rows, fmt.Sprint(r.Name.Name, " ", r.Elo))
		}
		if got := fmt.Sprint(n.Number, " ", rows); got != want {
			t.Errorf("season %d is %s, want %s", number, got, want)
		}
	}

	// A chart spans all seasons. Each season begins with the rating before its first match.
	r, err := g.questions().Ratings(t.Context(), g.charted(t, "Bob"), g.at(&alice, 200).SentAt)
	var got []string
	for _, p := range r.Players[0] {
		got = append(got, fmt.Sprint(p.Match, " ", p.Elo))
	}
	want := []string{"2 1500", "3 1484", "6 1502", "1 1500", "2 1516", "5 1499"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("the chart of Bob: %v (-want +got):\n%s", err, diff)
	}
	begun := []stats.SeasonStart{{Number: 2, At: g.at(&alice, 60).SentAt.UTC(), Match: 2}}
	equal(t, "seasons of the chart", begun, r.Seasons)
}

// TestSeasonsInASecond checks that a season lasts at least a second, even if the messenger's clock
// was set back.
func TestSeasonsInASecond(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	tooYoung := ranking.Refusal{Code: ranking.SeasonTooYoung}
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 10), singles(alice, bob, 3, 1)))
	checkNotice(t, g.startSeason(t, 60, ""), ranking.SeasonStarted{Number: 2, Ended: 1})
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 60), singles(alice, bob, 3, 1)))
	checkNotice(t, g.startSeason(t, 60, ""), tooYoung)
	checkNotice(t, g.startSeason(t, 30, ""), tooYoung)
	checkNotice(t, g.startSeason(t, 61, ""), ranking.SeasonStarted{Number: 3, Ended: 2})

	// The question is asked in time, but the press comes from a clock that was set back.
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 70), singles(alice, bob, 3, 1)))
	asked := g.askSeason(t, 71)
	checkNotice(t, g.pressSeason(t, asked, [2]int{71, 61}, toast), tooYoung)
	checkNotice(t, g.pressSeason(t, asked, [2]int{71, 72}, "action = 'page'"), ranking.SeasonStarted{Number: 4, Ended: 3})
	g.verifyClean(t)
}

// TestResultsBeforeThePress checks that the message about a new season lists the ended season's
// results that were sent after the question and handled before the press. Undone matches are not
// listed.
func TestResultsBeforeThePress(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	report := func(seconds int) {
		must(t, g.RecordMatch(t.Context(), g.at(&alice, seconds), singles(alice, bob, 3, 1)))
	}
	report(10)
	asked := g.askSeason(t, 20)
	// The last two reports were sent after the press, but are handled before it.
	for _, at := range []int{19, 25, 26, 40, 40} {
		report(at)
	}
	g.undo(t, &alice, matchNumber(4))
	checkNotice(t, g.pressSeason(t, asked, [2]int{20, 30}, "action = 'page'"),
		ranking.SeasonStarted{Number: 2, Ended: 1, Before: []int{3, 5, 6}})
	g.verifyClean(t)
}

// TestOldSeasonButton checks that after a restore from a backup, the buttons of a lost season are
// refused, even if a new season has the lost season's id.
func TestOldSeasonButton(t *testing.T) {
	t.Parallel()
	old := make(map[ranking.MatchTag]string)
	for _, history := range []struct {
		name string
		// first and second are when the ladder's first match was sent and when its second season
		// began, in seconds. second is 0 if there was only one season.
		first, second int
	}{{"a season", 10, 12}, {"a season that starts later", 10, 13}, {"a ladder with another match", 11, 13},
		{"the first season", 10, 0}} {
		g := newGame(t)
		must(t, g.RecordMatch(t.Context(), keyed(g.at(&alice, history.first)), singles(alice, bob, 3, 1)))
		if history.second > 0 {
			g.startSeason(t, history.second, "")
			must(t, g.RecordMatch(t.Context(), g.at(&alice, 15), singles(alice, bob, 3, 1)))
		}
		asked := g.askSeason(t, 20)
		for tag := range old {
			checkNotice(t, g.pressSeason(t, ranking.SeasonPrompt{Tag: tag}, [2]int{20, 30}, toast),
				ranking.Refusal{Code: ranking.SeasonEnded})
		}
		if other, ok := old[asked.Tag]; ok {
			t.Errorf("%s has the button of %s", history.name, other)
		}
		old[asked.Tag] = history.name
		if _, ok := g.pressSeason(t, asked, [2]int{20, 31}, "action = 'page'").(ranking.SeasonStarted); !ok {
			t.Errorf("%s: its own button does nothing", history.name)
		}
	}
}

// keyed gives a command a key that depends only on when it was sent. The tag of a season depends on
// the key of the ladder's first match.
func keyed(o ranking.Origin) ranking.Origin {
	o.Key = fmt.Sprintf("m:-100:%d", o.SentAt.Unix())
	return o
}

// TestSeasonEndsMeanwhile checks that if a season ends between the read and the write of a result,
// and the result was sent after that end, the result counts in the new season. The players may be
// new or known.
func TestSeasonEndsMeanwhile(t *testing.T) {
	t.Parallel()
	for name, two := range map[string][2]command.Person{"known": {alice, bob}, "new": {carol, zoe}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			must(t, g.RecordMatch(t.Context(), g.at(&alice, 10), singles(alice, bob, 3, 1)))
			other := g.newService(&archivingStore{Store: newStore(g.pool), before: func() { g.startSeason(t, 60, "") }})
			must(t, other.RecordMatch(t.Context(), g.at(&two[0], 70), singles(two[0], two[1], 3, 1)))
			g.mustHaveSeasons(t, "a result of the new season", "1 Alice 1516 1–0", "1 Bob 1484 0–1",
				fmt.Sprintf("2 %s 1516 1–0", two[0].Name), fmt.Sprintf("2 %s 1484 0–1", two[1].Name))
			g.verifyClean(t)
		})
	}
}

// TestHalfway checks that under the halfway rule, players start a season halfway between their
// rating and the start rating. A late result in the previous season does not change the ratings
// with which the players started.
func TestHalfway(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 10), singles(alice, bob, 3, 1)))
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 20), singles(alice, bob, 3, 1)))
	g.exec(t, `UPDATE ladders SET season_halfway = true`)
	g.startSeason(t, 60, "")
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 50), singles(bob, alice, 3, 1)))
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 70), singles(alice, bob, 2, 2)))
	g.mustHaveSeasons(t, "half-way", "1 Alice 1512 2–1", "1 Bob 1488 1–2", "2 Alice 1514 0–0", "2 Bob 1486 0–0")
	g.verifyClean(t)
	o := g.at(&alice, 110)
	g.question(t, o, stats.SeasonQuestion{Number: 1})
	n, _ := g.notice(t, o.Key).(stats.SeasonTable)
	if len(n.Rows) != 2 || n.Rows[0].Next != 1515 || n.Rows[1].Next != 1485 {
		t.Errorf("the next ratings: %+v", n.Rows)
	}
}

// TestSeasonOfAnAnswer checks that if the bot asks about a result, the result counts in the season
// of its report, even if the answer comes in the next season.
func TestSeasonOfAnAnswer(t *testing.T) {
	t.Parallel()
	g := newAskingGame(t)
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 5), singles(alice, bob, 3, 1)))
	if _, asked := g.report(t, &bob, 10, singles(alice, bob, 3, 1)).(ranking.ReportPrompt); !asked {
		t.Fatalf("a repeated report is not asked about")
	}
	g.startSeason(t, 60, "")
	press := g.press(&bob)
	press.SentAt = g.at(&bob, 70).SentAt
	g.respond(t, press, g.newestPrompt(t), ranking.Choice(0))
	g.mustHaveSeasons(t, "answered in the next season", "1 Alice 1531 2–0", "1 Bob 1469 0–2")
	g.verifyClean(t)
}

// TestOnlyAdminsCorrectSeasons checks that once a season is over, a person who is not an admin may
// neither restore its matches nor move a match into it. An admin may move a match into it.
func TestOnlyAdminsCorrectSeasons(t *testing.T) {
	t.Parallel()
	g := newLadders(t) // with match 1 in chess
	g.recordIn(t, "padel", 10, singles(alice, bob, 3, 1))
	g.recordIn(t, "padel", 20, singles(alice, bob, 3, 1))
	o := g.at(&alice, 30)
	must(t, g.Do(t.Context(), o, ranking.UndoMatch{Amendment: matchNumber(2)}))
	if _, asked := g.notice(t, o.Key).(ranking.UndoPrompt); asked {
		press := g.press(&alice)
		press.SentAt = o.SentAt
		g.respond(t, press, g.newestPrompt(t), ranking.Choice(0))
	}
	asked, _ := g.inLadder(t, "padel", &alice, 40, func(o ranking.Origin) error {
		return g.Do(asAdmin(t), o, ranking.StartSeason{})
	}).(ranking.SeasonPrompt)
	o = g.at(&alice, 50)
	o.Button, o.Pressed, o.Ladder = o.Key, 5,
		ladder.ID(rows1[int64](t, g, `SELECT id FROM ladders WHERE name = 'padel'`)[0])
	must(t, g.Do(asAdmin(t), o, ranking.StartSeason{Tag: asked.Tag}))
	before := g.seasons(t)
	o = g.at(&alice, 60)
	must(t, g.Do(t.Context(), o, ranking.RestoreMatch{Amendment: matchNumber(2)}))
	checkNotice(t, g.notice(t, o.Key), ranking.Refusal{Code: ranking.SeasonClosed, Number: 2})
	o = g.at(&alice, 61)
	must(t, g.Do(t.Context(), o, ranking.MoveMatch{Amendment: matchNumber(1), Name: "padel"}))
	checkNotice(t, g.notice(t, o.Key), ranking.Refusal{Code: ranking.SeasonClosed, Number: 1})
	equal(t, "changed", before, g.seasons(t))
	o = g.at(&alice, 62)
	must(t, g.Do(asAdmin(t), o, ranking.MoveMatch{Amendment: matchNumber(1), Name: "padel"}))
	if _, ok := g.notice(t, o.Key).(ranking.MatchMoved); !ok {
		t.Errorf("an admin moves a match into a season that is over: %+v", g.notice(t, o.Key))
	}
	g.verifyClean(t)
}

// TestJoinedMeanwhile checks that a person who joins while a season ends is in the new season.
func TestJoinedMeanwhile(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 10), singles(alice, bob, 3, 1)))
	other := g.newService(&archivingStore{Store: newStore(g.pool), before: func() { g.startSeason(t, 60, "") }})
	must(t, other.Do(t.Context(), g.at(&carol, 70), ranking.Join{}))
	if got := texts(t, g, `SELECT season_id::text FROM group_players WHERE name = 'Carol'`); len(got) != 1 ||
		got[0] == "1" {
		t.Errorf("Carol is in the seasons %q", got)
	}
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	must(t, err)
	return at
}

// chooseAt has an admin choose a value of a setting at an instant.
func (g *game) chooseAt(t *testing.T, at, setting, value string) {
	t.Helper()
	o := below(55, g.press(&alice))
	o.SentAt = instant(t, at)
	must(t, g.Do(asAdmin(t), o, choice(setting, value)))
	if n, ok := g.answer(t, o.Key, toast).(ranking.SettingChanged); !ok || n.After != value {
		t.Fatalf("%s %s: %+v", setting, value, n)
	}
}

// reportAt has Alice report a win against Bob at an instant.
func (g *game) reportAt(t *testing.T, at string) {
	t.Helper()
	o := g.origin(&alice)
	o.SentAt = instant(t, at)
	must(t, g.RecordMatch(t.Context(), o, singles(alice, bob, 3, 1)))
}

// mustEndAt checks when the seasons end, and which of them have a timer for their end.
func (g *game) mustEndAt(t *testing.T, what string, want ...string) {
	t.Helper()
	got := texts(t, g, `
		SELECT concat_ws(' ', s.number, to_char(s.ends_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
		    CASE WHEN t.due_at = s.ends_at + interval '1 minute' THEN 'waits'
		    WHEN t.due_at IS NOT NULL THEN 'waits wrongly' END)
		FROM seasons s LEFT JOIN timers t ON t.key = 't:season:' || s.ladder_id || ':' || s.id
		ORDER BY s.ladder_id, s.number`)
	equal(t, what, want, got)
}

// TestAutomaticSeasons checks that a season ends with its month. The first result after the end
// starts the next season, or else the timer does. The group is notified at least a minute after the
// end. Late results still count in their own season. A season without matches gets a later end.
func TestAutomaticSeasons(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	told := func(what string, want ...string) {
		t.Helper()
		equal(t, "told "+what, want, g.told(t), cmpopts.EquateEmpty())
	}
	g.chooseAt(t, "2025-03-10T12:00:00Z", ranking.SettingZone, "Europe/Berlin")
	g.chooseAt(t, "2025-03-10T12:00:00Z", ranking.SettingSeasons, ranking.Monthly)
	g.mustEndAt(t, "chosen", "1 2025-03-31T22:00:00Z waits")
	g.reportAt(t, "2025-03-31T21:59:59Z")
	g.reportAt(t, "2025-03-31T22:00:00Z")
	g.reportAt(t, "2025-03-31T21:59:58Z")
	told("while messages may still arrive")
	g.mustHaveSeasons(t, "around midnight", "1 Alice 1531 2–0", "1 Bob 1469 0–2", "2 Alice 1516 1–0", "2 Bob 1484 0–1")
	g.mustEndAt(t, "started by a message", "1 2025-03-31T22:00:00Z waits", "2 2025-04-30T22:00:00Z waits")
	must(t, g.fire(t.Context(), g.newInstance()))
	told("by the timers", "season:1", "season:2")
	g.mustEndAt(t, "ended by timers", "1 2025-03-31T22:00:00Z", "2 2025-04-30T22:00:00Z", "3 2025-05-31T22:00:00Z waits")
	g.exec(t, `UPDATE outbox SET state = 'sent', finished_at = now(), supersede_key = NULL WHERE action = 'ensure'`)
	g.reportAt(t, "2025-03-31T21:59:57Z")
	told("again after a late result", "season:1")

	for range 3 { // without matches, the season continues
		must(t, g.fire(t.Context(), g.newInstance()))
	}
	g.mustEndAt(t, "without a match", "1 2025-03-31T22:00:00Z", "2 2025-04-30T22:00:00Z", "3 2025-08-31T22:00:00Z waits")
	g.reportAt(t, "2025-10-20T10:00:00Z")
	told("of the one without a match", "season:1")
	g.mustEndAt(t, "a message long after the end", "1 2025-03-31T22:00:00Z",
		"2 2025-04-30T22:00:00Z", "3 2025-10-31T23:00:00Z waits")
	g.reportAt(t, "2025-10-31T23:01:00Z")
	told("by a message that is later than the timer", "season:1", "season:3")
	g.mustHaveSeasons(t, "at last", "1 Alice 1544 3–0", "1 Bob 1456 0–3", "2 Alice 1516 1–0", "2 Bob 1484 0–1",
		"3 Alice 1516 1–0", "3 Bob 1484 0–1", "4 Alice 1516 1–0", "4 Bob 1484 0–1")
	g.mustEndAt(t, "at last", "1 2025-03-31T22:00:00Z", "2 2025-04-30T22:00:00Z",
		"3 2025-10-31T23:00:00Z", "4 2025-11-30T23:00:00Z waits")
	g.exec(t, `UPDATE ladders SET archived_at = now(), is_default = false`)
	must(t, g.fire(t.Context(), g.newInstance()))
	g.mustEndAt(t, "archived", "1 2025-03-31T22:00:00Z", "2 2025-04-30T22:00:00Z",
		"3 2025-10-31T23:00:00Z", "4 2025-12-31T23:00:00Z waits")
	g.exec(t, `UPDATE ladders SET archived_at = NULL, is_default = true`)
	g.chooseAt(t, "2025-12-10T12:00:00Z", ranking.SettingSeasons, ranking.Manual)
	g.mustEndAt(t, "switched off", "1 2025-03-31T22:00:00Z", "2 2025-04-30T22:00:00Z", "3 2025-10-31T23:00:00Z", "4")
	g.verifyClean(t)
}

// TestAutomaticSeasonsAndAdmins checks that an admin may end an automatic season early. A season
// whose end has passed is ended only once, even if several instances fire its timer.
func TestAutomaticSeasonsAndAdmins(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	now := g.at(&alice, 0).SentAt
	next := ranking.LaterMonth(now.Add(48*time.Hour), 1).Format(time.RFC3339)
	g.chooseAt(t, now.Add(-time.Hour).Format(time.RFC3339), ranking.SettingSeasons, ranking.Monthly)
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 10), singles(alice, bob, 3, 1)))
	g.startSeason(t, 60, "Cup")
	ended := now.Add(60 * time.Second).Format(time.RFC3339)
	g.mustEndAt(t, "by hand", "1 "+ended, "2 "+next+" waits")
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 70), singles(alice, bob, 3, 1)))
	g.exec(t, `UPDATE timers SET due_at = now()`)
	var firing errgroup.Group
	for range 3 {
		firing.Go(func() error { return g.fire(t.Context(), g.newInstance()) })
	}
	must(t, firing.Wait())
	g.has(t, 3, "seasons")
	g.has(t, 2, "outbox WHERE action = 'ensure'")
	g.has(t, 1, "timers")
	g.verifyClean(t)
}

// TestSettingAfterTheEnd checks that once the end of a season has passed, neither a new length nor
// an admin who starts a season moves that end.
func TestSettingAfterTheEnd(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.chooseAt(t, "2025-03-10T12:00:00Z", ranking.SettingSeasons, ranking.Monthly)
	g.reportAt(t, "2025-03-20T12:00:00Z")
	g.chooseAt(t, "2025-04-01T00:00:10Z", ranking.SettingSeasons, ranking.Quarterly)
	g.mustEndAt(t, "another length", "1 2025-04-01T00:00:00Z waits", "2 2025-07-01T00:00:00Z waits")
	g.reportAt(t, "2025-04-20T12:00:00Z")
	o := g.origin(&alice)
	o.SentAt = instant(t, "2025-07-01T00:00:10Z")
	must(t, g.Do(asAdmin(t), o, ranking.StartSeason{}))
	checkNotice(t, g.notice(t, o.Key), ranking.Refusal{Code: ranking.SeasonEmpty})
	g.mustEndAt(t, "by hand", "1 2025-04-01T00:00:00Z waits", "2 2025-07-01T00:00:00Z waits",
		"3 2025-10-01T00:00:00Z waits")
}

// TestSeasonsEndInTheirZone checks that an automatic season ends with the month or quarter in the
// group's time zone, or with the next month or quarter if no more than two days are left. Clock
// changes, a leap day and a skipped day do not matter.
func TestSeasonsEndInTheirZone(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	for _, tc := range []struct{ zone, length, at, ends string }{
		{"UTC", ranking.Monthly, "2024-02-27T12:00:00Z", "2024-03-01T00:00:00Z"},
		{"Europe/Berlin", ranking.Monthly, "2024-02-27T22:59:59Z", "2024-02-29T23:00:00Z"},
		{"Europe/Berlin", ranking.Monthly, "2025-03-29T12:00:00Z", "2025-03-31T22:00:00Z"},
		{"Europe/Berlin", ranking.Quarterly, "2025-10-01T12:00:00Z", "2025-12-31T23:00:00Z"},
		{"America/New_York", ranking.Monthly, "2025-02-27T04:59:59Z", "2025-03-01T05:00:00Z"},
		{"America/New_York", ranking.Monthly, "2025-02-27T05:00:00Z", "2025-04-01T04:00:00Z"},
		// In New York, this instant is on February 27.
		{"America/New_York", ranking.Monthly, "2025-02-28T01:00:00Z", "2025-04-01T04:00:00Z"},
		{"America/New_York", ranking.Monthly, "2025-11-01T12:00:00Z", "2025-12-01T05:00:00Z"},
		{"Australia/Lord_Howe", ranking.Monthly, "2025-03-20T12:00:00Z", "2025-03-31T13:00:00Z"},
		{"Australia/Lord_Howe", ranking.Monthly, "2025-04-20T12:00:00Z", "2025-04-30T13:30:00Z"},
		{"Pacific/Apia", ranking.Monthly, "2011-12-28T12:00:00Z", "2011-12-31T10:00:00Z"},
		{"Pacific/Apia", ranking.Quarterly, "2011-12-31T10:00:00Z", "2012-03-31T10:00:00Z"},
		{"Africa/Cairo", ranking.Monthly, "2025-04-20T12:00:00Z", "2025-04-30T21:00:00Z"},
		{"Africa/Cairo", ranking.Quarterly, "2025-10-30T12:00:00Z", "2025-12-31T22:00:00Z"},
		{"Africa/Cairo", ranking.Quarterly, "2025-09-28T20:59:59Z", "2025-09-30T21:00:00Z"},
	} {
		g.exec(t, `UPDATE chats SET time_zone = $1`, tc.zone)
		g.chooseAt(t, tc.at, ranking.SettingSeasons, tc.length)
		g.mustEndAt(t, fmt.Sprint(tc), "1 "+tc.ends+" waits")
		g.chooseAt(t, tc.at, ranking.SettingSeasons, ranking.Manual)
	}
}

// TestZoneMovesEndOfSeason checks that a change of zone moves the end of the current season to the
// beginning of the same day in the new zone, unless that day has already begun in the new zone or
// the season should have ended already.
func TestZoneMovesEndOfSeason(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ at, zone, moved, next string }{
		"west":               {"2025-03-20T12:00:00Z", "America/New_York", "2025-04-01T04:00:00Z", "2025-05-01T04:00:00Z"},
		"east":               {"2025-03-20T12:00:00Z", "Asia/Tokyo", "2025-03-31T15:00:00Z", "2025-04-30T15:00:00Z"},
		"east, on that day":  {"2025-03-31T16:00:00Z", "Asia/Tokyo", "2025-03-31T22:00:00Z", "2025-04-30T15:00:00Z"},
		"west, after it":     {"2025-03-31T22:00:10Z", "America/New_York", "2025-03-31T22:00:00Z", "2025-05-01T04:00:00Z"},
		"east, before it":    {"2025-03-31T14:59:59Z", "Asia/Tokyo", "2025-03-31T15:00:00Z", "2025-04-30T15:00:00Z"},
		"west, when it ends": {"2025-03-31T21:59:59Z", "America/New_York", "2025-04-01T04:00:00Z", "2025-05-01T04:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			g.chooseAt(t, "2025-03-10T12:00:00Z", ranking.SettingZone, "Europe/Berlin")
			g.chooseAt(t, "2025-03-10T12:00:00Z", ranking.SettingSeasons, ranking.Monthly)
			g.reportAt(t, "2025-03-11T12:00:00Z")
			g.chooseAt(t, tc.at, ranking.SettingZone, tc.zone)
			g.mustEndAt(t, "the zone was changed", "1 "+tc.moved+" waits")
			must(t, g.fire(t.Context(), g.Service))
			g.mustEndAt(t, "the next one", "1 "+tc.moved, "2 "+tc.next+" waits")
		})
	}
}

// TestZoneMovesEndOfOlderEdition checks that if an older edition of the time zones put the end of a
// season an hour before midnight, a change of zone still moves the end to the intended day.
func TestZoneMovesEndOfOlderEdition(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	g.chooseAt(t, "2025-03-10T12:00:00Z", ranking.SettingZone, "Europe/Berlin")
	g.chooseAt(t, "2025-03-10T12:00:00Z", ranking.SettingSeasons, ranking.Monthly)
	g.exec(t, `UPDATE seasons SET ends_at = ends_at - interval '1 hour'`)
	g.chooseAt(t, "2025-03-20T12:00:00Z", ranking.SettingZone, "Asia/Tokyo")
	g.mustEndAt(t, "the zone was changed", "1 2025-03-31T15:00:00Z waits")
}
