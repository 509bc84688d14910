package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// lockWait is how long a start waits for a folder whose process has ended: the watcher of that process may still be stopping
// its server.
const lockWait = 30 * time.Second

var errInUse = errors.New("another process has a server running on it")

// folder is the named folder that keeps a server's data. The zero value means a temporary folder.
//
// It holds data (the server's own folder), password (the superuser's), port (the last one) and lock. The process in charge
// of the server holds the lock: this process during the start, then also the server's watcher, which lives until the server
// has ended, and the server itself unless it is in a container. The lock contains the id of the process that started the server.
// The server's own lock is not sufficient, because it does not work between a container and its host.
type folder struct {
	path string
	lock *os.File
}

// openFolder makes the folder if necessary, and locks it. If the process that holds it has ended, it waits for the end of
// the server.
func openFolder(ctx context.Context, o Options) (*folder, error) {
	path := o.DataDir
	if path == "" {
		return &folder{}, nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find data folder: %w", err)
	}
	if strings.Contains(path, "\n") {
		return nil, fmt.Errorf("data folder %q: the name must be one line", path)
	}
	// Other users may pass through the folder but not list it: the server may run as another user than this process.
	if err := makeFolder(path, 0o711); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	f := &folder{path: path}
	if err := f.acquire(ctx, o); err != nil {
		return nil, fmt.Errorf("data folder %s: %w", path, err)
	}
	return f, nil
}

// acquire locks the folder.
func (f *folder) acquire(ctx context.Context, o Options) (err error) {
	f.lock, err = lockFile(f.lockPath())
	if errors.Is(err, errInUse) && !f.inCharge() {
		o.log("waiting for the server that was running on %s to end", f.path)
		ctx, cancel := context.WithTimeoutCause(ctx, lockWait, err)
		defer cancel()
		err = pollUntil(ctx, func() (bool, error) {
			f.lock, err = lockFile(f.lockPath())
			if errors.Is(err, errInUse) {
				return false, nil
			}
			return true, err
		})
	}
	if errors.Is(err, errInUse) && f.inCharge() {
		return fmt.Errorf("process %d is using it: stop that one first", f.owner())
	}
	if pid := f.serverProcess(); errors.Is(err, errInUse) && pid > 0 {
		return fmt.Errorf("its server, process %d, is still running, though the process that started it has ended: stop the server", pid)
	}
	if err != nil {
		return err
	}
	err = f.lock.Truncate(0)
	if err == nil {
		_, err = fmt.Fprintln(f.lock, os.Getpid())
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write lock: %w", err), f.close())
	}
	return nil
}

// owner returns the id of the process that locked the folder last, or 0.
func (f *folder) owner() int { return readProcessID(f.lockPath()) }

// serverProcess returns the id of the server that wrote the data last, as the server itself recorded it, or 0.
func (f *folder) serverProcess() int { return readProcessID(filepath.Join(f.data(), "postmaster.pid")) }

// readProcessID returns the id in the first line of a file, or 0.
func readProcessID(path string) int {
	content, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(content), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return 0
	}
	return pid
}

// inCharge reports whether the process that locked the folder last is still running.
func (f *folder) inCharge() bool {
	pid := f.owner()
	return pid > 0 && processLives(pid)
}

// recordPort keeps the port for other processes that use the server, see Use.
func (f *folder) recordPort(address string) error {
	if !f.named() {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("find the port: %w", err)
	}
	if err := os.WriteFile(f.portFile(), []byte(u.Port()+"\n"), 0o600); err != nil {
		return fmt.Errorf("write port: %w", err)
	}
	return nil
}

func (f *folder) lockPath() string { return filepath.Join(f.path, "lock") }

func (f *folder) portFile() string { return filepath.Join(f.path, "port") }

// recordedURL returns the URL of the server that ran last on the folder.
func (f *folder) recordedURL() (string, error) {
	content, err := os.ReadFile(f.portFile())
	if err != nil {
		return "", fmt.Errorf("read port: %w", err)
	}
	port, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return "", fmt.Errorf("read port: %w", err)
	}
	password, err := os.ReadFile(filepath.Join(f.path, "password"))
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	return serverURL(port, strings.TrimSpace(string(password))), nil
}

// makeFolder makes the folder and its parents. The folder gets the given mode regardless of the umask.
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

func (f *folder) named() bool { return f.path != "" }

// close releases this process's hold on the lock.
func (f *folder) close() error {
	if f.lock == nil {
		return nil
	}
	if err := f.lock.Close(); err != nil {
		return fmt.Errorf("unlock data folder: %w", err)
	}
	return nil
}

func (f *folder) data() string { return filepath.Join(f.path, "data") }

// dataVersion returns the major version of PostgreSQL that wrote the data, or "" if there is no data yet.
func (f *folder) dataVersion() (string, error) {
	if !f.named() {
		return "", nil
	}
	content, err := os.ReadFile(filepath.Join(f.data(), "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the version of the data: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// password returns the superuser's password of this folder. It makes one if there is no data yet.
func (f *folder) password() (string, error) {
	if !f.named() {
		return newPassword(), nil
	}
	path := filepath.Join(f.path, "password")
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read password: %w", err)
	}
	if password := strings.TrimSpace(string(content)); password != "" {
		return password, nil
	}
	if version, err := f.dataVersion(); err != nil || version != "" {
		return "", errors.Join(err, fmt.Errorf("the file %s is missing or empty, and the data in %s cannot be used without it: "+
			"put the file back from a backup", path, f.data()))
	}
	password := newPassword()
	return password, writePrivate(path, password)
}

// writePrivate writes a file that only its owner can read, regardless of the umask. The file is complete and on the disk, or as it
// was before.
func writePrivate(path, content string) error {
	if err := writeDurably(path, content); err != nil {
		return fmt.Errorf("write password: %w", err)
	}
	return nil
}

func writeDurably(path, content string) (err error) {
	partial := path + ".new"
	if err := os.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(partial, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(content + "\n")
	if err = errors.Join(err, file.Chmod(0o600), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(partial, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}
