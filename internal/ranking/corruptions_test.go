package ranking_test

import (
	"context"
	"testing"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// pub is a second group, which must not affect the club. Its id is as long as the id of a
// supergroup.
var pub = ranking.Chat{ID: -1001234567890, Kind: ranking.Group, Title: "Pub"}

// newAuditGame returns a game with two groups. The club has various matches, and Dave has
// joined it without playing. These are the ratings after each match of the club:
//
//	                                  Alice  Bob   Carol  Zoe
//	1  Alice – Bob 3:1                1516   1484
//	2  Alice, Carol – Bob, Zoe 2:2    1515   1485  1499   1501
//	3  Bob – Carol 11:7 9:11 11:5            1502  1482
//	4  Zoe – Alice 3:0, undone
//	5  Carol – Alice 0:3, now 3:2     1497         1500
//	6  Alice, Zoe – Bob, Carol 10:8   1513   1486  1484   1517
//	7  Bob – Alice 1:1                1512   1487
func newAuditGame(t *testing.T) *game {
	t.Helper()
	g := newGame(t)
	type side = []command.Person
	play := func(chat ranking.Chat, a, b side, scores ...ladder.Score) {
		t.Helper()
		o := g.origin(&alice)
		o.Chat = chat
		must(t, g.RecordMatch(t.Context(), o, command.Match{A: a, B: b, Scores: scores}))
	}
	play(club, side{alice}, side{bob}, ladder.Score{A: 3, B: 1})
	play(pub, side{alice}, side{bob}, ladder.Score{A: 0, B: 1})
	play(club, side{alice, carol}, side{bob, zoe}, ladder.Score{A: 2, B: 2})
	play(club, side{bob}, side{carol}, ladder.Score{A: 11, B: 7}, ladder.Score{A: 9, B: 11}, ladder.Score{A: 11, B: 5})
	play(club, side{zoe}, side{alice}, ladder.Score{A: 3, B: 0})
	play(pub, side{alice}, side{carol}, ladder.Score{A: 5, B: 1})
	play(club, side{carol}, side{alice}, ladder.Score{A: 0, B: 3})
	play(club, side{alice, zoe}, side{bob, carol}, ladder.Score{A: 10, B: 8})
	play(club, side{bob}, side{alice}, ladder.Score{A: 1, B: 1})
	must(t, g.Do(asAdmin(t), g.origin(&alice), ranking.UndoMatch{Amendment: matchNumber(4)}))
	must(t, g.Do(asAdmin(t), g.origin(&alice),
		ranking.FixMatch{Amendment: matchNumber(5), Scores: []ladder.Score{{A: 2, B: 3}}}))
	dave := command.Person{ID: 4, Username: "dave", Name: "Dave"}
	must(t, g.Do(t.Context(), g.origin(&dave), ranking.Join{}))
	g.exec(t, shorthand)
	t.Cleanup(func() {
		if _, err := g.pool.Exec(context.Background(), withoutShorthand); err != nil {
			t.Error(err)
		}
	})
	return g
}

// shorthand defines functions with which corruptions refer to the club and its players, matches,
// standings and current history entries.
const shorthand = `
	CREATE FUNCTION club() RETURNS bigint STABLE LANGUAGE sql AS
		'SELECT g.id FROM groups g JOIN chats c ON c.id = g.chat_id WHERE telegram_chat_id = -100';
	CREATE FUNCTION match(n integer) RETURNS bigint STABLE LANGUAGE sql AS
		'SELECT id FROM matches WHERE group_id = club() AND number = n';
	CREATE FUNCTION who(n text) RETURNS bigint STABLE LANGUAGE sql AS
		'SELECT id FROM players WHERE display_name = n';
	CREATE FUNCTION standing(n text) RETURNS bigint STABLE LANGUAGE sql AS
		'SELECT s.id FROM group_players s JOIN ladders l ON l.season_id = s.season_id
		 WHERE group_id = club() AND player_id = who(n)';
	CREATE FUNCTION entry(m integer, n text) RETURNS bigint STABLE LANGUAGE sql AS
		'SELECT id FROM elo_history WHERE match_id = match(m) AND player_id = who(n) AND superseded_at = ''infinity''';`

const withoutShorthand = `DROP FUNCTION club(), match(integer), who(text), standing(text), entry(integer, text)`

// corruption is a manipulation of the data of newAuditGame.
type corruption struct {
	sql []string
	// want has the expected findings: problem, match and player, stored and expected value.
	want []string
	// unrepairable is set if a repair has nothing to write.
	unrepairable bool
	// err is the expected error of a repair.
	err error
	// remaining has the expected findings after a repair.
	remaining []string
	// changesMatches is set if the standings after a repair differ from those before the
	// corruption, because the corruption changed the data from which they are calculated.
	changesMatches bool
}

var corruptions = map[string]corruption{
	"a match missing": {
		sql: []string{
			"DELETE FROM outbox WHERE match_id = match(4)",
			"DELETE FROM elo_history WHERE match_id = match(4)",
			"DELETE FROM match_players WHERE match_id = match(4)",
			"DELETE FROM matches WHERE id = match(4)",
		},
		want:         []string{"missing_number 4"},
		unrepairable: true,
	},
	"numbers without a match": {
		sql:          []string{"UPDATE groups SET last_match_number = 9 WHERE id = club()"},
		want:         []string{"missing_number 8", "missing_number 9"},
		unrepairable: true,
	},
	"numbers that were not assigned": {
		sql:          []string{"UPDATE groups SET last_match_number = 5 WHERE id = club()"},
		want:         []string{"number_not_assigned 6", "number_not_assigned 7"},
		unrepairable: true,
	},
	"a key missing": {
		sql: []string{
			"DELETE FROM handled_commands WHERE key = (SELECT idempotency_key FROM matches WHERE id = match(3))",
		},
		want:         []string{"missing_key 3"},
		unrepairable: true,
	},
	"a key of a refused command": {
		sql: []string{
			"UPDATE handled_commands SET outcome = 'refused' WHERE key = (SELECT idempotency_key FROM matches WHERE id = match(3))",
		},
		want:         []string{"missing_key 3"},
		unrepairable: true,
	},
	"an expired key missing": {
		sql: []string{
			"UPDATE matches SET created_at = now() - interval '25 hours' WHERE id = match(3)",
			"DELETE FROM handled_commands WHERE key = (SELECT idempotency_key FROM matches WHERE id = match(3))",
		},
		unrepairable: true,
	},
	"a duplicate key": {
		sql: []string{
			"ALTER TABLE matches DROP CONSTRAINT matches_idempotency_key_key",
			"UPDATE matches SET idempotency_key = (SELECT idempotency_key FROM matches WHERE id = match(1)) WHERE id = match(6)",
		},
		want:         []string{"duplicate_key 1", "duplicate_key 6"},
		unrepairable: true,
	},
	"all players of a match missing": {
		sql: []string{
			"DELETE FROM elo_history WHERE match_id = match(7)",
			"DELETE FROM match_players WHERE match_id = match(7)",
		},
		want: []string{
			"wrong_sides 7",
			"wrong_elo Alice: 1512 | 1513",
			"wrong_streak Alice: 0 | 1",
			"wrong_counters Alice: 5 (2–2–1) | 4 (2–1–1)",
			"wrong_elo Bob: 1487 | 1486",
			"wrong_streak Bob: 0 | -1",
			"wrong_counters Bob: 5 (1–2–2) | 4 (1–1–2)",
		},
		remaining:      []string{"wrong_sides 7"},
		changesMatches: true,
	},
	"an empty side": {
		sql:  []string{"UPDATE match_players SET side = 2 WHERE match_id = match(7) AND player_id = who('Bob')"},
		want: []string{"wrong_sides 7"},
		err:  ladder.ErrInconsistent,
	},
	"a standing missing": {
		sql:  []string{"DELETE FROM group_players WHERE id = standing('Zoe')"},
		want: []string{"wrong_sides 2", "wrong_sides 6"},
		err:  ladder.ErrInconsistent,
	},
	"a player on the other side": {
		sql: []string{"UPDATE match_players SET side = 1 WHERE match_id = match(6) AND player_id = who('Bob')"},
		want: []string{
			"wrong_entry 6 Bob: 1502 → 1486 (K 32, best 1502, streak 1, longest 1 before) | 1502 → 1518 (K 32, best 1502, streak 1, longest 1 before)",
			"wrong_entry 7 Bob: 1486 → 1487 (K 32, best 1502, streak -1, longest 1 before) | 1518 → 1518 (K 32, best 1518, streak 2, longest 2 before)",
			"wrong_entry 7 Alice: 1513 → 1512 (K 32, best 1516, streak 1, longest 1 before) | 1513 → 1513 (K 32, best 1516, streak 1, longest 1 before)",
			"wrong_elo Alice: 1512 | 1513",
			"wrong_elo Bob: 1487 | 1518",
			"wrong_best Bob: 1502 | 1518", "wrong_longest Bob: 1 | 2",
			"wrong_counters Bob: 5 (1–2–2) | 5 (2–2–1)",
		},
		changesMatches: true,
	},
	"a part of somebody who counts for nobody else": {
		sql: []string{
			"UPDATE match_players SET named_id = who('Dave') WHERE match_id = match(7) AND player_id = who('Bob')",
		},
		want:         []string{"wrong_parts 7"},
		unrepairable: true,
	},
	"a merge without a replay": { // match 4 is undone anyway
		sql: []string{
			"UPDATE sightings SET counts_as = who('Alice') WHERE group_id = club() AND player_id = who('Zoe')",
		},
		want:         []string{"wrong_parts 2", "wrong_parts 6"},
		unrepairable: true,
	},
	"a split without a replay": {
		sql:          []string{"UPDATE matches SET undone_at = 'epoch' WHERE id = match(4)"},
		want:         []string{"wrong_parts 4"},
		unrepairable: true,
	},
	"a score that does not match the sets": {
		sql:          []string{"UPDATE matches SET score_a = 3 WHERE id = match(3)"},
		want:         []string{"wrong_sets 3: 3:1 | 2:1"},
		unrepairable: true,
	},
	"an entry missing": {
		sql: []string{"DELETE FROM elo_history WHERE id = entry(7, 'Bob')"},
		want: []string{
			"missing_entry 7 Bob: nothing | 1486 → 1487 (K 32, best 1502, streak -1, longest 1 before)",
		},
	},
	"a current entry superseded": {
		sql: []string{"UPDATE elo_history SET superseded_at = now() WHERE id = entry(5, 'Carol')"},
		want: []string{
			"missing_entry 5 Carol: nothing | 1482 → 1500 (K 32, best 1500, streak -1, longest 0 before)",
		},
	},
	"an entry of an undone match": {
		sql: []string{
			"UPDATE elo_history SET superseded_at = 'infinity' WHERE match_id = match(4) AND player_id = who('Zoe')",
		},
		want: []string{
			"entry_of_undone 4 Zoe: 1501 → 1518 (K 32, best 1501, streak 0, longest 0 before) | nothing",
		},
	},
	"a match undone without a replay": {
		sql: []string{"UPDATE matches SET undone_at = now() WHERE id = match(7)"},
		want: []string{
			"entry_of_undone 7 Bob: 1486 → 1487 (K 32, best 1502, streak -1, longest 1 before) | nothing",
			"entry_of_undone 7 Alice: 1513 → 1512 (K 32, best 1516, streak 1, longest 1 before) | nothing",
			"wrong_elo Alice: 1512 | 1513",
			"wrong_streak Alice: 0 | 1",
			"wrong_counters Alice: 5 (2–2–1) | 4 (2–1–1)",
			"wrong_elo Bob: 1487 | 1486",
			"wrong_streak Bob: 0 | -1",
			"wrong_counters Bob: 5 (1–2–2) | 4 (1–1–2)",
		},
		changesMatches: true,
	},
	"another rating after": {
		sql: []string{"UPDATE elo_history SET elo_after = 1518 WHERE id = entry(6, 'Zoe')"},
		want: []string{
			"wrong_entry 6 Zoe: 1501 → 1518 (K 32, best 1501, streak 0, longest 0 before) | 1501 → 1517 (K 32, best 1501, streak 0, longest 0 before)",
		},
	},
	"another rating before and after": {
		sql: []string{
			"UPDATE elo_history SET elo_before = elo_before - 2, elo_after = elo_after - 2 WHERE id = entry(6, 'Zoe')",
		},
		want: []string{
			"wrong_entry 6 Zoe: 1499 → 1515 (K 32, best 1501, streak 0, longest 0 before) | 1501 → 1517 (K 32, best 1501, streak 0, longest 0 before)",
		},
	},
	"another best rating before": {
		sql: []string{"UPDATE elo_history SET best_before = 1600 WHERE id = entry(6, 'Zoe')"},
		want: []string{
			"wrong_entry 6 Zoe: 1501 → 1517 (K 32, best 1600, streak 0, longest 0 before) | 1501 → 1517 (K 32, best 1501, streak 0, longest 0 before)",
		},
	},
	"another streak before": {
		sql: []string{"UPDATE elo_history SET streak_before = -4 WHERE id = entry(1, 'Bob')"},
		want: []string{
			"wrong_entry 1 Bob: 1500 → 1484 (K 32, best 1500, streak -4, longest 0 before) | 1500 → 1484 (K 32, best 1500, streak 0, longest 0 before)",
		},
	},
	"another longest streak before": {
		sql: []string{"UPDATE elo_history SET longest_before = 4 WHERE id = entry(1, 'Bob')"},
		want: []string{
			"wrong_entry 1 Bob: 1500 → 1484 (K 32, best 1500, streak 0, longest 4 before) | 1500 → 1484 (K 32, best 1500, streak 0, longest 0 before)",
		},
	},
	"another longest streak": {
		sql:  []string{"UPDATE group_players SET longest_streak = longest_streak + 1 WHERE id = standing('Alice')"},
		want: []string{"wrong_longest Alice: 2 | 1"},
	},
	"an upset that was none": {
		sql:  []string{"UPDATE matches SET upset = 150 WHERE id = match(1)"},
		want: []string{"wrong_upset 1: 150 | 0"},
	},
	"an upset in an undone match": {
		sql:  []string{"UPDATE matches SET upset = 100 WHERE id = match(4)"},
		want: []string{"wrong_upset 4: 100 | 0"},
	},
	"another rating": {
		sql:  []string{"UPDATE group_players SET elo = elo + 1 WHERE id = standing('Alice')"},
		want: []string{"wrong_elo Alice: 1513 | 1512"},
	},
	"another rating of somebody who never played": {
		sql:  []string{"UPDATE group_players SET elo = 1490 WHERE id = standing('Dave')"},
		want: []string{"wrong_elo Dave: 1490 | 1500"},
	},
	"another start": {
		sql: []string{"UPDATE group_players SET start_elo = 1501 WHERE id = standing('Dave')"},
		want: []string{
			"wrong_elo Dave: 1500 | 1501",
			"wrong_best Dave: 1500 | 1501",
		},
		changesMatches: true,
	},
	"another start of somebody who has played": {
		sql:  []string{"UPDATE group_players SET start_elo = 1900 WHERE id = standing('Alice')"},
		want: []string{"wrong_start Alice: 1900 | 1500"},
	},
	"a merged player with a standing": {
		sql: []string{
			"UPDATE players SET merged_into = who('Carol'), telegram_user_id = NULL, username = NULL WHERE id = who('Dave')",
		},
		want:         []string{"merged_player Dave"},
		unrepairable: true,
	},
	"an unclaimed player of another group": {
		sql: []string{
			"UPDATE players SET telegram_user_id = NULL, username = 'dave', group_id = (SELECT max(id) FROM groups) WHERE id = who('Dave')",
		},
		want:         []string{"foreign_player Dave"},
		unrepairable: true,
	},
	"another best rating": {
		sql:  []string{"UPDATE group_players SET best_elo = 1600 WHERE id = standing('Zoe')"},
		want: []string{"wrong_best Zoe: 1600 | 1517"},
	},
	"a best rating below the rating": {
		sql: []string{
			"ALTER TABLE group_players DROP CONSTRAINT group_players_best_elo_check",
			"UPDATE group_players SET best_elo = 1400 WHERE id = standing('Carol')",
		},
		want: []string{"wrong_best Carol: 1400 | 1500"},
	},
	"another streak": {
		sql:  []string{"UPDATE group_players SET streak = -1 WHERE id = standing('Bob')"},
		want: []string{"wrong_streak Bob: -1 | 0"},
	},
	"never played": {
		sql:  []string{"UPDATE group_players SET last_played_at = NULL WHERE id = standing('Bob')"},
		want: []string{"wrong_last_played Bob: never | 2023-11-14T22:13:20Z"},
	},
	"played later": {
		sql: []string{
			"UPDATE group_players SET last_played_at = '2023-11-15 12:00:00Z' WHERE id IN (standing('Alice'), standing('Dave'))",
		},
		want: []string{
			"wrong_last_played Alice: 2023-11-15T12:00:00Z | 2023-11-14T22:13:20Z", "wrong_last_played Dave: 2023-11-15T12:00:00Z | never",
		},
	},
	"other counters": {
		sql:  []string{"UPDATE group_players SET won = won - 1, drawn = drawn + 1 WHERE id = standing('Alice')"},
		want: []string{"wrong_counters Alice: 5 (1–3–1) | 5 (2–2–1)"},
	},
	"counters that do not add up": {
		sql: []string{
			"ALTER TABLE group_players DROP CONSTRAINT group_players_played_check",
			"UPDATE group_players SET played = 9 WHERE id = standing('Bob')",
		},
		want: []string{"wrong_counters Bob: 9 (1–2–2) | 5 (1–2–2)"},
	},
	"another score": {
		sql: []string{"UPDATE matches SET score_a = 2 WHERE id = match(7)"},
		want: []string{
			"wrong_entry 7 Bob: 1486 → 1487 (K 32, best 1502, streak -1, longest 1 before) | 1486 → 1503 (K 32, best 1502, streak -1, longest 1 before)",
			"wrong_entry 7 Alice: 1513 → 1512 (K 32, best 1516, streak 1, longest 1 before) | 1513 → 1496 (K 32, best 1516, streak 1, longest 1 before)",
			"wrong_elo Alice: 1512 | 1496",
			"wrong_streak Alice: 0 | -1",
			"wrong_counters Alice: 5 (2–2–1) | 5 (2–1–2)",
			"wrong_elo Bob: 1487 | 1503",
			"wrong_best Bob: 1502 | 1503",
			"wrong_streak Bob: 0 | 1",
			"wrong_counters Bob: 5 (1–2–2) | 5 (2–1–2)",
		},
		changesMatches: true,
	},
	"another K": {
		sql: []string{"UPDATE matches SET k_factor = 320 WHERE id = match(7)"},
		want: []string{
			"wrong_entry 7 Bob: 1486 → 1487 (K 32, best 1502, streak -1, longest 1 before) | 1486 → 1498 (K 320, best 1502, streak -1, longest 1 before)",
			"wrong_entry 7 Alice: 1513 → 1512 (K 32, best 1516, streak 1, longest 1 before) | 1513 → 1501 (K 320, best 1516, streak 1, longest 1 before)",
			"wrong_elo Alice: 1512 | 1501",
			"wrong_elo Bob: 1487 | 1498",
		},
		changesMatches: true,
	},
	"another K of an entry": {
		sql: []string{"UPDATE elo_history SET k_factor = 64 WHERE id = entry(7, 'Bob')"},
		want: []string{
			"wrong_entry 7 Bob: 1486 → 1487 (K 64, best 1502, streak -1, longest 1 before) | 1486 → 1487 (K 32, best 1502, streak -1, longest 1 before)",
		},
	},
	"a provisional K": { // only Zoe had played fewer than two matches that count
		sql: []string{"UPDATE matches SET provisional_k_factor = 320, provisional_matches = 2 WHERE id = match(6)"},
		want: []string{
			"wrong_entry 6 Zoe: 1501 → 1517 (K 32, best 1501, streak 0, longest 0 before) | 1501 → 1662 (K 320, best 1501, streak 0, longest 0 before)",
			"wrong_elo Zoe: 1517 | 1662",
			"wrong_best Zoe: 1517 | 1662",
		},
		changesMatches: true,
	},
	"the margin of victory counts": {
		sql: []string{"UPDATE matches SET margin_of_victory = true WHERE id = match(6)"},
		want: []string{
			"wrong_entry 6 Alice: 1497 → 1513 (K 32, best 1516, streak -1, longest 1 before) | 1497 → 1521 (K 32, best 1516, streak -1, longest 1 before)",
			"wrong_entry 6 Zoe: 1501 → 1517 (K 32, best 1501, streak 0, longest 0 before) | 1501 → 1525 (K 32, best 1501, streak 0, longest 0 before)",
			"wrong_entry 6 Bob: 1502 → 1486 (K 32, best 1502, streak 1, longest 1 before) | 1502 → 1478 (K 32, best 1502, streak 1, longest 1 before)",
			"wrong_entry 6 Carol: 1500 → 1484 (K 32, best 1500, streak 1, longest 1 before) | 1500 → 1476 (K 32, best 1500, streak 1, longest 1 before)",
			"wrong_entry 7 Bob: 1486 → 1487 (K 32, best 1502, streak -1, longest 1 before) | 1478 → 1480 (K 32, best 1502, streak -1, longest 1 before)",
			"wrong_entry 7 Alice: 1513 → 1512 (K 32, best 1516, streak 1, longest 1 before) | 1521 → 1519 (K 32, best 1521, streak 1, longest 1 before)",
			"wrong_elo Alice: 1512 | 1519",
			"wrong_best Alice: 1516 | 1521",
			"wrong_elo Bob: 1487 | 1480",
			"wrong_elo Carol: 1484 | 1476",
			"wrong_elo Zoe: 1517 | 1525",
			"wrong_best Zoe: 1517 | 1525",
		},
		changesMatches: true,
	},
	"other rules of the ladder": {
		sql:          []string{"UPDATE ladders SET k_factor = 10, start_elo = 1000, draws_allowed = false"},
		unrepairable: true,
	},
}

// corrupt applies the named corruption, and marks the game as corrupted.
func (g *game) corrupt(t *testing.T, name string) corruption {
	t.Helper()
	c, there := corruptions[name]
	if !there {
		t.Fatalf("no such corruption: %s", name)
	}
	g.corrupted = true
	for _, sql := range c.sql {
		g.exec(t, sql)
	}
	return c
}
