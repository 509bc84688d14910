package botsim

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const maxBody = 50 << 20

// params are a call's parameters as text. Nested values are JSON, as in a form field.
type params map[string]string

// readParams reads the parameters from the query string and from a body of any supported content type. literals are
// those of a JSON body that are not strings.
func readParams(r *http.Request) (p params, literals map[string]bool, err error) {
	// Read the whole body even if it does not matter: net/http notices that a client disconnects only after that.
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	p, literals = params{}, map[string]bool{}
	if err != nil {
		return p, literals, badRequest("can't read the request body")
	}
	if len(body) > maxBody {
		return p, literals, &apiError{code: http.StatusRequestEntityTooLarge, description: "Request Entity Too Large"}
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return p, literals, badRequest("can't parse the query string")
	}
	p.addForm(query)
	if len(body) == 0 || r.Method == http.MethodGet {
		return p, literals, nil
	}
	kind, attributes, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		kind = "" // like Telegram, take no parameters from a body of unknown type
	}
	switch kind {
	case "application/json":
		return p, literals, p.addJSON(body, literals)
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return p, literals, badRequest("can't parse the form")
		}
		p.addForm(form)
	case "multipart/form-data":
		return p, literals, p.addMultipart(multipart.NewReader(bytes.NewReader(body), attributes["boundary"]))
	}
	return p, literals, nil
}

func (p params) addForm(form url.Values) {
	for name, values := range form {
		p[name] = values[len(values)-1]
	}
}

func (p params) addJSON(body []byte, literals map[string]bool) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return badRequest("object expected as JSON body")
	}
	for name, raw := range fields {
		var text string
		if json.Unmarshal(raw, &text) == nil && string(raw) != "null" {
			p[name] = text
		} else if string(raw) != "null" {
			p[name], literals[name] = string(raw), true
		}
	}
	return nil
}

func (p params) addMultipart(form *multipart.Reader) error {
	for {
		part, err := form.NextPart()
		if err == io.EOF { //nolint:errorlint // a wrapped EOF means that the form is truncated
			return nil
		}
		if err != nil {
			return badRequest("can't parse the multipart form")
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return badRequest("can't parse the multipart form")
		}
		if file := part.FileName(); file != "" {
			p[part.FormName()] = "file://" + file
		} else {
			p[part.FormName()] = string(value)
		}
	}
}

// integer returns a parameter as an integer, 0 if it is absent or no integer.
func (p params) integer(name string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(p[name]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (p params) boolean(name string) bool { return strings.TrimSpace(p[name]) == "true" }

// object decodes a JSON parameter. It returns false if the parameter is absent.
func (p params) object(name string, into any) (bool, error) {
	text := strings.TrimSpace(p[name])
	if text == "" || text == "null" {
		return false, nil
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return true, badRequest("can't parse " + strings.ReplaceAll(name, "_", " ") + " JSON object")
	}
	return true, nil
}
