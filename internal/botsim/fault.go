package botsim

import (
	"fmt"
	"math"
	"net/http"
	"time"
)

// FaultKind is what goes wrong.
type FaultKind int

// Kinds of faults.
const (
	// Delay lets Fault.Delay pass before the request is worked on; nothing else is wrong.
	Delay FaultKind = iota
	// TooManyRequests is a 429 with Fault.RetryAfter seconds, or with what is left of Fault.For.
	TooManyRequests
	// ServerError is a 502 with a page of HTML, or Fault.Status and Fault.Body. No effect.
	ServerError
	// CutBefore closes the connection without an answer and without an effect.
	CutBefore
	// CutAfter closes the connection without an answer after the effect has taken place.
	CutAfter
	// Reject refuses with Fault.Status, Fault.Description and Fault.Parameters. No effect.
	Reject
	// SlowAnswer lets Fault.Delay pass between the effect and its answer.
	SlowAnswer
	// WrongAnswer answers with Fault.Status (200) and Fault.Body after the effect has taken place.
	WrongAnswer
)

func (k FaultKind) String() string {
	names := []string{
		"Delay", "TooManyRequests", "ServerError", "CutBefore", "CutAfter", "Reject", "SlowAnswer", "WrongAnswer",
	}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("FaultKind(%d)", int(k))
	}
	return names[k]
}

// Fault is something that goes wrong with the calls that it matches. Of several that match, the one added
// first is applied.
type Fault struct {
	Kind   FaultKind
	Name   string          // for the record; the kind's name if empty
	Method string          // "" for all methods
	ChatID int64           // 0 for all chats
	CallID int64           // 0 for all calls; a hook can aim at the very call it sees
	Match  func(Call) bool // nil for all; runs with the server locked, so it must not call it

	Skip  int           // so many matching calls pass first
	Times int           // then so many are hit; 0 means until removed
	For   time.Duration // ends so long after it was added; 0 means never

	Delay       time.Duration // waited before anything else (with SlowAnswer: before the answer)
	RetryAfter  int
	Status      int
	Description string
	Parameters  map[string]any
	Body        string
}

type activeFault struct {
	Fault
	since time.Time
	hits  int
}

// Fault makes something go wrong from now on, until it has happened Times times, For is over, or remove is
// called.
func (s *Server) Fault(f Fault) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Name == "" {
		f.Name = f.Kind.String()
	}
	active := &activeFault{Fault: f, since: s.now()}
	s.faults = append(s.faults, active)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.removeFault(active)
	}
}

func (s *Server) removeFault(f *activeFault) {
	var kept []*activeFault
	for _, other := range s.faults {
		if other != f {
			kept = append(kept, other)
		}
	}
	s.faults = kept
}

// takeFault chooses the fault for a call, if any, and notes it in the record.
func (s *Server) takeFault(c *Call) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for _, f := range s.faults {
		if f.For > 0 && now.Sub(f.since) >= f.For {
			s.removeFault(f)
			continue
		}
		if !f.matches(c) {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		f.hits++
		if f.Times > 0 && f.hits == f.Times {
			s.removeFault(f)
		}
		c.Fault = f.Name
		taken := f.Fault
		if taken.Kind == TooManyRequests && taken.RetryAfter == 0 && f.For > 0 {
			taken.RetryAfter = int(math.Ceil((f.For - now.Sub(f.since)).Seconds()))
		}
		return taken, true
	}
	return Fault{}, false
}

func (f *activeFault) matches(c *Call) bool {
	return (f.Method == "" || f.Method == c.Method) && (f.ChatID == 0 || f.ChatID == c.ChatID) &&
		(f.CallID == 0 || f.CallID == c.ID) && (f.Match == nil || f.Match(*c))
}

// before is the outcome of a fault that keeps the call from having any effect.
func (f Fault) before() (answer, bool) {
	switch f.Kind {
	case TooManyRequests:
		return refuse(tooManyRequests(max(f.RetryAfter, 1))), true
	case ServerError:
		return answer{
			status: orDefault(f.Status, http.StatusBadGateway), contentType: "text/html",
			body: []byte(orDefault(f.Body, badGatewayPage)),
		}, true
	case CutBefore:
		return answer{cut: true}, true
	case Reject:
		status := orDefault(f.Status, http.StatusBadRequest)
		return refuse(&apiError{
			code: status, description: orDefault(f.Description, http.StatusText(status)), parameters: f.Parameters,
		}), true
	}
	return answer{}, false
}

// after is the outcome of a fault that hides from the client what has happened.
func (f Fault) after(a answer) answer {
	switch f.Kind {
	case CutAfter:
		return answer{cut: true}
	case WrongAnswer:
		return answer{
			status: orDefault(f.Status, http.StatusOK), contentType: "application/json", body: []byte(f.Body),
		}
	}
	return a
}

const badGatewayPage = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n" +
	"<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"

func tooManyRequests(seconds int) *apiError {
	return &apiError{
		code:        http.StatusTooManyRequests,
		description: fmt.Sprintf("Too Many Requests: retry after %d", seconds),
		parameters:  map[string]any{"retry_after": seconds},
	}
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// pause waits in real time. Only the end of the server cuts it short: a request that has arrived is worked on
// even if its client has hung up.
func (s *Server) pause(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.done:
		return errGone
	}
}
