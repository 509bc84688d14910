package pgranking

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// mergeChats makes two chats one: everything of the newer chat passes to the older one, including its id. It goes
// through all notices of the newer chat that are kept, as nothing else does. But that is rare, and there are only few
// of them.
func (s *Store) mergeChats(ctx context.Context, older, newer chatRow,
	decide func(ranking.Appended) (ranking.Appendix, error),
) error {
	into, err := s.group(ctx, older.ID)
	if err != nil {
		return err
	}
	from, err := s.group(ctx, newer.ID)
	if err != nil {
		return err
	}
	var batch pgx.Batch
	queueMergeUnclaimed(&batch, into, from)
	queueMergeSightings(&batch, into, from)
	queueMergeGroups(&batch, into, from)
	queueMergeChats(&batch, older, newer)
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("join the groups: %w", err)
	}
	if from.Last == 0 {
		return nil
	}
	appended := ranking.Appended{After: into.Last, Count: from.Last}
	first := into.Last + 1
	if appended.MatchHistory, err = s.MatchHistory(ctx, into.Ladder, first); err != nil {
		return err
	}
	if appended.Cards, err = s.waitingCards(ctx, older.ID, into.Ladder, first); err != nil {
		return err
	}
	appendix, err := decide(appended)
	if err != nil {
		return err
	}
	return s.applyAppendix(ctx, older.ID, appendix)
}

// groupRow is a group with its default ladder, or none.
type groupRow struct {
	ID     ranking.GroupID
	Ladder ranking.LadderID
	Last   int // the number of its last match
}

func (s *Store) group(ctx context.Context, chat ranking.ChatID) (groupRow, error) {
	const sql = `
		SELECT g.id, l.id, g.last_match_number FROM groups g JOIN ladders l ON l.group_id = g.id AND l.is_default
		WHERE g.chat_id = $1`
	var g groupRow
	if err := s.db.QueryRow(ctx, sql, chat).Scan(&g.ID, &g.Ladder, &g.Last); err != nil {
		return g, fmt.Errorf("read the group of the chat with id %d in the table: %w", chat, err)
	}
	return g, nil
}

// queueMergeUnclaimed makes the unclaimed players of one group those of another. If both groups have one with the same
// username, everything passes to that of the group that remains. They cannot have played in the same match or ladder.
func queueMergeUnclaimed(batch *pgx.Batch, into, from groupRow) {
	const same = `
		(SELECT theirs.id AS theirs, ours.id AS ours
		 FROM players theirs JOIN players ours ON lower(ours.username) = lower(theirs.username)
		 WHERE theirs.group_id = $2 AND ours.group_id = $1) AS same`
	// a player who is claimed in the meantime must not lose the matches
	batch.Queue(`SELECT FROM players WHERE group_id IN ($1, $2) ORDER BY id FOR UPDATE`, into.ID, from.ID)
	batch.Queue(`UPDATE match_players mp SET player_id = same.ours FROM `+same+` WHERE mp.player_id = same.theirs`, into.ID, from.ID)
	batch.Queue(`UPDATE group_players s SET player_id = same.ours FROM `+same+` WHERE s.player_id = same.theirs`, into.ID, from.ID)
	batch.Queue(`
		UPDATE players p SET username = NULL, group_id = NULL, merged_into = same.ours
		FROM `+same+` WHERE p.id = same.theirs OR p.merged_into = same.theirs`, into.ID, from.ID)
	batch.Queue(`UPDATE players SET group_id = $1 WHERE group_id = $2`, into.ID, from.ID)
}

// queueMergeSightings makes the sightings of one group those of another. The later sighting counts, of an account as well
// as of a username.
func queueMergeSightings(batch *pgx.Batch, into, from groupRow) {
	batch.Queue(`
		DELETE FROM sightings s USING sightings o
		WHERE s.group_id IN ($1, $2) AND o.group_id IN ($1, $2) AND s.player_id = o.player_id
		  AND (o.seen_at, o.group_id) > (s.seen_at, s.group_id)`, into.ID, from.ID)
	batch.Queue(`
		UPDATE sightings s SET username = NULL FROM sightings o
		WHERE s.group_id IN ($1, $2) AND o.group_id IN ($1, $2) AND lower(s.username) = lower(o.username)
		  AND (o.seen_at, o.player_id) > (s.seen_at, s.player_id)`, into.ID, from.ID)
	batch.Queue(`UPDATE sightings SET group_id = $1 WHERE group_id = $2`, into.ID, from.ID)
}

