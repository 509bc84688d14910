package release

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/third-party-licenses.txt")

// TestLicenses checks that docs/third-party-licenses.txt, which is in each archive and image of a
// release, has the license texts of everything that is linked into the binaries of releases. The
// file names no versions, so a new version of a module changes the file only if the license
// changes.
func TestLicenses(t *testing.T) {
	t.Parallel()
	const path = "../../docs/third-party-licenses.txt"
	texts := make(map[string][]string) // module paths by text
	for module, dir := range linked(t) {
		found := licenses(t, dir)
		if len(found) == 0 {
			t.Errorf("%s has no license text", module)
		}
		for _, text := range found {
			texts[text] = append(texts[text], module)
		}
	}
	var sections []string
	for text, modules := range texts {
		slices.Sort(modules)
		line := strings.Repeat("=", 100)
		sections = append(sections, fmt.Sprintf("%s\n%s\n%s\n\n%s\n", line, strings.Join(modules, "\n"), line, text))
	}
	slices.Sort(sections)
	want := []byte("The elobot binary contains the following software of others.\n\n" + strings.Join(sections, "\n"))
	if *update {
		must(t, os.WriteFile(path, want, 0o644)) //nolint:gosec // the file is public
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/third-party-licenses.txt is not what is linked (%v): run go test ./internal/release -update", err)
	}
}

// module has the folder of a module, and the folders of its linked packages.
type module struct {
	dir      string
	packages []string
}

// linked returns the modules that are linked into the binaries of releases, by path, and Go's
// standard library.
func linked(t *testing.T) map[string]module {
	t.Helper()
	const format = `{{with .Module}}{{if not .Main}}{{.Path}}|{{.Dir}}|{{end}}{{end}}{{if .Module}}{{.Dir}}{{end}}`
	all := make(map[string]module)
	for _, arch := range []string{"amd64", "arm64", "arm"} {
		cmd := exec.Command("go", "list", "-deps", "-f", format, "elobot/cmd/elobot")
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
		out, err := cmd.Output()
		must(t, err)
		for line := range strings.Lines(string(out)) {
			fields := strings.Split(strings.TrimSpace(line), "|")
			if len(fields) != 3 { // elobot itself or the standard library
				continue
			}
			m := all[fields[0]]
			m.dir = fields[1]
			m.packages = append(m.packages, fields[2])
			all[fields[0]] = m
		}
	}
	// Some systems package Go without its license text. The golang.org/x modules have the same
	// license, so the text of one of them stands in.
	all["Go's standard library and runtime"] = module{dir: all["golang.org/x/text"].dir}
	if len(all) < 20 {
		t.Fatalf("only %d modules", len(all))
	}
	return all
}

var licenseName = regexp.MustCompile(`(?i)^(licen[sc]e|copying|copyright|notice|patents|ofl|ftl)([-.].*)?$`)

// licenses returns the license texts of a module that are in one of these folders: the module's
// root, the linked packages, the folders between, folders without code below a linked package, and
// all folders named licenses.
func licenses(t *testing.T, m module) (texts []string) {
	t.Helper()
	must(t, filepath.WalkDir(m.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !licenseName.MatchString(entry.Name()) || strings.HasSuffix(path, ".go") {
			return err
		}
		if dir := filepath.Dir(path); !concerns(dir, m) {
			return nil
		}
		text, err := os.ReadFile(path)
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		texts = append(texts, strings.TrimRight(string(text), " \n"))
		return err
	}))
	return texts
}

// concerns reports whether license texts in the folder dir apply to linked packages of m.
func concerns(dir string, m module) bool {
	if dir == m.dir {
		return true
	}
	below := func(path, root string) bool { return strings.HasPrefix(path+"/", root+"/") }
	code, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	return slices.ContainsFunc(m.packages, func(p string) bool {
		return below(p, dir) || len(code) == 0 && below(dir, p)
	}) || filepath.Base(dir) == "licenses"
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
