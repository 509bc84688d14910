package pgranking

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"elobot/internal/ladder"
	"elobot/internal/ranking"
)

// mergeChats merges two chats into one. It keeps the chat whose group has more matches, or the
// older chat if neither has more. If the other group has matches too, it is detached: it keeps its
// matches and unclaimed players, but has no chat. Otherwise it is deleted. The rest of the other
// chat's data passes to the kept chat, except the boards, topics and messages that no longer apply.
// A command that has read the other chat conflicts when it writes. mergeChats returns the kept chat
// and the detached group, nil if there is none.
//
// mergeChats is the only operation that goes through all stored notices of a chat. That is
// acceptable because merges are rare and a chat keeps only a few notices.
func (s *Store) mergeChats(ctx context.Context, older, newer chatRow) (ranking.ChatID, *ranking.DetachedGroup, error) {
	kept, err := s.group(ctx, older)
	if err != nil {
		return 0, nil, err
	}
	gone, err := s.group(ctx, newer)
	if err != nil {
		return 0, nil, err
	}
	if gone.Last > kept.Last {
		kept, gone = gone, kept
	}
	var batch pgx.Batch
	queueForgetMessages(&batch, older.ID)
	queueMergeOutbox(&batch, older.ID, newer.ID)
	queueMergeBoards(&batch, kept, gone, newer.ID)
	queuePassOn(&batch, kept, gone)
	var detached *ranking.DetachedGroup
	if gone.Last > 0 {
		detached = &ranking.DetachedGroup{Group: gone.ID, Matches: gone.Last, Chat: newer.External}
		batch.Queue(`UPDATE groups SET chat_id = NULL, former_chat_id = $2 WHERE id = $1`, gone.ID, kept.Chat)
		notice := ranking.GroupDetached{Kept: kept.Last, Detached: gone.Last}
		queueNotices(&batch, s.Now(), ranking.Changes{Chat: kept.Chat, Decision: ranking.Decision{Notice: notice}})
	} else {
		queueEndGroup(&batch, kept, gone, gone.Chat == older.ID)
	}
	batch.Queue(stayOut, kept.ID)
	queueEndChat(&batch, kept.Chat, gone.Chat, older, newer)
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return 0, nil, fmt.Errorf("merge the chats: %w", err)
	}
	return kept.Chat, detached, nil
}

type groupRow struct {
	ID     ranking.GroupID
	Chat   ranking.ChatID
	Ladder ladder.ID // the default ladder; Season is its current season
	Season ladder.SeasonID
	Last   int // number of its last match, 0 if it has none
}

func (s *Store) group(ctx context.Context, chat chatRow) (groupRow, error) {
	const sql = `
		SELECT g.id, g.chat_id, l.id, l.season_id, g.last_match_number
		FROM groups g JOIN ladders l ON l.group_id = g.id AND l.is_default
		WHERE g.chat_id = $1`
	var g groupRow
	if err := s.db.QueryRow(ctx, sql, chat.ID).Scan(&g.ID, &g.Chat, &g.Ladder, &g.Season, &g.Last); err != nil {
		return g, fmt.Errorf("read the group of the chat with id %d in the table: %w", chat.ID, err)
	}
	return g, nil
}

// queueMergeOutbox prepares the notices of two chats for the merge.
func queueMergeOutbox(batch *pgx.Batch, older, newer ranking.ChatID) {
	// An upgrade to a supergroup looks as if the bot was added to a new group. Drop notices of such
	// events (their keys begin with s:) if the older group was already greeted.
	batch.Queue(`
		DELETE FROM outbox
		WHERE chat_id = $2 AND state = 'planned' AND starts_with(key, 's:')
		  AND EXISTS (SELECT FROM chats WHERE id = $1 AND greeted_at IS NOT NULL)`, older, newer)
	// Of two notices with the same supersede_key, only the later one can still be superseded.
	batch.Queue(`
		UPDATE outbox o SET supersede_key = NULL
		WHERE o.chat_id IN ($1, $2) AND o.supersede_key IS NOT NULL AND EXISTS (
		    SELECT FROM outbox later
		    WHERE later.chat_id IN ($1, $2) AND later.supersede_key = o.supersede_key AND later.id > o.id)`, older, newer)
}

