package pgranking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"elobot/internal/postgres"
	"elobot/internal/ranking"
)

// undeliveredWindow is how long a prompt stays open whose notice never expires and is not delivered.
const undeliveredWindow = 24 * time.Hour

// FindPrompt implements ranking.Store.
func (s *Store) FindPrompt(ctx context.Context, chat ranking.ExternalChatID, id ranking.PromptID) (*ranking.Prompt, error) {
	const sql = `
		SELECT p.id, p.kind, coalesce(p.match_id, 0), p.match_changes, coalesce(m.number, 0), coalesce(m.idempotency_key, ''), coalesce(p.answerer_id, 0),
		       coalesce(p.telegram_message_id, 0), p.closed_at IS NOT NULL, p.request
		FROM prompts p LEFT JOIN matches m ON m.id = p.match_id
		WHERE p.id = $2 AND p.chat_id = ` + postgres.ThisChat
	var p ranking.Prompt
	var request []byte
	err := s.db.QueryRow(ctx, sql, chat, id).Scan(&p.ID, &p.Kind, &p.Match, &p.Changes, &p.Number, &p.Key, &p.Answerer, &p.Message, &p.Closed, &request)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil //nolint:nilnil // as the interface says
	case err != nil:
		return nil, fmt.Errorf("find the prompt: %w", postgres.Translate(err))
	}
	switch p.Kind {
	case ranking.PromptReport:
		err = json.Unmarshal(request, &p.Report)
	case ranking.PromptWizard:
		err = json.Unmarshal(request, &p.Wizard)
	case ranking.PromptWhich:
		err = json.Unmarshal(request, &p.Which)
	}
	if err != nil {
		return nil, fmt.Errorf("decode the prompt: %w", err)
	}
	return &p, nil
}

// IsAsked implements ranking.Store.
func (s *Store) IsAsked(ctx context.Context, match ranking.MatchID, answerer ranking.PlayerID) (asked bool, err error) {
	const sql = `
		SELECT EXISTS (
		    SELECT FROM prompts
		    WHERE match_id = $1 AND closed_at IS NULL AND coalesce(answerer_id, 0) = $2
		      AND (delivered_at IS NOT NULL OR asked_at > now() - $3::interval))`
	if err := s.db.QueryRow(ctx, sql, match, answerer, ranking.PromptWindow).Scan(&asked); err != nil {
		return false, fmt.Errorf("find an open prompt: %w", postgres.Translate(err))
	}
	return asked, nil
}

// queuePrompt inserts a prompt with its notice and its timer. args are those of insertNotice. Until the notice is
// delivered, the prompt ends a PromptWindow after the notice has expired.
func queuePrompt(batch *pgx.Batch, p ranking.NewPrompt, args []any) {
	var request any // nil for none
	switch {
	case p.Report != nil:
		request = p.Report
	case p.Wizard != nil:
		request = p.Wizard
	case p.Which != nil:
		request = p.Which
	}
	batch.Queue(`
		WITH notice AS (`+insertNotice+`
		    RETURNING id, chat_id, expires_at
		), asked AS (
		    INSERT INTO prompts (id, chat_id, kind, match_id, match_changes, answerer_id, request)
		    SELECT id, chat_id, $13, nullif($14::bigint, 0), $15, nullif($16::bigint, 0), $17 FROM notice)
		INSERT INTO timers (key, chat_id, due_at)
		SELECT `+promptTimer+`, chat_id, coalesce(expires_at, now() + $18::interval) + $19::interval FROM notice`,
		append(args, p.Kind, p.Match, p.Changes, p.Answerer, request, undeliveredWindow, ranking.PromptWindow)...)
}

// queueWizard stores what an answer adds to a wizard, provided that it is open.
func queueWizard(batch *pgx.Batch, e ranking.Effect) {
	if c, ok := e.(*ranking.ChangedWizard); ok {
		batch.Queue(`
			WITH changed AS (UPDATE prompts SET request = $2 WHERE id = $1 AND closed_at IS NULL RETURNING 1)
			SELECT EXISTS (SELECT FROM changed)::unchanged`, c.Prompt, c.Wizard)
	}
}

// promptTimer is the key of the timer of the prompt with this id, as ranking.PromptID.Timer returns it.
const promptTimer = `'t:prompt:' || id`

// queueClosedPrompt closes a prompt, provided that it is open, and deletes its timer unless queueFired does. It comes after the
// notices, because the dispatcher locks those before prompts and timers too.
func queueClosedPrompt(batch *pgx.Batch, c ranking.Changes) {
	if c.Closes == nil {
		return
	}
	batch.Queue(`
		WITH closed AS (
		    UPDATE prompts SET closed_at = now(), closed_as = $2 WHERE id = $1 AND closed_at IS NULL
		    RETURNING 1)
		SELECT EXISTS (SELECT FROM closed)::unchanged`, c.Closes.ID, c.Closes.As)
	if !c.Fires {
		batch.Queue(`DELETE FROM timers WHERE key = $1`, c.Closes.ID.Timer())
	}
}
