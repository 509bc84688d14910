package pgtemp

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// programsScript stops the server and removes the folders named in its arguments.
//
//go:embed programs.sh
var programsScript string

// stopTimeout limits each step of stopping a server before a more forceful one follows.
const stopTimeout = 10 * time.Second

// portAttempts is the number of ports to try, as another process can take a port before the server does.
const portAttempts = 5

var errPortTaken = errors.New("the port is taken")

// programs is a server that runs from programs on this machine, from any source.
type programs struct {
	installation
	identity
	watcher *Watcher
	lock    *os.File // of a named folder; the server holds it as long as it lives
	// temporary are the folders to remove at the end. They are candidates, of which only one is in use.
	temporary []string
	home      string // holds data, password and log
	settings  map[string]string
	url       string
	port      int
	process   int // 0 when none is running
	report    func(format string, args ...any)
	oldLog    bool // the log is that of a server that was ready, or of another process
}

// source finds or fetches the programs to run. They must be able to read data of the version dataMajor, unless that is
// empty, and to run as user.
type source func(ctx context.Context, o Options, user identity, dataMajor string) (installation, error)

// startFrom returns a way that runs the programs of a source.
func startFrom(find source) func(context.Context, Options, *folder) (started, error) {
	return func(ctx context.Context, o Options, named *folder) (started, error) {
		p := &programs{settings: o.Settings, home: named.path, report: o.log, oldLog: true}
		var err error
		if p.identity, err = chooseIdentity(named.data()); err != nil {
			return started{}, err
		}
		major, err := named.dataVersion()
		if err != nil {
			return started{}, err
		}
		if p.installation, err = find(ctx, o, p.identity, major); err != nil {
			return started{}, err
		}
		s, err := p.start(ctx, o, named)
		if err != nil {
			err = &launchError{err}
		}
		return s, err
	}
}

func (p *programs) start(ctx context.Context, o Options, named *folder) (started, error) {
	kind := fmt.Sprintf("PostgreSQL %s from %s", p.installation.version, p.bin)
	o.log("starting %s", kind)
	if !named.named() {
		p.temporary = temporaryFolders(o.InMemory)
	}
	var err error
	if p.lock, err = named.shareLock(); err != nil {
		return started{}, err
	}
	if p.watcher, err = watch(named.lock, programsScript, p.temporary...); err != nil {
		return started{}, err
	}
	version, err := p.initialiseAndLaunch(ctx, named)
	if err != nil {
		return started{}, errors.Join(err, p.stop(ctx))
	}
	return started{engine: p, url: p.url, version: version, kind: kind}, nil
}

// initialiseAndLaunch prepares the folder, initialises the data and starts the server on a free port.
func (p *programs) initialiseAndLaunch(ctx context.Context, named *folder) (version string, err error) {
	if err := p.prepare(); err != nil {
		return "", err
	}
	password, err := named.password()
	if err != nil {
		return "", err
	}
	if err := p.initialise(ctx, password, named.named()); err != nil {
		return "", err
	}
	for range portAttempts {
		if p.port, err = freePort(); err != nil {
			return "", err
		}
		p.url = serverURL(p.port, password)
		version, err = p.launch(ctx)
		if !errors.Is(err, errPortTaken) {
			break
		}
	}
	return version, err
}

// keepLog keeps the log of a server that was ready as log.1. That of an attempt to start which failed may be overwritten: there can be
// many.
func (p *programs) keepLog() error {
	if !p.oldLog {
		return nil
	}
	p.oldLog = false
	if err := os.Rename(p.path("log"), p.path("log.1")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep the log: %w", err)
	}
	return nil
}

