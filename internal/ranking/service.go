package ranking

import (
	"log/slog"
	"time"

	"elobot/internal/notice"
	"elobot/internal/recent"
)

// Service handles the commands of all groups. Each of its methods commits the command's effect, its
// key and its answer together, or returns an error. After an error, players may be merged or
// claimed, and after ErrTimeout the effect may be committed too. Called again with the same key, a
// method changes nothing more and succeeds. A command that is dropped without an answer stores no
// effect, key or answer.
type Service struct {
	store    Store
	answerer Answerer
	admins   Admins
	log      *slog.Logger
	settings Settings
	// contended are the chats in which another instance was faster recently, so that a command had
	// a conflict. Locking the group at once is cheaper there than failing at commit.
	contended *recent.Set[ExternalChatID]
	// timedOut are the keys of commands that timed out.
	timedOut *recent.Set[string]
}

// Settings are the settings of a Service. A zero field means its default.
type Settings struct {
	// UndoWindow is how long the players and the reporter of a match may amend it, and how long an
	// undo can be taken back, default 24 hours.
	UndoWindow time.Duration
	// LongestReplay is how many later matches of a ladder an amendment may replay, default
	// defaultReplay.
	LongestReplay int
	// ResultsPerMinute limits the results of one sender, default 60. A negative value disables this
	// limit and that on button presses.
	ResultsPerMinute int
	// AskUnusual reports whether a result that is probably a mistake is asked about: one that was
	// reported already, a new username that differs by one letter from a known one, or a fix that
	// makes the loser the winner.
	AskUnusual bool
}

// NewService returns a service that uses the store, asks the answerer for the answers to questions,
// and asks admins who is one.
func NewService(store Store, answerer Answerer, admins Admins, log *slog.Logger, settings Settings) *Service {
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
		store: store, answerer: answerer, admins: admins, log: log, settings: settings,
		contended: recent.NewSet[ExternalChatID](maxRemembered), timedOut: recent.NewSet[string](maxRemembered),
	}
}

// Acknowledged answers a button press without words: the message with the button shows the outcome.
type Acknowledged struct{}

var _ = notice.Register[Acknowledged](notice.Kind{Name: "acknowledged", Purpose: notice.Answer})