// queueMergeBoards merges the boards of two groups. If both default ladders have a board, the newer
// chat's board remains, because its message can still be edited. Boards of gone's other ladders are
// deleted. Their messages, and messages about gone's seasons, are no longer updated. Topics are no
// longer bound to gone's ladders.
func queueMergeBoards(batch *pgx.Batch, kept, gone groupRow, newer ranking.ChatID) {
	from, to := ranking.Board{Ladder: gone.Ladder}.Object(), ranking.Board{Ladder: kept.Ladder}.Object()
	if gone.Chat == newer {
		batch.Queue(`DELETE FROM boards WHERE ladder_id = $1 AND EXISTS (SELECT FROM boards WHERE ladder_id = $2)`,
			kept.Ladder, gone.Ladder)
	}
	batch.Queue(`
		UPDATE boards SET ladder_id = $1
		WHERE ladder_id = $2 AND NOT EXISTS (SELECT FROM boards WHERE ladder_id = $1)`, kept.Ladder, gone.Ladder)
	batch.Queue(`
		UPDATE ensured_messages SET object = $2 || substr(object, length($1) + 1)
		WHERE chat_id = $3 AND (object = $1 OR starts_with(object, $1 || ':'))`, from, to, gone.Chat)
	batch.Queue(`
		UPDATE outbox SET object = $2 || substr(object, length($1) + 1),
		    supersede_key = $2 || substr(supersede_key, length($1) + 1)
		WHERE chat_id = $3 AND finished_at IS NULL AND (object = $1 OR starts_with(object, $1 || ':'))`, from, to, gone.Chat)
	ladders := `(SELECT id FROM ladders WHERE group_id = $1)`
	queueEndedBoards(batch, gone)
	queueEndedSeasons(batch, gone)
	batch.Queue(`DELETE FROM boards WHERE ladder_id IN `+ladders, gone.ID)
	batch.Queue(`DELETE FROM topics WHERE ladder_id IN `+ladders, gone.ID)
}

// queueEndedBoards ends the updates of messages with boards of a group's ladders other than
// gone.Ladder.
func queueEndedBoards(batch *pgx.Batch, gone groupRow) {
	ended := `chat_id = $1 AND EXISTS (
		    SELECT FROM ladders l
		    WHERE l.group_id = $2 AND l.id <> $3 AND starts_with(object || ':', '` + ranking.KindBoard + `:' || l.id || ':'))`
	batch.Queue(`DELETE FROM ensured_messages WHERE `+ended, gone.Chat, gone.ID, gone.Ladder)
	batch.Queue(`
		UPDATE outbox SET state = 'expired', finished_at = now(),
		    last_error = 'the ladder is not in this chat any more', supersede_key = NULL
		WHERE finished_at IS NULL AND `+ended, gone.Chat, gone.ID, gone.Ladder)
}

// queueEndedSeasons ends the updates of messages about the seasons of a group that loses its chat.
func queueEndedSeasons(batch *pgx.Batch, gone groupRow) {
	of := `chat_id = $1 AND EXISTS (
		    SELECT FROM seasons s WHERE s.group_id = $2 AND starts_with(object || ':', 'season:' || s.id || ':'))`
	batch.Queue(`DELETE FROM ensured_messages WHERE `+of, gone.Chat, gone.ID)
	batch.Queue(`
		UPDATE outbox SET state = 'expired', finished_at = now(),
		    last_error = 'the season is not in this chat any more', supersede_key = NULL
		WHERE finished_at IS NULL AND `+of, gone.Chat, gone.ID)
}

