//go:build unix

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
	"strings"
	"syscall"
	"time"
)

// programsScript ends the server and removes the folders named in its arguments.
//
//go:embed programs.sh
var programsScript string

// Each step of stopping gets this long before a more forceful one follows.
const stopTimeout = 10 * time.Second

// portAttempts is how often a port is chosen anew because somebody took it before the server did.
const portAttempts = 5

var errPortTaken = errors.New("the port is taken")

// programs is a server that runs from installed programs.
type programs struct {
	installation
	identity
	watcher *Watcher
	// temporary are the folders to remove at the end. Only one of them was made; the others were places to try.
	temporary []string
	home      string // holds data, password and log
	settings  map[string]string
	url       string
	port      int
	process   int // 0 when none is running
}

func startPrograms(ctx context.Context, o Options, named *folder) (started, error) {
	p := &programs{settings: o.Settings, home: named.path}
	var err error
	if p.identity, err = chooseIdentity(named.data()); err != nil {
		return started{}, err
	}
	major, err := named.dataVersion()
	if err != nil {
		return started{}, err
	}
	folders := o.programFolders
	if folders == nil {
		folders = usualFolders()
	}
	if p.installation, err = findPrograms(ctx, os.Getenv("PATH"), folders, major, p.apply); err != nil {
		return started{}, err
	}
	kind := fmt.Sprintf("PostgreSQL %s from %s", p.installation.version, p.bin)
	o.log("starting %s", kind)
	if !named.named() {
		p.temporary = temporaryFolders()
	}
	if p.watcher, err = watch(named.lock, programsScript, p.temporary...); err != nil {
		return started{}, err
	}
	version, err := p.first(ctx, named)
	if err != nil {
		return started{}, errors.Join(err, p.stop(ctx))
	}
	return started{engine: p, url: p.url, version: version, kind: kind}, nil
}

