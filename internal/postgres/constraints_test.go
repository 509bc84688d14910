package postgres_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
)

// oneOfEach inserts at least one row into every table. In a table with generated ids, the first row
// has the id 1. Player 3 has been merged into player 1.
var oneOfEach = `
	INSERT INTO chats (telegram_chat_id, kind) VALUES (-100, 'group');
	INSERT INTO chat_aliases (telegram_chat_id, chat_id) VALUES (-99, 1);
	INSERT INTO groups (chat_id, last_match_number) VALUES (1, 1);
	` + dbtest.DefaultLadders + `
	INSERT INTO players (telegram_user_id, group_id, username, display_name)
	    VALUES (11, NULL, 'alice', 'Alice'), (NULL, 1, 'bob', 'bob');
	INSERT INTO players (merged_into, display_name) VALUES (1, 'al');
	INSERT INTO sightings VALUES (1, 1, 'alice', now());
	INSERT INTO group_players
	    (season_id, player_id, name, elo, start_elo, best_elo, played, won, lost, streak, longest_streak) VALUES
	    (1, 1, 'Alice', 1516, 1500, 1516, 1, 1, 0, 1, 1), (1, 2, 'bob', 1484, 1500, 1500, 1, 0, 1, -1, 0);
	INSERT INTO matches
	    (group_id, ladder_id, season_id, number, score_a, score_b, k_factor, reported_by, played_at, idempotency_key)
	    VALUES (1, 1, 1, 1, 3, 1, 32, 1, now(), 'm:-100:1');
	INSERT INTO match_players SELECT id, side, side, 1 FROM matches, generate_series(1, 2) AS side;
	INSERT INTO match_fixes (match_id, old_score_a, old_score_b, new_score_a, new_score_b) VALUES (1, 3, 2, 3, 1);
	INSERT INTO match_messages VALUES (-100, 7, 1);
	INSERT INTO elo_history
	    (match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, longest_before, reason)
	    VALUES (1, 1, 1500, 1516, 32, 1500, 0, 0, 'match'), (1, 2, 1500, 1484, 32, 1500, 0, 0, 'match');
	INSERT INTO handled_commands VALUES ('m:-100:1');
	INSERT INTO outbox (chat_id, kind, payload, supersede_key) VALUES (1, 'k', '{}', 'card:1');
	INSERT INTO leases VALUES ('leader', 'x', 1, now());
	INSERT INTO bot (telegram_user_id) VALUES (7);
	INSERT INTO update_attempts VALUES (5, 1);
	INSERT INTO ensured_messages VALUES (1, 'board', 7, '');
	INSERT INTO boards (chat_id, ladder_id) VALUES (1, 1);
	` + dbtest.PadelLadders("id = 1") + `
	UPDATE ladders SET archived_at = now() WHERE name = 'padel';
	INSERT INTO topics VALUES (1, 8, 2);
	INSERT INTO match_moves (match_id, old_ladder_id, new_ladder_id) VALUES (1, 2, 1);
	INSERT INTO imports VALUES (1, 1, 1, 1, 1, '{}');
	INSERT INTO start_ratings VALUES (1, 1, 1, 1500, 1600);
	INSERT INTO prompts (id, chat_id, kind, match_id) VALUES (1, 1, 'undo', 1);
	INSERT INTO timers VALUES ('t:prompt:1', 1, now());
	INSERT INTO dead_letters (kind, update_id, outbox_id, payload, last_error, attempts, first_seen_at)
	    VALUES ('update', 5, NULL, 'x', 'why', 1, now()), ('notice', NULL, 5, 'x', 'why', 1, now());`

const (
	anotherMatch = `INSERT INTO matches
		(id, group_id, ladder_id, season_id, number, score_a, score_b, k_factor, reported_by, played_at, idempotency_key)
		OVERRIDING SYSTEM VALUE VALUES `
	anotherFix = `INSERT INTO match_fixes
		(match_id, old_score_a, old_score_b, old_sets, new_score_a, new_score_b, new_sets, fixed_by) VALUES `
	anotherEntry = `INSERT INTO elo_history
		(match_id, player_id, elo_before, elo_after, k_factor, best_before, streak_before, longest_before,
		reason, superseded_at) VALUES `
	anotherLetter = `INSERT INTO dead_letters
		(kind, update_id, outbox_id, payload, last_error, attempts, first_seen_at) VALUES `
)