// queuePassOn moves the rows that refer to gone's chat, and the sightings of gone's group, to kept.
// Members of gone's group who have left kept's group become members there again.
func queuePassOn(batch *pgx.Batch, kept, gone groupRow) {
	for _, table := range []string{"ensured_messages", "boards", "topics", "outbox", "prompts", "timers", "chat_aliases"} {
		batch.Queue(`UPDATE `+table+` SET chat_id = $1 WHERE chat_id = $2`, kept.Chat, gone.Chat)
	}
	batch.Queue(`UPDATE groups SET former_chat_id = $1 WHERE former_chat_id = $2`, kept.Chat, gone.Chat)
	// The later sighting of an account, or of a username, wins. It takes over the former usernames
	// of the earlier sighting, and its values of came, nick and out_at if the later sighting has
	// none. The mapping of gone's group is dropped, because no match in kept's group has been
	// replayed with it.
	batch.Queue(`UPDATE sightings SET counts_as = NULL WHERE group_id = $1 AND counts_as IS NOT NULL`, gone.ID)
	batch.Queue(`
		UPDATE sightings known SET came = known.came OR o.came, nick = coalesce(known.nick, o.nick),
		    out_at = coalesce(known.out_at, o.out_at), counts_as = coalesce(known.counts_as, o.counts_as),
		    former = nullif(ARRAY(
		    SELECT name FROM unnest(o.former || lower(o.username) || known.former) WITH ORDINALITY AS all_names (name, at)
		    WHERE name IS NOT NULL AND name IS DISTINCT FROM lower(known.username) GROUP BY name ORDER BY max(at)), '{}')
		FROM sightings o
		WHERE known.group_id IN ($1, $2) AND o.group_id IN ($1, $2) AND known.player_id = o.player_id
		  AND (coalesce(o.seen_at, '-infinity'), o.group_id) < (coalesce(known.seen_at, '-infinity'), known.group_id)`,
		kept.ID, gone.ID)
	batch.Queue(`
		DELETE FROM sightings s USING sightings o
		WHERE s.group_id IN ($1, $2) AND o.group_id IN ($1, $2) AND s.player_id = o.player_id
		  AND (coalesce(o.seen_at, '-infinity'), o.group_id) > (coalesce(s.seen_at, '-infinity'), s.group_id)`,
		kept.ID, gone.ID)
	batch.Queue(`
		UPDATE sightings known SET username = NULL, former = `+formerUsernames+` FROM sightings o
		WHERE known.group_id IN ($1, $2) AND o.group_id IN ($1, $2) AND lower(known.username) = lower(o.username)
		  AND (o.seen_at, o.player_id) > (known.seen_at, known.player_id)`, kept.ID, gone.ID)
	batch.Queue(`UPDATE sightings SET group_id = $1 WHERE group_id = $2`, kept.ID, gone.ID)
	queueMembersOfBoth(batch, kept, gone)
}

// queueMembersOfBoth makes players members of the first group again if they have left it but are
// members of the second.
func queueMembersOfBoth(batch *pgx.Batch, group, of groupRow) {
	batch.Queue(`
		UPDATE group_players s SET left_at = NULL, version = s.version + 1
		WHERE s.season_id = `+goingOn+` AND s.left_at IS NOT NULL AND EXISTS (
		    SELECT FROM group_players o
		    WHERE o.season_id = ANY (ARRAY(SELECT season_id FROM ladders WHERE group_id = $2))
		      AND o.player_id = s.player_id AND o.left_at IS NULL)`,
		group.ID, of.ID)
}

