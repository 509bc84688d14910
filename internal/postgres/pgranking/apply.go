package pgranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"elobot/internal/crashpoint"
	"elobot/internal/outbox"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// Apply implements ranking.Store.
func (s *Store) Apply(ctx context.Context, c ranking.Changes) error {
	if m := sharedResult(c); m != nil && s.results != nil {
		return s.results.write(ctx, s, c, m)
	}
	return s.write(ctx, c)
}

// write writes a command by itself. It sends one pipelined batch, which the server runs as one transaction.
func (s *Store) write(ctx context.Context, c ranking.Changes) error {
	var batch pgx.Batch
	s.lease.Require(&batch)
	queueChanges(&batch, s.Now(), c)
	return s.sendChanges(ctx, &batch, c)
}

// queueChanges queues what a command writes, always in the same order, which is the order of locks after that of the lease: new chat,
// group, key, people, standings by id, match, notices, prompt and timer, chat. A statement that does not find what was read must raise an
// error in the server, because the rest of the batch would be committed otherwise: a false condition cannot be cast to the domain
// unchanged, and that is a conflict.
func queueChanges(batch *pgx.Batch, now time.Time, c ranking.Changes) {
	queueNewChat(batch, c.Seen, c.Chat)
	matches, _ := c.Effect.(ranking.NewMatches)
	_, left := c.Effect.(*ranking.Left)
	_, cameBack := c.Effect.(*ranking.CameBack)
	switch {
	case len(matches) > 0:
		queueNumbers(batch, []ranking.GroupID{matches[0].Group})
		if c.Ladder != nil {
			queueNotArchived(batch, []ranking.LadderID{matches[0].Ladder})
		}
	case len(c.Seen.People) > 0, left, cameBack: // nobody else adds the same names, or records a match of who left
		batch.Queue(`SELECT FROM groups WHERE id = $1 FOR NO KEY UPDATE`, c.Seen.Group)
	}
	queueKeys(batch, keysOf(c))
	queueMessage(batch, c)
	if len(c.Seen.People) > 0 {
		queueSeenPeople(batch, c.Seen)
	}
	queueEffect(batch, now, c)
	queueNotices(batch, now, c)
	if c.Trigger == ranking.ByEdit && c.Effect != nil {
		queueOvertakenPrompts(batch, c)
	}
	if c.Asks != nil && c.Asks.ID != 0 {
		queueChangedPrompt(batch, *c.Asks)
	}
	if c.Closes != nil {
		queueClosedPrompt(batch, c)
	}
	if c.ConsumesTimer {
		queueFired(batch, c.Key)
	}
	if c.Seen.Chat != nil && !c.Seen.NewChat {
		queueChangedChat(batch, *c.Seen.Chat, c.Chat)
	}
	queuePresence(batch, c)
	queueEffectOnChat(batch, c)
	for _, season := range c.Corrected {
		queueCorrected(batch, c.Chat, c.Key, season)
	}
}

// sendChanges sends a batch that writes a command and commits it.
func (s *Store) sendChanges(ctx context.Context, batch *pgx.Batch, c ranking.Changes) error {
	crashpoint.At(crashpoint.Applying)
	if err := s.db.SendBatch(ctx, batch).Close(); err != nil {
		if err = postgres.Translate(err); errors.Is(err, ranking.ErrHandled) {
			s.wakeHandled(c.Chat)
		}
		return fmt.Errorf("apply: %w", err)
	}
	crashpoint.At(crashpoint.Applied)
	s.wakeLanes(c)
	return nil
}