// temporaryFolders returns candidates for a new temporary folder, best first.
func temporaryFolders(inMemory bool) []string {
	parents := []string{os.TempDir(), "/tmp", "/var/tmp"}
	if memory := memoryFolder(); inMemory && memory != "" {
		parents = slices.Insert(parents, 0, memory)
	}
	name := "elobot-postgres-" + newPassword()
	var folders []string
	for _, parent := range parents {
		if folder := filepath.Join(parent, name); filepath.IsAbs(folder) && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	return folders
}

// prepare makes the first temporary folder that the server can use.
func (p *programs) prepare() error {
	if p.temporary == nil {
		return nil // the named folder exists already; initialise checks access to it
	}
	var reasons []error
	for _, folder := range p.temporary {
		err := p.makePrivate(folder)
		if err == nil {
			err = p.checkAccess(folder)
		}
		if err == nil {
			p.home = folder
			return nil
		}
		reasons = append(reasons, err)
	}
	return errors.Join(reasons...)
}

// makePrivate makes a folder that only the server's user can enter, regardless of the umask.
func (p *programs) makePrivate(folder string) error {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(folder, 0o700); err != nil {
		return err
	}
	return p.chown(folder)
}

// prepareCommand makes cmd run as the server's user, with the libraries of these programs.
func (p *programs) prepareCommand(cmd *exec.Cmd) {
	p.identity.apply(cmd)
	p.installation.apply(cmd)
}

func (p *programs) path(name string) string { return filepath.Join(p.home, name) }

// initialise makes the data folder unless it exists. It makes the folder under a temporary name and renames it when it is
// complete. Durable data is on the disk when it returns.
func (p *programs) initialise(ctx context.Context, password string, durable bool) error {
	if _, err := os.Stat(p.path("data")); err == nil {
		return p.checkAccess(p.path("data"))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	partial, passwordFile := p.path("data.new"), p.path("password")
	if err := writePrivate(passwordFile, password); err != nil {
		return err
	}
	if err := p.chown(passwordFile); err != nil {
		return err
	}
	// Not every system has C.UTF-8. C always exists.
	err := p.initialiseIn(ctx, partial, passwordFile, "C.UTF-8", durable)
	if err != nil && ctx.Err() == nil {
		err = p.initialiseIn(ctx, partial, passwordFile, "C", durable)
	}
	if err != nil {
		return err
	}
	if err := os.Rename(partial, p.path("data")); err != nil || !durable {
		return err
	}
	return syncFolder(p.home)
}

func (p *programs) initialiseIn(ctx context.Context, folder, passwordFile, locale string, durable bool) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := p.makePrivate(folder); err != nil {
		return err
	}
	if err := p.checkAccess(folder); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, p.program("initdb"), "--pgdata="+folder, "--username="+superuser,
		"--pwfile="+passwordFile, "--auth=scram-sha-256", "--encoding=UTF8", "--locale="+locale,
		"--lc-messages=C", "--no-instructions")
	if !durable {
		cmd.Args = append(cmd.Args, "--no-sync")
	}
	p.prepareCommand(cmd)
	cmd.Dir = folder
	_, err := p.watcher.run(cmd)
	return err
}

// arguments returns the server's arguments. Ours come last, so that settings cannot change its port and address.
func (p *programs) arguments() []string {
	args := []string{"-D", p.path("data"), "-c", "shared_buffers=32MB"}
	for _, setting := range sortedSettings(p.settings) {
		args = append(args, "-c", setting)
	}
	return append(args,
		"-c", "port="+strconv.Itoa(p.port),
		"-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=", // the usual folder need not be writable
		"-c", "dynamic_shared_memory_type="+sharedMemory,
		"-c", "logging_collector=off")
}

func (p *programs) pid() int { return p.process }

func (p *programs) pause(ctx context.Context, immediate bool) error {
	if immediate {
		return p.halt(ctx, immediately)
	}
	return p.halt(ctx, fast)
}

func (p *programs) resume(ctx context.Context) error {
	_, err := p.launch(ctx)
	return err
}

func (p *programs) stop(ctx context.Context) error {
	if err := p.halt(ctx, fast); err != nil {
		return err // the watcher stays and tries again when this process ends
	}
	for _, folder := range p.temporary {
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
	}
	if p.lock != nil {
		if err := p.lock.Close(); err != nil {
			return fmt.Errorf("unlock data folder: %w", err)
		}
		p.lock = nil
	}
	return p.watcher.Dismiss()
}
