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
)

// programsScript ends the process group in $state, if any, and then removes the folders in the
// script's arguments.
//
//go:embed programs.sh
var programsScript string

// programs is a server that runs as a process of this machine, whatever source its programs are
// from.
type programs struct {
	installation
	identity
	*folder // the named folder, whose lock the server holds too, or a temporary folder
	watcher *Watcher
	durable bool // the folder outlives the server
	options Options
	url     string
	port    int
	process int  // 0 when none is running
	oldLog  bool // the log is from a server that was ready, or from an earlier process, so keep it
}

// startPrograms starts the server with programs from the source. The error wraps errNotStarted if
// there are programs, but initializing the data or starting the server fails.
func (s *Server) startPrograms(ctx context.Context, o Options, source Source) error {
	p := &programs{options: o, folder: s.home, durable: s.home.named(), oldLog: true}
	var err error
	if p.installation, p.identity, err = s.home.programs(ctx, o, source); err != nil {
		return err
	}
	s.engine, s.kind = p, fmt.Sprintf("PostgreSQL %s from %s", p.version, p.bin)
	o.log("starting %s", s.kind)
	var remove []string
	if !p.durable {
		p.folder = &folder{path: p.temporaryFolder()}
		remove = []string{p.path}
	}
	if p.watcher, err = watch(p.lock, programsScript, remove...); err != nil {
		return err
	}
	if err := p.initializeAndLaunch(ctx); err != nil {
		return fmt.Errorf("%w: %w", errNotStarted, errors.Join(err, p.stop(ctx)))
	}
	s.url = p.url
	return nil
}

// temporaryFolder returns the path of a new folder that this process can make and the server's user
// can enter.
func (p *programs) temporaryFolder() string {
	parent, permission := os.TempDir(), "-w"
	if p.credential != nil { // root can write anywhere, but the server's user must be able to enter
		permission = "-x"
	}
	if !filepath.IsAbs(parent) || p.test(parent, permission) != nil {
		parent = "/tmp"
	}
	return filepath.Join(parent, "elobot-postgres-"+newPassword())
}

// initializeAndLaunch initializes the data, unless the folder has data, and starts the server on a
// free port.
func (p *programs) initializeAndLaunch(ctx context.Context) error {
	if !p.durable {
		if err := p.makePrivate(p.path); err != nil {
			return err
		}
	}
	password, err := p.password()
	if err == nil && !HasData(p.path) {
		err = p.initialize(ctx)
	}
	if err != nil {
		return err
	}
	return onFreePort(func(port int) error {
		p.port, p.url = port, serverURL(port, password)
		return p.launch(ctx)
	})
}

// makePrivate makes a folder that only the server's user can enter, regardless of the umask.
func (p *programs) makePrivate(folder string) error {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	return errors.Join(os.Chmod(folder, 0o700), p.chown(folder))
}

// prepareCommand makes cmd run in the given folder, as the server's user and with the libraries of
// the installation. It fails if the server's user cannot write to the folder.
func (p *programs) prepareCommand(cmd *exec.Cmd, folder string) error {
	p.identity.apply(cmd)
	p.installation.apply(cmd)
	cmd.Dir = folder
	if err := p.test(folder, "-w"); err != nil {
		return fmt.Errorf("the server's user cannot use the folder %s: %w", folder, err)
	}
	return nil
}

// initialize makes the data folder under a temporary name, and renames it once it is complete.
// Durable data is on the disk when initialize returns.
func (p *programs) initialize(ctx context.Context) error {
	if err := p.chown(p.file("password")); err != nil {
		return err
	}
	err := p.runInitdb(ctx, "C.UTF-8")
	if err != nil && ctx.Err() == nil {
		err = p.runInitdb(ctx, "C") // the locale C always exists
	}
	if err != nil {
		return err
	}
	if err := os.Rename(p.file("data.new"), p.data()); err != nil || !p.durable {
		return err
	}
	return syncFile(p.path)
}

func (p *programs) runInitdb(ctx context.Context, locale string) error {
	folder := p.file("data.new")
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := p.makePrivate(folder); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, p.program("initdb"), "--pgdata="+folder, "--username="+superuser,
		"--pwfile="+p.file("password"), "--auth=scram-sha-256", "--encoding=UTF8", "--locale="+locale,
		"--lc-messages=C", "--no-instructions")
	if !p.durable {
		cmd.Args = append(cmd.Args, "--no-sync")
	}
	if err := p.prepareCommand(cmd, folder); err != nil {
		return err
	}
	_, err := p.watcher.run(cmd)
	return err
}

