//go:build unix

package pgtemp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// putPrograms writes scripts into a folder that answer --version like the programs.
func putPrograms(t *testing.T, folder, version string) {
	t.Helper()
	must(t, os.MkdirAll(folder, 0o755)) //nolint:gosec // a folder for programs
	for _, program := range []string{"postgres", "initdb"} {
		putScript(t, filepath.Join(folder, program), fmt.Sprintf("#!/bin/sh\necho '%s (PostgreSQL) %s'\n", program, version))
	}
}

// putScript writes a program. No process may be forked before the file is closed: a child that inherits the open file would
// prevent its execution.
func putScript(t *testing.T, path, script string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	must(t, errors.Join(os.WriteFile(path, []byte(script), 0o755), os.Chmod(path, 0o755))) //nolint:gosec // a program
}

// TestFindPrograms: in PATH, only the server is linked. The other programs are next to the link's target.
func TestFindPrograms(t *testing.T) {
	for name, test := range map[string]struct {
		path    []string // folder=version
		folders []string
		major   string
		want    string // folder, or "error: " and a part of the error
	}{
		"the first good one in PATH": {path: []string{"a=14.9", "b=16.0", "c=17.0"}, folders: []string{"18=18.1"}, want: "path/b"},
		"the newest folder":          {folders: []string{"9=9.6.24", "15=15.18 (Debian)", "17=17.2", "16=16.9"}, want: "folders/17"},
		"a beta is new enough":       {folders: []string{"a=15beta1"}, want: "folders/a"},
		"all too old":                {path: []string{"a=9.6.24"}, folders: []string{"14=14.9"}, want: "error: 14.9 in"},
		"not PostgreSQL":             {path: []string{"a=elephant"}, want: "error: does not say its version"},
		"none":                       {want: "error: none in PATH"},
		"the version of the data":    {path: []string{"a=17.1"}, folders: []string{"15=15.2", "16=16.2"}, major: "15", want: "folders/15"},
		"no version for the data":    {path: []string{"a=17.1"}, major: "15", want: "error: cannot read data of version 15"},
	} {
		t.Run(name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			must(t, err)
			path := []string{"", "relative", filepath.Join(root, "nonexistent")}
			for kind, entries := range map[string][]string{"path": test.path, "folders": test.folders} {
				for _, entry := range entries {
					folder, version, _ := strings.Cut(entry, "=")
					bin := filepath.Join(root, kind, folder, "bin")
					putPrograms(t, bin, version)
					if kind == "path" {
						link := filepath.Join(root, "links", folder)
						must(t, os.MkdirAll(link, 0o750))
						must(t, os.Symlink(filepath.Join(bin, "postgres"), filepath.Join(link, "postgres")))
						path = append(path, link)
					}
				}
			}
			t.Setenv("PATH", strings.Join(path, ":"))
			o := Options{programFolders: []string{filepath.Join(root, "folders/*/bin")}, cache: t.TempDir()}
			found, err := installed(t.Context(), o, identity{}, test.major)
			if part, wantErr := strings.CutPrefix(test.want, "error: "); wantErr {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("found %+v, %v, want an error with %q", found, err, part)
				}
				return
			}
			if got := strings.TrimSuffix(strings.TrimPrefix(found.bin, root+"/"), "/bin"); err != nil || got != test.want {
				t.Errorf("found %s, %v, want %s", got, err, test.want)
			}
		})
	}
}
