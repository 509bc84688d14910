package bot

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// goldenArchive is a golden file: the texts of one subject in one language, each as a section with its name. People read it from top to
// bottom.
type goldenArchive struct {
	path     string
	sections []txtar.File
}

// goldenLock guards all golden files: tests of one language and subject run in parallel.
var goldenLock sync.Mutex

// readGolden reads a golden file. A file that does not exist has no sections.
func readGolden(t *testing.T, path string) goldenArchive {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatalf("read golden file: %v", err)
	}
	sections := txtar.Parse(content).Files
	for i := range sections[min(1, len(sections)):] {
		if sections[i].Name >= sections[i+1].Name {
			t.Fatalf("%s: section %q is there twice, or not in order", path, sections[i+1].Name)
		}
	}
	return goldenArchive{path, sections}
}

// section returns the text of a section.
func (g *goldenArchive) section(name string) (text string, ok bool) {
	for _, f := range g.sections {
		if f.Name == name {
			return unescapeMarkers(string(f.Data)), true
		}
	}
	return "", false
}

// set replaces a section or adds it in the order of the names. All others stay as they are.
func (g *goldenArchive) set(name, text string) {
	at, found := slices.BinarySearchFunc(g.sections, name, func(f txtar.File, name string) int { return cmp.Compare(f.Name, name) })
	file := txtar.File{Name: name, Data: []byte(escapeMarkers(text))}
	if found {
		g.sections[at] = file
		return
	}
	g.sections = slices.Insert(g.sections, at, file)
}

// write writes the file, or removes it if it has no sections.
func (g *goldenArchive) write(t *testing.T) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(g.path), 0o755)
	switch {
	case err == nil && len(g.sections) == 0:
		err = os.Remove(g.path)
	case err == nil:
		err = os.WriteFile(g.path, txtar.Format(&txtar.Archive{Files: g.sections}), 0o644)
	}
	if err != nil {
		t.Fatalf("write golden file: %v", err)
	}
}

// markerLine is a line of a text that txtar would take for the beginning of a section, or one that is escaped.
var markerLine = regexp.MustCompile(`(?m)^\\*-- .* --$`)

func escapeMarkers(text string) string { return markerLine.ReplaceAllString(text, `\$0`) }

func unescapeMarkers(text string) string {
	return markerLine.ReplaceAllStringFunc(text, func(line string) string { return strings.TrimPrefix(line, `\`) })
}

// compareWithGolden compares a text with a section of a golden file, exactly apart from one final newline. name is the name of the file and
// that of the section, with a slash between them. With -update it writes the section instead.
func compareWithGolden(t *testing.T, language, name, got string) {
	t.Helper()
	goldenLock.Lock()
	defer goldenLock.Unlock()
	subject, section, _ := strings.Cut(name, "/")
	file := readGolden(t, filepath.Join("testdata", "golden", language, subject+".txtar"))
	if *updateGolden {
		file.set(section, got)
		file.write(t)
	}
	want, ok := file.section(section)
	if !ok {
		t.Fatalf("%s has no section %q; -update writes it", file.path, section)
	}
	if diff := gocmp.Diff(strings.TrimSuffix(want, "\n"), strings.TrimSuffix(got, "\n")); diff != "" {
		t.Errorf("not as in section %q of %s (-want +got):\n%s", section, file.path, diff)
	}
}

// TestGoldenArchive: a section comes back as it was written, whatever it contains, and no other one changes.
func TestGoldenArchive(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "subject.txtar")
	texts := map[string]string{
		"c": "one\ntwo\n", "a": "-- b --\nnot a section\n", "b": "\\-- c --\n-- c -- not at the end\n", "empty": "\n", "d": "  -- no --\n\n\n",
	}
	for name, text := range texts {
		file := readGolden(t, path)
		file.set(name, text)
		file.write(t)
	}
	file := readGolden(t, path)
	file.set("d", "changed\n")
	file.write(t)
	texts["d"] = "changed\n"
	file = readGolden(t, path)
	for name, want := range texts {
		if got, ok := file.section(name); !ok || got != want {
			t.Errorf("section %s is %q, %t; want %q", name, got, ok, want)
		}
	}
	if len(file.sections) != len(texts) || !slices.IsSortedFunc(file.sections, func(a, b txtar.File) int { return cmp.Compare(a.Name, b.Name) }) {
		t.Errorf("sections: %v", file.sections)
	}
}
