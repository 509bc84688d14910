package pgranking

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/notice"
	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// undeliveredWindow is the lifetime that the timer of a prompt assumes for a notice that never
// expires.
const undeliveredWindow = 24 * time.Hour

// promptWindow is ranking.PromptWindow in SQL.
var promptWindow = postgres.Interval(ranking.PromptWindow)

// foundPrompt selects the prompt $2 of a chat.
const foundPrompt = `
		SELECT p.id, p.kind, coalesce(p.match_id, 0) AS match, p.match_changes AS changes, coalesce(m.number, 0) AS number,
		       coalesce(m.idempotency_key, '') AS key,
		       coalesce(p.answerer_id, 0) AS answerer, coalesce(p.telegram_message_id, 0) AS message,
		       p.closed_at IS NOT NULL AS closed, p.request
		FROM prompts p LEFT JOIN matches m ON m.id = p.match_id
		WHERE p.id = $2 AND p.chat_id = ` + postgres.ThisChat

func queueFoundPrompt(batch *pgx.Batch, chat ranking.ExternalChatID, id ranking.PromptID, found **ranking.Prompt) {
	type promptRow struct {
		ranking.Prompt
		Request []byte // Report, Wizard, Which or Import, depending on the kind
	}
	batch.Queue(foundPrompt, chat, id).Query(func(rows pgx.Rows) error {
		p, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByNameLax[promptRow])
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err != nil:
			return err
		}
		switch p.Kind {
		case ranking.PromptReport:
			err = json.Unmarshal(p.Request, &p.Report)
		case ranking.PromptWizard:
			err = json.Unmarshal(p.Request, &p.Wizard)
		case ranking.PromptWhich:
			err = json.Unmarshal(p.Request, &p.Which)
		case ranking.PromptImport:
			err = json.Unmarshal(p.Request, &p.Import)
		}
		if err != nil {
			return fmt.Errorf("decode the prompt: %w", err)
		}
		*found = &p.Prompt
		return nil
	})
}

// queuePrompt inserts a prompt with its notice and its timer. args are the arguments of
// insertNotice. The timer is due a Window after the notice expires.
func queuePrompt(batch *pgx.Batch, p ranking.NewPrompt, args []any) {
	batch.Queue(`
		WITH notice AS (`+insertNotice+`
		    RETURNING id, chat_id, expires_at
		), asked AS (
		    INSERT INTO prompts (id, chat_id, kind, match_id, match_changes, answerer_id, request)
		    SELECT id, chat_id, $13, nullif($14::bigint, 0), $15, nullif($16::bigint, 0), $17 FROM notice)
		INSERT INTO timers (key, chat_id, due_at)
		SELECT `+promptTimer+`, chat_id, coalesce(expires_at, now() + $18::interval) + $19::interval FROM notice`,
		append(args, p.Kind, p.Match, p.Changes, p.Answerer, request(p), undeliveredWindow, p.Kind.Window())...)
}

// request returns the report, wizard, choice or import that the prompt stores as JSON, nil if it
// has none.
func request(p ranking.NewPrompt) any {
	switch {
	case p.Report != nil:
		return p.Report
	case p.Wizard != nil:
		return p.Wizard
	case p.Which != nil:
		return p.Which
	case p.Import != nil:
		return p.Import
	}
	return nil
}

// queueOvertakenPrompts closes the prompts about a message when an edit of the message takes
// effect, except a prompt that the edit itself asks.
func queueOvertakenPrompts(batch *pgx.Batch, c ranking.Changes) {
	batch.Queue(closePrompts(`asked_at < now() AND request ->> 'key' = $3`), c.Chat, ranking.PromptCanceled, messageOf(c))
}

// closePrompts returns the statement that closes the open prompts of the chat $1 that meet
// condition, and stores $2 as the way in which they were closed. condition is SQL about the prompt
// p.
func closePrompts(condition string) string {
	return `
		WITH closed AS (
		    UPDATE prompts p SET closed_at = now(), closed_as = $2
		    WHERE chat_id = $1 AND closed_at IS NULL AND ` + condition + `
		    RETURNING id)
		DELETE FROM timers WHERE key = ANY (ARRAY(SELECT ` + promptTimer + ` FROM closed))`
}

