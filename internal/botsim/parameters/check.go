package parameters

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Check returns an [Error] if a parameter of a request does not exist, is missing, has the wrong
// type or is beyond its limits. Telegram ignores nonexistent parameters and corrects some values
// beyond the limits. Check refuses them, because the bot would not get what it asked for.
//
// As in Telegram, a JSON body may give any parameter as a string, as a form does. literals names
// the parameters that the body gives in their own JSON type. The values in arrays and objects must
// have their own JSON types.
func (t *Table) Check(method string, given Values, literals map[string]bool) error {
	known, values := t.Methods[method], map[string]any{}
	for name, text := range given {
		if _, ok := known[name]; !ok && given.attaches(name) {
			continue
		}
		values[name] = known[name].read(text, literals[name])
	}
	return t.checkFields("", values, known)
}

// checkFields checks the values of a method's parameters or an object's fields against their rules.
// Both values and known are indexed by the name of the parameter or field.
func (t *Table) checkFields(of owner, values map[string]any, known rules) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, ok := known[name]; !ok {
			return of.refuse("there is no %s %q", of.part(), name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		r := known[name]
		if v := values[name]; v != nil {
			if err := t.checkValue(of, name, v, r); err != nil {
				return err
			}
		} else if r.Required {
			return of.refuseOr(r.IfMissing, "can't find %s %q", of.part(), name)
		}
	}
	return nil
}

// checkValue checks one value and the values in it. The error identifies the value by its owner and
// its name.
func (t *Table) checkValue(of owner, name string, v any, r rule) error {
	typ := t.typeOf(v, r.Types)
	switch {
	case typ != "" && !r.allows(v):
		return of.refuseOr(r.IfWrong, "invalid %s specified", name)
	case typ == "" && of == "" && slices.ContainsFunc(r.Types, isNested):
		return notAnObject(name)
	case typ == "":
		return of.refuse("%s %q must be of type %s", of.part(), name, strings.Join(r.Types, " or "))
	}
	switch v := v.(type) {
	case map[string]any:
		return t.checkObject(typ, v)
	case []any:
		element := rule{Types: []string{strings.TrimPrefix(typ, arrayOf)}}
		for _, e := range v {
			if err := t.checkValue(of, name, e, element); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkObject checks the fields of an object of the type typ. It accepts an object whose type is
// not in the table.
func (t *Table) checkObject(typ string, fields map[string]any) error {
	if variants, ok := t.Variants[typ]; ok {
		kind, _ := fields["type"].(string)
		variant, ok := variants[kind]
		if !ok {
			return owner(typ).refuse("unsupported type specified")
		}
		typ = variant
	}
	if known, ok := t.Types[typ]; ok {
		return t.checkFields(owner(typ), fields, known)
	}
	return nil
}

// owner is what parameters or fields belong to: the type of an object, or "" for a method.
type owner string

// part returns "parameter" for a method, and "field" for an object.
func (of owner) part() string {
	if of == "" {
		return "parameter"
	}
	return "field"
}

// titles maps types to the names that Telegram's errors use instead.
var titles = map[owner]string{
	"InlineKeyboardButton": "inline keyboard button",
	"LinkPreviewOptions":   "link preview options",
	"ReplyParameters":      "reply parameters",
}

// refuse returns the error for a wrong parameter or field.
func (of owner) refuse(format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if of == "" {
		return Error(what)
	}
	title := cmp.Or(titles[of], string(of))
	return Error("can't parse " + title + ": " + strings.ToUpper(what[:1]) + what[1:])
}

// refuseOr returns an error with Telegram's own text. If own is empty, it does the same as refuse.
func (of owner) refuseOr(own, format string, args ...any) error {
	if own != "" {
		return Error(own)
	}
	return of.refuse(format, args...)
}