// breaks lists, for each unique index and each constraint of a table or domain except NOT NULL,
// statements that it must reject.
var breaks = map[string][]string{
	"unchanged":                  {`SELECT false::unchanged`, `SELECT NULL::unchanged`},
	"lease_held":                 {`SELECT false::lease_held`, `SELECT NULL::lease_held`},
	"bot_pkey":                   {`INSERT INTO bot (telegram_user_id) VALUES (8)`},
	"bot_only_one_check":         {`INSERT INTO bot VALUES (false, 8)`},
	"bot_telegram_user_id_check": {`UPDATE bot SET telegram_user_id = 0`},
	"chats_pkey":                 {`INSERT INTO chats (id, telegram_chat_id, kind) OVERRIDING SYSTEM VALUE VALUES (1, 5, 'group')`},
	"chats_telegram_chat_id_key": {`INSERT INTO chats (telegram_chat_id, kind) VALUES (-100, 'private')`},
	"chats_kind_check": {
		`INSERT INTO chats (telegram_chat_id, kind) VALUES (5, 'channel')`, `UPDATE chats SET kind = ''`,
	},
	"chats_parkings_check":  {`UPDATE chats SET parkings = -1`, `UPDATE chats SET parkings = 5`},
	"chats_time_zone_check": {`UPDATE chats SET time_zone = ''`, `UPDATE chats SET time_zone = repeat('x', 65)`},
	"chats_no_alias": {
		`INSERT INTO chats (telegram_chat_id, kind) VALUES (-99, 'group')`, `UPDATE chats SET telegram_chat_id = -99`,
	},
	"chat_aliases_pkey":         {`INSERT INTO chat_aliases VALUES (-99, 1)`},
	"chat_aliases_chat_id_fkey": {`INSERT INTO chat_aliases VALUES (5, 99)`, `UPDATE chat_aliases SET chat_id = 99`},
	"chat_aliases_no_chat": {
		`INSERT INTO chat_aliases VALUES (-100, 1)`, `UPDATE chat_aliases SET telegram_chat_id = -100`,
	},
	"groups_pkey": {`INSERT INTO chats (telegram_chat_id, kind) VALUES (5, 'group');
		INSERT INTO groups (id, chat_id) OVERRIDING SYSTEM VALUE SELECT 1, max(id) FROM chats`},
	"groups_chat_id_key":             {`INSERT INTO groups (chat_id) VALUES (1)`},
	"groups_chat_id_fkey":            {`INSERT INTO groups (chat_id) VALUES (99)`, `UPDATE groups SET chat_id = 99`},
	"groups_web_salt_check":          {`UPDATE groups SET web_on = true`},
	"groups_last_match_number_check": {`UPDATE groups SET last_match_number = -1`},
	"groups_chat_check":              {`UPDATE groups SET chat_id = NULL`, `UPDATE groups SET former_chat_id = chat_id`},
	"groups_former_chat_id_fkey":     {`INSERT INTO groups (former_chat_id) VALUES (99)`},
	"imports_pkey":                   {`INSERT INTO imports VALUES (1, 1, 1, 1, 1, '{}')`},
	"imports_ladder_id_fkey":         {`INSERT INTO imports VALUES (1, 2, 99, 1, 1, '{}')`},
	"imports_number_check":           {`UPDATE imports SET number = 0`},
	"imports_matches_check":          {`UPDATE imports SET matches = -1`, `UPDATE imports SET first_match = 0`},
	"start_ratings_pkey":             {`INSERT INTO start_ratings VALUES (1, 1, 1, 1500, 1600)`},
	"start_ratings_import_fkey":      {`INSERT INTO start_ratings VALUES (1, 2, 1, 1500, 1600)`},
	"start_ratings_check":            {`UPDATE start_ratings SET old_start = -1`, `UPDATE start_ratings SET new_start = 10001`},
	"ladders_pkey":                   {`INSERT INTO ladders (id, group_id, is_default, season_id) OVERRIDING SYSTEM VALUE VALUES (1, 1, false, 1)`},
	// The primary key is older and always fails first, so the statement drops it.
	"ladders_group_id_id_key": {`ALTER TABLE seasons DROP CONSTRAINT seasons_ladder_id_fkey;
		ALTER TABLE ladders DROP CONSTRAINT ladders_pkey CASCADE;
		INSERT INTO ladders (id, group_id, is_default, season_id) OVERRIDING SYSTEM VALUE VALUES (1, 1, false, 1)`},
	"ladders_group_id_fkey":  {`INSERT INTO ladders (group_id, is_default, season_id) VALUES (99, true, 1)`},
	"ladders_season_id_fkey": {`SET CONSTRAINTS ALL IMMEDIATE; UPDATE ladders SET season_id = 3 - season_id`},
	"seasons_pkey":           {`INSERT INTO seasons (id, group_id, ladder_id, number, starts_at) OVERRIDING SYSTEM VALUE VALUES (1, 1, 1, 2, now())`},
	"seasons_ladder_id_number_key": {
		`INSERT INTO seasons (group_id, ladder_id, number, starts_at) VALUES (1, 1, 2, now()), (1, 1, 2, now())`,
	},
	// The primary key is older and always fails first, so the statement drops it.
	"seasons_group_id_ladder_id_id_key": {`ALTER TABLE ladders DROP CONSTRAINT ladders_season_id_fkey;
		ALTER TABLE matches DROP CONSTRAINT matches_season_id_fkey;
		ALTER TABLE seasons DROP CONSTRAINT seasons_pkey CASCADE;
		INSERT INTO seasons (id, group_id, ladder_id, number, starts_at) OVERRIDING SYSTEM VALUE VALUES (1, 1, 1, 2, now())`},
	"seasons_ladder_id_fkey": {`INSERT INTO seasons (group_id, ladder_id, number) VALUES (1, 99, 1)`},
	"seasons_number_check": {
		`INSERT INTO seasons (group_id, ladder_id, number) VALUES (1, 1, 0)`, `INSERT INTO seasons (group_id, ladder_id, number) VALUES (1, 1, 2)`,
		`UPDATE seasons SET starts_at = now()`,
	},
	"seasons_name_check":          {`UPDATE seasons SET name = ''`, `UPDATE seasons SET name = repeat('x', 33)`},
	"seasons_ends_at_check":       {`INSERT INTO seasons (group_id, ladder_id, number, starts_at, ends_at) VALUES (1, 1, 2, now(), now())`},
	"ladders_start_elo_check":     {`UPDATE ladders SET start_elo = -1`, `UPDATE ladders SET start_elo = 10001`},
	"ladders_k_factor_check":      {`UPDATE ladders SET k_factor = 0`, `UPDATE ladders SET k_factor = 1001`},
	"ladders_season_months_check": {`UPDATE ladders SET season_months = 2`},
	"ladders_hide_days_check":     {`UPDATE ladders SET hide_days = -1`, `UPDATE ladders SET hide_days = 3651`},
	"ladders_reporters_check":     {`UPDATE ladders SET reporters = -1`, `UPDATE ladders SET reporters = 3`},
	"ladders_place_matches_check": {`UPDATE ladders SET place_matches = 0`, `UPDATE ladders SET place_matches = 101`},
	"ladders_provisional_check": {
		`UPDATE ladders SET provisional_k_factor = 64`, `UPDATE ladders SET provisional_matches = 10`,
		`UPDATE ladders SET provisional_k_factor = 1001, provisional_matches = 10`,
		`UPDATE ladders SET provisional_k_factor = 64, provisional_matches = 101`,
		`UPDATE ladders SET provisional_k_factor = -1, provisional_matches = 10`,
		`UPDATE ladders SET provisional_k_factor = 64, provisional_matches = -1`,
	},
	"ladders_default_key": {`INSERT INTO ladders (group_id, is_default, season_id) VALUES (1, true, 1)`},
	"players_pkey": {
		`INSERT INTO players (id, group_id, username, display_name) OVERRIDING SYSTEM VALUE VALUES (1, 1, 'new', 'new')`,
	},
	"players_telegram_user_id_key": {
		`INSERT INTO players (telegram_user_id, display_name) VALUES (11, 'x')`, `UPDATE players SET telegram_user_id = 11, group_id = NULL WHERE id = 2`,
	},
	"players_merged_into_fkey": {`UPDATE players SET merged_into = 99 WHERE id = 3`},
	"players_group_id_fkey":    {`UPDATE players SET group_id = 99 WHERE id = 2`},
	"players_folded_check": {
		`UPDATE players SET folded = '' WHERE id = 2`, `UPDATE players SET folded = 'bob' WHERE id = 2`,
		`UPDATE players SET folded = 'alice', username = NULL WHERE id = 1`,
	},
	"players_guest_key": {
		`INSERT INTO players (group_id, display_name, folded) VALUES (1, 'Tom', 'tom'), (1, 'TOM', 'tom')`,
	},
	"players_identity_check": {
		`INSERT INTO players (display_name) VALUES ('x')`,
		`INSERT INTO players (username, display_name) VALUES ('x', 'x')`,
		`UPDATE players SET group_id = 1 WHERE id = 1`,
		// A merged player has no group, username or Telegram id, and points to another player.
		`UPDATE players SET merged_into = 1 WHERE id = 2`,
		`UPDATE players SET merged_into = 1, username = NULL WHERE id = 2`,
		`UPDATE players SET merged_into = 1, group_id = NULL WHERE id = 2`,
		`UPDATE players SET merged_into = 2, username = NULL WHERE id = 1`,
		`UPDATE players SET merged_into = 2, telegram_user_id = NULL WHERE id = 1`,
		`UPDATE players SET merged_into = 2, username = NULL, group_id = NULL WHERE id = 2`,
		`UPDATE players SET merged_into = NULL WHERE id = 3`,
		`UPDATE players SET username = 'al' WHERE id = 3`,
		`UPDATE players SET telegram_user_id = 33 WHERE id = 3`,
	},
	"players_username_check":     {`UPDATE players SET username = '' WHERE id = 1`},
	"players_display_name_check": {`UPDATE players SET display_name = ''`},
	"players_unclaimed_key":      {`INSERT INTO players (group_id, username, display_name) VALUES (1, 'BOB', 'x')`},
	"sightings_pkey":             {`INSERT INTO sightings VALUES (1, 1, 'new', now())`},
	"sightings_group_id_fkey":    {`INSERT INTO sightings VALUES (99, 1, 'new', now())`},
	"sightings_player_id_fkey":   {`INSERT INTO sightings VALUES (1, 99, 'new', now())`},
	"sightings_username_check":   {`UPDATE sightings SET username = ''`},
	"sightings_nick_check":       {`UPDATE sightings SET nick = ''`, `UPDATE sightings SET nick = repeat('x', 33)`},
	"sightings_counts_as_check":  {`UPDATE sightings SET counts_as = 1`},
	"sightings_counts_as_fkey":   {`UPDATE sightings SET counts_as = 99`},
	"sightings_username_key":     {`INSERT INTO sightings VALUES (1, 2, 'ALICE', now())`},
	"group_players_pkey": {`INSERT INTO players (group_id, username, display_name) VALUES (1, 'new', 'new');
		INSERT INTO group_players (id, season_id, player_id, name, elo, start_elo, best_elo)
		OVERRIDING SYSTEM VALUE VALUES (1, 1, 3, 'new', 1, 1, 1)`},
	"group_players_season_id_player_id_key": {
		`INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo) VALUES (1, 1, 'x', 1, 1, 1)`,
	},
	"group_players_named_id_fkey": {`UPDATE group_players SET named_id = 99 WHERE id = 1`},
	"group_players_season_id_fkey": {
		`INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo) VALUES (99, 1, 'x', 1, 1, 1)`,
	},
	"group_players_player_id_fkey": {
		`INSERT INTO group_players (season_id, player_id, name, elo, start_elo, best_elo) VALUES (1, 99, 'x', 1, 1, 1)`,
	},
	"group_players_elo_check": {
		`UPDATE group_players SET elo = -1`,
		// A value above the limit also exceeds the best rating, and the server checks constraints
		// in alphabetical order.
		`ALTER TABLE group_players DROP CONSTRAINT group_players_best_elo_check; UPDATE group_players SET elo = 10001`,
	},
	"group_players_start_elo_check": {`UPDATE group_players SET start_elo = -1`, `UPDATE group_players SET start_elo = 10001`},
	"group_players_best_elo_check": {
		`UPDATE group_players SET best_elo = elo - 1`, `UPDATE group_players SET best_elo = 10001`,
	},
	"group_players_name_check": {`UPDATE group_players SET name = ''`},
	"group_players_played_check": {
		`UPDATE group_players SET played = 2`, `UPDATE group_players SET won = won + 1`,
		`UPDATE group_players SET won = 2, lost = -1, streak = 1 WHERE id = 1`,
		`UPDATE group_players SET drawn = -1, won = 2 WHERE id = 1`,
		`ALTER TABLE group_players DROP CONSTRAINT group_players_longest_streak_check; UPDATE group_players SET won = -1, lost = 2 WHERE id = 2`,
	},
	"group_players_streak_check": {
		// A streak of more wins than longest_streak also violates the constraint of that column,
		// and the server checks constraints in alphabetical order.
		`ALTER TABLE group_players DROP CONSTRAINT group_players_longest_streak_check; UPDATE group_players SET streak = 2 WHERE id = 1`,
		`UPDATE group_players SET streak = -1 WHERE id = 1`,
	},
	"group_players_longest_streak_check": {
		`UPDATE group_players SET longest_streak = 0 WHERE id = 1`, `UPDATE group_players SET longest_streak = 2 WHERE id = 1`,
		`UPDATE group_players SET longest_streak = -1 WHERE id = 2`,
	},
	"matches_pkey":                {anotherMatch + `(1, 1, 1, 1, 2, 0, 0, 32, NULL, now(), 'new')`},
	"matches_group_id_number_key": {anotherMatch + `(9, 1, 1, 1, 1, 0, 0, 32, NULL, now(), 'new')`},
	// This match would have the position of the first match.
	"matches_ladder_id_position_key": {
		strings.Replace(anotherMatch, "idempotency_key", "idempotency_key, position", 1) +
			`(9, 1, 1, 1, 2, 0, 0, 32, NULL, now(), 'new', 1::bigint << 32)`,
	},
	"matches_idempotency_key_key": {anotherMatch + `(9, 1, 1, 1, 2, 0, 0, 32, NULL, now(), 'm:-100:1')`},
	// The season of a match must be of the match's ladder and group.
	"matches_season_id_fkey": {
		anotherMatch + `(9, 1, 99, 99, 2, 0, 0, 32, NULL, now(), 'new')`,
		`INSERT INTO chats (telegram_chat_id, kind) VALUES (5, 'group');
		INSERT INTO groups (chat_id) SELECT max(id) FROM chats; UPDATE matches SET group_id = (SELECT max(id) FROM groups)`,
	},
	"matches_reported_by_fkey": {anotherMatch + `(9, 1, 1, 1, 2, 0, 0, 32, 99, now(), 'new')`},
	"matches_number_check":     {anotherMatch + `(9, 1, 1, 1, 0, 0, 0, 32, NULL, now(), 'new')`},
	"matches_score_check": {
		`UPDATE matches SET score_a = -1`, `UPDATE matches SET score_b = -1`,
		`UPDATE matches SET score_a = 1000`, `UPDATE matches SET score_b = 1000`, `UPDATE matches SET score_a = 2000, score_b = 2000`,
	},
	"matches_winner_check": {
		`UPDATE matches SET winner = 1`, `UPDATE matches SET score_a = NULL`, `UPDATE matches SET score_b = NULL`,
		`UPDATE matches SET score_a = NULL, score_b = NULL`, `UPDATE matches SET score_a = NULL, score_b = NULL, winner = 3`,
		`UPDATE matches SET score_a = NULL, winner = 0`, `UPDATE matches SET score_b = NULL, winner = 0`,
		`UPDATE matches SET score_a = NULL, score_b = NULL, winner = 1, sets = '{{11,7},{9,11}}'`,
	},
	"matches_k_factor_check": {`UPDATE matches SET k_factor = 0`, `UPDATE matches SET k_factor = 1001`},
	"matches_provisional_check": {
		`UPDATE matches SET provisional_k_factor = 64`, `UPDATE matches SET provisional_matches = 10`,
		`UPDATE matches SET provisional_k_factor = 1001, provisional_matches = 10`,
		`UPDATE matches SET provisional_k_factor = 64, provisional_matches = 101`,
		`UPDATE matches SET provisional_k_factor = -1, provisional_matches = 10`,
		`UPDATE matches SET provisional_k_factor = 64, provisional_matches = -1`,
	},
	"matches_undone_by_fkey":  {`UPDATE matches SET undone_at = now(), undone_by = 99`},
	"matches_undone_by_check": {`UPDATE matches SET undone_by = 1`},
	"matches_changes_check":   {`UPDATE matches SET changes = -1`},
	"matches_games_check":     {`UPDATE matches SET games = ''`},
	"matches_stand_ins_check": {
		`UPDATE matches SET stand_ins_a = 0`, `UPDATE matches SET stand_ins_b = 0`,
		`UPDATE matches SET stand_ins_a = 3`, `UPDATE matches SET stand_ins_a = 1, stand_ins_b = 2`,
	},
	"matches_sets_check": {
		`UPDATE matches SET sets = '{}'`,
		`UPDATE matches SET sets = '{11,7}'`,
		`UPDATE matches SET sets = '{{11,7}}'`,
		`UPDATE matches SET sets = array_fill(1::smallint, ARRAY[26, 2])`,
		`UPDATE matches SET sets = '{{11},{7}}'`,
		`UPDATE matches SET sets = '{{11,7,1},{9,11,1}}'`,
		`UPDATE matches SET sets = array_fill(1::smallint, ARRAY[2, 2, 2])`,
		`UPDATE matches SET sets = '{{11,NULL},{9,11}}'`,
		`UPDATE matches SET sets = '{{NULL,NULL},{NULL,NULL}}'`,
		`UPDATE matches SET sets = '{{11,7},{-1,11}}'`,
		`UPDATE matches SET sets = '{{11,7},{9,1000}}'`,
	},
	"match_fixes_pkey": {`INSERT INTO match_fixes (id, match_id, old_score_a, old_score_b, new_score_a, new_score_b)
		OVERRIDING SYSTEM VALUE VALUES (1, 1, 0, 0, 1, 1)`},
	"match_fixes_match_id_fkey": {anotherFix + `(99, 0, 0, NULL, 1, 1, NULL, 1)`},
	"match_fixes_fixed_by_fkey": {anotherFix + `(1, 0, 0, NULL, 1, 1, NULL, 99)`},
	"match_fixes_winner_check": {
		anotherFix + `(1, NULL, NULL, NULL, 1, 1, NULL, 1)`, anotherFix + `(1, 0, 0, NULL, NULL, NULL, NULL, 1)`,
		`UPDATE match_fixes SET old_winner = 1`, `UPDATE match_fixes SET new_winner = 1`,
		`UPDATE match_fixes SET old_score_a = NULL, old_score_b = NULL, old_winner = 3`,
		`UPDATE match_fixes SET new_score_a = NULL, new_score_b = NULL, new_winner = -1`,
		`UPDATE match_fixes SET old_score_a = NULL, old_score_b = NULL, old_winner = 1, old_sets = '{{11,7},{9,11}}'`,
		`UPDATE match_fixes SET new_score_a = NULL, new_score_b = NULL, new_winner = 1, new_sets = '{{11,7},{9,11}}'`,
	},
	"match_fixes_score_check": {
		anotherFix + `(1, -1, 0, NULL, 1, 1, NULL, 1)`, anotherFix + `(1, 1000, 0, NULL, 1, 1, NULL, 1)`,
		anotherFix + `(1, 0, -1, NULL, 1, 1, NULL, 1)`, anotherFix + `(1, 0, 1000, NULL, 1, 1, NULL, 1)`,
		anotherFix + `(1, 0, 0, NULL, -1, 1, NULL, 1)`, anotherFix + `(1, 0, 0, NULL, 1000, 1, NULL, 1)`,
		anotherFix + `(1, 0, 0, NULL, 1, -1, NULL, 1)`, anotherFix + `(1, 0, 0, NULL, 1, 1000, NULL, 1)`,
	},
	"match_fixes_change_check": {
		anotherFix + `(1, 3, 1, NULL, 3, 1, NULL, 1)`,
		anotherFix + `(1, 2, 0, '{{11,7},{11,9}}', 2, 0, '{{11,7},{11,9}}', 1)`,
		`INSERT INTO match_fixes (match_id, old_winner, new_winner) VALUES (1, 1, 1)`,
	},
	"match_messages_pkey":          {`INSERT INTO match_messages VALUES (-100, 7, 1)`},
	"match_messages_match_id_fkey": {`INSERT INTO match_messages VALUES (-100, 7, 99)`},
	"match_messages_message_check": {
		`INSERT INTO match_messages VALUES (-100, 0, 1)`, `INSERT INTO match_messages VALUES (-100, -7, 1)`,
	},
	"matches_upset_check":          {`UPDATE matches SET upset = 99`},
	"match_messages_covered_check": {`UPDATE match_messages SET covered = 0`},
	"match_players_pkey":           {`INSERT INTO match_players SELECT id, 1, 2, 1 FROM matches`},
	"match_players_place_check":    {`UPDATE match_players SET place = 0`},
	"match_players_match_id_fkey":  {`INSERT INTO match_players VALUES (99, 1, 1, 1)`},
	"match_players_named_id_fkey":  {`UPDATE match_players SET named_id = 99 WHERE player_id = 1`},
	"match_players_player_id_fkey": {`INSERT INTO match_players SELECT id, 99, 1, 1 FROM matches`},
	"match_players_side_check":     {`UPDATE match_players SET side = 0`, `UPDATE match_players SET side = 3`},
	"elo_history_match_player_fkey": {
		anotherEntry + `(1, 99, 0, 0, 32, 0, 0, 0, 'match', 'infinity')`,
		anotherEntry + `(99, 1, 0, 0, 32, 0, 0, 0, 'match', 'infinity')`,
		anotherEntry + `(1, 3, 0, 0, 32, 0, 0, 0, 'match', 'infinity')`, `DELETE FROM match_players`,
	},
	"elo_history_elo_check": {
		`UPDATE elo_history SET elo_before = -1`, `UPDATE elo_history SET elo_after = -1`,
		// A value above the limit also exceeds the best rating, and the server checks constraints
		// in alphabetical order.
		`ALTER TABLE elo_history DROP CONSTRAINT elo_history_best_before_check; UPDATE elo_history SET elo_before = 10001`,
		`UPDATE elo_history SET elo_after = 10001`,
	},
	"elo_history_best_before_check": {
		`UPDATE elo_history SET best_before = elo_before - 1`, `UPDATE elo_history SET best_before = 10001`,
	},
	"elo_history_longest_before_check": {
		`UPDATE elo_history SET longest_before = -1`, `UPDATE elo_history SET streak_before = 1`,
	},
	"elo_history_k_factor_check": {`UPDATE elo_history SET k_factor = 0`, `UPDATE elo_history SET k_factor = 1001`},
	"elo_history_reason_check":   {`UPDATE elo_history SET reason = 'because'`},
	"elo_history_pkey": {
		anotherEntry + `(1, 1, 1500, 1516, 32, 1500, 0, 0, 'undo', 'infinity')`,
		anotherEntry + `(1, 1, 1500, 1516, 32, 1500, 0, 0, 'undo', now()), (1, 1, 1500, 1516, 32, 1500, 0, 0, 'fix', now())`,
	},
	"boards_pkey":                    {`INSERT INTO boards (chat_id, ladder_id) VALUES (1, 1)`},
	"boards_ladder_id_fkey":          {`UPDATE boards SET ladder_id = 99`},
	"ladders_name_check":             {`UPDATE ladders SET name = ''`, `UPDATE ladders SET name = repeat('x', 25)`},
	"ladders_name_key":               {`UPDATE ladders SET name = 'PADEL' WHERE id = 1`},
	"ladders_archived_check":         {`UPDATE ladders SET archived_at = now()`},
	"topics_pkey":                    {`INSERT INTO topics VALUES (1, 8, 1)`},
	"topics_chat_id_fkey":            {`UPDATE topics SET chat_id = 99`},
	"topics_ladder_id_fkey":          {`UPDATE topics SET ladder_id = 99`},
	"topics_thread_id_check":         {`UPDATE topics SET thread_id = 0`},
	"match_moves_pkey":               {`INSERT INTO match_moves OVERRIDING SYSTEM VALUE VALUES (1, 1, 1, 2)`},
	"match_moves_match_id_fkey":      {`UPDATE match_moves SET match_id = 99`},
	"match_moves_old_ladder_id_fkey": {`UPDATE match_moves SET old_ladder_id = 99`},
	"match_moves_new_ladder_id_fkey": {`UPDATE match_moves SET new_ladder_id = 99`},
	"match_moves_moved_by_fkey":      {`UPDATE match_moves SET moved_by = 99`},
	"match_moves_ladders_check":      {`UPDATE match_moves SET old_ladder_id = 1`},
	"boards_chat_id_fkey":            {`UPDATE boards SET chat_id = 99`},
	"boards_thread_id_check":         {`UPDATE boards SET thread_id = 0`},
	"boards_pin_check":               {`UPDATE boards SET pin = ''`},
	"handled_commands_pkey":          {`INSERT INTO handled_commands VALUES ('m:-100:1')`},
	"handled_commands_trigger_check": {`UPDATE handled_commands SET trigger = 'nothing'`},
	"handled_commands_outcome_check": {`UPDATE handled_commands SET outcome = ''`},
	"handled_commands_rate_class_check": {
		`UPDATE handled_commands SET sender = 1, sent_at = now(), rate_class = ''`,
	},
	"handled_commands_sender_check": {
		`UPDATE handled_commands SET sender = 1`, `UPDATE handled_commands SET rate_class = 'question'`,
		`UPDATE handled_commands SET sender = 1, rate_class = 'question'`, `UPDATE handled_commands SET sent_at = now()`,
	},
	"outbox_pkey":          {`INSERT INTO outbox (id, chat_id, kind, payload) OVERRIDING SYSTEM VALUE VALUES (1, 1, 'k', '{}')`},
	"outbox_chat_id_fkey":  {`INSERT INTO outbox (chat_id, kind, payload) VALUES (99, 'k', '{}')`},
	"outbox_match_id_fkey": {`UPDATE outbox SET match_id = 99`},
	"outbox_action_check": {
		`UPDATE outbox SET action = 'pin'`, `UPDATE outbox SET action = ''`,
		`UPDATE outbox SET callback_query_id = 'press'`, `UPDATE outbox SET callback_query_id = 'press', match_id = 1`,
		`UPDATE outbox SET action = 'edit'`, `UPDATE outbox SET action = 'edit', callback_query_id = 'press', match_id = 1`,
		`UPDATE outbox SET action = 'callback_answer'`, `UPDATE outbox SET action = 'callback_answer', match_id = 1`,
		`UPDATE outbox SET action = 'callback_answer', callback_query_id = 'press', match_id = 1`,
		`UPDATE outbox SET action = 'ensure'`, `UPDATE outbox SET action = 'ensure', object = 'board', callback_query_id = 'press'`,
		`UPDATE outbox SET action = 'page', edited_message_id = 7, callback_query_id = 'press'`,
		`UPDATE outbox SET action = 'page', edited_message_id = 7, match_id = 1`,
	},
	"outbox_edited_message_check": {
		`UPDATE outbox SET action = 'page'`, `UPDATE outbox SET action = 'page', edited_message_id = 0`,
		`UPDATE outbox SET edited_message_id = 7`, `UPDATE outbox SET action = 'edit', match_id = 1, edited_message_id = 7`,
	},
	"outbox_purpose_check": {`UPDATE outbox SET purpose = ''`},
	"outbox_supersede_key": {`INSERT INTO outbox (chat_id, kind, payload, supersede_key) VALUES (1, 'k', '{}', 'card:1')`},
	"outbox_state_check":   {`UPDATE outbox SET state = 'lost'`},
	"outbox_finished_check": {
		`UPDATE outbox SET state = 'sent'`, `UPDATE outbox SET state = 'dead'`, `UPDATE outbox SET state = 'expired'`,
		`UPDATE outbox SET finished_at = now()`,
		`UPDATE outbox SET state = 'sending', finished_at = now()`,
	},
	"outbox_deferred_check": {`UPDATE outbox SET deferred_at = now(), state = 'sending'`},
	"outbox_counts_check": {
		`UPDATE outbox SET attempts = -1`, `UPDATE outbox SET possible_duplicates = -1`, `UPDATE outbox SET failures = -1`,
	},
	"leases_pkey":                    {`INSERT INTO leases VALUES ('leader', 'y', 2, now())`},
	"leases_epoch_check":             {`UPDATE leases SET epoch = 0`},
	"leases_duration_check":          {`UPDATE leases SET duration = interval '0'`},
	"update_attempts_pkey":           {`INSERT INTO update_attempts VALUES (5, 2)`},
	"update_attempts_attempts_check": {`UPDATE update_attempts SET attempts = 0`},
	"prompts_pkey":                   {`INSERT INTO prompts (id, chat_id, kind, match_id) VALUES (1, 1, 'undo', 1)`},
	"prompts_chat_id_fkey":           {`INSERT INTO prompts (id, chat_id, kind, match_id) VALUES (2, 99, 'undo', 1)`},
	"prompts_match_id_fkey":          {`INSERT INTO prompts (id, chat_id, kind, match_id) VALUES (2, 1, 'undo', 99)`},
	"prompts_answerer_id_fkey":       {`UPDATE prompts SET answerer_id = 99`},
	"prompts_kind_check":             {`UPDATE prompts SET kind = ''`},
	"prompts_message_check": {
		`UPDATE prompts SET telegram_message_id = 7`, `UPDATE prompts SET telegram_message_id = 0, delivered_at = now()`,
	},
	"prompts_closed_check": {
		`UPDATE prompts SET closed_at = now()`, `UPDATE prompts SET closed_as = 'expired'`,
		`UPDATE prompts SET closed_at = now(), closed_as = 'maybe'`,
	},
	"timers_pkey":                    {`INSERT INTO timers VALUES ('t:prompt:1', 1, now())`},
	"timers_chat_id_fkey":            {`INSERT INTO timers VALUES ('t:prompt:2', 99, now())`},
	"timers_key_check":               {`INSERT INTO timers VALUES ('prompt:1', 1, now())`},
	"ensured_messages_pkey":          {`INSERT INTO ensured_messages VALUES (1, 'board', 8, '')`},
	"ensured_messages_chat_id_fkey":  {`INSERT INTO ensured_messages VALUES (99, 'board', 8, '')`},
	"ensured_messages_message_check": {`UPDATE ensured_messages SET telegram_message_id = 0`},
	"dead_letters_pkey":              {`INSERT INTO dead_letters OVERRIDING SYSTEM VALUE VALUES (1, 'update', 9, NULL, 'x', 'why', 1, now())`},
	"dead_letters_update_id_key":     {anotherLetter + `('update', 5, NULL, 'x', 'why', 1, now())`},
	"dead_letters_outbox_id_key":     {anotherLetter + `('notice', NULL, 5, 'x', 'why', 1, now())`},
	"dead_letters_kind_check": {
		anotherLetter + `('other', 9, NULL, 'x', 'why', 1, now())`,
		anotherLetter + `('update', NULL, NULL, 'x', 'why', 1, now())`,
		anotherLetter + `('update', 9, 9, 'x', 'why', 1, now())`,
		anotherLetter + `('update', NULL, 9, 'x', 'why', 1, now())`,
		anotherLetter + `('notice', NULL, NULL, 'x', 'why', 1, now())`,
		anotherLetter + `('notice', 9, 9, 'x', 'why', 1, now())`,
		anotherLetter + `('notice', 9, NULL, 'x', 'why', 1, now())`,
	},
	"dead_letters_last_error_check": {anotherLetter + `('update', 9, NULL, 'x', '', 1, now())`},
	"dead_letters_attempts_check":   {anotherLetter + `('update', 9, NULL, 'x', 'why', 0, now())`},
}

