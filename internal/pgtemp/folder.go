package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

var errInUse = errors.New("another process has a server running on it")

// MarkerName is the name of the file that marks a folder as made by this package. The file is
// created before anything else, and only in a folder that is empty, apart from lost+found. A start
// therefore never writes to a foreign folder, but can reuse a folder whose first start did not
// finish.
const MarkerName = "elobot-folder"

const markerText = "elobot keeps a PostgreSQL server in this folder. " +
	"Leave the files alone, and back up the database, not the files.\n"

// ErrForeignFolder means that a folder has files that are not from this package, so no server may
// use it.
var ErrForeignFolder = errors.New("the folder is not empty, and was not made for a server")

// folder is a folder that keeps a server's data. The zero value stands for a temporary folder that
// does not exist yet.
//
// It holds the server's own folder, "data", and the files "password" (the superuser's password),
// "log" and "log.1". A folder that outlives its server also holds the marker and the file "lock".
//
// The lock file contains the id of the process in charge. That process, its watcher and its server
// all hold the lock on the file. The lock therefore lasts until the server has ended, even if the
// process is killed.
type folder struct {
	path string
	lock *os.File // nil for a temporary folder, or if this process is not in charge
}

// openFolder makes and marks the folder Options.DataDir if necessary. If the folder has foreign
// files, openFolder changes nothing and fails with ErrForeignFolder. If DataDir is empty, it
// returns the zero folder.
func openFolder(o Options) (*folder, error) {
	if o.DataDir == "" {
		return &folder{}, nil
	}
	path, err := filepath.Abs(o.DataDir)
	if err == nil {
		// The server may run as another user than this process, so other users may pass through the
		// folder, but not list it.
		err = makeFolder(path, 0o711)
	}
	if err == nil {
		err = CheckFolder(path)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(path, MarkerName), []byte(markerText), 0o644) //nolint:gosec // it is no secret
	}
	if err == nil {
		err = syncFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", o.DataDir, err)
	}
	return &folder{path: path}, nil
}

// CheckFolder returns nil if a server may use the folder: it must be marked, empty or absent.
// Otherwise it returns ErrForeignFolder, or the error of reading the folder. It ignores the folder
// lost+found, which new file systems have.
func CheckFolder(path string) error {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		switch entry.Name() {
		case MarkerName:
			return nil
		case "lost+found":
		default:
			err = ErrForeignFolder
		}
	}
	return err
}

// takeCharge makes this process the only one that may start a server on the folder. If the last
// process in charge has ended, takeCharge waits for that process's server to end, because the
// watcher may still be stopping it. While another process is in charge, takeCharge asks inUse
// whether to stop waiting. If inUse returns true, takeCharge returns nil without taking charge.
func (f *folder) takeCharge(ctx context.Context, o Options, inUse func(pid int) (done bool, err error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errors.New("its server neither answers nor ends: stop it"))
	defer cancel()
	waiting := false
	return pollUntil(ctx, func() (bool, error) {
		err := f.lockNow()
		if !errors.Is(err, errInUse) {
			return true, err
		}
		if pid := f.owner(); processAlive(pid) {
			return inUse(pid)
		}
		if !waiting {
			o.log("waiting for the server that was running on %s to end", f.path)
			waiting = true
		}
		return false, nil
	})
}

// lockNow takes charge of the folder without waiting. The error is errInUse if the folder is
// locked. For the zero folder, lockNow does nothing.
func (f *folder) lockNow() (err error) {
	if !f.named() {
		return nil
	}
	if f.lock, err = lockFile(f.file("lock")); err != nil {
		return err
	}
	if err = f.lock.Truncate(0); err == nil {
		_, err = fmt.Fprintln(f.lock, os.Getpid())
	}
	if err != nil {
		err = errors.Join(err, f.leave())
	}
	return err
}

// owner returns the id of the process that was last in charge of the folder, or 0 if none is
// recorded.
func (f *folder) owner() int {
	content, _ := f.read("lock")
	pid, _ := strconv.Atoi(content)
	return pid
}

// leave gives up the folder after its server has ended. It does nothing if this process is not in
// charge.
func (f *folder) leave() error {
	if f.lock == nil {
		return nil
	}
	if err := unlockFile(f.lock); err != nil {
		return fmt.Errorf("leave data folder: %w", err)
	}
	f.lock = nil
	return nil
}

// recordedURL returns the URL of the server that last ran on the folder. It fails if that server
// has not recorded its port yet.
func (f *folder) recordedURL() (string, error) {
	content, recordErr := f.read("data/postmaster.pid")
	password, passwordErr := f.read("password")
	if err := errors.Join(recordErr, passwordErr); err != nil {
		return "", err
	}
	lines := strings.Split(content, "\n") // process id, data folder, start time, port, …
	port, err := strconv.Atoi(lines[min(3, len(lines)-1)])
	return serverURL(port, password), err
}

func (f *folder) named() bool { return f.path != "" }

func (f *folder) data() string { return f.file("data") }

func (f *folder) file(name string) string { return filepath.Join(f.path, name) }

// read returns the trimmed content of one of the folder's files, or "" if there is no such file.
// The zero folder has no files.
func (f *folder) read(name string) (string, error) {
	if !f.named() {
		return "", nil
	}
	content, err := os.ReadFile(f.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return strings.TrimSpace(string(content)), err
}

// dataVersion returns the major version of PostgreSQL that wrote the data, or "" if there is no
// data yet.
func (f *folder) dataVersion() (string, error) { return f.read("data/PG_VERSION") }

// HasData reports whether the folder path, as in Options.DataDir, contains a server's data.
func HasData(path string) bool {
	_, err := os.Stat(filepath.Join(path, "data"))
	return err == nil
}

// password returns the superuser's password for the data in this folder. If there is neither a
// password nor data yet, it makes a password. If only the password is missing, it fails.
func (f *folder) password() (string, error) {
	if password, err := f.read("password"); err != nil || password != "" {
		return password, err
	}
	if version, err := f.dataVersion(); err != nil || version != "" {
		return "", errors.Join(err, fmt.Errorf("the file %s is missing or empty, and the data in %s "+
			"cannot be used without it: put the file back from a backup", f.file("password"), f.data()))
	}
	password := newPassword()
	return password, writePrivate(f.file("password"), password)
}

// makeFolder makes a folder and its missing parents, unless the folder exists. A new folder gets
// the given mode regardless of the umask, but its parents do not.
func makeFolder(path string, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	err := os.Mkdir(path, mode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

// writePrivate writes a line to a file that only its owner can read, regardless of the umask.
// Afterward the file is either complete and on the disk, or unchanged.
func writePrivate(path, content string) error {
	partial := path + ".new"
	if err := os.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := os.WriteFile(partial, []byte(content+"\n"), 0o600)
	if err = errors.Join(err, os.Chmod(partial, 0o600), syncFile(partial)); err != nil {
		return err
	}
	return errors.Join(os.Rename(partial, path), syncFile(filepath.Dir(path)))
}
