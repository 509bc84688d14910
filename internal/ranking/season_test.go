package ranking_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// startSeason has an admin start a season at a second.
func (g *game) startSeason(t *testing.T, seconds int, name string) ranking.Notice {
	t.Helper()
	o := g.at(&alice, seconds)
	must(t, g.Do(t.Context(), o, ranking.StartSeason{Name: name, IsAdmin: admin}))
	asked, ok := g.notice(t, o.Key).(ranking.SeasonPrompt)
	if !ok {
		return g.notice(t, o.Key)
	}
	o = g.at(&alice, seconds)
	o.Button, o.Pressed = o.Key, 5
	must(t, g.Do(t.Context(), o, ranking.StartSeason{Name: asked.Name, Ends: asked.Ends, IsAdmin: admin}))
	return g.answer(t, o.Key, "action = 'page'")
}

// seasons returns the ratings in all seasons, such as "1 Alice 1516 1–0".
func (g *game) seasons(t *testing.T) []string {
	t.Helper()
	return texts(t, g, `
		SELECT concat_ws(' ', n.number, s.name, s.elo, s.won || '–' || s.lost) FROM group_players s JOIN seasons n ON n.id = s.season_id
		WHERE s.played > 0 ORDER BY n.ladder_id, n.number, s.name`)
}

func (g *game) mustHaveSeasons(t *testing.T, what string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, g.seasons(t)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// told returns the messages about ends of seasons that wait to be sent.
func (g *game) told(t *testing.T) []string {
	t.Helper()
	return texts(t, g, `SELECT object FROM outbox WHERE action = 'ensure' AND state = 'planned' ORDER BY id`)
}

// TestSeasons: everybody starts a season afresh, and a match counts in the season in which its message was sent, however late it arrives.
func TestSeasons(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	if n := g.startSeason(t, 0, ""); n != (ranking.Refusal{Code: ranking.SeasonEmpty}) {
		t.Errorf("a season without a match ends: %+v", n)
	}
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 10), singles(alice, bob, 3, 1)))
	g.startSeason(t, 60, "Spring")
	if diff := cmp.Diff([]string{"season:1"}, g.told(t)); diff != "" {
		t.Errorf("told at the end (-want +got):\n%s", diff)
	}
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 70), singles(bob, alice, 3, 1)))
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 50), singles(alice, bob, 3, 1)))
	late := g.at(&alice, 55)
	must(t, g.RecordMatch(t.Context(), late, singles(alice, carol, 3, 1)))
	if card, _ := g.notice(t, late.Key).(ranking.MatchRecorded); card.Season != 1 || card.Celebration != nil {
		t.Errorf("the card of a late result: %+v", card)
	}
	g.mustHaveSeasons(t, "late results", "1 Alice 1546 3–0", "1 Bob 1469 0–2", "1 Carol 1485 0–1", "2 Alice 1484 0–1", "2 Bob 1516 1–0")
	g.verifyClean(t)

	// only admins change what is over
	o := g.at(&alice, 80)
	refused := matchNumber(1)
	refused.IsAdmin = nobodyIsAdmin
	must(t, g.Do(t.Context(), o, ranking.UndoMatch{Amendment: refused}))
	checkNotice(t, g.notice(t, o.Key), ranking.Refusal{Code: ranking.SeasonClosed, Number: 1})
	g.exec(t, `UPDATE outbox SET state = 'sent', finished_at = now(), supersede_key = NULL WHERE action = 'ensure'`)
	allowed := matchNumber(1)
	allowed.IsAdmin = admin
	if undone, _ := g.undo(t, &alice, allowed).(ranking.MatchUndone); undone.Moved.Season != 1 {
		t.Errorf("the answer to an undo in a season that is over: %+v", undone)
	}
	g.mustHaveSeasons(t, "undone when it was over", "1 Alice 1531 2–0", "1 Bob 1484 0–1", "1 Carol 1485 0–1", "2 Alice 1484 0–1", "2 Bob 1516 1–0")
	if diff := cmp.Diff([]string{"season:1"}, g.told(t)); diff != "" {
		t.Errorf("corrected (-want +got):\n%s", diff)
	}
	g.verifyClean(t)

	if n := g.startSeason(t, 100, ""); n != (ranking.SeasonStarted{Number: 3, Ended: 2}) {
		t.Errorf("the third season is started with %+v", n)
	}
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 95), singles(alice, bob, 3, 1)))
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 5), singles(bob, alice, 3, 1)))
	g.mustHaveSeasons(t, "late results of two seasons", "1 Alice 1513 2–1", "1 Bob 1502 1–1", "1 Carol 1485 0–1",
		"2 Alice 1501 1–1", "2 Bob 1499 1–1")
	g.verifyClean(t)
	for number, want := range map[int]string{0: "3 []", stats.LastSeason: "2 [Alice 1501 Bob 1499]", 1: "1 [Alice 1513 Bob 1502 Carol 1485]"} {
		o := g.at(&alice, 110)
		must(t, g.questions(g.Service).Show(t.Context(), o, stats.SeasonQuery{Number: number}))
		n, _ := g.notice(t, o.Key).(stats.SeasonTable)
		rows := []string{}
		for _, r := range n.Rows {
			rows = append(rows, fmt.Sprint(r.Name.Name, " ", r.Elo))
		}
		if got := fmt.Sprint(n.Number, " ", rows); got != want {
			t.Errorf("season %d is %s, want %s", number, got, want)
		}
	}

	// a chart has all seasons, each with the ratings before its first match
	r, err := g.questions(g.Service).Ratings(t.Context(), g.charted(t, "Bob"), g.at(&alice, 200).SentAt)
	var got []string
	for _, p := range r.Players[0] {
		got = append(got, fmt.Sprint(p.Match, " ", p.Elo))
	}
	want := []string{"2 1500", "3 1484", "6 1502", "1 1500", "2 1516", "5 1499"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("the chart of Bob: %v (-want +got):\n%s", err, diff)
	}
	begun := []stats.SeasonStart{{Number: 2, At: g.at(&alice, 60).SentAt.UTC(), Match: 2}}
	if diff := cmp.Diff(begun, r.Seasons); diff != "" {
		t.Errorf("seasons of the chart (-want +got):\n%s", diff)
	}
}

