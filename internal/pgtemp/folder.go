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

// MarkerName is the file that marks a folder as one of this package. It is made before anything else, and only in an empty
// folder. So a start writes to no folder of others, and goes on with a folder whose first start did not finish.
const MarkerName = "elobot-folder"

const markerText = "elobot keeps a PostgreSQL server in this folder. Leave the files alone, and back up the database, not the files.\n"

// ErrForeignFolder means that a folder has files of others, so that no server may use it.
var ErrForeignFolder = errors.New("the folder is not empty, and was not made for a server")

// folder is the named folder that keeps a server's data. The zero value means a temporary folder.
//
// It holds the marker, data (the server's own folder), password (the superuser's), port (that of the running server), container (the
// name of the one that the server runs in), owner and lock. The last two are locked. owner contains the id of the process in charge,
// which alone holds the lock on it, until its own end. lock lasts until the end of the server: it is held by the process in charge
// during the start, then also by the server's watcher, which lives until the server has ended, and by the server itself unless it is
// in a container. The server's own lock is not sufficient, because it does not work between a container and its host.
type folder struct {
	path        string
	owner, lock *os.File // nil if they are not locked
}

// openFolder makes the folder if necessary. It fails with ErrForeignFolder, and changes nothing, if the folder has files of others.
func openFolder(o Options) (*folder, error) {
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
	err = CheckFolder(path)
	if err == nil {
		err = mark(path)
	}
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", path, err)
	}
	return &folder{path: path}, nil
}

// CheckFolder returns ErrForeignFolder unless a server may use the folder: it is marked or empty, or does not exist. The folder
// lost+found, which new file systems have, does not count.
func CheckFolder(path string) error {
	if _, err := os.Lstat(filepath.Join(path, MarkerName)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		switch entry.Name() {
		case MarkerName: // another process has just made it
			return nil
		case "lost+found":
		default:
			err = ErrForeignFolder
		}
	}
	return err
}

// mark marks an empty folder, unless it is marked already.
func mark(path string) error {
	file, err := os.OpenFile(filepath.Join(path, MarkerName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(markerText)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return syncFolder(path)
}

// takeCharge makes this process the only one that may start a server on the folder. The error is errInUse if another process is in
// charge.
func (f *folder) takeCharge() (err error) {
	if !f.named() {
		return nil
	}
	if f.owner, err = lockFile(f.ownerPath()); err != nil {
		return err
	}
	err = f.owner.Truncate(0)
	if err == nil {
		_, err = fmt.Fprintln(f.owner, os.Getpid())
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write owner: %w", err), f.leave())
	}
	return nil
}

// acquire locks the folder, as soon as a server that was running on it has ended.
func (f *folder) acquire(ctx context.Context, o Options) (err error) {
	if !f.named() {
		return nil
	}
	f.lock, err = lockFile(f.lockPath())
	if errors.Is(err, errInUse) {
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
	if pid := f.serverProcess(); errors.Is(err, errInUse) && pid > 1 { // 1 is in a container
		return fmt.Errorf("its server, process %d, is still running, though the process that started it has ended: stop the server", pid)
	}
	return err
}

// leave gives up the folder after its server has ended: its port means nothing any more.
func (f *folder) leave() error {
	if f.owner == nil {
		return nil
	}
	err := os.Remove(f.portFile())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err = errors.Join(err, f.release(), unlockFile(f.owner)); err != nil {
		return fmt.Errorf("leave data folder: %w", err)
	}
	f.owner = nil
	return nil
}

// release releases this process's hold on the lock.
func (f *folder) release() error {
	if f.lock == nil {
		return nil
	}
	if err := f.lock.Close(); err != nil {
		return fmt.Errorf("unlock data folder: %w", err)
	}
	f.lock = nil
	return nil
}

// ownerProcess returns the id of the process that was in charge of the folder last, or 0.
func (f *folder) ownerProcess() int { return readProcessID(f.ownerPath()) }

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

func (f *folder) ownerPath() string { return filepath.Join(f.path, "owner") }

func (f *folder) lockPath() string { return filepath.Join(f.path, "lock") }

func (f *folder) portFile() string { return filepath.Join(f.path, "port") }

func (f *folder) containerFile() string { return filepath.Join(f.path, "container") }

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

// recordContainer keeps the name of a container before it uses the data. A container can outlive its watcher.
func (f *folder) recordContainer(name string) error {
	if !f.named() {
		return nil
	}
	if err := writeDurably(f.containerFile(), name); err != nil {
		return fmt.Errorf("write container: %w", err)
	}
	return nil
}

// recordedContainer returns the name of the container that may be using the data, or "".
func (f *folder) recordedContainer() (string, error) {
	if !f.named() {
		return "", nil
	}
	content, err := os.ReadFile(f.containerFile())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read container: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// forgetContainer forgets a container that has been removed.
func (f *folder) forgetContainer() error {
	if !f.named() {
		return nil
	}
	if err := os.Remove(f.containerFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove container: %w", err)
	}
	return nil
}

// answering returns the URL of the server that ran last on the folder, if it answers.
func (f *folder) answering(ctx context.Context) (address string, ok bool) {
	address, err := f.recordedURL()
	return address, err == nil && answers(ctx, address)
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