// queueMergeGroups appends the matches of one group to those of another. Players who are ranked in both keep the
// standing in the group that remains. The others bring theirs, reset to before their first match.
func queueMergeGroups(batch *pgx.Batch, into, from groupRow) {
	const theirs = `(SELECT id FROM ladders WHERE group_id = $2)`
	batch.Queue(`
		SELECT FROM group_players s
		WHERE s.ladder_id IN `+theirs+` OR s.ladder_id = $1 AND s.player_id IN (
		    SELECT o.player_id FROM group_players o WHERE o.ladder_id IN `+theirs+`)
		ORDER BY s.id FOR UPDATE`, into.Ladder, from.ID)
	// the name in the newer group is the latest one; a member of either group is a member
	batch.Queue(`
		UPDATE group_players kept
		SET name = s.name, left_at = CASE WHEN kept.left_at IS NOT NULL AND s.left_at IS NOT NULL
		                                     THEN greatest(kept.left_at, s.left_at) END
		FROM group_players s
		WHERE s.ladder_id IN `+theirs+` AND kept.ladder_id = $1 AND kept.player_id = s.player_id`, into.Ladder, from.ID)
	batch.Queue(`
		DELETE FROM group_players s
		WHERE s.ladder_id IN `+theirs+` AND EXISTS (
		    SELECT FROM group_players kept WHERE kept.player_id = s.player_id
		      AND (kept.ladder_id = $1 OR kept.ladder_id IN `+theirs+` AND kept.id < s.id))`, into.Ladder, from.ID)
	batch.Queue(`
		UPDATE group_players
		SET ladder_id = $1, elo = start_elo, best_elo = start_elo, played = 0, won = 0, drawn = 0, lost = 0, streak = 0,
		    last_played_at = NULL, version = version + 1
		WHERE ladder_id IN `+theirs, into.Ladder, from.ID)
	batch.Queue(`UPDATE groups SET last_match_number = last_match_number + $2 WHERE id = $1`, into.ID, from.Last)
	batch.Queue(`UPDATE matches SET group_id = $1, ladder_id = $2, number = number + $3 WHERE group_id = $4`,
		into.ID, into.Ladder, into.Last, from.ID)
	if from.Last > 0 {
		postgres.QueueRecount(batch, into.Ladder)
	}
	batch.Queue(`DELETE FROM ladders WHERE group_id = $1`, from.ID)
	batch.Queue(`DELETE FROM groups WHERE id = $1`, from.ID)
}

