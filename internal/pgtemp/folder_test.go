//go:build unix

package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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

func TestEnterable(t *testing.T) {
	t.Parallel()
	open, closed := publicFolder(t), publicFolder(t)
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]bool{open: true, closed: os.Geteuid() != 0} {
		for _, path := range []string{folder, filepath.Join(folder, "not", "yet there")} {
			if got, err := Enterable(path); err != nil || got != want {
				t.Errorf("%s: %v, %v", path, got, err)
			}
		}
	}
}

// TestUseTrustsNoPort: whoever listens on the last port of a server that is starting gets no password and is not used.
func TestUseTrustsNoPort(t *testing.T) {
	t.Parallel()
	home := &folder{path: publicFolder(t)}
	impostor, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 1)
	go func() { heard <- askForPassword(impostor) }()
	port := strconv.Itoa(impostor.Addr().(*net.TCPAddr).Port)
	if err := errors.Join(mark(home.path), home.write("password", "secret"), home.write("port", port), home.lockNow()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, _, err := Use(ctx, Options{DataDir: home.path}); err == nil {
		t.Error("an impostor is used")
	}
	if err := errors.Join(impostor.Close(), home.leave()); err != nil {
		t.Error(err)
	}
	if got := <-heard; got == "" || strings.Contains(got, "secret") {
		t.Errorf("the password was asked for and sent: %q", got)
	}
}

// TestReusedProcessID: a process that has the id of the last one in charge by chance is not in charge. A server that is ending is
// waited for.
func TestReusedProcessID(t *testing.T) {
	t.Parallel()
	home := &folder{path: publicFolder(t)}
	for content, locked := range map[string]bool{"1": false, "0": true} {
		if err := os.WriteFile(home.file("lock"), []byte(content+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var ending *os.File
		if locked {
			var err error
			if ending, err = lockFile(home.file("lock")); err != nil {
				t.Fatal(err)
			}
		}
		waited := false
		err := home.takeCharge(t.Context(), Options{Log: func(string) {
			waited = true
			if err := unlockFile(ending); err != nil {
				t.Error(err)
			}
		}})
		if err != nil || waited != locked || home.owner() != os.Getpid() {
			t.Errorf("process %d is in charge: %v, waited %v", home.owner(), err, waited)
		}
		other := &folder{path: home.path}
		if err := other.takeCharge(t.Context(), Options{}); err == nil || !strings.Contains(err.Error(), "is using it") {
			t.Errorf("a second one in charge: %v", err)
		}
		if err := home.leave(); err != nil {
			t.Error(err)
		}
	}
}

// askForPassword asks the first client for its password in clear text, and returns what it says.
func askForPassword(listener net.Listener) string {
	conn, err := listener.Accept()
	if err != nil {
		return ""
	}
	var answer []byte
	_, err = conn.Read(make([]byte, 1024)) // the startup message
	if err == nil {
		_, err = conn.Write([]byte{'R', 0, 0, 0, 8, 0, 0, 0, 3})
	}
	if err == nil {
		answer, err = io.ReadAll(conn)
	}
	return fmt.Sprintf("%s (%v)", answer, errors.Join(err, conn.Close()))
}

// TestPasswordIsNotReplaced: the data can be used with its password only, so none is made for data that is there.
func TestPasswordIsNotReplaced(t *testing.T) {
	t.Parallel()
	home := &folder{path: publicFolder(t)}
	first, err := home.password()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := home.password(); again != first || err != nil {
		t.Errorf("%q, %v, want %q", again, err, first)
	}
	if err := os.Mkdir(home.data(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home.data(), "PG_VERSION"), []byte("17\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := home.password(); again != first || err != nil {
		t.Errorf("with data: %q, %v, want %q", again, err, first)
	}
	for what, mend := range map[string]func(string) error{
		"empty":   func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"missing": os.Remove,
	} {
		if err := mend(filepath.Join(home.path, "password")); err != nil {
			t.Fatal(err)
		}
		if got, err := home.password(); err == nil {
			t.Errorf("the password is %s, and %q is made", what, got)
		}
		if err := os.WriteFile(filepath.Join(home.path, "password"), []byte(first), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