func TestEveryConstraintHolds(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	dbtest.Exec(t, pool, oneOfEach)
	for name, statements := range breaks {
		for _, sql := range statements {
			err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
				_, err := tx.Exec(t.Context(), sql)
				return err
			})
			var pg *pgconn.PgError
			if !errors.As(err, &pg) || pg.ConstraintName != name {
				t.Errorf("%s does not reject %s: %v", name, sql, err)
			}
		}
	}
}

// TestConstraintsLetThrough checks that the constraints accept valid combinations, and values just
// within the limits.
func TestConstraintsLetThrough(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	dbtest.Exec(t, pool, oneOfEach)
	for _, sql := range []string{
		`INSERT INTO chat_aliases VALUES (-98, 1), (-97, 1)`,
		`UPDATE players SET username = NULL, group_id = NULL, merged_into = 1 WHERE id = 2`,
		`INSERT INTO sightings VALUES (1, 2, NULL, now()), (1, 3, 'al', now())`,
		`UPDATE sightings SET nick = repeat('x', 32), counts_as = 2, seen_at = NULL WHERE player_id = 1`,
		`INSERT INTO players (group_id, display_name, folded) VALUES (1, 'Tom', 'tom'), (1, 'Tim', 'tim')`,
		`UPDATE players SET username = NULL WHERE id = 2`,
		`UPDATE matches SET undone_at = now()`,
		`UPDATE matches SET undone_at = now(), undone_by = 2`,
		`UPDATE matches SET sets = '{{0,999},{999,0}}'`,
		`UPDATE matches SET sets = array_fill(11::smallint, ARRAY[25, 2])`,
		`UPDATE matches SET sets = NULL`,
		`UPDATE matches SET score_a = NULL, score_b = NULL, winner = 0`,
		`INSERT INTO match_fixes (match_id, old_winner, new_winner) VALUES (1, 1, 2)`,
		`INSERT INTO match_fixes (match_id, old_winner, new_score_a, new_score_b) VALUES (1, 1, 3, 2)`,
		`UPDATE matches SET score_a = 3, score_b = 1, winner = NULL`,
		`UPDATE matches SET stand_ins_a = 1, stand_ins_b = 1`, `UPDATE matches SET stand_ins_a = NULL, stand_ins_b = 2`,
		anotherFix + `(1, 0, 999, NULL, 999, 0, NULL, NULL)`,
		anotherFix + `(1, 2, 0, '{{11,7},{11,9}}', 2, 0, '{{11,7},{11,8}}', 2)`,
		anotherFix + `(1, 2, 0, NULL, 2, 0, '{{11,7},{11,8}}', 2)`,
		`INSERT INTO match_messages VALUES (-100, 8, 1), (-200, 7, 1)`,
		`UPDATE matches SET k_factor = 1, provisional_k_factor = 1000, provisional_matches = 1, margin_of_victory = true`,
		`UPDATE ladders SET k_factor = 1000, provisional_k_factor = 1, provisional_matches = 100, margin_of_victory = true`,
		`UPDATE ladders SET start_elo = 0`, `UPDATE ladders SET start_elo = 10000`,
		`UPDATE elo_history SET reason = 'undo'`, `UPDATE elo_history SET reason = 'fix'`,
		`UPDATE elo_history SET reason = 'merge'`, `UPDATE elo_history SET reason = 'repair'`,
		anotherEntry + `(1, 1, 10000, 0, 1, 10000, -9, 0, 'match', now()),
			(1, 1, 0, 0, 1000, 0, 9, 9, 'undo', now() - interval '1 s')`,
		`UPDATE outbox SET match_id = 1`,
		`UPDATE outbox SET action = 'edit', match_id = 1`,
		`UPDATE outbox SET action = 'callback_answer', callback_query_id = 'press', match_id = NULL`,
		`UPDATE outbox SET action = 'ensure', object = 'board', callback_query_id = NULL, match_id = NULL`,
		`UPDATE outbox SET action = 'ensure', match_id = 1`,
		`UPDATE outbox SET action = 'page', match_id = NULL, edited_message_id = 7`,
		`UPDATE outbox SET action = 'send', edited_message_id = NULL`,
		`UPDATE outbox SET purpose = 'answer'`, `UPDATE outbox SET purpose = 'notification'`,
		`INSERT INTO outbox (chat_id, kind, payload, supersede_key) VALUES (1, 'k', '{}', 'card:2'), (1, 'k', '{}', NULL), (1, 'k', '{}', NULL)`,
		`INSERT INTO ensured_messages VALUES (1, 'other', 7, '')`,
		`INSERT INTO leases VALUES ('other', 'x', 1, now())`, `UPDATE leases SET epoch = 2`,
		`UPDATE outbox SET state = 'expired', finished_at = now()`,
	} {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// TestEveryConstraintIsTried checks that breaks has an entry for every constraint and unique index
// of the schema, except NOT NULL constraints, and no other entries.
func TestEveryConstraintIsTried(t *testing.T) {
	t.Parallel()
	pool := pgtest.Borrow(t).Pool
	// Newer servers list NOT NULL constraints too.
	there := dbtest.Values[string](t, pool, `
		SELECT conname::text FROM pg_constraint
		WHERE connamespace = 'public'::regnamespace AND conrelid <> 'schema_migrations'::regclass AND contype <> 'n'
		UNION
		SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class c ON c.oid = indrelid
		WHERE c.relnamespace = 'public'::regnamespace AND c.relname <> 'schema_migrations' AND indisunique`)
	exist := make(map[string]bool)
	for _, name := range there {
		exist[name] = true
		if len(breaks[name]) == 0 {
			t.Errorf("no statement tries to break %s", name)
		}
	}
	for name := range breaks {
		if !exist[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

// TestEveryIndexIsExplained checks that migrations/indexes.md lists exactly the indexes of the
// schema.
func TestEveryIndexIsExplained(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../migrations/indexes.md")
	dbtest.Must(t, err)
	explained := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*`) \\| .+ \\|$").FindAllSubmatch(page, -1) {
		for name := range strings.SplitSeq(string(row[1]), ", ") {
			explained[strings.Trim(name, "`")] = true
		}
	}
	there := map[string]bool{}
	for _, name := range dbtest.Values[string](t, pgtest.Borrow(t).Pool, `
		SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class c ON c.oid = indrelid
		WHERE c.relnamespace = 'public'::regnamespace AND c.relname <> 'schema_migrations'`) {
		there[name] = true
	}
	dbtest.Equal(t, "indexes", there, explained)
}
