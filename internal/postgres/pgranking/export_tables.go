package pgranking

import (
	"fmt"
	"slices"
	"strings"

	"elobot/internal/ranking"
)

// exportTable is a table of which an export has the rows of one group.
type exportTable struct {
	name string
	// columns are those that an export has. If other rows refer to the rows, these have an id too,
	// which counts them from 1 on. The columns in refersTo have such ids.
	columns string
	// from and where select the rows t of the group $1.
	from, where, order string
	// more has the other columns of a restored row r, with their values in the group $2.
	more [][2]string
}

const ofGroup, ofMatches = `t.group_id = $1`, `m.group_id = $1`

var inGroup = [2]string{"group_id", "$2"}

// exportTables are in an order in which rows refer to earlier ones. What they do not have belongs
// to the chat, such as messages, or to the database, such as keys, secrets, versions, and numbers
// of imports; TestColumnsOfExport lists it. Older exports lack newer columns: these need a default,
// or are null.
var exportTables = []exportTable{
	{
		"chats", `language language_chosen tables celebrations dark_charts time_zone`,
		`chats t`, `t.id = (SELECT chat_id FROM groups WHERE id = $1)`, `t.id`, nil,
	},
	{"groups", `last_match_number`, `groups t`, `t.id = $1`, `t.id`, nil},
	{
		"ladders", `name is_default start_elo k_factor draws_allowed uneven_teams_allowed provisional_k_factor
		provisional_matches margin_of_victory place_matches season_halfway hide_days season_months reporters only_joined
		archived_at created_at`,
		`ladders t`, ofGroup, `t.id`, [][2]string{inGroup, {"season_id", "0"}}, // which is not the last value
	},
	{
		"seasons", `ladder_id number name starts_at ends_at place_matches halfway`,
		`seasons t`, ofGroup, `t.id`, [][2]string{inGroup},
	},
	{
		"players", `telegram_user_id username display_name folded merged_into off_web_at`,
		`players t`, `t.id IN (SELECT id FROM everybody)`, `t.telegram_user_id, t.merged_into IS NOT NULL, t.id`,
		[][2]string{{"group_id", "CASE WHEN num_nonnulls(r.telegram_user_id, r.merged_into) = 0 THEN $2::bigint END"}},
	},
	{
		"sightings", `player_id username former seen_at came nick out_at ignored_at counts_as`,
		`sightings t`, ofGroup, `to_player_id.n`, [][2]string{inGroup},
	},
	{
		"group_players", `season_id player_id named_id name elo start_elo best_elo played won drawn lost streak
		longest_streak last_played_at left_at created_at`,
		`group_players t`, `t.season_id = ANY (ARRAY(SELECT id FROM seasons WHERE group_id = $1))`, `t.id`, nil,
	},
	{
		"matches", `number ladder_id season_id position score_a score_b winner sets games k_factor provisional_k_factor
		provisional_matches margin_of_victory stand_ins_a stand_ins_b reported_by played_at undone_at undone_by changes
		upset created_at`,
		`matches t`, ofGroup, `t.number`,
		[][2]string{inGroup, {"idempotency_key", "'" + ranking.ImportKey + "' || gen_random_uuid()"}},
	},
	{
		"match_players", `match_id player_id named_id side place`,
		`matches m JOIN match_players t ON t.match_id = m.id`, ofMatches, `m.number, t.side, t.place, to_player_id.n`, nil,
	},
	{
		"match_fixes", `match_id old_score_a old_score_b old_winner old_sets new_score_a new_score_b new_winner new_sets
		fixed_by fixed_at`,
		`matches m JOIN match_fixes t ON t.match_id = m.id`, ofMatches, `t.id`, nil,
	},
	{
		"match_moves", `match_id old_ladder_id new_ladder_id moved_by moved_at`,
		`matches m JOIN match_moves t ON t.match_id = m.id`, ofMatches, `t.id`, nil,
	},
	{
		"elo_history", `match_id player_id elo_before elo_after k_factor best_before streak_before longest_before reason
		superseded_at created_at`,
		`matches m JOIN elo_history t ON t.match_id = m.id`, ofMatches, `t.id`, nil,
	},
}