// queueEffect writes what a command changes, apart from what queueEffectOnChat does.
func queueEffect(batch *pgx.Batch, now time.Time, c ranking.Changes) {
	switch e := c.Effect.(type) {
	case ranking.NewMatches:
		queueNewMatches(batch, now, c, e)
	case *ranking.NewStanding:
		batch.Queue(`SELECT FROM groups WHERE id = $1 FOR NO KEY UPDATE`, c.Seen.Group)
		queueGoesOn(batch, e.Season)
		queueNewStanding(batch, e.Season, e.Standing)
		if c.Ladder != nil {
			queueCameBack(batch, e.CameBack)
		}
	case *ranking.Left:
		queueLeft(batch, e)
	case *ranking.CameBack:
		queueCameBack(batch, *e)
	default:
		queueAmendment(batch, c)
	}
}

// queueEffectOnChat writes what a command changes in its chat and board. It comes after the notices: the dispatcher, and whoever moves a
// chat, lock those first.
func queueEffectOnChat(batch *pgx.Batch, c ranking.Changes) {
	switch e := c.Effect.(type) {
	case *ranking.ChangedSetting:
		queueSetting(batch, e)
		for _, u := range e.Seasons {
			queueUntil(batch, c.Chat, u)
		}
	case *ranking.ChangedBoard:
		queueBoard(batch, c, e)
	case *ranking.ChangedLadder:
		queueLadder(batch, c, e)
	case *ranking.NewSeason:
		queueNewSeason(batch, c, e)
	case *ranking.SeasonUntil:
		queueUntil(batch, c.Chat, *e)
	case *ranking.ToldSeason:
		queueTold(batch, c.Chat, c.Key, e.Season, "{}")
	case *ranking.Greeted:
		queueGreeted(batch, c.Chat, e)
	}
}

// wakeLanes reports what a command has given to be sent.
func (s *Store) wakeLanes(c ranking.Changes) {
	s.showOnWeb(c)
	if notifies(c) || amendedBy(c.Effect) != nil || c.Presence == ranking.BotActive {
		s.wake(c.Chat)
	}
	if b, ok := c.Effect.(*ranking.ChangedBoard); ok {
		s.committed(outbox.Lane{Chat: outbox.ChatID(b.Chat), Kind: outbox.Boards})
	}
	if c.Chat != 0 && c.Page == nil && c.Button == "" && !notifies(c) {
		s.changed(c.Chat) // the names, the title or the members
	}
	if c.Page != nil {
		s.committed(outbox.Lane{Chat: outbox.ChatID(c.Chat), Kind: outbox.Pages})
	}
	if c.Button != "" {
		s.committed(outbox.Lane{Chat: outbox.ChatID(c.Chat), Kind: outbox.CallbackAnswers})
	}
}

// showOnWeb reports that what a web board shows may have changed.
func (s *Store) showOnWeb(c ranking.Changes) {
	if c.ShownOnWeb != 0 {
		s.WebChanged(c.ShownOnWeb)
	}
}

// notifies is true if changes send a message to the chat.
func notifies(c ranking.Changes) bool {
	switch c.Effect.(type) {
	case ranking.NewMatches, *ranking.NewSeason, *ranking.ToldSeason:
		return true
	}
	return c.Notice != nil || len(c.Corrected) > 0
}

// goingOn are the seasons of the group $1 that go on.
const goingOn = `ANY (ARRAY(SELECT season_id FROM ladders WHERE group_id = $1))`

func queueLeft(batch *pgx.Batch, l *ranking.Left) {
	batch.Queue(`
		UPDATE group_players s SET left_at = $3, version = version + 1
		WHERE season_id = `+goingOn+` AND player_id = $2 AND left_at IS NULL AND NOT EXISTS (
		    SELECT FROM group_players WHERE season_id = `+goingOn+` AND player_id = $2 AND last_played_at > $3)`, l.Group, l.Player, l.At)
}

func queueCameBack(batch *pgx.Batch, b ranking.CameBack) {
	if len(b.Players) == 0 {
		return
	}
	batch.Queue(`
		UPDATE group_players SET left_at = NULL, version = version + 1
		WHERE season_id = `+goingOn+` AND player_id = ANY ($2) AND left_at <= $3`, b.Group, b.Players, b.At)
}

