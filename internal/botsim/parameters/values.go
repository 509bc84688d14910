package parameters

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

// Error describes what is wrong with the parameters of a request. It uses Telegram's own words
// where they are known.
type Error string

func (e Error) Error() string { return string(e) }

// notAnObject returns the error for a parameter that must be a JSON object or array but is neither.
func notAnObject(name string) error {
	return Error("can't parse " + strings.ReplaceAll(name, "_", " ") + " JSON object")
}

// Values maps the names of a request's parameters to their values as text. Nested values are JSON,
// as in a form field.
type Values map[string]string

// Files maps the names of a form's fields to the contents of their files.
type Files map[string][]byte

// Read reads the parameters from the query string and, except for a GET, from the body of a
// request, which may be of any content type that Telegram supports. If both have a parameter, the
// body takes precedence. literals has the names of the parameters that a JSON body does not give as
// strings. A file is also a parameter, whose value is file:// and the file's name.
func Read(r *http.Request, body []byte) (p Values, files Files, literals map[string]bool, err error) {
	p, files, literals = Values{}, Files{}, map[string]bool{}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return p, files, literals, Error("can't parse the query string")
	}
	p.addForm(query)
	if len(body) == 0 || r.Method == http.MethodGet {
		return p, files, literals, nil
	}
	kind, attributes, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		kind = "" // like Telegram, take no parameters from a body of unknown type
	}
	switch kind {
	case "application/json":
		return p, files, literals, p.addJSON(body, literals)
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return p, files, literals, Error("can't parse the form")
		}
		p.addForm(form)
	case "multipart/form-data":
		return p, files, literals, p.addMultipart(multipart.NewReader(bytes.NewReader(body), attributes["boundary"]), files)
	}
	return p, files, literals, nil
}

func (v Values) addForm(form url.Values) {
	for name, values := range form {
		v[name] = values[len(values)-1]
	}
}

func (v Values) addJSON(body []byte, literals map[string]bool) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return Error("object expected as JSON body")
	}
	for name, raw := range fields {
		var text string
		if json.Unmarshal(raw, &text) == nil && string(raw) != "null" {
			v[name] = text
		} else if string(raw) != "null" {
			v[name], literals[name] = string(raw), true
		}
	}
	return nil
}

func (v Values) addMultipart(form *multipart.Reader, files Files) error {
	for {
		part, err := form.NextPart()
		if err == io.EOF { //nolint:errorlint // a wrapped EOF means that the form is truncated
			return nil
		}
		if err != nil {
			return Error("can't parse the multipart form")
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return Error("can't parse the multipart form")
		}
		if file := part.FileName(); file != "" {
			v[part.FormName()], files[part.FormName()] = filePrefix+file, value
		} else {
			v[part.FormName()] = string(value)
		}
	}
}

// filePrefix begins a parameter that stands for a file, and attachPrefix a value that refers to a
// field's file.
const (
	filePrefix   = "file://"
	attachPrefix = "attach://"
)

// attaches reports whether a field has a file that another parameter refers to.
func (v Values) attaches(name string) bool {
	if !strings.HasPrefix(v[name], filePrefix) {
		return false
	}
	for _, value := range v {
		if strings.Contains(value, strconv.Quote(attachPrefix+name)) || value == attachPrefix+name {
			return true
		}
	}
	return false
}

// Find returns the file that a value stands for: the parameter's own file, or a file that the value
// refers to by attach://. It returns false if there is no such file.
func (f Files) Find(parameter, value string) (content []byte, ok bool) {
	name, attached := strings.CutPrefix(value, attachPrefix)
	if !attached {
		if !strings.HasPrefix(value, filePrefix) {
			return nil, false
		}
		name = parameter
	}
	content, ok = f[name]
	return content, ok
}

// FileName returns the name of the file that a parameter stands for.
func FileName(value string) string { return strings.TrimPrefix(value, filePrefix) }

// Integer returns a parameter as an integer, or 0 if it is absent or not an integer.
func (v Values) Integer(name string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(v[name]), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Boolean reports whether a parameter is true.
func (v Values) Boolean(name string) bool { return strings.TrimSpace(v[name]) == "true" }

// Object decodes a JSON parameter. It returns false if the parameter is absent, empty or null.
func (v Values) Object(name string, into any) (bool, error) {
	text := strings.TrimSpace(v[name])
	if text == "" || text == "null" {
		return false, nil
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return true, notAnObject(name)
	}
	return true, nil
}
