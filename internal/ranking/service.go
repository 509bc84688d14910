package ranking

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"elobot/internal/notice"
)

// Service handles the commands of all groups. Each of its methods commits the command's effect, its key and its answer together, or returns
// an error. After an error, players may be merged or claimed, and after ErrTimeout the effect may be committed too. Called again with the
// same key, a method changes nothing more and succeeds. A command that is dropped without an answer stores no effect, key or answer.
type Service struct {
	store    Store
	log      *slog.Logger
	settings Settings
	// contended are the chats in which another instance was faster recently, so that a command had a conflict. Locking the group at once is
	// cheaper there than failing at commit.
	contended recentEvents[ExternalChatID]
	// timedOut are the keys of commands that timed out.
	timedOut recentEvents[string]
}

// Settings are the settings of a Service. A zero field means its default.
type Settings struct {
	// UndoWindow is how long the players and the reporter of a match may amend it, and how long an undo can be taken back, default 24
	// hours.
	UndoWindow time.Duration
	// LongestReplay is how many later matches of a ladder an amendment may replay, default defaultReplay.
	LongestReplay int
	// ResultsPerMinute limits the results of one sender, default 60. A negative value disables this limit and that on button presses.
	ResultsPerMinute int
	// AskUnusual is true if a result that is probably a mistake is asked about: one that was reported already, a new username that differs
	// by one letter from a known one, or a fix that makes the loser the winner.
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

// Operation is what a command asks the service to do.
type Operation interface {
	do(ctx context.Context, s *Service, o Origin) error
}

// Do handles a command.
func (s *Service) Do(ctx context.Context, o Origin, op Operation) error { return op.do(ctx, s, o) }

// Say answers a question, or a command that could not be parsed. It changes nothing else. The answer to a pressed button replaces the
// message with the button, unless it is a refusal.
type Say struct{ Notice Notice }

func (say Say) do(ctx context.Context, s *Service, o Origin) error {
	if o.Malformed == "" {
		return Ask(func(context.Context, Ladder) (Notice, error) { return say.Notice, nil }).do(ctx, s, o)
	}
	said := answer{people: senderOf(o), notice: say.Notice}
	return s.handle(ctx, o, job{name: "answer", bucket: RateResult, operation: malformedResult{said, o.Malformed}})
}

// handleMessage handles a command whose operation read finds in a message, given who is in the group if the message may mean people by
// plain names. If so, needs says what the operation may need to know besides. Only a report adds players.
func (s *Service) handleMessage(ctx context.Context, o Origin, j job, needs Needs, read func(everybody []Person) operation) error {
	if !o.Names {
		j.operation = read(nil)
		return s.handle(ctx, o, j)
	}
	people := senderOf(o)
	for _, p := range slices.Concat(o.Mentioned, o.VisibleUsers) {
		people.add(p)
	}
	needs.People, needs.Everybody = people, true
	if needs.Result != nil {
		needs.New = len(people)
	}
	if o.Button != "" {
		people.areOfEarlierMessage(senderOf(o))
	}
	j.operation = named{mayNeed: needs, read: read}
	return s.handle(ctx, o, j)
}

// Acknowledged answers a button press without words: the message with the button shows the outcome.
type Acknowledged struct{}

var _ = notice.Register[Acknowledged](notice.Kind{Name: "acknowledged", Purpose: notice.Answer})
