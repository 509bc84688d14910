package botsim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"elobot/internal/botsim/parameters"
	"elobot/internal/botsim/updates"
)

// maxBody leaves room for the other parameters of the largest document.
const maxBody = maxSentDocument + 1<<20

// request is a call in progress.
type request struct {
	ctx    context.Context // done when the client disconnects
	params parameters.Values
	files  parameters.Files
	call   *Call
}

// answer is the response to the client.
type answer struct {
	status      int
	contentType string
	body        []byte
	cut         bool // close the connection instead
}

// method is the implementation of a Bot API method. run locks the server itself; its result is
// encoded as JSON.
type method struct {
	name string
	run  func(*Server, *request) (any, error)
}

// methods returns all simulated methods by lower-case name.
func methods() map[string]method {
	all := []method{
		{"getMe", (*Server).getMe},
		{"getUpdates", (*Server).getUpdates},
		{"sendMessage", (*Server).sendMessage},
		{"sendRichMessage", (*Server).sendMessage},
		{"sendPhoto", (*Server).sendPhoto},
		{"sendDocument", (*Server).sendDocument},
		{"getFile", (*Server).getFile},
		{"editMessageText", (*Server).editMessageText},
		{"editMessageMedia", (*Server).editMessageMedia},
		{"answerCallbackQuery", (*Server).answerCallbackQuery},
		{"getChat", (*Server).getChat},
		{"pinChatMessage", (*Server).pinChatMessage},
		{"unpinChatMessage", (*Server).unpinChatMessage},
		{"getChatAdministrators", (*Server).getChatAdministrators},
		{"setMyCommands", (*Server).setMyCommands},
		{"getMyCommands", (*Server).getMyCommands},
		{"setWebhook", (*Server).setWebhook},
		{"deleteWebhook", (*Server).deleteWebhook},
		{"getWebhookInfo", (*Server).getWebhookInfo},
	}
	byName := make(map[string]method, len(all))
	for _, m := range all {
		byName[strings.ToLower(m.name)] = m
	}
	return byName
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		cut(w)
		return
	}
	defer s.handlers.Done()
	m, call, routeErr := s.route(r)
	p, files, literals, paramsErr := readParameters(r)
	call.Params = p
	call.ChatID = p.Integer("chat_id")
	s.begin(call)
	if routeErr == nil && paramsErr == nil {
		paramsErr = s.checkParameters(call, literals)
	}
	s.run(&s.onCall, call)
	fault, faulty := s.takeFault(call)
	a := s.execute(m, &request{ctx: r.Context(), params: p, files: files, call: call}, fault, routeErr, paramsErr)
	if faulty && !a.cut {
		a = fault.after(a)
	}
	s.run(&s.afterEffect, call)
	if fault.Kind == SlowAnswer && s.pause(fault.Delay) != nil {
		a = answer{cut: true}
	}
	s.finish(call, a)
	w.Header().Set("Date", s.now().UTC().Format(http.TimeFormat))
	a.write(w)
}

// route returns the method that the path of a request names, and the Call to record. It returns an
// error for a wrong path, a wrong token or an unknown method.
func (s *Server) route(r *http.Request) (method, *Call, error) {
	call := &Call{}
	notFound := &apiError{code: http.StatusNotFound, description: "Not Found"}
	path, isFile := strings.CutPrefix(r.URL.Path, "/file")
	token, name, ok := strings.Cut(strings.TrimPrefix(path, "/bot"), "/")
	call.Method = name
	if !ok || !strings.HasPrefix(path, "/bot") {
		return method{}, call, notFound
	}
	m, known := s.methods[strings.ToLower(name)]
	if isFile {
		m, known = s.routeFile(name), true
	}
	if known {
		call.Method = m.name
	}
	if token != s.opts.token {
		return m, call, &apiError{code: http.StatusUnauthorized, description: "Unauthorized"}
	}
	if !known {
		return m, call, notFound
	}
	return m, call, nil
}

