package botsim

import (
	"errors"
	"net/http"

	"elobot/internal/botsim/parameters"
)

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

// errNoResponse ends a request without a response: the client has disconnected or the server is closing.
var errNoResponse = errors.New("client disconnected or server closing")
