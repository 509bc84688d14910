package postgres

import (
	"fmt"
	"time"
)

// Interval returns d as an SQL literal, rounded down to whole seconds.
func Interval(d time.Duration) string { return fmt.Sprintf(`interval '%d seconds'`, int(d.Seconds())) }

// ActiveSince returns the SQL expression of a ranking's cutoff: players whose last match is not
// after the cutoff are hidden. Both arguments are SQL expressions: at is the time of the ranking,
// and hideDays is the ladder's setting in days, where 0 hides no player.
func ActiveSince(at, hideDays string) string {
	return `coalesce(` + at + `::timestamptz - make_interval(hours => 24 * nullif(` + hideDays + `, 0)), '-infinity')`
}

// FirstSeason is a statement that inserts the first season of each ladder in l. The CTE l must
// precede the statement.
const FirstSeason = `
		INSERT INTO seasons (id, group_id, ladder_id, number) OVERRIDING SYSTEM VALUE
		SELECT season_id, group_id, id, 1 FROM l`

// ThisChat selects the id of the chat whose current or earlier Telegram id is $1; null if there is
// none.
const ThisChat = `coalesce((SELECT id FROM chats WHERE telegram_chat_id = $1),
		         (SELECT chat_id FROM chat_aliases WHERE telegram_chat_id = $1))`

// ThisGroup selects the id of the group of ThisChat; null if there is none.
const ThisGroup = `(SELECT id FROM groups WHERE chat_id = ` + ThisChat + `)`

// LadderOf returns an SQL subquery for a column of one of a group's ladders: the ladder whose id is
// the value of parameter, or the default ladder if the value is 0. group and parameter are SQL
// expressions.
func LadderOf(column, group, parameter string) string {
	return `(
		    SELECT ` + column + ` FROM ladders WHERE group_id = ` + group + `
		    AND CASE ` + parameter + `::bigint WHEN 0 THEN is_default ELSE id = ` + parameter + ` END)`
}

// Parked is the condition under which the bot sends only callback answers to a chat c: the bot is
// no longer in the chat, or Telegram has recently refused a message to it. A refusal with a time in
// the future is ignored, because it means that the clock was set back.
const Parked = `(NOT c.is_active OR coalesce(c.parked_until > now() AND c.parked_at <= clock_timestamp(), false))`

// Unparked is the part of a SET clause that ends the parking of a chat.
const Unparked = `parked_at = NULL, parked_until = NULL, parkings = 0`

// FirstParking is how long the first refusal parks a chat. During that time, a command from a
// member does not end the parking, unless the bot had left the chat.
const FirstParking = `interval '10 minutes'`

// BoardObject is the key of a board b's message in its chat. It must match ranking.Board.Object.
const BoardObject = `'board:' || b.ladder_id || coalesce(':' || b.thread_id, '')`

// ThisPlayer selects the id of the account whose Telegram user id is $2; null if there is none.
const ThisPlayer = `(SELECT p.id FROM players p WHERE p.telegram_user_id = $2)`

// Counting returns an SQL expression for the id of the player for whom the given player counts in a
// group. Without a mapping, that is the given player. Both arguments are SQL expressions for ids.
func Counting(player, group string) string {
	return `coalesce(
		    (SELECT counts_as FROM sightings WHERE group_id = ` + group + ` AND player_id = ` + player + `), ` + player + `)`
}

// Score selects the score of a match m as the columns of a ladder.Score. In a match without points,
// the side that won has 0, and a side that did not win has ladder.NoPoints.
const Score = `coalesce(m.score_a, (m.winner = 1)::integer - 1) AS score_a,
	       coalesce(m.score_b, (m.winner = 2)::integer - 1) AS score_b`

// Position is the place of a match m in the replay of its ladder, as a ladder.Position.
const Position = `coalesce(m.position, m.number::bigint << 32)`

// ReportedAt is when a match m was reported. A match without a position in its row was played when
// it was reported.
const ReportedAt = `CASE WHEN m.position IS NULL THEN m.played_at ELSE m.created_at END`

// StandIns selects the number of nameless guests on each side of a match m.
const StandIns = `ARRAY[coalesce(m.stand_ins_a, 0), coalesce(m.stand_ins_b, 0)] AS stand_ins`

// Winner is the side that won a match m, 0 for a draw.
const Winner = `coalesce(m.winner, CASE WHEN m.score_a > m.score_b THEN 1 WHEN m.score_a < m.score_b THEN 2 ELSE 0 END)`

// oldWinner is the side that won a match before a fix f, 0 for a draw.
const oldWinner = `coalesce(f.old_winner,
	CASE WHEN f.old_score_a > f.old_score_b THEN 1 WHEN f.old_score_a < f.old_score_b THEN 2 ELSE 0 END)`

// SidesSwapped is the condition that side B comes first on the card of a match m: side B won, or
// the match is a draw and side B won before the latest fix of a decided result.
const SidesSwapped = `2 = CASE WHEN ` + Winner + ` <> 0 THEN ` + Winner + ` ELSE coalesce(
		           (SELECT ` + oldWinner + ` FROM match_fixes f
		            WHERE f.match_id = m.id AND ` + oldWinner + ` <> 0 ORDER BY f.id DESC LIMIT 1), 0) END`