// first does everything from an empty folder to a server that answers.
func (p *programs) first(ctx context.Context, named *folder) (version string, err error) {
	if err := p.prepare(); err != nil {
		return "", err
	}
	password, err := named.password()
	if err != nil {
		return "", err
	}
	if err := p.initialise(ctx, password); err != nil {
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

// temporaryFolders are new names in the places where a temporary folder can be, best first.
func temporaryFolders() []string {
	name := "elobot-postgres-" + newPassword()
	var folders []string
	for _, parent := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if folder := filepath.Join(parent, name); filepath.IsAbs(folder) && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	return folders
}

// prepare makes a temporary folder in the first place that the server can use.
func (p *programs) prepare() error {
	if p.temporary == nil {
		return nil // the named folder is there already, and initialise finds out whether it can be used
	}
	var reasons []error
	for _, folder := range p.temporary {
		err := p.makePrivate(folder)
		if err == nil {
			err = p.canWork(folder)
		}
		if err == nil {
			p.home = folder
			return nil
		}
		reasons = append(reasons, err)
	}
	return errors.Join(reasons...)
}

// makePrivate makes a folder that only the server's user can enter, whatever the umask.
func (p *programs) makePrivate(folder string) error {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(folder, 0o700); err != nil {
		return err
	}
	return p.give(folder)
}

func (p *programs) path(name string) string { return filepath.Join(p.home, name) }

// initialise makes the data folder unless it is there. It gets its name only when it is complete.
func (p *programs) initialise(ctx context.Context, password string) error {
	if _, err := os.Stat(p.path("data")); err == nil {
		return p.canWork(p.path("data"))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	half, passwordFile := p.path("data.new"), p.path("password")
	if err := writePrivate(passwordFile, password); err != nil {
		return err
	}
	if err := p.give(passwordFile); err != nil {
		return err
	}
	// A computer may have C.UTF-8, or not; C there is always.
	var reasons []error
	for _, locale := range []string{"C.UTF-8", "C"} {
		if err := os.RemoveAll(half); err != nil {
			return err
		}
		if err := p.makePrivate(half); err != nil {
			return err
		}
		if err := p.canWork(half); err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, filepath.Join(p.bin, "initdb"), "--pgdata="+half, "--username="+superuser,
			"--pwfile="+passwordFile, "--auth=scram-sha-256", "--encoding=UTF8", "--locale="+locale,
			"--lc-messages=C", "--no-sync", "--no-instructions")
		p.apply(cmd)
		cmd.Dir = half
		_, err := p.watcher.run(cmd)
		if err == nil {
			return os.Rename(half, p.path("data"))
		}
		reasons = append(reasons, err)
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(reasons...)
}

// arguments are those of the server. Ours come last, so that settings cannot move it to where nobody looks for it.
func (p *programs) arguments() []string {
	args := []string{"-D", p.path("data"), "-c", "shared_buffers=32MB"}
	for _, setting := range sortedSettings(p.settings) {
		args = append(args, "-c", setting)
	}
	return append(args,
		"-c", "port="+strconv.Itoa(p.port),
		"-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=", // the usual folder need not be writable
		// Shared memory as files in the data folder goes with it, even when the server is killed.
		"-c", "dynamic_shared_memory_type=mmap",
		"-c", "logging_collector=off")
}

// launch starts the server on its port and waits until it answers.
func (p *programs) launch(ctx context.Context) (version string, err error) {
	log, err := os.OpenFile(p.path("log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", fmt.Errorf("open log: %w", err)
	}
	cmd := exec.Command(filepath.Join(p.bin, "postgres"), p.arguments()...)
	p.apply(cmd)
	cmd.Dir = p.path("data")
	cmd.Stdout, cmd.Stderr = log, log
	err = errors.Join(p.watcher.begin(cmd, "QUIT"), log.Close())
	if cmd.Process != nil {
		p.process = cmd.Process.Pid
		err = errors.Join(err, cmd.Process.Release())
	}
	if err == nil {
		version, err = waitReady(ctx, p.url, p.alive)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("start the server: %w", err), p.halt(ctx, syscall.SIGQUIT))
	}
	return version, nil
}

// alive returns why the server has ended, if it has.
func (p *programs) alive(context.Context) error {
	ended, err := waitFor(p.process, syscall.WNOHANG)
	if err != nil || !ended {
		return err
	}
	p.process = 0
	output, err := os.ReadFile(p.path("log"))
	if err != nil {
		return fmt.Errorf("it ended, and its log cannot be read: %w", err)
	}
	if strings.Contains(string(output), "could not create any TCP/IP sockets") {
		return errPortTaken
	}
	return fmt.Errorf("it ended: %s", lastLines(string(output)))
}

func (p *programs) pid() int { return p.process }

// halt ends the server process by the signal, and by more forceful ones when that does not help in time.
func (p *programs) halt(ctx context.Context, signal syscall.Signal) error {
	for _, s := range []syscall.Signal{signal, syscall.SIGQUIT, syscall.SIGKILL} {
		if p.process == 0 {
			break
		}
		if err := syscall.Kill(p.process, s); err != nil {
			return fmt.Errorf("send %v to the server: %w", s, err)
		}
		wait, cancel := context.WithTimeout(ctx, stopTimeout)
		err := pollUntil(wait, func() (bool, error) { return waitFor(p.process, syscall.WNOHANG) })
		cancel()
		// The first signal alone is given up early when the caller has no time; the others must be seen through.
		ctx = context.WithoutCancel(ctx)
		switch {
		case err == nil:
			p.process = 0
		case wait.Err() == nil:
			return err
		}
	}
	if p.process != 0 {
		return fmt.Errorf("the server, process %d, does not end", p.process)
	}
	return p.watcher.Tell("")
}

func (p *programs) pause(ctx context.Context, immediate bool) error {
	signal := syscall.SIGINT
	if immediate {
		signal = syscall.SIGQUIT
	}
	return p.halt(ctx, signal)
}

func (p *programs) resume(ctx context.Context) error {
	_, err := p.launch(ctx)
	return err
}

func (p *programs) stop(ctx context.Context) error {
	if err := p.halt(ctx, syscall.SIGINT); err != nil {
		return err // the watcher stays, and does its best when this process ends
	}
	for _, folder := range p.temporary {
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
	}
	return p.watcher.Dismiss()
}
