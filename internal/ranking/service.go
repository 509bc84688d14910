package ranking

import (
	"log/slog"
	"time"

	"elobot/internal/notice"
	"elobot/internal/recent"
)

// Service handles the commands of all groups. Each method commits the command's effect, its key and
// its answer together, or returns an error. Even after an error, players may have been merged or
// claimed, and a season may have been ended. After ErrTimeout, the effect may have been committed
// too. A method that is called again with the same key changes nothing more, and succeeds. A
// command that is dropped without an answer stores no effect, key or answer.
type Service struct {
	store    Store
	answerer Answerer
	admins   Admins
	log      *slog.Logger
	settings Settings
	// contended are the chats in which another instance was recently faster, so that a command had
	// a conflict. There, locking the group at once is cheaper than failing at commit.
	contended *recent.Set[ExternalChatID]
	// timedOut are the keys of commands that timed out.
	timedOut *recent.Set[string]
}

// Settings are the settings of a Service. A zero field has its default.
type Settings struct {
	// UndoWindow is how long the players and the reporter of a match may amend it, and how long an
	// undo can be reversed. The default is 24 hours.
	UndoWindow time.Duration
	// LongestReplay is the maximum number of later matches of the group that an amendment may
	// replay. The default is defaultReplay.
	LongestReplay int
	// ResultsPerMinute limits the results of one sender. The default is 60. A negative value
	// disables both this limit and the limit on button presses.
	ResultsPerMinute int
	// AskUnusual reports whether to ask about results that are probably a mistake: a result that
	// was reported already, a new username that differs by one letter from a known one, or a fix
	// that makes the loser the winner.
	AskUnusual bool
}

// NewService returns a service. The answerer answers questions, and admins tells whether a sender
// is an admin.
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
