package ranking_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
	"elobot/internal/stats"
)

// newLadders returns a game in which the club has the ladders chess (the default one) and padel.
func newLadders(t *testing.T) *game { return newChessAnd(t, "padel") }

// newChessAnd returns a game in which the club has the ladder chess (the default one) and another
// one with the given name.
func newChessAnd(t *testing.T, name string) *game {
	t.Helper()
	g := newGame(t)
	g.record(t, &alice, alice, bob, 3, 1)
	g.mustChangeLadder(t, ranking.ChangeLadder{Change: ranking.AddLadder, First: "chess", Name: name}, 0)
	return g
}

// mustChangeLadder has an admin change a ladder in a topic, or outside of topics if topic is 0, and
// checks that the ladder is changed.
func (g *game) mustChangeLadder(t *testing.T, c ranking.ChangeLadder, topic int64) {
	t.Helper()
	o := g.origin(&alice)
	o.Thread = topic
	must(t, g.Do(asAdmin(t), o, c))
	if n, ok := g.answer(t, o.Key, "reply_to = 7").(ranking.LadderChanged); !ok {
		t.Fatalf("%+v is answered with %+v", c, n)
	}
}

// inLadder sends a command whose first words name a ladder, and returns the answer.
func (g *game) inLadder(
	t *testing.T, name string, sender *command.Person, seconds int, send func(ranking.Origin) error,
) ranking.Notice {
	t.Helper()
	o := g.at(sender, seconds)
	o.Said = command.Command{MayNameLadder: true, Args: name + " and more"}
	must(t, send(o))
	return g.notice(t, o.Key)
}

// recordIn has Alice report a match in a ladder.
func (g *game) recordIn(t *testing.T, ladder string, seconds int, r command.Match) ranking.Notice {
	t.Helper()
	return g.inLadder(t, ladder, &alice, seconds, func(o ranking.Origin) error { return g.RecordMatch(t.Context(), o, r) })
}

// moveTo has Alice move a match to a ladder, and returns the answer.
func (g *game) moveTo(t *testing.T, number int, ladder string) ranking.Notice {
	t.Helper()
	o := g.origin(&alice)
	must(t, g.Do(t.Context(), o, ranking.MoveMatch{Amendment: matchNumber(number), Name: ladder}))
	return g.notice(t, o.Key)
}

// ratings returns the ratings in all ladders, such as "chess Alice 1516", followed by "left" for
// players who have left.
func (g *game) ratings(t *testing.T) []string {
	t.Helper()
	return texts(t, g, `
		SELECT concat_ws(' ', l.name, s.name, s.elo, CASE WHEN s.left_at IS NOT NULL THEN 'left' END)
		FROM group_players s JOIN ladders l ON l.season_id = s.season_id ORDER BY l.id, s.name`)
}

func (g *game) mustHaveRatings(t *testing.T, what string, want ...string) {
	t.Helper()
	equal(t, what, want, g.ratings(t))
}

// TestAbsentInAllLadders checks that a person who leaves the group is absent from all ladders of
// the group, even from a ladder that the person enters later through an older match. A later match
// in any ladder, or /join, brings the player back to all of them.
func TestAbsentInAllLadders(t *testing.T) {
	t.Parallel()
	g := newLadders(t)
	g.memberLeft(t, alice, time.Minute)
	g.moveTo(t, 1, "padel")
	g.mustHaveRatings(t, "a match of one who left is moved", "chess Alice 1500 left", "chess Bob 1500",
		"padel Alice 1516 left", "padel Bob 1484")
	g.recordIn(t, "padel", 30, singles(alice, bob, 1, 3))
	g.mustHaveRatings(t, "an older match", "chess Alice 1500 left", "chess Bob 1500",
		"padel Alice 1499 left", "padel Bob 1501")
	g.recordIn(t, "padel", 90, singles(alice, bob, 3, 1))
	g.mustHaveRatings(t, "a match since then", "chess Alice 1500", "chess Bob 1500", "padel Alice 1515", "padel Bob 1485")
	g.memberLeft(t, alice, 80*time.Second)
	g.mustHaveRatings(t, "a late departure", "chess Alice 1500", "chess Bob 1500", "padel Alice 1515", "padel Bob 1485")

	must(t, g.RecordMatch(t.Context(), g.at(&bob, 100), singles(bob, carol, 3, 1)))
	g.memberLeft(t, carol, 110*time.Second)
	g.recordIn(t, "padel", 120, singles(alice, carol, 1, 1))
	g.mustHaveRatings(t, "the first match in another ladder", "chess Alice 1500", "chess Bob 1516", "chess Carol 1484",
		"padel Alice 1514", "padel Bob 1485", "padel Carol 1501")

	g.recordIn(t, "padel", 130, singles(alice, zoe, 3, 1))
	g.memberLeft(t, zoe, 140*time.Second)
	must(t, g.Do(t.Context(), g.at(&zoe, 150), ranking.Join{}))
	g.mustHaveRatings(t, "one who left another ladder joins", "chess Alice 1500",
		"chess Bob 1516", "chess Carol 1484", "chess Zoe 1500",
		"padel Alice 1529", "padel Bob 1485", "padel Carol 1501", "padel Zoe 1485")
}