// queueMergeChats passes everything of a chat to another one, except for what the other one has itself.
func queueMergeChats(batch *pgx.Batch, older, newer chatRow) {
	queueForgetMessages(batch, older.ID)
	// An upgrade to a supergroup looks as if the bot was added to a new group. Drop notices of such events (their keys
	// begin with s:) if the older group was greeted already.
	batch.Queue(`
		DELETE FROM outbox
		WHERE chat_id = $2 AND state = 'planned' AND starts_with(key, 's:')
		  AND EXISTS (SELECT FROM chats WHERE id = $1 AND greeted_at IS NOT NULL)`, older.ID, newer.ID)
	batch.Queue(`UPDATE ensured_messages SET chat_id = $1 WHERE chat_id = $2`, older.ID, newer.ID)
	// of two boards that of the newer chat remains, because its message can still be edited
	batch.Queue(`DELETE FROM boards WHERE chat_id = $1 AND EXISTS (SELECT FROM boards WHERE chat_id = $2)`, older.ID, newer.ID)
	batch.Queue(`UPDATE boards SET chat_id = $1 WHERE chat_id = $2`, older.ID, newer.ID)
	// of two notices with the same key only the later one can still be superseded; the other one is sent before it
	batch.Queue(`
		UPDATE outbox o SET supersede_key = NULL
		WHERE o.chat_id IN ($1, $2) AND o.supersede_key IS NOT NULL AND EXISTS (
		    SELECT FROM outbox later
		    WHERE later.chat_id IN ($1, $2) AND later.supersede_key = o.supersede_key AND later.id > o.id)`,
		older.ID, newer.ID)
	batch.Queue(`UPDATE outbox SET chat_id = $1 WHERE chat_id = $2`, older.ID, newer.ID)
	batch.Queue(`UPDATE prompts SET chat_id = $1 WHERE chat_id = $2`, older.ID, newer.ID)
	batch.Queue(`
		UPDATE outbox o SET payload = jsonb_set(o.payload, '{number}', to_jsonb(m.number))
		FROM prompts p JOIN matches m ON m.id = p.match_id
		WHERE p.chat_id = $1 AND o.id = p.id AND o.id = ANY (ARRAY(SELECT id FROM prompts WHERE chat_id = $1)) AND o.state = 'planned'`, older.ID)
	batch.Queue(`UPDATE timers SET chat_id = $1 WHERE chat_id = $2`, older.ID, newer.ID)
	batch.Queue(`UPDATE chat_aliases SET chat_id = $1 WHERE chat_id = $2`, older.ID, newer.ID)
	batch.Queue(`
		WITH gone AS (DELETE FROM chats WHERE id = $2 RETURNING *)
		UPDATE chats c SET telegram_chat_id = gone.telegram_chat_id, kind = 'supergroup', title = gone.title,
		                   frozen_until = gone.frozen_until, parked_at = gone.parked_at,
		                   is_active = c.is_active OR gone.is_active, greeted_at = greatest(c.greeted_at, gone.greeted_at),
		                   added_at = CASE WHEN c.greeted_at IS NULL THEN gone.added_at ELSE c.added_at END
		FROM gone WHERE c.id = $1`, older.ID, newer.ID)
	queueAlias(batch, older.External, older.ID)
}

// waitingCards returns the unsent cards of a ladder's matches from a number on.
func (s *Store) waitingCards(ctx context.Context, chat ranking.ChatID, ladder ranking.LadderID, from int) (
	[]ranking.WaitingCard, error,
) {
	const sql = `
		SELECT o.id, m.id, ` + postgres.SidesSwapped + `, o.payload
		FROM outbox o JOIN matches m ON m.id = o.match_id
		WHERE o.chat_id = $1 AND o.finished_at IS NULL AND o.kind = $2 AND m.ladder_id = $3 AND m.number >= $4
		ORDER BY o.id`
	rows, err := s.db.Query(ctx, sql, chat, ranking.KindMatchRecorded, ladder, from)
	if err != nil {
		return nil, fmt.Errorf("read waiting cards: %w", err)
	}
	cards, err := pgx.CollectRows(rows, pgx.RowToStructByPos[ranking.WaitingCard])
	if err != nil {
		return nil, fmt.Errorf("read waiting cards: %w", err)
	}
	return cards, nil
}

// applyAppendix writes the changes that follow from appended matches. A card that has been sent in the meantime stays
// as it is.
func (s *Store) applyAppendix(ctx context.Context, chat ranking.ChatID, x ranking.Appendix) error {
	var batch pgx.Batch
	queueRewrite(&batch, x.Rewrite)
	for _, card := range x.Cards {
		payload, err := encode(card.Notice)
		if err != nil {
			return err
		}
		batch.Queue(`UPDATE outbox SET payload = $2 WHERE id = $1 AND finished_at IS NULL`, card.ID, payload)
	}
	if err := queueNotices(&batch, s.now(), ranking.Changes{Chat: chat, Notice: x.Notice}); err != nil {
		return err
	}
	if err := s.db.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("append matches: %w", err)
	}
	return nil
}
