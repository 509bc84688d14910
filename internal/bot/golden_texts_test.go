package bot

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"elobot/internal/catalog"
)

var placeholder = regexp.MustCompile(`{{\.\w+}}`)

// shownElsewhere matches the ids of texts that no golden file needs to show: the texts of the menus
// (see TestTheMenus), the words for languages that an admin may type, the names of months, and the
// texts of the web board, which has its own tests.
var shownElsewhere = regexp.MustCompile(`^(language\.names|web\.\w+|commands\.\w+\.(private_)?menu|date\.months\.\w+)$`)

// TestEveryTextIsGolden checks that the golden notices and merged messages show each English text
// of the catalog, apart from shownElsewhere. One form of a plural is enough. A text that is not
// shown is either unused or was never reviewed in the other languages.
func TestEveryTextIsGolden(t *testing.T) {
	t.Parallel()
	w := wordsFor("en")
	var golden strings.Builder
	for _, notice := range goldenNotices(t) {
		_, out := renderGolden(t, notice, w.Language)
		golden.WriteString(out.shown(notice))
	}
	for _, m := range goldenSeveral(t) {
		out, _ := merge(m, w)
		golden.WriteString(out.html)
	}
	var texts map[string]any
	content, err := os.ReadFile(filepath.Join("..", "catalog", "en.toml"))
	if err == nil {
		err = toml.Unmarshal(content, &texts)
	}
	must(t, err)
	isShown := func(text any) bool { // at least its longest part without a placeholder
		parts := placeholder.Split(text.(string), -1)
		return strings.Contains(golden.String(),
			slices.MaxFunc(parts, func(a, b string) int { return cmp.Compare(len(a), len(b)) }))
	}
	var check func(id string, value any)
	check = func(id string, value any) {
		table, isTable := value.(map[string]any)
		if !isTable {
			if !isShown(value) && !shownElsewhere.MatchString(id) {
				t.Errorf("no golden file shows %s", id)
			}
			return
		}
		if other, isPlural := table["other"]; isPlural {
			if !isShown(other) && !isShown(table["one"]) && !shownElsewhere.MatchString(id) {
				t.Errorf("no golden file shows %s", id)
			}
			return
		}
		for name, value := range table {
			check(strings.TrimPrefix(id+"."+name, "."), value)
		}
	}
	check("", texts)
}

// TestCallbackAnswersAreWhole checks that the callback answers that comesOfAPress selects are short
// enough in every language. It leaves out notices with hostile names.
func TestCallbackAnswersAreWhole(t *testing.T) {
	t.Parallel()
	for name, notice := range goldenNotices(t) {
		if !comesOfAPress(notice) || strings.Contains(name, "hostile") {
			continue
		}
		for _, language := range catalog.All() {
			out, err := render(itemOf(t, notice), words{Language: language, web: fakeLink, salt: "2"})
			must(t, err)
			line, _, _ := strings.Cut(plain(out.html), "\n")
			if units := utf16Length(line); units > maxCallbackAnswer {
				t.Errorf("%s in %s has %d characters: %s", name, language.Tag(), units, line)
			}
		}
	}
}