// launch starts the server on its port and waits until it answers.
func (p *programs) launch(ctx context.Context) error {
	if err := p.keepLog(); err != nil {
		return err
	}
	log, err := os.OpenFile(p.file("log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	cmd := exec.Command(p.program("postgres"), p.arguments()...)
	cmd.Stdout, cmd.Stderr = log, log
	if p.lock != nil {
		cmd.ExtraFiles = []*os.File{p.lock}
	}
	if err = p.prepareCommand(cmd, p.data()); err == nil {
		err = p.watcher.begin(cmd, "QUIT")
	}
	err = errors.Join(err, log.Close())
	if cmd.Process != nil {
		p.process = cmd.Process.Pid
		err = errors.Join(err, cmd.Process.Release())
	}
	if err == nil {
		_, err = waitReady(ctx, p.url, p.checkAlive)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("start the server: %w", err), p.halt(ctx, syscall.SIGQUIT))
	}
	p.oldLog = true
	return nil
}

// keepLog renames the log to log.1, unless it is from a failed start. Several starts may fail in a
// row, and would otherwise overwrite the log of the last server that was ready.
func (p *programs) keepLog() error {
	if !p.oldLog {
		return nil
	}
	p.oldLog = false
	if err := os.Rename(p.file("log"), p.file("log.1")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep the log: %w", err)
	}
	return nil
}

// arguments returns the server's arguments. Later arguments take precedence, so Options.Settings
// cannot override the settings at the end. The server has no Unix sockets unless Options.Settings
// name a folder for them, because the usual folder may not be writable.
func (p *programs) arguments() []string {
	return slices.Concat([]string{"-D", p.data(), "-c", "unix_socket_directories="}, p.options.arguments(), []string{
		"-c", "port=" + strconv.Itoa(p.port),
		"-c", "listen_addresses=127.0.0.1",
		// With mmap, shared memory is in files of the data folder. These files are removed with the
		// folder, even if the server is killed.
		"-c", "dynamic_shared_memory_type=mmap",
		"-c", "logging_collector=off",
	})
}

// checkAlive returns an error unless the server is running: errPortTaken if the server has ended
// because it could not listen on its port, and otherwise an error with the reason.
func (p *programs) checkAlive() error {
	if p.process == 0 {
		return errors.New("the server is not running")
	}
	if ended, err := p.ended(); err != nil || !ended {
		return err
	}
	p.process = 0
	output, err := os.ReadFile(p.file("log"))
	if err != nil {
		return fmt.Errorf("the server ended, and its log cannot be read: %w", err)
	}
	if strings.Contains(string(output), "could not create any TCP/IP sockets") {
		return errPortTaken
	}
	return fmt.Errorf("the server ended: %s", lastLines(string(output)))
}

// ended reports whether the server's process has ended.
//
// It asks the system rather than os/exec, which needs a goroutine per process: leak detectors in
// tests would report the goroutine of a server that lasts as long as the test process.
func (p *programs) ended() (bool, error) {
	for {
		got, err := syscall.Wait4(p.process, nil, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.ECHILD):
			return true, nil
		case err != nil:
			return false, fmt.Errorf("wait for process %d: %w", p.process, err)
		default:
			return got == p.process, nil
		}
	}
}

// halt stops the server with the signal, and escalates to more forceful signals, each after
// stopTimeout.
func (p *programs) halt(ctx context.Context, signal syscall.Signal) error {
	for _, s := range []syscall.Signal{signal, syscall.SIGQUIT, syscall.SIGKILL} {
		if p.process == 0 {
			break
		}
		if err := syscall.Kill(p.process, s); err != nil {
			return fmt.Errorf("send %v to the server: %w", s, err)
		}
		wait, cancel := context.WithTimeout(ctx, stopTimeout)
		err := pollUntil(wait, p.ended)
		cancel()
		// ctx may cut short only the wait after the first signal.
		ctx = context.WithoutCancel(ctx)
		switch {
		case err == nil:
			p.process = 0
		case wait.Err() == nil:
			return err
		}
	}
	if p.process != 0 {
		return fmt.Errorf("the server, process %d, does not stop", p.process)
	}
	return p.watcher.Report("")
}

func (p *programs) pid() int { return p.process }

func (p *programs) pause(ctx context.Context, immediate bool) error {
	if immediate {
		return p.halt(ctx, syscall.SIGQUIT)
	}
	return p.halt(ctx, syscall.SIGINT)
}

func (p *programs) resume(ctx context.Context) error { return p.launch(ctx) }

func (p *programs) stop(ctx context.Context) error {
	if err := p.halt(ctx, syscall.SIGINT); err != nil {
		return err // the watcher stays, and tries again when this process ends
	}
	if !p.durable {
		if err := os.RemoveAll(p.path); err != nil {
			return err
		}
	}
	return p.watcher.Dismiss()
}
