//go:build unix

package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// listing returns the mode, the modification time and the content of a folder and of everything in
// it, by path.
func listing(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	must(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		content, _ := os.ReadFile(path) // a folder has no content
		found[path] = fmt.Sprintf("%v %v %q", info.Mode(), info.ModTime(), content)
		return err
	}))
	return found
}

// fill creates files with the given names, and some content, in a folder.
func fill(t *testing.T, folder string, names ...string) {
	t.Helper()
	files := make(fstest.MapFS)
	for _, name := range names {
		files[name] = &fstest.MapFile{Data: []byte("of others")}
	}
	must(t, os.CopyFS(folder, files))
}

// TestForeignFolderIsNotTouched checks that a folder without a marker that contains anything but
// lost+found is refused and left unchanged, even if its files have the same names as a server's.
func TestForeignFolderIsNotTouched(t *testing.T) {
	t.Parallel()
	for _, files := range [][]string{
		{".profile"},
		{"ssl/private/key.pem", "lost+found/file"},
		{"owner", "lock", "log", "log.1", "port", "password", "container", "data/PG_VERSION"},
	} {
		folder := publicFolder(t)
		fill(t, folder, files...)
		before := listing(t, folder)
		o := Options{DataDir: folder, Sources: []Source{"none"}}
		_, err := Start(t.Context(), o)
		_, _, useErr := Use(t.Context(), o)
		for _, err := range []error{err, useErr, CheckFolder(folder)} {
			if !errors.Is(err, ErrForeignFolder) {
				t.Errorf("with %v the error is %v", files, err)
			}
		}
		if diff := cmp.Diff(before, listing(t, folder)); diff != "" {
			t.Errorf("the folder was changed (-before +after):\n%s", diff)
		}
	}
}

// TestMarkerComesFirst checks that a folder that contains only lost+found may be used, and gets the
// marker before anything else.
func TestMarkerComesFirst(t *testing.T) {
	t.Parallel()
	folder := publicFolder(t)
	fill(t, folder, "lost+found/file")
	_, err := openFolder(Options{DataDir: folder})
	must(t, err)
	if got, err := filepath.Glob(filepath.Join(folder, "*")); len(got) != 2 || filepath.Base(got[0]) != MarkerName {
		t.Errorf("it contains %v, %v", got, err)
	}
}

func TestEnterable(t *testing.T) {
	t.Parallel()
	open, closed := publicFolder(t), publicFolder(t)
	must(t, os.Chmod(closed, 0o700)) //nolint:gosec // a folder
	for folder, want := range map[string]bool{open: true, closed: os.Geteuid() != 0} {
		for _, path := range []string{folder, filepath.Join(folder, "not", "yet there")} {
			if got, err := Enterable(path); err != nil || got != want {
				t.Errorf("%s: %v, %v", path, got, err)
			}
		}
	}
}

// TestUseTrustsNoPort checks that a program that listens on the last recorded port does not receive
// the password, and Use does not return its address.
func TestUseTrustsNoPort(t *testing.T) {
	t.Parallel()
	home := &folder{path: publicFolder(t)}
	impostor, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	heard := make(chan string, 1)
	go func() {
		conn, err := impostor.Accept()
		if err != nil {
			heard <- "nobody came"
			return
		}
		// Discard the startup message. If an error occurs here or below, the client sends no
		// password.
		_, _ = conn.Read(make([]byte, 1024))
		// Request the password in clear text.
		_, _ = conn.Write([]byte{'R', 0, 0, 0, 8, 0, 0, 0, 3})
		answer, _ := io.ReadAll(conn)
		_ = conn.Close() // the client has closed it
		heard <- string(answer)
	}()
	fill(t, home.path, MarkerName, "data/postmaster.pid")
	record := fmt.Sprintf("1\n%s\n1700000000\n%d\n", home.data(), impostor.Addr().(*net.TCPAddr).Port)
	must(t, os.WriteFile(filepath.Join(home.data(), "postmaster.pid"), []byte(record), 0o600))
	must(t, writePrivate(home.file("password"), "secret"))
	must(t, home.lockNow())
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, _, err := Use(ctx, Options{DataDir: home.path}); err == nil {
		t.Error("an impostor is used")
	}
	must(t, errors.Join(impostor.Close(), home.leave()))
	if got := <-heard; got != "" {
		t.Errorf("the impostor hears %q", got)
	}
}

// TestReusedProcessID checks that a process that happens to have the recorded id, but not the lock,
// is not in charge. takeCharge reports the process that is in charge, and waits for a server that
// is ending.
func TestReusedProcessID(t *testing.T) {
	t.Parallel()
	home := &folder{path: publicFolder(t)}
	other := &folder{path: home.path}
	must(t, os.WriteFile(home.file("lock"), []byte("1\n"), 0o600))
	must(t, home.takeCharge(t.Context(), Options{}, nil))
	asked := 0
	must(t, other.takeCharge(t.Context(), Options{}, func(pid int) (bool, error) {
		asked = pid
		return true, nil
	}))
	if asked != os.Getpid() || other.lock != nil {
		t.Errorf("a second one finds %d in charge, and takes charge: %v", asked, other.lock != nil)
	}
	must(t, os.WriteFile(home.file("lock"), []byte("0\n"), 0o600))
	waited := false
	must(t, other.takeCharge(t.Context(), Options{Log: func(string) {
		waited = true
		must(t, home.leave())
	}}, nil))
	if !waited || other.owner() != os.Getpid() {
		t.Errorf("process %d is in charge, waited %v", other.owner(), waited)
	}
	must(t, other.leave())
}

// TestPasswordIsNotReplaced checks that no new password is made for existing data, which can only
// be used with its own password.
func TestPasswordIsNotReplaced(t *testing.T) {
	t.Parallel()
	home := &folder{path: publicFolder(t)}
	first, err := home.password()
	must(t, err)
	fill(t, home.data(), "PG_VERSION")
	if again, err := home.password(); again != first || err != nil {
		t.Errorf("%q, %v, want %q", again, err, first)
	}
	for _, spoil := range []func() error{
		func() error { return os.WriteFile(home.file("password"), nil, 0o600) },
		func() error { return os.Remove(home.file("password")) },
	} {
		must(t, spoil())
		if got, err := home.password(); err == nil {
			t.Errorf("the password is empty or missing, and %q is made", got)
		}
	}
}