// TestSeasonEndsMeanwhile: a result of the new season that was read before that started is not recorded in the old one, neither that of
// people who are in it nor that of others.
func TestSeasonEndsMeanwhile(t *testing.T) {
	t.Parallel()
	for name, two := range map[string][2]ranking.Person{"known": {alice, bob}, "new": {carol, zoe}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGame(t)
			must(t, g.RecordMatch(t.Context(), g.at(&alice, 10), singles(alice, bob, 3, 1)))
			other := newService(&archivingStore{Store: newStore(g.pool), before: func() { g.startSeason(t, 60, "") }})
			must(t, other.RecordMatch(t.Context(), g.at(&two[0], 70), singles(two[0], two[1], 3, 1)))
			g.mustHaveSeasons(t, "a result of the new season", "1 Alice 1516 1–0", "1 Bob 1484 0–1",
				fmt.Sprintf("2 %s 1516 1–0", two[0].Name), fmt.Sprintf("2 %s 1484 0–1", two[1].Name))
			g.verifyClean(t)
		})
	}
}

// TestHalfway: where the rules say so, people begin a season half-way between their rating and the start rating, and a correction of the
// season before does not change that.
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
	must(t, g.questions(g.Service).Show(t.Context(), o, stats.SeasonQuery{Number: 1}))
	n, _ := g.notice(t, o.Key).(stats.SeasonTable)
	if len(n.Rows) != 2 || n.Rows[0].Next != 1515 || n.Rows[1].Next != 1485 {
		t.Errorf("the next ratings: %+v", n.Rows)
	}
}

// TestSeasonOfAnAnswer: a result that is asked about counts in the season of its report, whenever it is answered, and an edit in that of its
// own time.
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

// TestOnlyAdminsCorrectSeasons: whoever undid a match cannot restore it once its season is over, nor can anybody but an admin move a match
// into a season that is over.
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
	g.inLadder(t, "padel", &alice, 40, func(o ranking.Origin) error {
		return g.Do(t.Context(), o, ranking.StartSeason{IsAdmin: admin})
	})
	prompt := rows1[ranking.SeasonID](t, g, `SELECT season_id FROM ladders WHERE name = 'padel'`)[0]
	o = g.at(&alice, 50)
	o.Button, o.Pressed, o.Ladder = o.Key, 5, ranking.LadderID(rows1[int64](t, g, `SELECT id FROM ladders WHERE name = 'padel'`)[0])
	must(t, g.Do(t.Context(), o, ranking.StartSeason{Ends: prompt, IsAdmin: admin}))
	before := g.seasons(t)
	o = g.at(&alice, 60)
	must(t, g.Do(t.Context(), o, ranking.RestoreMatch{Amendment: matchNumber(2)}))
	checkNotice(t, g.notice(t, o.Key), ranking.Refusal{Code: ranking.SeasonClosed, Number: 2})
	o = g.at(&alice, 61)
	must(t, g.Do(t.Context(), o, ranking.MoveMatch{Amendment: matchNumber(1), Name: "padel"}))
	checkNotice(t, g.notice(t, o.Key), ranking.Refusal{Code: ranking.SeasonClosed, Number: 1})
	if diff := cmp.Diff(before, g.seasons(t)); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	allowed := matchNumber(1)
	allowed.IsAdmin = admin
	o = g.at(&alice, 62)
	must(t, g.Do(t.Context(), o, ranking.MoveMatch{Amendment: allowed, Name: "padel"}))
	if _, ok := g.notice(t, o.Key).(ranking.MatchMoved); !ok {
		t.Errorf("an admin moves a match into a season that is over: %+v", g.notice(t, o.Key))
	}
	g.verifyClean(t)
}

// TestJoinedMeanwhile: who joins while a season ends is in the one that goes on.
func TestJoinedMeanwhile(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 10), singles(alice, bob, 3, 1)))
	other := newService(&archivingStore{Store: newStore(g.pool), before: func() { g.startSeason(t, 60, "") }})
	must(t, other.Do(t.Context(), g.at(&carol, 70), ranking.Join{}))
	if got := texts(t, g, `SELECT season_id::text FROM group_players WHERE name = 'Carol'`); len(got) != 1 || got[0] == "1" {
		t.Errorf("Carol is in the seasons %q", got)
	}
}
