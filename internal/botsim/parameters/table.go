// Package parameters reads the parameters of a request to the Bot API, in whichever way they are
// sent, and checks them against the table in parameters.json. The table lists the parameters of
// each method and the fields of objects, says which of them are required, and limits their values.
//
// The package checks only what needs no knowledge of chats and messages. A new method needs no code
// in this package, only an entry in the table:
//
//	"getChat": {
//	 "chat_id": {"types": ["Integer", "String"], "required": true,
//	  "if_missing": "chat_id is empty"}
//	}
package parameters

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed parameters.json
var parametersJSON []byte

// Table lists the parameters of the simulated methods, and the values that these may have.
type Table struct {
	Source  string           // version and date of the Bot API documentation
	Methods map[string]rules // by name
	// Types maps the types of objects in parameters to the rules of their fields. An object of any
	// other type may hold anything.
	Types map[string]rules
	// Variants maps each type that stands for several types, such as InputMedia, to a map from the
	// value of the field "type" to the type that the value selects.
	Variants map[string]map[string]string
}

// rules maps the parameters of a method, or the fields of an object in a parameter, to their rules.
type rules map[string]rule

// rule defines which values a parameter or a field may have.
type rule struct {
	Types    []string // the value has one of them
	Required bool
	// Min and Max limit an Integer, the number of characters of a String, or the number of elements
	// of an array.
	Min, Max  *int64
	MaxBytes  int `json:"max_bytes"` // limits a String
	Pattern   *regexp.Regexp
	IfMissing string `json:"if_missing"` // Telegram's own error for this parameter, if it has one
	IfWrong   string `json:"if_wrong"`   // Telegram's own error for a value beyond the limits, if it has one
}

// Names of types. All others are the names of objects.
const (
	arrayOf     = "Array of " // followed by the type of the elements
	typeString  = "String"
	typeInteger = "Integer"
	typeBoolean = "Boolean"
	typeFile    = "InputFile"
)

// Load returns the table in parameters.json.
func Load() (*Table, error) { return load() }

var load = sync.OnceValues(func() (*Table, error) {
	var t Table
	decoder := json.NewDecoder(bytes.NewReader(parametersJSON))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&t); err != nil {
		return nil, fmt.Errorf("read parameters.json: %w", err)
	}
	return &t, nil
})

// typeOf returns which of the types a value has, or "" for none. An object has the first type whose
// required fields are all present, or else the first type that allows objects.
func (t *Table) typeOf(v any, types []string) string {
	found := ""
	for _, typ := range types {
		if !hasShape(v, typ) {
			continue
		}
		if fields, ok := v.(map[string]any); !ok || t.Types[typ].complete(fields) {
			return typ
		}
		if found == "" {
			found = typ
		}
	}
	return found
}

// hasShape reports whether a value is of a type. It does not check the fields of objects.
func hasShape(v any, typ string) bool {
	switch v := v.(type) {
	case string:
		return isText(typ)
	case json.Number:
		_, err := v.Int64()
		return typ == typeInteger && err == nil
	case bool:
		return typ == typeBoolean
	case []any:
		element, isArray := strings.CutPrefix(typ, arrayOf)
		return isArray && !slices.ContainsFunc(v, func(e any) bool { return !hasShape(e, element) })
	case map[string]any:
		return isNested(typ) && !strings.HasPrefix(typ, arrayOf)
	}
	return false
}

// isText reports whether values of a type are texts. A file counts too, because Read replaces it
// with a text.
func isText(typ string) bool { return typ == typeString || typ == typeFile }

// isNested reports whether values of a type are arrays or objects.
func isNested(typ string) bool { return !isText(typ) && typ != typeInteger && typ != typeBoolean }

// complete reports whether fields has all required fields.
func (known rules) complete(fields map[string]any) bool {
	for name, r := range known {
		if fields[name] == nil && r.Required {
			return false
		}
	}
	return true
}

// allows reports whether a value is within the limits.
func (r rule) allows(v any) bool {
	var size int64
	switch v := v.(type) {
	case json.Number:
		size, _ = v.Int64() // hasShape has parsed it
	case string:
		if r.MaxBytes > 0 && len(v) > r.MaxBytes || r.Pattern != nil && !r.Pattern.MatchString(v) {
			return false
		}
		size = int64(utf8.RuneCountInString(v))
	case []any:
		size = int64(len(v))
	default:
		return true
	}
	return (r.Min == nil || size >= *r.Min) && (r.Max == nil || size <= *r.Max)
}

// read returns the value of a parameter. If a string is allowed and the parameter is not a literal,
// the value is the text itself. Otherwise it is the JSON value of the text, or nil for blank text.
// A text that is not valid JSON is returned unchanged.
func (r rule) read(text string, literal bool) any {
	if !literal && slices.ContainsFunc(r.Types, isText) {
		return text
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var v any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if !json.Valid([]byte(text)) || decoder.Decode(&v) != nil {
		return text // not JSON, so of none of the parameter's types
	}
	return v
}
