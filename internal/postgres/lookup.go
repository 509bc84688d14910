package postgres

import (
	"fmt"
	"time"
)

// Interval returns d as a literal of SQL, in whole seconds.
func Interval(d time.Duration) string { return fmt.Sprintf(`interval '%d seconds'`, int(d.Seconds())) }

// ActiveSince is the cutoff of a ranking at a time: players whose last match is older are hidden.
// hideDays is the ladder's rule in days; 0 hides no player.
func ActiveSince(at, hideDays string) string {
	return `coalesce(` + at + `::timestamptz - make_interval(hours => 24 * nullif(` + hideDays + `, 0)), '-infinity')`
}

// FirstSeason inserts the first season of each new ladder in the preceding CTE l.
const FirstSeason = `
		INSERT INTO seasons (id, group_id, ladder_id, number) OVERRIDING SYSTEM VALUE SELECT season_id, group_id, id, 1 FROM l`

// The following subqueries find what an update refers to. ThisChat and ThisGroup use the parameter
// $1, ThisPlayer uses $2.

// ThisChat is the id of the chat with Telegram's id $1, which may also be an earlier id of the
// chat; null if there is none.
const ThisChat = `coalesce((SELECT id FROM chats WHERE telegram_chat_id = $1),
		         (SELECT chat_id FROM chat_aliases WHERE telegram_chat_id = $1))`

// ThisGroup is the group of ThisChat.
const ThisGroup = `(SELECT id FROM groups WHERE chat_id = ` + ThisChat + `)`

// LadderOf is a column of one of the group's ladders: the ladder whose id is the parameter's value,
// or the default ladder if the value is 0.
func LadderOf(column, group, parameter string) string {
	return `(
		    SELECT ` + column + ` FROM ladders WHERE group_id = ` + group + ` AND CASE ` + parameter + `::bigint WHEN 0 THEN is_default ELSE id = ` + parameter + ` END)`
}

// Parked is the condition that nothing is sent to a chat c, except answers to buttons: the bot has
// left it, or was refused there lately. A refusal in the future is ignored, because the clock was
// set back.
const Parked = `(NOT c.is_active OR coalesce(c.parked_until > now() AND c.parked_at <= clock_timestamp(), false))`

// Unparked assigns the columns of a chat that the bot may write to, as far as is known.
const Unparked = `parked_at = NULL, parked_until = NULL, parkings = 0`

// FirstParking is the minimum time for which a chat is parked: not even a command lets the bot
// try again earlier.
const FirstParking = `interval '10 minutes'`

// BoardObject identifies the message of a board b in its chat, as ranking.Board.Object does.
const BoardObject = `'board:' || b.ladder_id || coalesce(':' || b.thread_id, '')`

// ThisPlayer is the account of the person with the user id $2; null if there is none.
const ThisPlayer = `(SELECT p.id FROM players p WHERE p.telegram_user_id = $2)`

// Score is the score of a match m as the columns of ladder.Score. If it has no points, the winner
// has 0, and all others have ladder.NoPoints.
const Score = `coalesce(m.score_a, (m.winner = 1)::integer - 1) AS score_a, coalesce(m.score_b, (m.winner = 2)::integer - 1) AS score_b`

// Winner is the side that won a match m, 0 for a draw.
const Winner = `coalesce(m.winner, CASE WHEN m.score_a > m.score_b THEN 1 WHEN m.score_a < m.score_b THEN 2 ELSE 0 END)`

// oldWinner is the side that won a match before a fix f.
const oldWinner = `coalesce(f.old_winner, CASE WHEN f.old_score_a > f.old_score_b THEN 1 WHEN f.old_score_a < f.old_score_b THEN 2 ELSE 0 END)`

// SidesSwapped is whether side B comes first on the card of a match m: it won, or it was the last
// to win before a fix made the match a draw.
const SidesSwapped = `2 = CASE WHEN ` + Winner + ` <> 0 THEN ` + Winner + ` ELSE coalesce(
		           (SELECT ` + oldWinner + ` FROM match_fixes f
		            WHERE f.match_id = m.id AND ` + oldWinner + ` <> 0 ORDER BY f.id DESC LIMIT 1), 0) END`
