package ranking

import (
	"context"
	"log/slog"
	"time"

	"elobot/internal/notice"
)

// CommandOutcome is the outcome of a command. It is logged, and stored with the command's key,
// except for those that store no key.
type CommandOutcome string

// The outcomes. A failed command has none, because it is retried, nor has a message that turns out
// to be no command.
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

	// outcomeDropped is that of a command of which nothing is stored or said. It is logged as
	// OutcomeUnanswered.
	outcomeDropped CommandOutcome = "dropped"
)

// LogOutcome logs the end of a command.
func (o Origin) LogOutcome(ctx context.Context, log *slog.Logger, outcome CommandOutcome, took time.Duration) {
	log.LogAttrs(ctx, slog.LevelInfo, "command handled", slog.Int64("update_id", o.Update), slog.String("key", o.Key),
		slog.Int64("chat_id", int64(o.Chat.ID)), slog.String("command", o.Command), slog.String("outcome", string(outcome)),
		slog.Int64("duration_ms", took.Milliseconds()))
}

// logOutcome logs the outcome of a command. It logs nothing for events, nor for retried commands:
// the operator who retries it sees the outcome.
func (s *Service) logOutcome(ctx context.Context, c *call, outcome CommandOutcome, started time.Time) {
	isSilent := outcome == "" || c.unlogged || c.Retried
	if outcome == OutcomeDuplicate || outcome == outcomeDropped {
		isSilent = isSilent || c.Trigger == ByEdit || c.Trigger == ByTimer // most edits change nothing
	}
	if isSilent {
		return
	}
	if outcome == outcomeDropped {
		outcome = OutcomeUnanswered
	}
	c.LogOutcome(ctx, s.log, outcome, time.Since(started))
}

// outcomeOf returns the outcome of the command if it makes the changes.
func (j *job) outcomeOf(changes Changes) CommandOutcome {
	notice := changes.said()
	switch {
	case isRefusal(notice), j.operation.isMalformed():
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

// isRefusal reports whether a notice says why a command did nothing.
func isRefusal(n Notice) bool { return n != nil && notice.KindOf(n).Refuses }
