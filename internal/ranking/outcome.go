package ranking

import (
	"context"
	"log/slog"
	"time"

	"elobot/internal/notice"
)

// CommandOutcome is the outcome of a command, as logged and as stored with the command's key.
type CommandOutcome string

// The outcomes. Neither a failed command that will be retried nor a message that turns out not to
// be a command has an outcome.
const (
	OutcomeRecorded       CommandOutcome = "recorded"
	OutcomeUndone         CommandOutcome = "undone"
	OutcomeRestored       CommandOutcome = "restored"
	OutcomeFixed          CommandOutcome = "fixed"
	OutcomeJoined         CommandOutcome = "joined"
	OutcomeSettingChanged CommandOutcome = "setting_changed"
	// OutcomeAsked means that a PromptReport or a PromptWizard asks about a result before the bot
	// records or changes it.
	OutcomeAsked      CommandOutcome = "asked"
	OutcomeAnswered   CommandOutcome = "answered"
	OutcomeRefused    CommandOutcome = "refused"
	OutcomeUnanswered CommandOutcome = "unanswered"  // no notice answers the command
	OutcomeDuplicate  CommandOutcome = "duplicate"   // the command was handled before
	OutcomeDeadLetter CommandOutcome = "dead_letter" // the command failed for good

	// outcomeDropped is the outcome of a command that stores nothing and gets no answer. The log
	// shows it as OutcomeUnanswered, if at all.
	outcomeDropped CommandOutcome = "dropped"
)

// LogOutcome logs the outcome of a command, and how long handling it took.
func (o Origin) LogOutcome(ctx context.Context, log *slog.Logger, outcome CommandOutcome, took time.Duration) {
	log.LogAttrs(ctx, slog.LevelInfo, "command handled", slog.Int64("update_id", o.Update), slog.String("key", o.Key),
		slog.Int64("chat_id", int64(o.Chat.ID)), slog.String("command", o.Command), slog.String("outcome", string(outcome)),
		slog.Int64("duration_ms", took.Milliseconds()))
}

// logOutcome logs the outcome of a command. It skips events, messages that turned out not to be
// commands, and retried commands, whose outcome the operator sees directly. It also skips
// duplicates and dropped commands if an edit or a timer triggered them.
func (s *Service) logOutcome(ctx context.Context, c *call, outcome CommandOutcome, started time.Time) {
	isSilent := outcome == "" || c.unlogged || c.Retried
	if outcome == OutcomeDuplicate || outcome == outcomeDropped {
		// Most edits change nothing, and a timer may fire again after its action was carried out.
		isSilent = isSilent || c.Trigger == ByEdit || c.Trigger == ByTimer
	}
	if isSilent {
		return
	}
	if outcome == outcomeDropped {
		outcome = OutcomeUnanswered
	}
	c.LogOutcome(ctx, s.log, outcome, time.Since(started))
}

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