// returning returns who may have left the other ladders of the group, but plays one of the matches.
func returning(matches ranking.NewMatches) ranking.CameBack {
	back := ranking.CameBack{Group: matches[0].Group, At: matches[0].PlayedAt}
	for _, m := range matches {
		for _, p := range m.Players {
			if p.Before.ID == 0 || !p.Before.LeftAt.Equal(p.After.LeftAt) {
				back.Players = append(back.Players, p.Before.Player)
			}
		}
	}
	return back
}

// handledKey is a key to be stored. In JSON, its fields have the names of the columns.
type handledKey struct {
	Key     string                 `json:"key"`
	Sender  ranking.SenderID       `json:"sender,omitzero"`
	SentAt  time.Time              `json:"sent_at,omitzero"`
	Bucket  ranking.RateBucket     `json:"rate_class,omitzero"`
	Trigger ranking.Trigger        `json:"trigger"`
	Outcome ranking.CommandOutcome `json:"outcome"`
}

// keysOf returns the keys that a command stores. Each other match of a message has a key too, so that it counts like a message of its
// own.
func keysOf(c ranking.Changes) (keys []handledKey) {
	if c.Keyless {
		return nil
	}
	trigger, outcome := cmp.Or(c.Trigger, ranking.ByMessage), cmp.Or(c.Outcome, ranking.OutcomeUnanswered)
	keys = append(keys, handledKey{c.Key, c.RateEntry.Sender, c.RateEntry.At, c.RateEntry.Bucket, trigger, outcome})
	if matches, ok := c.Effect.(ranking.NewMatches); ok {
		rate := cmp.Or(c.Extra, c.RateEntry)
		for _, m := range matches[1:] {
			keys = append(keys, handledKey{m.Key, rate.Sender, rate.At, rate.Bucket, trigger, outcome})
		}
	}
	return keys
}

// queueKeys inserts the keys of commands, with the buckets of the commands.
func queueKeys(batch *pgx.Batch, keys []handledKey) {
	if len(keys) == 0 {
		return
	}
	batch.Queue(`
		INSERT INTO handled_commands (key, sender, sent_at, rate_class, trigger, outcome)
		SELECT c.key, c.sender, c.sent_at, c.rate_class, c.trigger, c.outcome
		FROM unnest($1::jsonb[]) AS one CROSS JOIN LATERAL jsonb_populate_record(NULL::handled_commands, one) AS c`, keys)
}

// queueMessage stores what became of the message whose command something else has triggered: an edit, or the press of a button. Of a
// message and its edits, only one takes effect. An answer has proved its right by closing a prompt.
func queueMessage(batch *pgx.Batch, c ranking.Changes) {
	if c.Closes != nil && c.Closes.Settles != "" { // of a message that has recorded others, that remains
		batch.Queue(`UPDATE handled_commands SET trigger = $2, outcome = $3 WHERE key = $1 AND outcome = 'asked'`,
			c.Closes.Settles, c.Trigger, c.Outcome)
	}
	message := messageOf(c)
	adds := c.Trigger == ranking.ByEdit && c.Message == "" // to what the message has recorded, under keys that were free
	if c.Keyless || message == "" || message == c.Key || adds {
		return
	}
	batch.Queue(`
		WITH stored AS (
		    INSERT INTO handled_commands AS c (key, trigger, outcome) VALUES ($1, $2, $3)
		    ON CONFLICT ON CONSTRAINT handled_commands_pkey DO UPDATE SET trigger = excluded.trigger, outcome = excluded.outcome
		    WHERE c.outcome IN ('refused', 'asked') OR excluded.trigger <> 'edit'
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM stored)::unchanged`,
		message, cmp.Or(c.Trigger, ranking.ByMessage), c.Outcome)
}

