package ranking

import "context"

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
