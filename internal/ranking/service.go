package ranking

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"
)

// Service handles the commands of all groups. Each of its methods commits the command's effect, its key and its answer
// together, or returns an error. After an error, players may be merged or claimed, and after ErrTimeout
// the effect may be committed too. Called again with the same key, a method changes nothing more and
// succeeds. A command that is dropped without an answer stores no effect, key or answer.
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
	said := answer{people: senderOf(o), notice: n}
	c := command{name: "answer", class: RateQuestion, operation: said}
	if o.Button != "" {
		c.class = RatePress // a press always gets an answer, up to a limit of its own
	}
	if o.Malformed != "" {
		c.class, c.operation = RateResult, malformedResult{said, o.Malformed}
	}
	return s.handle(ctx, o, c)
}

// Ask answers a question with the notice that read returns. read may be called several times.
func (s *Service) Ask(ctx context.Context, o Origin, read func(context.Context) (Notice, error)) error {
	return s.handle(ctx, o, command{name: "answer", class: RateQuestion, operation: question{people: senderOf(o), ask: withoutSnapshot(read)}})
}

// Meant says whom a question is about, or why that is not clear, given who is in the group. Nobody is given unless the message may mean
// people by plain names.
type Meant func(everybody []Person) (people []Person, unclear Notice)

// Only is about people who are known.
func Only(people ...Person) Meant {
	return func([]Person) ([]Person, Notice) { return people, nil }
}

// AskAbout answers a question about people with the notice that read returns, which gets their players. read may be called several
// times. Somebody who is no player is not made one by being asked about: the question is refused. Only the sender may be no player,
// and read then gets the zero Player.
func (s *Service) AskAbout(ctx context.Context, o Origin, who Meant, read func(context.Context, []Player) (Notice, error)) error {
	return s.askAbout(ctx, o, command{name: "answer", class: RateQuestion}, who, question{}, read)
}

// TurnPageAbout answers a button press as TurnPage does, with a notice about people as AskAbout reads it. A refusal leaves the message
// as it is.
func (s *Service) TurnPageAbout(
	ctx context.Context, o Origin, message int64, who Meant, read func(context.Context, []Player) (Notice, error),
) error {
	return s.askAbout(ctx, o, command{name: "page", class: RatePress}, who, question{edits: message}, read)
}

// PostAbout answers a button press with a message of its own: a notice about people as AskAbout reads it. A refusal posts none.
func (s *Service) PostAbout(ctx context.Context, o Origin, who Meant, read func(context.Context, []Player) (Notice, error)) error {
	return s.askAbout(ctx, o, command{name: "post", class: RatePress}, who, question{posts: true}, read)
}

// askAbout asks a question about people whose players read gets.
func (s *Service) askAbout(
	ctx context.Context, o Origin, c command, who Meant, q question, read func(context.Context, []Player) (Notice, error),
) error {
	all := func(everybody []Person) ([2][]Person, Notice) {
		people, unclear := who(everybody)
		return [2][]Person{people}, unclear
	}
	return s.ask(ctx, o, c, all, q, func(ctx context.Context, snap Snapshot, people participants, asked [2][]int) (Notice, error) {
		players := make([]Player, len(asked[0]))
		for i, at := range asked[0] {
			switch p := snap.People[at].Player; {
			case p != nil:
				players[i] = *p
			case o.Sender == nil || at > 0:
				return Refusal{Code: NoSuchPlayer, Name: cmp.Or(people[at].Name, "@"+people[at].Username)}, nil
			}
		}
		return read(ctx, players)
	})
}

// ask asks a question about people. read gets the people of the snapshot, and which of them are meant.
func (s *Service) ask(
	ctx context.Context, o Origin, c command, who Sides, q question,
	read func(ctx context.Context, snap Snapshot, people participants, asked [2][]int) (Notice, error),
) error {
	return s.handleMessage(ctx, o, c, Needs{}, func(everybody []Person) operation {
		sides, unclear := who(everybody)
		if unclear != nil {
			return answer{people: senderOf(o), notice: unclear}
		}
		q, people := q, senderOf(o)
		asked := people.addSides(sides)
		people.complete(o.Shown)
		if q.edits != 0 {
			people.areOfEarlierMessage(senderOf(o))
		}
		q.people = people
		q.ask = func(ctx context.Context, snap Snapshot) (Notice, error) { return read(ctx, snap, people, asked) }
		return q
	})
}

// handleMessage handles a command whose operation read finds in a message, given who is in the group if the message may mean people by
// plain names. If so, needs says what the operation may need to know besides. Only a report adds players.
func (s *Service) handleMessage(ctx context.Context, o Origin, c command, needs Needs, read func(everybody []Person) operation) error {
	if !o.Names {
		c.operation = read(nil)
		return s.handle(ctx, o, c)
	}
	people := senderOf(o)
	for _, p := range slices.Concat(o.Mentioned, o.Shown) {
		people.add(p)
	}
	needs.People, needs.Everybody = people, true
	if needs.Result != nil {
		needs.New = len(people)
	}
	if o.Button != "" {
		people.areOfEarlierMessage(senderOf(o))
	}
	c.operation = named{needed: needs, read: read}
	return s.handle(ctx, o, c)
}

// KindAcknowledged is the kind of Acknowledged.
const KindAcknowledged = "acknowledged"

// Acknowledged answers a button press without words: the message with the button shows the outcome.
type Acknowledged struct{}

// Kind implements Notice.
func (Acknowledged) Kind() string { return KindAcknowledged }

// Purpose implements Notice.
func (Acknowledged) Purpose() Purpose { return Answer }

// TurnPage answers a button press with the notice that read returns: it replaces the message with the button. read may be
// called several times.
func (s *Service) TurnPage(ctx context.Context, o Origin, message int64, read func(context.Context) (Notice, error)) error {
	return s.handle(ctx, o, command{name: "page", class: RatePress, operation: question{people: senderOf(o), ask: withoutSnapshot(read), edits: message}})
}