// readParameters reads the parameters of a request. literals has the names of the parameters that a
// JSON body does not give as strings.
func readParameters(r *http.Request) (
	p parameters.Values, files parameters.Files, literals map[string]bool, err error,
) {
	// Read the whole body even if it is not needed: only then does net/http notice that a client
	// disconnects.
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return parameters.Values{}, nil, nil, badRequest("can't read the request body")
	}
	if len(body) > maxBody {
		tooLarge := &apiError{code: http.StatusRequestEntityTooLarge, description: "Request Entity Too Large"}
		return parameters.Values{}, nil, nil, tooLarge
	}
	return parameters.Read(r, body)
}

// checkParameters checks the parameters of a call and complains about the first wrong one.
func (s *Server) checkParameters(c *Call, literals map[string]bool) error {
	err := s.parameters.Check(c.Method, c.Params, literals)
	if err != nil {
		s.complain("%s: %v", c.Method, err)
	}
	return err
}

// begin dates a call and adds it to the record.
func (s *Server) begin(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.At = s.now()
	s.record.add(c)
}

// execute runs the call, unless a fault or an earlier error prevents it.
func (s *Server) execute(m method, r *request, f Fault, earlier ...error) answer {
	if f.Kind != SlowAnswer {
		if err := s.pause(f.Delay); err != nil {
			return answer{cut: true}
		}
	}
	if a, prevented := f.before(); prevented {
		return a
	}
	for _, err := range earlier {
		if err != nil {
			return refuse(err)
		}
	}
	result, err := m.run(s, r)
	if err != nil {
		return refuse(err)
	}
	s.markDelivered(r.call)
	if shown, ok := result.(updates.List); ok {
		s.recordShown(r.call, len(shown))
	}
	if content, ok := result.(fileContent); ok {
		return answer{status: http.StatusOK, contentType: "application/octet-stream", body: content}
	}
	body, err := success(result)
	if err != nil {
		return refuse(err)
	}
	return answer{status: http.StatusOK, contentType: "application/json", body: body}
}

// success encodes the response of a successful call.
func success(result any) ([]byte, error) {
	if list, ok := result.(updates.List); ok {
		return slices.Concat([]byte(`{"ok":true,"result":`), list.JSON(), []byte{'}'}), nil
	}
	body, err := json.Marshal(map[string]any{"ok": true, "result": result})
	if err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return body, nil
}

func (s *Server) markDelivered(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Delivered = true
}

func (s *Server) recordShown(c *Call, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Shown = n
}

// refuse returns the error response for err. For errNoResponse, it closes the connection instead.
func refuse(err error) answer {
	if errors.Is(err, errNoResponse) {
		return answer{cut: true}
	}
	refused := asAPIError(err)
	reply := map[string]any{"ok": false, "error_code": refused.code, "description": refused.description}
	if len(refused.parameters) > 0 {
		reply["parameters"] = refused.parameters
	}
	body, err := json.Marshal(reply)
	if err != nil {
		return answer{status: http.StatusInternalServerError, contentType: "text/plain", body: []byte(err.Error())}
	}
	return answer{status: refused.code, contentType: "application/json", body: body}
}

func (a answer) write(w http.ResponseWriter) {
	if a.cut {
		cut(w)
		return
	}
	w.Header().Set("Content-Type", a.contentType)
	w.WriteHeader(a.status)
	// An error only means that the client has disconnected.
	_, _ = w.Write(a.body)
}

// cut closes the connection without a response.
func cut(w http.ResponseWriter) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		return // the connection is already closed
	}
	// An error means that the connection is already closed, which is the goal.
	_ = conn.Close()
}

// apiError is an error response: {"ok":false,…} with the matching HTTP status.
type apiError struct {
	code        int
	description string
	parameters  map[string]any
}

func (e *apiError) Error() string { return e.description }

func badRequest(what string) *apiError {
	return &apiError{code: http.StatusBadRequest, description: "Bad Request: " + what}
}

func forbidden(what string) *apiError {
	return &apiError{code: http.StatusForbidden, description: "Forbidden: " + what}
}

func asAPIError(err error) *apiError {
	var refused *apiError
	if errors.As(err, &refused) {
		return refused
	}
	var wrong parameters.Error
	if errors.As(err, &wrong) {
		return badRequest(wrong.Error())
	}
	return &apiError{code: http.StatusInternalServerError, description: "Internal Server Error: " + err.Error()}
}

// errNoResponse ends a request without a response, because the client has disconnected or the
// server is closing.
var errNoResponse = errors.New("client disconnected or server closing")