// TestEditOfMovedMatch checks that an edit of a report whose match was moved follows the rules of
// the match's current ladder.
func TestEditOfMovedMatch(t *testing.T) {
	t.Parallel()
	g := newLadders(t)
	g.moveTo(t, 1, "padel")
	g.exec(t, `UPDATE ladders SET draws_allowed = name = 'padel'`)
	if offer := g.edit(t, g.at(&alice, 60), "m:1", singles(alice, bob, 2, 2)); offer == nil || offer.Number != 1 {
		t.Errorf("the edit offers %+v", offer)
	}
	if n, ok := g.fix(t, &alice, matchNumber(1), ladder.Score{A: 2, B: 2}).(ranking.MatchFixed); !ok {
		t.Errorf("the fix is answered with %+v", n)
	}
	g.mustHaveRatings(t, "the match is fixed", "chess Alice 1500", "chess Bob 1500", "padel Alice 1500", "padel Bob 1500")
}

// TestArchivedLadder checks that an archived ladder accepts no results, even in topics bound to it.
// Its matches can still be undone and moved out.
func TestArchivedLadder(t *testing.T) {
	t.Parallel()
	g := newLadders(t)
	g.mustChangeLadder(t, ranking.ChangeLadder{Change: ranking.UseLadder, Name: "padel"}, 8)
	g.record(t, &alice, alice, bob, 3, 1) // in the topic
	g.record(t, &alice, alice, bob, 3, 2)
	g.mustChangeLadder(t, ranking.ChangeLadder{Change: ranking.ArchiveLadder, Name: "padel"}, 0)
	archived := ranking.Refusal{Code: ranking.LadderArchived, Name: "padel"}
	checkNotice(t, g.record(t, &alice, alice, bob, 3, 0), archived)
	checkNotice(t, g.recordIn(t, "padel", 60, singles(alice, bob, 3, 0)), archived)
	checkNotice(t, g.moveTo(t, 1, "padel"), archived)
	g.mustHaveRatings(t, "it is archived", "chess Alice 1516", "chess Bob 1484", "padel Alice 1531", "padel Bob 1469")
	if n, ok := g.moveTo(t, 2, "chess").(ranking.MatchMoved); !ok {
		t.Errorf("the move is answered with %+v", n)
	}
	g.undo(t, &alice, matchNumber(3))
	g.mustHaveRatings(t, "it is empty", "chess Alice 1531", "chess Bob 1469", "padel Alice 1500", "padel Bob 1500")
	g.mustChangeLadder(t, ranking.ChangeLadder{Change: ranking.UseLadder, Name: "padel"}, 8)
	g.record(t, &alice, alice, bob, 3, 1)
	g.mustHaveRatings(t, "it is used again", "chess Alice 1531", "chess Bob 1469", "padel Alice 1516", "padel Bob 1484")
}

// TestUnboundTopic checks that if an admin unbinds a topic, the default ladder applies there again.
// Other topics stay bound. Outside of topics there is nothing to unbind.
func TestUnboundTopic(t *testing.T) {
	t.Parallel()
	g := newLadders(t)
	unbind := ranking.ChangeLadder{Change: ranking.UnbindTopic, Name: "none"}
	for _, topic := range []int64{8, 9} {
		g.mustChangeLadder(t, ranking.ChangeLadder{Change: ranking.UseLadder, Name: "padel"}, topic)
	}
	for range 2 { // repeating the command changes nothing
		g.mustChangeLadder(t, unbind, 8)
	}
	g.record(t, &alice, alice, bob, 3, 1) // in the topic
	g.mustHaveRatings(t, "topic 8 is unbound", "chess Alice 1531", "chess Bob 1469")
	if got := texts(t, g, `SELECT thread_id::text FROM topics`); len(got) != 1 || got[0] != "9" {
		t.Errorf("bound topics are %q", got)
	}
	o := g.origin(&alice)
	o.Thread = 0
	must(t, g.Do(asAdmin(t), o, unbind))
	checkNotice(t, g.answer(t, o.Key, "reply_to = 7"), ranking.Refusal{Code: ranking.NoSuchLadder, Name: "none"})
}

