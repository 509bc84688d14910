package ranking

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"
)

// CommandOutcome is what came of a command, as the log has it.
type CommandOutcome string

// The outcomes. A command that has failed has none yet: it is tried again.
const (
	OutcomeRecorded   CommandOutcome = "recorded"
	OutcomeUndone     CommandOutcome = "undone"
	OutcomeFixed      CommandOutcome = "fixed"
	OutcomeJoined     CommandOutcome = "joined"
	OutcomeAnswered   CommandOutcome = "answered"
	OutcomeRefused    CommandOutcome = "refused"
	OutcomeUnanswered CommandOutcome = "unanswered"  // a question too many, or one that needs no answer
	OutcomeDuplicate  CommandOutcome = "duplicate"   // it was handled before
	OutcomeDeadLetter CommandOutcome = "dead_letter" // it could not be handled
)

// CommandLog is what the log says of a command that only whoever has read it knows.
type CommandLog struct {
	Update  int64  // the messenger's number of the update that it came with
	Command string // its name, or that of the button that was pressed
}

type commandLogKey struct{}

// With returns a context in which a command is handled that is logged like this. Nothing but the log depends on it.
func (l CommandLog) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, commandLogKey{}, l)
}

// Done logs the end of a command.
func (l CommandLog) Done(ctx context.Context, log *slog.Logger, o Origin, outcome CommandOutcome, took time.Duration) {
	log.LogAttrs(ctx, slog.LevelInfo, "command handled", slog.Int64("update_id", l.Update), slog.String("key", o.Key),
		slog.Int64("chat_id", int64(o.Chat.ID)), slog.String("command", l.Command), slog.String("outcome", string(outcome)),
		slog.Int64("duration_ms", took.Milliseconds()))
}

// logOf returns what the log says of the command that is handled, which is the command's own name if nobody has said it.
func (c command) logOf(ctx context.Context) CommandLog {
	l, _ := ctx.Value(commandLogKey{}).(CommandLog)
	l.Command = cmp.Or(l.Command, c.name)
	return l
}

// logDone logs what came of a command. Of what nobody has asked for, and of a failure, there is nothing to be said; and
// whoever has a command handled once more sees what comes of it.
func (s *Service) logDone(ctx context.Context, o Origin, c command, err error, begun time.Time) {
	outcome := *c.outcome
	switch {
	case c.silent, o.Redelivered:
		return
	case errors.Is(err, ErrHandled):
		outcome = OutcomeDuplicate
	case errors.Is(err, errUnanswered):
		outcome = OutcomeUnanswered
	case err != nil, outcome == "":
		return
	}
	c.logOf(ctx).Done(ctx, s.log, o, outcome, time.Since(begun))
}

// outcomeOf returns what comes of a command that makes these changes.
func outcomeOf(o Origin, c Changes) CommandOutcome {
	told := c.Notice
	if told == nil {
		told = c.CallbackAnswer
	}
	switch told.(type) {
	case Refusal, NotRecorded:
		return OutcomeRefused
	}
	switch {
	case c.Match != nil:
		return OutcomeRecorded
	case c.Undo != nil:
		return OutcomeUndone
	case c.Fix != nil:
		return OutcomeFixed
	case c.Join != nil, c.Standing != nil:
		return OutcomeJoined
	case o.Malformed != "":
		return OutcomeRefused
	case told == nil:
		return OutcomeUnanswered
	default:
		return OutcomeAnswered
	}
}