// queueEndGroup deletes gone, a group without matches. Its players pass to kept, except those whom
// kept already has. If gone is the older group, its settings and the link of its web board pass to
// kept too.
func queueEndGroup(batch *pgx.Batch, kept, gone groupRow, older bool) {
	// Lock the unclaimed players, so that none is claimed before being merged.
	batch.Queue(`SELECT FROM players WHERE group_id IN ($1, $2) ORDER BY id FOR UPDATE`, kept.ID, gone.ID)
	batch.Queue(`
		UPDATE players p SET username = NULL, folded = NULL, group_id = NULL, merged_into = same.ours
		FROM (SELECT theirs.id AS theirs, ours.id AS ours
		      FROM players theirs JOIN players ours
		        ON lower(ours.username) = lower(theirs.username) OR ours.folded = theirs.folded
		      WHERE theirs.group_id = $2 AND ours.group_id = $1) AS same
		WHERE p.id = same.theirs OR p.merged_into = same.theirs`, kept.ID, gone.ID)
	batch.Queue(`UPDATE players SET group_id = $1 WHERE group_id = $2`, kept.ID, gone.ID)
	queueMembersOfBoth(batch, gone, kept)
	batch.Queue(`
		UPDATE group_players s SET season_id = $1, version = s.version + 1
		WHERE s.season_id = $2 AND NOT EXISTS (
		    SELECT FROM group_players known
		    WHERE known.season_id = $1 AND known.player_id = s.player_id)`, kept.Season, gone.Season)
	if older {
		batch.Queue(`
			UPDATE ladders l SET `+copied(ranking.OfLadder)+`
			FROM ladders older WHERE l.id = $1 AND older.id = $2`, kept.Ladder, gone.Ladder)
		batch.Queue(`
			UPDATE groups g SET web_salt = older.web_salt, `+copied(ranking.OfGroup)+`
			FROM groups older WHERE g.id = $1 AND older.id = $2`, kept.ID, gone.ID)
		// The timer, due at once, sets the end of the season by the copied rules.
		batch.Queue(`UPDATE seasons SET ends_at = NULL WHERE id = $1`, kept.Season)
		batch.Queue(`
			INSERT INTO timers (key, chat_id, due_at) VALUES ($1, $2, now())
			ON CONFLICT ON CONSTRAINT timers_pkey DO UPDATE SET due_at = now()`,
			ranking.SeasonUntil{Ladder: kept.Ladder, Season: kept.Season}.Timer(), kept.Chat)
	}
	batch.Queue(`DELETE FROM group_players WHERE season_id IN (SELECT id FROM seasons WHERE group_id = $1)`, gone.ID)
	for _, table := range []string{"start_ratings", "imports", "ladders"} {
		batch.Queue(`DELETE FROM `+table+` WHERE group_id = $1`, gone.ID)
	}
	batch.Queue(`DELETE FROM groups WHERE id = $1`, gone.ID)
}

// queueEndChat deletes the chat gone, to which nothing refers anymore. The kept chat gets the id
// and the title of the newer chat, and the settings of the older chat. It is frozen or parked if
// the newer chat is. The older id becomes an alias.
func queueEndChat(batch *pgx.Batch, kept, gone ranking.ChatID, older, newer chatRow) {
	batch.Queue(`
		WITH gone AS (DELETE FROM chats WHERE id = $2 RETURNING id)
		UPDATE chats c
		SET telegram_chat_id = newer.telegram_chat_id, kind = 'supergroup', title = newer.title,
		    frozen_until = newer.frozen_until,
		    parked_at = newer.parked_at, parked_until = newer.parked_until, parkings = newer.parkings,
		    is_active = older.is_active OR newer.is_active, greeted_at = greatest(older.greeted_at, newer.greeted_at),
		    added_at = CASE WHEN older.greeted_at IS NULL THEN newer.added_at ELSE older.added_at END,
		    `+copied(ranking.OfChat)+`
		FROM gone, chats older, chats newer
		WHERE c.id = $1 AND older.id = $3 AND newer.id = $4`, kept, gone, older.ID, newer.ID)
	queueAlias(batch, older.External, kept)
}

// copied returns the assignments that copy the settings of a table from the row with the alias
// older.
func copied(table ranking.SettingsTable) string {
	var all []string
	for _, s := range ranking.AllSettings() {
		if s.Table() == table {
			for _, column := range s.Columns {
				all = append(all, column+" = older."+column)
			}
		}
	}
	return strings.Join(all, ", ")
}