// archivingStore is a store with a hook between the read and the first write of a command.
type archivingStore struct {
	*pgranking.Store
	first  sync.Once
	before func()
}

func (s *archivingStore) Apply(ctx context.Context, c ranking.Changes) error {
	s.first.Do(s.before)
	return s.Store.Apply(ctx, c)
}

// TestRecordedWhileArchived checks that a result is refused if its ladder is archived between the
// read and the write of the result.
func TestRecordedWhileArchived(t *testing.T) {
	t.Parallel()
	g := newLadders(t)
	g.mustChangeLadder(t, ranking.ChangeLadder{Change: ranking.UseLadder, Name: "padel"}, 8)
	g.record(t, &alice, alice, bob, 3, 1)
	other := g.newService(&archivingStore{Store: newStore(g.pool), before: func() {
		g.mustChangeLadder(t, ranking.ChangeLadder{Change: ranking.ArchiveLadder, Name: "padel"}, 0)
	}})
	o := g.origin(&alice)
	must(t, other.RecordMatch(t.Context(), o, singles(alice, bob, 3, 2)))
	checkNotice(t, g.notice(t, o.Key), ranking.Refusal{Code: ranking.LadderArchived, Name: "padel"})
	g.mustHaveRatings(t, "the result is refused", "chess Alice 1516", "chess Bob 1484",
		"padel Alice 1516", "padel Bob 1484")
}