// refersTo maps columns with ids to the tables of the rows that have them.
var refersTo = map[string]string{
	"ladder_id": "ladders", "old_ladder_id": "ladders", "new_ladder_id": "ladders", "season_id": "seasons",
	"match_id": "matches", "player_id": "players", "named_id": "players", "counts_as": "players", "merged_into": "players",
	"reported_by": "players", "undone_by": "players", "fixed_by": "players", "moved_by": "players",
}

func (b exportTable) hasID() bool {
	return slices.Contains([]string{"ladders", "seasons", "players", "matches"}, b.name)
}

func exportTableNames() (names []string) {
	for _, t := range exportTables {
		names = append(names, t.name)
	}
	return names
}

// references returns the tables to which columns refer, which are the arguments from $first on of
// statements about the rows.
func (b exportTable) references(first int) (tables []string, argument map[string]string) {
	argument = make(map[string]string)
	for c := range strings.FieldsSeq(b.columns) {
		if to := refersTo[c]; to != "" {
			if !slices.Contains(tables, to) {
				tables = append(tables, to)
			}
			argument[c] = fmt.Sprintf("$%d::bigint[]", first+slices.Index(tables, to))
		}
	}
	return tables, argument
}

// everybody returns a WITH clause with the players to whom rows of the group $1 refer.
func everybody() string {
	all := []string{`SELECT id FROM players WHERE group_id = $1`}
	for _, b := range exportTables {
		for c := range strings.FieldsSeq(b.columns) {
			if refersTo[c] == "players" && b.name != "players" {
				all = append(all, fmt.Sprintf("SELECT t.%s FROM %s WHERE %s", c, b.from, b.where))
			}
		}
	}
	return `WITH RECURSIVE everybody AS (
		SELECT id FROM (` + strings.Join(all, " UNION ") + `) AS named
		UNION SELECT p.merged_into FROM everybody JOIN players p ON p.id = everybody.id)`
}

// selectIDs returns a query for the ids of the rows, in order.
func (b exportTable) selectIDs() string {
	sql := fmt.Sprintf(`SELECT t.id FROM %s WHERE %s ORDER BY %s`, b.from, b.where, b.order)
	if b.name == "players" {
		sql = everybody() + sql
	}
	return sql
}

// selectRows returns a query for the rows as JSON, without their nulls, and the tables whose ids
// are its arguments from $2 on.
func (b exportTable) selectRows() (string, []string) {
	tables, argument := b.references(2)
	var columns []string
	from, where := b.from, b.where
	if b.hasID() {
		columns = append(columns, fmt.Sprintf("row_number() OVER (ORDER BY %s) AS id", b.order))
	}
	if b.name == "players" {
		where = "$1::bigint > 0 AND t.id = ANY (" + argument["merged_into"] + ")"
	}
	for c := range strings.FieldsSeq(b.columns) {
		switch {
		case argument[c] != "":
			from += fmt.Sprintf(" LEFT JOIN unnest(%s) WITH ORDINALITY AS to_%s (id, n) ON to_%[2]s.id = t.%[2]s",
				argument[c], c)
			columns = append(columns, fmt.Sprintf("to_%s.n AS %[1]s", c))
		case c == "superseded_at":
			columns = append(columns, "nullif(t.superseded_at, 'infinity') AS superseded_at")
		default:
			columns = append(columns, "t."+c)
		}
	}
	return fmt.Sprintf(`SELECT json_strip_nulls(row_to_json(r)) FROM (SELECT %s FROM %s WHERE %s ORDER BY %s) AS r`,
		strings.Join(columns, ", "), from, where, b.order), tables
}
