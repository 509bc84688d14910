package ranking

import (
	"log/slog"
	"time"

	"elobot/internal/notice"
	"elobot/internal/recent"
	"elobot/internal/transfer"
)

// Service handles the commands of all groups. A method that handles a command commits the effect,
// the answer and the idempotency key together, or returns an error. The key is left out if handling
// the command again does no harm. Even after an error, players may have been merged or claimed, and
// a season may have been ended. After ErrTimeout, the effect may have been committed too. If a
// committed command is handled again while its key is stored, nothing more changes, and the method
// succeeds. A command that is dropped without an answer stores no effect, key or answer.
type Service struct {
	store    Store
	answerer Answerer
	admins   Admins
	files    Files
	chats    transfer.ChatOptions
	log      *slog.Logger
	settings Settings
	// contended has the chats in which a command recently had a conflict. There, locking the group
	// at once is cheaper than another conflict.
	contended *recent.Set[ExternalChatID]
	// timedOut has the keys of commands that recently timed out. Only after a second timeout may
	// the sender be asked to try again, because the first one may only mean that the database
	// stalled.
	timedOut *recent.Set[string]
}

// Settings are the settings of a Service. A zero field stands for its default.
type Settings struct {
	// UndoWindow is how long after a report the players and the reporter of the match may amend it,
	// and how long after an undo the match can be restored. The default is 24 hours.
	UndoWindow time.Duration
	// LongestReplay limits amendments: a match cannot be amended if the group has more later
	// matches than this. The default is 10,000.
	LongestReplay int
	// ResultsPerMinute is the maximum number of results and amendments of one sender per minute.
	// The default is 60. A negative value disables both this limit and the limit on button presses.
	ResultsPerMinute int
	// AskUnusual makes the bot ask about probable mistakes: a result that may have been reported
	// already, a new username that may mean an existing player, or a fix that makes the loser the
	// winner.
	AskUnusual bool
}

// NewService returns a service that gets the answers to questions from answerer, and asks admins
// whether a sender is an admin.
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

// Acknowledged answers a button press without words.
type Acknowledged struct{}

var _ = notice.Register[Acknowledged](notice.Kind{Name: "acknowledged", Purpose: notice.Answer})