// TestLaddersAtOnce checks that no match gets into an archived ladder, and that the stored data
// stays consistent, while two instances record matches in the ladder, a third moves matches out of
// it and back, and a fourth archives it and uses it again.
func TestLaddersAtOnce(t *testing.T) {
	t.Parallel()
	g := newLadders(t)
	g.mustChangeLadder(t, ranking.ChangeLadder{Change: ranking.UseLadder, Name: "padel"}, 8)
	var work errgroup.Group
	people := []command.Person{alice, bob, carol, zoe}
	var keys []string
	for n, sender := range people {
		s := g.newInstance()
		origins := make([]ranking.Origin, 12)
		for i := range origins {
			origins[i] = g.at(&sender, 60*i)
			keys = append(keys, origins[i].Key)
		}
		work.Go(func() error {
			for i, o := range origins {
				var do ranking.Operation
				switch {
				case n < 2:
					if err := s.RecordMatch(t.Context(), o, singles(sender, people[(n+1+i%3)%4], 3, i%4)); err != nil {
						return err
					}
					continue
				case n == 2:
					name := []string{"chess", "padel"}[i%2]
					do = ranking.MoveMatch{Amendment: matchNumber(i/2 + 1), Name: name}
				case i%2 == 0:
					do = ranking.ChangeLadder{Change: ranking.ArchiveLadder, Name: "padel"}
				default:
					do = ranking.ChangeLadder{Change: ranking.UseLadder, Name: "padel"}
				}
				if err := s.Do(asAdmin(t), o, do); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must(t, work.Wait())
	g.has(t, 0, fmt.Sprintf(`handled_commands WHERE outcome = 'refused'
		AND key IN (SELECT key FROM outbox WHERE payload ->> 'code' = '%s')`, ranking.TooManyAtOnce))
	g.has(t, len(keys)+3, "handled_commands")
	archived, recorded := false, 0
	for _, n := range rows[struct{ Kind, Change, Ladder string }](t, g, `
		SELECT kind, coalesce(payload ->> 'change', ''), coalesce(payload -> 'ladder' ->> 'name', payload ->> 'to', '')
		FROM outbox ORDER BY id`) {
		switch {
		case n.Kind == "ladder_changed":
			archived = ranking.LadderChange(n.Change) == ranking.ArchiveLadder
		case n.Ladder == "padel" && (n.Kind == "match_recorded" || n.Kind == "match_moved"):
			if recorded++; archived {
				t.Errorf("%s in an archived ladder", n.Kind)
			}
		}
	}
	if recorded == 0 {
		t.Error("no match got into the ladder that was archived")
	}
	g.verifyClean(t)
}

// TestDuplicatesOfALadder checks that an equal result in another ladder is not a duplicate.
func TestDuplicatesOfALadder(t *testing.T) {
	t.Parallel()
	g := newLadders(t)
	g.Service = newAskingService(g)
	if n, ok := g.recordIn(t, "padel", 5, singles(alice, bob, 3, 1)).(ranking.MatchRecorded); !ok {
		t.Errorf("the result of another ladder is answered with %+v", n)
	}
	if n, ok := g.recordIn(t, "padel", 10, singles(alice, bob, 3, 1)).(ranking.ReportPrompt); !ok ||
		n.Doubt != ranking.DoubtDuplicate {
		t.Errorf("the same result of this ladder is answered with %+v", n)
	}
}

// TestButtonsOfAnotherGroupsLadder checks that a button about a ladder that the chat does not have
// is refused. The ladder may belong to a group that was detached from the chat. A button about a
// match of the chat's group still works.
func TestButtonsOfAnotherGroupsLadder(t *testing.T) {
	t.Parallel()
	g := newGame(t)
	must(t, g.RecordMatch(t.Context(), g.at(&alice, 10), singles(alice, bob, 3, 1)))
	asked := g.askSeason(t, 20)
	before := g.standings(t)
	for name, press := range map[string]func(o ranking.Origin) error{
		"a page": func(o ranking.Origin) error {
			return g.ShowRanking(t.Context(), o)
		},
		"a setting": func(o ranking.Origin) error {
			return g.Do(asAdmin(t), o, choice(ranking.SettingSeasons, ranking.Monthly))
		},
		"a season": func(o ranking.Origin) error {
			return g.Do(asAdmin(t), o, ranking.StartSeason{Tag: asked.Tag})
		},
	} {
		o := below(78, g.press(&alice))
		o.Ladder = 99
		must(t, press(o))
		if got := g.answer(t, o.Key, toast); got != (ranking.Refusal{Code: ranking.UnknownButton}) {
			t.Errorf("%s is answered with %+v", name, got)
		}
	}
	g.has(t, 1, "seasons WHERE ends_at IS NULL")
	equal(t, "changed", before, g.standings(t))

	// The match determines its ladder, whatever ladder its button names.
	o := below(78, g.at(&alice, 40))
	o.Button, o.Ladder = o.Key, 99
	undo, recorded := matchNumber(1), 0
	undo.Changes = &recorded
	must(t, g.Do(t.Context(), o, ranking.UndoMatch{Amendment: undo}))
	g.has(t, 1, "matches WHERE undone_at IS NOT NULL")
}

// TestButtonsOfTheOnlyLadder checks that a button made while the group had one ladder still refers
// to that ladder, even if another ladder applies where the button is.
func TestButtonsOfTheOnlyLadder(t *testing.T) {
	t.Parallel()
	g := newChessAnd(t, "zork")
	for _, topic := range []int64{8, 0} { // in the topic of the button, then as the default
		g.mustChangeLadder(t, ranking.ChangeLadder{Change: ranking.UseLadder, Name: "zork"}, topic)
		if page := g.turn(t, &bob, alice.ID, 1); page.Hidden != 2 {
			t.Errorf("zork counts in topic %d: the button shows %+v", topic, page)
		}
		var zork ladder.ID
		must(t, g.pool.QueryRow(t.Context(), `SELECT id FROM ladders WHERE name = 'zork'`).Scan(&zork))
		o := below(78, g.press(&bob))
		o.Ladder = zork
		g.question(t, o, stats.RankingQuestion{Page: 1})
		if page, ok := g.answer(t, o.Key, "edited_message_id = 78").(stats.RankingPage); !ok || page.Hidden != 0 {
			t.Errorf("zork counts in topic %d: a button about it shows %+v", topic, page)
		}
	}
}

// TestMoveAfterARename checks that if the move of a match adds a player to a ladder, the new
// standing has the player's nick, even if the match is in a season that ended before the rename.
func TestMoveAfterARename(t *testing.T) {
	t.Parallel()
	g := newLadders(t)
	must(t, g.Do(asAdmin(t), g.at(&alice, 60), ranking.StartSeason{}))
	g.startSeason(t, 60, "")
	g.asAdmin(t, &alice, ranking.Rename{Player: g.player(t, "Bob"), Nick: "Ace"})
	g.asAdmin(t, &alice, ranking.MoveMatch{Amendment: matchNumber(1), Name: "padel"})
	equal(t, "those who play padel", []string{"Ace", "Alice"}, texts(t, g, `
		SELECT s.name FROM group_players s JOIN ladders l USING (season_id) WHERE l.name = 'padel' ORDER BY s.name`))
}
