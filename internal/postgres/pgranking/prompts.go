package pgranking

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

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
		Request []byte // Report, Wizard or Which, depending on the kind
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
		}
		if err != nil {
			return fmt.Errorf("decode the prompt: %w", err)
		}
		*found = &p.Prompt
		return nil
	})
}

// queuePrompt inserts a prompt with its notice and its timer. args are the arguments of
// insertNotice. The timer is due a PromptWindow after the notice expires.
func queuePrompt(batch *pgx.Batch, p ranking.NewPrompt, args []any) {
	batch.Queue(`
		WITH notice AS (`+insertNotice+`
		    RETURNING id, chat_id, expires_at
		), asked AS (
		    INSERT INTO prompts (id, chat_id, kind, match_id, match_changes, answerer_id, request)
		    SELECT id, chat_id, $13, nullif($14::bigint, 0), $15, nullif($16::bigint, 0), $17 FROM notice)
		INSERT INTO timers (key, chat_id, due_at)
		SELECT `+promptTimer+`, chat_id, coalesce(expires_at, now() + $18::interval) + $19::interval FROM notice`,
		append(args, p.Kind, p.Match, p.Changes, p.Answerer, request(p), undeliveredWindow, ranking.PromptWindow)...)
}

// request returns the report, wizard or choice that the prompt stores as JSON, nil if it has none.
func request(p ranking.NewPrompt) any {
	switch {
	case p.Report != nil:
		return p.Report
	case p.Wizard != nil:
		return p.Wizard
	case p.Which != nil:
		return p.Which
	}
	return nil
}

// queueOvertakenPrompts closes the prompts about a message when an edit of the message takes
// effect, except a prompt that the edit itself asks.
func queueOvertakenPrompts(batch *pgx.Batch, c ranking.Changes) {
	batch.Queue(`
		WITH overtaken AS (
		    UPDATE prompts SET closed_at = now(), closed_as = 'cancelled'
		    WHERE chat_id = $1 AND closed_at IS NULL AND asked_at < now() AND request ->> 'key' = $2
		    RETURNING id)
		DELETE FROM timers WHERE key = ANY (ARRAY(SELECT `+promptTimer+` FROM overtaken))`, c.Chat, messageOf(c))
}

// queueChangedPrompt changes the question of a prompt and restarts its timer. The batch fails if
// the prompt is closed.
func queueChangedPrompt(batch *pgx.Batch, p ranking.NewPrompt) {
	batch.Queue(`
		WITH changed AS (UPDATE prompts SET kind = $2, request = $3 WHERE id = $1 AND closed_at IS NULL RETURNING 1)
		SELECT EXISTS (SELECT FROM changed)::unchanged`, p.ID, p.Kind, request(p))
	batch.Queue(`UPDATE timers SET due_at = now() + $2::interval WHERE key = $1`, p.ID.Timer(), ranking.PromptWindow)
}

// promptTimer is ranking.PromptID.Timer in SQL, of the column id.
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
	if !c.ConsumesTimer {
		batch.Queue(`DELETE FROM timers WHERE key = $1`, c.Closes.ID.Timer())
	}
}
