package bot

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"testing"

	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// impersonal lists the texts in notices and stored prompts that cannot have the name of a person:
// names of groups, ladders, seasons, zones, settings and releases, and codes.
const impersonal = `bot release source time_zones time_zone title list topic of_ladder period column
	reason code ask choices dates zone prompt unused kind change first how in from to games doubt form view tag
	ladder ladders instead after before open language meant key id chat match settled
	ended group asker back picked player size message equal same user`

// TestPersonalTexts checks that each text and each id in a notice or a stored prompt either is one
// that may have a person's name, or cannot have one.
func TestPersonalTexts(t *testing.T) {
	t.Parallel()
	known, met := strings.Fields(impersonal), make(map[string]bool)
	types := map[string]reflect.Type{
		"report": reflect.TypeFor[ranking.ReportRequest](), "wizard": reflect.TypeFor[ranking.WizardRequest](),
		"which": reflect.TypeFor[ranking.WhichRequest](), "import": reflect.TypeFor[ranking.ImportRequest](),
	}
	for _, kind := range notice.Names() {
		types[kind] = notice.Type(kind)
	}
	for kind, of := range types {
		eachText(kind, "", of, func(path, field string) {
			field = strings.ToLower(field)
			met[field] = true
			if !ranking.IsPersonalText(field) && !slices.Contains(known, field) {
				t.Errorf("it is not decided whether %s may have the name of a person", path)
			}
		})
	}
	for _, field := range known {
		if !met[field] {
			t.Errorf("there is no field %s", field)
		}
	}
}

// eachText calls do for each field of a type whose JSON may be a text or an id. A nested field
// without a name of its own has that of the field around it.
func eachText(path, field string, of reflect.Type, do func(path, field string)) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		eachText(path, field, of.Elem(), do)
	case reflect.String, reflect.Int64, reflect.Interface:
		if of.PkgPath() != "time" {
			do(path, field)
		}
	case reflect.Struct:
		for i := range of.NumField() {
			f := of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case name == "-", of.PkgPath() == "time", !f.IsExported() && !f.Anonymous, strings.Count(path, ".") > 8:
			case name == "" && f.Anonymous:
				eachText(path, field, f.Type, do)
			default:
				eachText(path+"."+f.Name, cmp.Or(name, f.Name), f.Type, do)
			}
		}
	}
}
