package botsim

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// FaultKind is what goes wrong with a call.
type FaultKind int

const (
	// Delay makes the server wait Fault.Delay before it processes the request as usual.
	Delay FaultKind = iota
	// TooManyRequests responds 429 with a retry_after of Fault.RetryAfter seconds, at least 1. The
	// call has no effect.
	TooManyRequests
	// ServerError responds with Fault.Status (by default 502) and Fault.Body (by default an HTML
	// page). The call has no effect.
	ServerError
	// CutBefore closes the connection without a response. The call has no effect.
	CutBefore
	// CutAfter closes the connection without a response after the call took effect or was refused.
	CutAfter
	// Reject refuses the call with Fault.Status (by default 400), Fault.Description and
	// Fault.Parameters. The call has no effect.
	Reject
	// SlowAnswer waits Fault.Delay between the effect and the response.
	SlowAnswer
	// WrongAnswer responds with Fault.Status (by default 200) and Fault.Body after the call took
	// effect or was refused.
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

// Fault is a fault to inject into calls that match Method, ChatID and Match. At most one fault
// applies to a call: the first one added that matches and has no calls left to skip. Faults added
// after it do not count the call toward their Skip or Times.
type Fault struct {
	Kind   FaultKind
	Name   string // for the record; by default the kind's name
	Method string // "" for all methods
	ChatID int64  // 0 for all chats
	// Match selects the calls; nil means all. It runs under the server's lock, so it must not call
	// the server.
	Match func(Call) bool

	Skip  int // number of matching calls that pass first
	Times int // number of calls affected after those; 0 means until removed

	Delay       time.Duration // wait before all else (with SlowAnswer: before the response)
	RetryAfter  int
	Status      int
	Description string
	Parameters  map[string]any
	Body        string
}

type activeFault struct {
	Fault
	hits int
}

// Fault injects f from now on, until it has hit f.Times calls or remove is called.
func (s *Server) Fault(f Fault) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Name == "" {
		f.Name = f.Kind.String()
	}
	active := &activeFault{Fault: f}
	s.faults = append(s.faults, active)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.removeFault(active)
	}
}

func (s *Server) removeFault(f *activeFault) {
	s.faults = slices.DeleteFunc(s.faults, func(other *activeFault) bool { return other == f })
}

// takeFault chooses the fault for a call, and records its name. It returns false if no fault
// applies.
func (s *Server) takeFault(c *Call) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
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
		return f.Fault, true
	}
	return Fault{}, false
}

func (f *activeFault) matches(c *Call) bool {
	return (f.Method == "" || f.Method == c.Method) && (f.ChatID == 0 || f.ChatID == c.ChatID) &&
		(f.Match == nil || f.Match(*c))
}

// before returns the response of a fault that keeps the call from taking effect. It returns false
// for other kinds of faults.
func (f Fault) before() (answer, bool) {
	switch f.Kind {
	case TooManyRequests:
		return refuse(tooManyRequests(max(f.RetryAfter, 1))), true
	case ServerError:
		return answer{
			status: cmp.Or(f.Status, http.StatusBadGateway), contentType: "text/html",
			body: []byte(cmp.Or(f.Body, badGatewayPage)),
		}, true
	case CutBefore:
		return answer{cut: true}, true
	case Reject:
		status := cmp.Or(f.Status, http.StatusBadRequest)
		return refuse(&apiError{
			code: status, description: cmp.Or(f.Description, http.StatusText(status)), parameters: f.Parameters,
		}), true
	}
	return answer{}, false
}

// after returns the response of a fault that hides the actual response a from the client. For other
// kinds of faults, after returns a.
func (f Fault) after(a answer) answer {
	switch f.Kind {
	case CutAfter:
		return answer{cut: true}
	case WrongAnswer:
		return answer{
			status: cmp.Or(f.Status, http.StatusOK), contentType: "application/json", body: []byte(f.Body),
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

// pause waits for the duration d in real time. It waits even if the client has disconnected,
// because Telegram processes a request that has arrived. Only Close interrupts it, and it then
// returns errNoResponse.
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
		return errNoResponse
	}
}
