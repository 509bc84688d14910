package ranking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Service handles the commands of all groups. Each of its methods commits the command's effect, its key and its answer
// together, or returns an error. After an error, what the command showed about the chat and its people may be stored, and
// after ErrTimeout the effect may be committed too. Called again with the same key, a method changes nothing more and
// succeeds. A command that is dropped without an answer stores no effect, key or answer.
type Service struct {
	store    Store
	log      *slog.Logger
	settings Settings
	// contended are the chats in which another instance was faster recently: a command had a conflict, or found that what it
	// had read changed while it waited for the lock. Locking the group at once is cheaper there than failing at commit.
	contended recentEvents[ExternalChatID]
	// timedOut are the keys of commands that timed out.
	timedOut recentEvents[string]
}

// Settings are the settings of a Service. A zero field means its default.
type Settings struct {
	// UndoWindow is how long the players and the reporter of a match may amend it, and how long an undo can be taken back,
	// default 24 hours.
	UndoWindow time.Duration
	// LongestReplay is how many later matches of a ladder an amendment may replay, default defaultReplay.
	LongestReplay int
	// ResultsPerMinute limits the results of one sender, default 60. A negative value disables this limit and that on
	// button presses.
	ResultsPerMinute int
	// AskUnusual is true if a result that is probably a mistake is asked about: one that was reported already, or a new username
	// that differs by one letter from a known one.
	AskUnusual bool
}

// NewService returns a service that uses the store.
func NewService(store Store, log *slog.Logger, settings Settings) *Service {
	if settings.UndoWindow == 0 {
		settings.UndoWindow = 24 * time.Hour
	}
	if settings.LongestReplay == 0 {
		settings.LongestReplay = defaultReplay
	}
	if settings.ResultsPerMinute == 0 {
		settings.ResultsPerMinute = defaultResults
	}
	return &Service{
		store: store, log: log, settings: settings,
		contended: newRecentEvents[ExternalChatID](), timedOut: newRecentEvents[string](),
	}
}

// Answer answers a question, or a command that could not be parsed. It changes nothing else.
func (s *Service) Answer(ctx context.Context, o Origin, n Notice) error {
	c := command{name: "answer", people: senderOf(o), class: RateQuestion, operation: answer{notice: n}}
	if o.Button != "" {
		c.class = RatePress // a press always gets an answer, up to a limit of its own
	}
	if o.Malformed != "" {
		c.class, c.operation = RateResult, malformedResult{answer{notice: n}, o.Malformed}
	}
	return s.handle(ctx, o, c)
}

// Ask answers a question with the notice that read returns. read may be called several times.
func (s *Service) Ask(ctx context.Context, o Origin, read func(context.Context) (Notice, error)) error {
	return s.handle(ctx, o, command{name: "answer", people: senderOf(o), class: RateQuestion, operation: question{ask: withoutSnapshot(read)}})
}

// AskAbout answers a question about people with the notice that read returns, which gets their players. read may be called several
// times. Somebody who is no player is not made one by being asked about: the question is refused. Only the sender may be no player,
// and read then gets the zero Player.
func (s *Service) AskAbout(ctx context.Context, o Origin, who []Person, read func(context.Context, []Player) (Notice, error)) error {
	return s.handle(ctx, o, about(o, who, command{name: "answer", class: RateQuestion}, question{}, read))
}

// TurnPageAbout answers a button press as TurnPage does, with a notice about people as AskAbout reads it. A refusal leaves the message
// as it is.
func (s *Service) TurnPageAbout(
	ctx context.Context, o Origin, message int64, who []Person, read func(context.Context, []Player) (Notice, error),
) error {
	return s.handle(ctx, o, about(o, who, command{name: "page", class: RatePress}, question{edits: message}, read))
}

// PostAbout answers a button press with a message of its own: a notice about people as AskAbout reads it. A refusal posts none.
func (s *Service) PostAbout(ctx context.Context, o Origin, who []Person, read func(context.Context, []Player) (Notice, error)) error {
	return s.handle(ctx, o, about(o, who, command{name: "post", class: RatePress}, question{posts: true}, read))
}

// about completes a command that is a question about people.
func about(o Origin, who []Person, c command, q question, read func(context.Context, []Player) (Notice, error)) command {
	people := senderOf(o)
	asked := make([]int, len(who))
	for i, p := range who {
		asked[i] = people.add(p)
	}
	people.complete(o.Shown)
	q.ask = func(ctx context.Context, snap Snapshot) (Notice, error) {
		players := make([]Player, len(asked))
		for i, at := range asked {
			switch p := snap.People[at].Player; {
			case p != nil:
				players[i] = *p
			case o.Sender == nil || at > 0:
				return Refusal{Code: NoSuchPlayer, Name: cmp.Or(people[at].Name, "@"+people[at].Username)}, nil
			}
		}
		return read(ctx, players)
	}
	c.people, c.operation = people, q
	return c
}

// handle reads, decides and applies a command, and starts over after a conflict or a lock timeout. If it returns
// ErrConflict, ErrLocked or ErrTimeout, the command itself is not at fault.
func (s *Service) handle(ctx context.Context, o Origin, c command) error {
	started, log := time.Now(), c.commandLog(ctx)
	c.outcome = new(CommandOutcome)
	err := s.retryOnConflict(ctx, o.Chat.ID, func(ctx context.Context, attempt int) error { return s.attempt(ctx, o, c, attempt) },
		"update_id", log.Update, "command", log.Command, "key", o.Key, "chat_id", o.Chat.ID)
	if !c.silent && s.shouldAskToRetry(ctx, o, err) {
		// Giving up is an outcome too: it writes the key, so that a redelivery cannot record a match that the user has
		// reported again by then.
		err = s.attempt(ctx, o, c.answerOnly(Refusal{Code: TooManyAtOnce}), 1)
	}
	if errors.Is(err, ErrInconsistent) {
		s.log.ErrorContext(ctx, "stored ratings are inconsistent, run `elobot verify` for details", "command", log.Command,
			"key", o.Key, "chat_id", o.Chat.ID, "error", err)
		err = s.attempt(ctx, o, c.answerOnly(Refusal{Code: Inconsistent}), 1)
	}
	return s.finish(ctx, o, c, err, started)
}

// finish logs the outcome of a command, and returns its error unless the command is done. A command that was handled before is done
// once that is durable: the attempt that handled it may not know its outcome.
func (s *Service) finish(ctx context.Context, o Origin, c command, err error, started time.Time) error {
	if errors.Is(err, ErrHandled) {
		if failure := s.store.EnsureDurable(ctx); failure != nil {
			err = failure
		}
	}
	s.logOutcome(ctx, o, c, err, started)
	if err != nil && !errors.Is(err, ErrHandled) && !errors.Is(err, errUnanswered) {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}
