package ranking

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"elobot/internal/notice"
)

// CommandOutcome is the outcome of a command. It is logged, and stored with the command's key, except for those that store no key.
type CommandOutcome string

// The outcomes. A failed command has none, because it is retried.
const (
	OutcomeRecorded       CommandOutcome = "recorded"
	OutcomeUndone         CommandOutcome = "undone"
	OutcomeRestored       CommandOutcome = "restored"
	OutcomeFixed          CommandOutcome = "fixed"
	OutcomeJoined         CommandOutcome = "joined"
	OutcomeSettingChanged CommandOutcome = "setting_changed"
	OutcomeAsked          CommandOutcome = "asked" // a prompt asks for a part of a result, or whether to record it
	OutcomeAnswered       CommandOutcome = "answered"
	OutcomeRefused        CommandOutcome = "refused"
	OutcomeUnanswered     CommandOutcome = "unanswered"  // over the rate limit, or no answer was needed
	OutcomeDuplicate      CommandOutcome = "duplicate"   // already handled
	OutcomeDeadLetter     CommandOutcome = "dead_letter" // failed for good
)

// CommandLog holds the log fields of a command that only the caller of the service knows.
type CommandLog struct {
	Update  int64  // the messenger's id of the update that contained the command
	Command string // the name of the command, or of the button that was pressed
}

type commandLogKey struct{}

// With returns a context that carries the log fields to the service. They affect nothing but the log.
func (l CommandLog) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, commandLogKey{}, l)
}

// Done logs the end of a command.
func (l CommandLog) Done(ctx context.Context, log *slog.Logger, o Origin, outcome CommandOutcome, took time.Duration) {
	log.LogAttrs(ctx, slog.LevelInfo, "command handled", slog.Int64("update_id", l.Update), slog.String("key", o.Key),
		slog.Int64("chat_id", int64(o.Chat.ID)), slog.String("command", l.Command), slog.String("outcome", string(outcome)),
		slog.Int64("duration_ms", took.Milliseconds()))
}

// commandLog returns the log fields from the context. Without a name there, it uses the command's own.
func (j job) commandLog(ctx context.Context) CommandLog {
	l, _ := ctx.Value(commandLogKey{}).(CommandLog)
	l.Command = cmp.Or(l.Command, j.name)
	return l
}

// logOutcome logs the outcome of a command. It logs nothing for silent and failed commands, nor for retried ones: the operator who retries
// it sees the outcome.
func (s *Service) logOutcome(ctx context.Context, o Origin, j job, err error, started time.Time) {
	outcome := *j.outcome
	switch {
	case j.unlogged, o.Retried:
		return
	case (o.Trigger == ByEdit || o.Trigger == ByTimer) && (errors.Is(err, ErrHandled) || errors.Is(err, errUnanswered)): // most edits change nothing
		return
	case errors.Is(err, ErrHandled):
		outcome = OutcomeDuplicate
	case errors.Is(err, errUnanswered):
		outcome = OutcomeUnanswered
	case err != nil, outcome == "":
		return
	}
	j.commandLog(ctx).Done(ctx, s.log, o, outcome, time.Since(started))
}

// outcomeOf returns the outcome of the command if it makes the changes.
func (j job) outcomeOf(changes Changes) CommandOutcome {
	notice := changes.said()
	_, malformed := j.operation.(malformedResult)
	switch {
	case isRefusal(notice), malformed:
		return OutcomeRefused
	case changes.Effect != nil && changes.Effect.outcome() != "":
		return changes.Effect.outcome()
	case changes.Asks != nil && (changes.Asks.Report != nil || changes.Asks.Wizard != nil):
		return OutcomeAsked
	case notice == nil:
		return OutcomeUnanswered
	default:
		return OutcomeAnswered
	}
}

// isRefusal is true if a notice says why a command did nothing.
func isRefusal(n Notice) bool { return n != nil && notice.KindOf(n).Refuses }
