//go:build unix

package pgtemp

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// listing returns everything in a folder and the folder itself: modes, times of change and contents.
func listing(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		var content []byte
		if info.Mode().IsRegular() {
			if content, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		found[path] = fmt.Sprintf("%v %v %q", info.Mode(), info.ModTime(), content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// fill makes files in a folder. A name that ends in a slash is a folder.
func fill(t *testing.T, folder string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(folder, name)
		err := os.MkdirAll(filepath.Dir(path), 0o750)
		if name[len(name)-1] == '/' {
			err = errors.Join(err, os.Mkdir(path, 0o750))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte("of others"), 0o640))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestForeignFolderIsNotTouched: a folder with anything but lost+found in it and no marker is refused and left as it is, even if
// its files have the names of a server's.
func TestForeignFolderIsNotTouched(t *testing.T) {
	t.Parallel()
	for name, files := range map[string][]string{
		"a hidden file":    {".profile"},
		"a folder":         {"ssl/private/key.pem", "lost+found/"},
		"a server's names": {"owner", "lock", "log", "log.1", "port", "password", "container", "data/PG_VERSION"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := publicFolder(t)
			fill(t, folder, files...)
			before := listing(t, folder)
			o := Options{DataDir: folder, Sources: []Source{"none"}}
			_, err := Start(t.Context(), o)
			_, _, useErr := Use(t.Context(), o)
			for _, err := range []error{err, useErr, CheckFolder(folder)} {
				if !errors.Is(err, ErrForeignFolder) {
					t.Errorf("the error is %v", err)
				}
			}
			if diff := cmp.Diff(before, listing(t, folder)); diff != "" {
				t.Errorf("the folder was changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestMarkerComesFirst: a new folder, and one with lost+found alone, get the marker before anything else.
func TestMarkerComesFirst(t *testing.T) {
	t.Parallel()
	mounted := publicFolder(t)
	fill(t, mounted, "lost+found/")
	for folder, want := range map[string][]string{
		filepath.Join(publicFolder(t), "new"): {MarkerName}, mounted: {MarkerName, "lost+found"},
	} {
		if _, err := openFolder(Options{DataDir: folder}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, path := range slices.Sorted(maps.Keys(listing(t, folder)))[1:] { // the first is the folder
			got = append(got, filepath.Base(path))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", folder, diff)
		}
	}
}
