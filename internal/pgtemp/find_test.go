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

// putPrograms writes scripts that stand in for the programs into a folder. The server's script
// reports the given version.
func putPrograms(t *testing.T, folder, version string) {
	t.Helper()
	must(t, os.MkdirAll(folder, 0o755)) //nolint:gosec // a folder for programs
	putScripts(t, folder, map[string]string{"initdb": "",
		"postgres": fmt.Sprintf("echo 'postgres (PostgreSQL) %s'", version)})
}

// putScripts writes executable scripts into a folder. While a script's file is open, no process may
// be forked: a child that inherits the open file would prevent the script's execution.
func putScripts(t *testing.T, folder string, scripts map[string]string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for name, script := range scripts {
		path := filepath.Join(folder, name)
		//nolint:gosec // a program
		must(t, errors.Join(os.WriteFile(path, []byte("#!/bin/sh -e\n"+script), 0o755), os.Chmod(path, 0o755)))
	}
}

// TestFindPrograms checks that the first suitable programs are used, from PATH before the usual
// folders. If PATH has only a link to the server, the other programs are found next to the link's
// target.
func TestFindPrograms(t *testing.T) {
	for name, test := range map[string]struct {
		path, folders []string // versions, each in a folder of that name
		major         string
		want          string // the end of the folder's path, or a part of the error
	}{
		"the first good one in PATH": {path: []string{"14.9", "16.0", "17.0"}, folders: []string{"18.1"}, want: "/path/16.0/bin"},
		"the newest folder":          {folders: []string{"9.6.24", "15.18 (Debian)", "17.2", "16.9"}, want: "/folders/17.2/bin"},
		"a beta is new enough":       {folders: []string{"15beta1"}, want: "/folders/15beta1/bin"},
		"all too old":                {path: []string{"9.6.24"}, folders: []string{"14.9"}, want: "14.9 in"},
		"not PostgreSQL":             {path: []string{"elephant"}, want: "does not say its version"},
		"none":                       {want: "none in PATH"},
		"the version of the data":    {path: []string{"17.1"}, folders: []string{"15.2", "16.2"}, major: "15", want: "/folders/15.2/bin"},
		"no version for the data":    {path: []string{"17.1"}, major: "15", want: "cannot read data of version 15"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			path := []string{"", "relative", filepath.Join(root, "nonexistent")}
			for _, version := range test.path {
				bin, link := filepath.Join(root, "path", version, "bin"), filepath.Join(root, "links", version)
				putPrograms(t, bin, version)
				must(t, os.MkdirAll(link, 0o750))
				must(t, os.Symlink(filepath.Join(bin, "postgres"), filepath.Join(link, "postgres")))
				path = append(path, link)
			}
			for _, version := range test.folders {
				putPrograms(t, filepath.Join(root, "folders", version, "bin"), version)
			}
			t.Setenv("PATH", strings.Join(path, ":"))
			o := Options{programFolders: []string{filepath.Join(root, "folders/*/bin")}, cache: t.TempDir()}
			found, err := installed(t.Context(), o, identity{}, test.major)
			if got := fmt.Sprint(found.bin, err); !strings.Contains(got, test.want) ||
				(err == nil) != strings.HasPrefix(test.want, "/") {
				t.Errorf("found %s, %v, want %s", found.bin, err, test.want)
			}
		})
	}
}
