package bot

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"
)

// goldenArchive is a golden file: the texts of one subject, each in a named section. A text does
// not contain its final newline.
type goldenArchive struct {
	path     string
	sections map[string]string
}

// goldens holds the golden files by path, so that each is read once. The lock guards them, because
// tests run in parallel.
var goldens = struct {
	sync.Mutex
	files map[string]goldenArchive
}{files: map[string]goldenArchive{}}

// openGolden returns a golden file. The caller must hold the lock.
func openGolden(t *testing.T, path string) goldenArchive {
	t.Helper()
	if _, ok := goldens.files[path]; !ok {
		goldens.files[path] = readGolden(t, path)
	}
	return goldens.files[path]
}

// readGolden reads a golden file. A missing file has no sections.
func readGolden(t *testing.T, path string) goldenArchive {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatalf("read golden file: %v", err)
	}
	sections, last := map[string]string{}, ""
	for _, f := range txtar.Parse(content).Files {
		if f.Name <= last {
			t.Fatalf("%s: section %q is there twice, or not in order", path, f.Name)
		}
		sections[f.Name], last = unescapeMarkers(strings.TrimSuffix(string(f.Data), "\n")), f.Name
	}
	return goldenArchive{path, sections}
}

// write writes the file, or removes it if it has no sections.
func (g goldenArchive) write(t *testing.T) {
	t.Helper()
	var archive txtar.Archive
	for _, name := range slices.Sorted(maps.Keys(g.sections)) {
		text := escapeMarkers(g.sections[name]) + "\n"
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(text)})
	}
	err := os.MkdirAll(filepath.Dir(g.path), 0o755)
	switch {
	case err == nil && len(g.sections) == 0:
		err = os.Remove(g.path)
	case err == nil:
		err = os.WriteFile(g.path, txtar.Format(&archive), 0o644)
	}
	if err != nil {
		t.Fatalf("write golden file: %v", err)
	}
}

// markerLine matches a line of a text that txtar would take for the start of a section, and an
// escaped line of that kind.
var markerLine = regexp.MustCompile(`(?m)^\\*-- .* --$`)

func escapeMarkers(text string) string { return markerLine.ReplaceAllString(text, `\$0`) }

func unescapeMarkers(text string) string {
	return markerLine.ReplaceAllStringFunc(text, func(line string) string { return strings.TrimPrefix(line, `\`) })
}

// compareWithGolden compares a text, except for one final newline, with a section of a golden file,
// where the characters in visible are escaped. The folder is a language, or "notices" for what all
// languages share. name consists of the names of the file and of the section, separated by a slash.
// With -update, compareWithGolden writes the section instead.
func compareWithGolden(t *testing.T, folder, name, got string) {
	t.Helper()
	goldens.Lock()
	defer goldens.Unlock()
	subject, section, _ := strings.Cut(name, "/")
	file := openGolden(t, filepath.Join("testdata", "golden", folder, subject+".txtar"))
	got = visible.Replace(strings.TrimSuffix(got, "\n"))
	want, ok := file.sections[section]
	if *updateGolden && (!ok || want != got) {
		file.sections[section] = got
		file.write(t)
		return
	}
	if !ok {
		t.Fatalf("%s has no section %q; -update writes it", file.path, section)
	}
	equal(t, got, want, "section %q of %s", section, file.path)
}

// TestGoldenArchive checks that a section reads back as written, whatever it contains, and no other
// section changes.
func TestGoldenArchive(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "subject.txtar")
	texts := map[string]string{
		"c": "one\ntwo", "a": "-- b --\nnot a section", "b": "\\-- c --\n-- c -- not at the end",
		"empty": "", "d": "  -- no --\n\n",
	}
	set := func(name, text string) {
		file := readGolden(t, path)
		file.sections[name] = text
		file.write(t)
	}
	for name, text := range texts {
		set(name, text)
	}
	texts["d"] = "changed"
	set("d", "changed")
	equal(t, readGolden(t, path).sections, texts, "sections")
}
