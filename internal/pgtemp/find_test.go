//go:build unix

package pgtemp

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func containsNone(output, part string) error {
	for line := range strings.Lines(output) {
		if strings.Contains(line, part) {
			return fmt.Errorf("%s still exists", line)
		}
	}
	return nil
}

// putPrograms writes scripts into a folder that answer --version like the programs.
func putPrograms(t *testing.T, folder, version string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"postgres", "initdb"} {
		script := fmt.Sprintf("#!/bin/sh\necho '%s (PostgreSQL) %s'\n", program, version)
		putScript(t, filepath.Join(folder, program), script)
	}
}

// putScript writes a program. No process may be forked before the file is closed: a child that inherits the open file would
// prevent its execution.
func putScript(t *testing.T, path, script string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := errors.Join(os.WriteFile(path, []byte(script), 0o755), os.Chmod(path, 0o755)); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
}

func TestFindPrograms(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		path    []string // folder=version
		folders []string
		major   string
		want    string // folder, or "error: " and a part of the error
	}{
		"PATH wins over newer folders": {path: []string{"a=15.1"}, folders: []string{"16=16.3", "17=17.2"}, want: "path/a"},
		"the first good one in PATH":   {path: []string{"a=14.9", "b=16.0", "c=17.0"}, want: "path/b"},
		"the newest folder":            {folders: []string{"9=9.6.24", "15=15.18", "17=17.2", "16=16.9"}, want: "folders/17"},
		"the newest minor":             {folders: []string{"a=17.9", "b=17.10", "c=17.2"}, want: "folders/b"},
		"a release over its beta":      {folders: []string{"a=18.0", "b=18beta3"}, want: "folders/a"},
		"a beta is new enough":         {folders: []string{"a=15beta1"}, want: "folders/a"},
		"with a suffix":                {folders: []string{"a=15.18 (Debian 15.18-0+deb12u1)"}, want: "folders/a"},
		"too old in PATH":              {path: []string{"a=14.9"}, folders: []string{"15=15.0"}, want: "folders/15"},
		"all too old":                  {path: []string{"a=9.6.24"}, folders: []string{"14=14.9"}, want: "error: 14.9 in"},
		"not PostgreSQL":               {path: []string{"a=elephant"}, want: "error: parse the version"},
		"none":                         {want: "error: none in PATH"},
		"the version of the data":      {path: []string{"a=17.1"}, folders: []string{"15=15.2", "16=16.2"}, major: "15", want: "folders/15"},
		"no version for the data":      {path: []string{"a=17.1"}, major: "15", want: "error: cannot read data of version 15"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			var path []string
			for _, entry := range test.path {
				folder, version, _ := strings.Cut(entry, "=")
				path = append(path, filepath.Join(root, "path", folder))
				putPrograms(t, path[len(path)-1], version)
			}
			for _, entry := range test.folders {
				folder, version, _ := strings.Cut(entry, "=")
				putPrograms(t, filepath.Join(root, "folders", folder, "bin"), version)
			}
			path = append(path, "", "relative", filepath.Join(root, "nonexistent"))
			found, err := findPrograms(t.Context(), strings.Join(path, ":"), []string{filepath.Join(root, "folders/*/bin")}, test.major, func(*exec.Cmd) {})
			if part, wantErr := strings.CutPrefix(test.want, "error: "); wantErr {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("found %+v, %v, want an error with %q", found, err, part)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSuffix(strings.TrimPrefix(found.bin, root+"/"), "/bin"); got != test.want {
				t.Errorf("found %s, want %s", got, test.want)
			}
		})
	}
}

func TestFindProgramsThroughLinks(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	installed, links := filepath.Join(root, "real"), filepath.Join(root, "links")
	putPrograms(t, installed, "16.4")
	if err := os.Mkdir(links, 0o755); err != nil {
		t.Fatal(err)
	}
	// Only the server is linked: the other programs are next to the link's target.
	if err := os.Symlink(filepath.Join(installed, "postgres"), filepath.Join(links, "postgres")); err != nil {
		t.Fatal(err)
	}
	found, err := findPrograms(t.Context(), links, nil, "", func(*exec.Cmd) {})
	if err != nil || found.bin != installed {
		t.Errorf("found %+v, %v", found, err)
	}
}
