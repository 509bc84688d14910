package pgtemp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// folder is the named folder that keeps a server's data. The zero value stands for a temporary one.
//
// It holds data (the server's own folder), password (the superuser's) and lock. Whoever serves the data holds the
// lock: this process while it starts, then the server's watcher, which lives until the server has ended. The server's
// own lock would not do, because it means nothing between a container and the machine around it.
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
		return nil, fmt.Errorf("data folder %q: its name must be one line", path)
	}
	// Others may pass through it, because the server can run as another user than this process, but not look into it.
	if err := makeFolder(path, 0o711); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	lock, err := lockFile(filepath.Join(path, "lock"))
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", path, err)
	}
	return &folder{path: path, lock: lock}, nil
}

// makeFolder makes the folder, with this mode whatever the umask, and its parents.
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

// close gives up this process's hold on the lock.
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

// dataVersion is the major version of PostgreSQL that has written the data, or "" when there is none yet.
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

// password is the superuser's password of this folder, made on first use.
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

// writePrivate writes a file that only its owner can read, whatever the umask.
func writePrivate(path, content string) error {
	if err := os.WriteFile(path, []byte(content+"\n"), 0o600); err != nil {
		return fmt.Errorf("write password: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return fmt.Errorf("write password: %w", err)
	}
	return nil
}