// messageOf returns the key of the message that has caused what takes effect: that of the matches, or of the edit.
func messageOf(c ranking.Changes) string {
	if matches, ok := c.Effect.(ranking.NewMatches); ok {
		message, _, _ := strings.Cut(matches[0].Key, ranking.ExtraMatch)
		return message
	}
	return c.Message
}

// queuePresence records what a command shows about the bot's membership in its chat.
func queuePresence(batch *pgx.Batch, c ranking.Changes) {
	switch c.Presence {
	case ranking.ChatSeen:
		queueSeen(batch, []ranking.ChatID{c.Chat})
	case ranking.BotActive:
		batch.Queue(`UPDATE chats SET is_active = true, `+postgres.Unparked+` WHERE id = $1`, c.Chat)
		batch.Queue(`UPDATE boards SET pin = 'wanted' WHERE chat_id = $1 AND pin = 'refused'`, c.Chat) // its rights may have changed
	case ranking.BotInactive: // the bot greets again when it is back, however soon that is
		batch.Queue(`
			UPDATE chats
			SET is_active = false, parked_at = coalesce(parked_at, now()), greeted_at = NULL, added_at = NULL
			WHERE id = $1`, c.Chat)
	}
}

// queueSeen records that chats have sent something: the bot is in them. Where it was refused, it
// may be able to write again, and tries a while after its last try.
func queueSeen(batch *pgx.Batch, chats []ranking.ChatID) {
	batch.Queue(`
		UPDATE chats
		SET is_active = true, parked_at = CASE WHEN is_active THEN parked_at END,
		    parked_until = CASE WHEN is_active THEN parked_at + `+postgres.FirstParking+` END,
		    parkings = CASE WHEN is_active THEN parkings ELSE 0 END
		WHERE id = ANY ($1) AND (NOT is_active OR parked_until > parked_at + `+postgres.FirstParking+`)`, chats)
}

// queueGreeted records a greeting, provided that the last one is still the one that was read.
func queueGreeted(batch *pgx.Batch, chat ranking.ChatID, g *ranking.Greeted) {
	batch.Queue(`
		WITH greeted AS (
		    UPDATE chats SET greeted_at = $3, added_at = coalesce($4, added_at),
		        language = CASE WHEN language_chosen OR $5 = '' THEN language ELSE $5 END
		    WHERE id = $1 AND greeted_at IS NOT DISTINCT FROM $2::timestamptz
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM greeted)::unchanged`,
		chat, zeronull.Timestamptz(g.Before), zeronull.Timestamptz(g.At), zeronull.Timestamptz(g.Added), g.Language)
}

// queueSetting writes a setting, provided that it is still what was read. In JSON, the settings have the names of the columns.
func queueSetting(batch *pgx.Batch, c *ranking.ChangedSetting) {
	id, before, after := any(c.Chat), any(c.Before.Display), any(c.After.Display)
	switch c.Setting.Table() {
	case ranking.OfLadder:
		id, before, after = c.Ladder, c.Before.Rules, c.After.Rules
	case ranking.OfGroup:
		id, before, after = c.Group, c.Before, c.After
	}
	var set, unchanged []string
	for _, column := range c.Setting.Columns {
		set = append(set, column+" = new."+column)
		unchanged = append(unchanged, "was."+column+" = old."+column)
	}
	if c.Setting.Name == ranking.SettingWeb {
		const salt = "web_salt = coalesce(CASE WHEN NOT %t THEN was.web_salt END, gen_random_uuid())"
		set = append(set, fmt.Sprintf(salt, c.NewLink))
	}
	batch.Queue(fmt.Sprintf(`
		WITH changed AS (
		    UPDATE %[1]s was SET %[2]s
		    FROM jsonb_populate_record(NULL::%[1]s, $2) AS old, jsonb_populate_record(NULL::%[1]s, $3) AS new
		    WHERE was.id = $1 AND %[3]s
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM changed)::unchanged`,
		c.Setting.Table(), strings.Join(set, ", "), strings.Join(unchanged, " AND ")), id, before, after)
}