// namesPlayer holds for a prompt p about the player $3 of the group $4, or about a player who
// counts as that one. The player is in a match that the prompt is about, in a reading, or in a team
// of a wizard, or is the reporter or the only opponent of a wizard without teams.
const namesPlayer = `(EXISTS (
		    SELECT FROM match_players WHERE player_id = $3 AND match_id = ANY (
		        ARRAY(SELECT jsonb_path_query(p.request, '$.**.match')::bigint) || p.match_id))
		  OR jsonb_path_exists(
		    lower(jsonb_build_array(p.request -> 'readings', p.request -> 'teams', CASE
		        WHEN p.kind = 'wizard' AND NOT p.request ? 'teams' THEN jsonb_build_array(
		            p.request -> 'reporter', CASE WHEN p.request #> '{opponents,1}' IS NULL THEN p.request -> 'opponents' END)
		        END)::text)::jsonb,
		    '$.** ? (@.player == $player[*] || @.id == $id[*] || @.username == $username[*])', (
		        SELECT jsonb_build_object('player', jsonb_agg(p.id), 'id', jsonb_agg(p.telegram_user_id),
		            'username', jsonb_agg(lower(CASE WHEN p.group_id IS NULL THEN s.username ELSE p.username END)))
		        FROM (SELECT $3::bigint AS id
		              UNION ALL SELECT player_id FROM sightings WHERE group_id = $4 AND counts_as = $3) AS named
		        JOIN players p ON p.id = named.id
		        LEFT JOIN sightings s ON s.group_id = $4 AND s.player_id = p.id)))`

// queuePromptsOver closes the open prompts that name a player who was taken out of the rankings,
// and says so in their messages.
func queuePromptsOver(batch *pgx.Batch, c ranking.Changes, o *ranking.TakenOut) {
	kind := notice.KindOf(o.Over)
	batch.Queue(`
		INSERT INTO outbox
		    (chat_id, key, kind, purpose, payload, action, edited_message_id, supersede_key, expires_at, alone)
		SELECT $1, $2, $5, $6, $7, 'page', telegram_message_id, 'page:' || telegram_message_id, now() + $8::interval, true
		FROM prompts p
		WHERE chat_id = $1 AND closed_at IS NULL AND telegram_message_id IS NOT NULL AND `+namesPlayer+supersedePage,
		c.Chat, c.Key, o.Player, o.Group, kind.Name, kind.Purpose, o.Over, kind.Purpose.Lifetime())
	batch.Queue(closePrompts(namesPlayer), c.Chat, ranking.PromptExpired, o.Player, o.Group)
}

// queueChangedPrompt changes the question of a prompt and restarts its timer. The batch fails if
// the prompt is closed.
func queueChangedPrompt(batch *pgx.Batch, p ranking.NewPrompt) {
	batch.Queue(`
		WITH changed AS (UPDATE prompts SET kind = $2, request = $3 WHERE id = $1 AND closed_at IS NULL RETURNING 1)
		SELECT EXISTS (SELECT FROM changed)::unchanged`, p.ID, p.Kind, request(p))
	batch.Queue(`UPDATE timers SET due_at = now() + $2::interval WHERE key = $1`, p.ID.Timer(), p.Kind.Window())
}

// promptTimer is ranking.PromptID.Timer in SQL, for the column id.
const promptTimer = `'` + ranking.PromptTimer + `' || id`

// queueClosedPrompt closes a prompt and deletes its timer, unless queueFired deletes the timer. The
// batch fails if the prompt is closed already. The notices must be queued first, because the
// dispatcher locks notices before prompts and timers.
func queueClosedPrompt(batch *pgx.Batch, c ranking.Changes) {
	batch.Queue(`
		WITH closed AS (
		    UPDATE prompts SET closed_at = now(), closed_as = $2 WHERE id = $1 AND closed_at IS NULL
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM closed)::unchanged`, c.Closes.ID, c.Closes.As)
	if c.Key != c.Closes.ID.Timer() {
		batch.Queue(`DELETE FROM timers WHERE key = $1`, c.Closes.ID.Timer())
	}
}
