package pgtemp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// folder is the named folder that keeps a server's data. The zero value means a temporary folder.
//
// It holds data (the server's own folder), password (the superuser's) and lock. The process in charge of the server
// holds the lock: this process during the start, then the server's watcher, which lives until the server has ended. The
// server's own lock is not sufficient, because it does not work between a container and its host.
type folder struct {
	path string
	lock *os.File
}

func openFolder(path string) (*folder, error) {
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
	lock, err := lockFile(filepath.Join(path, "lock"))
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", path, err)
	}
	return &folder{path: path, lock: lock}, nil
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

// password returns the superuser's password of this folder, which it makes on first use.
func (f *folder) password() (string, error) {
	if !f.named() {
		return newPassword(), nil
	}
	path := filepath.Join(f.path, "password")
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		password := newPassword()
		return password, writePrivate(path, password)
	}
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// writePrivate writes a file that only its owner can read, regardless of the umask.
func writePrivate(path, content string) error {
	if err := os.WriteFile(path, []byte(content+"\n"), 0o600); err != nil {
		return fmt.Errorf("write password: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return fmt.Errorf("write password: %w", err)
	}
	return nil
}
