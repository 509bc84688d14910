package pgtest

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The test processes of one run of go test share a server. One of them starts a process that owns
// the server and listens on a socket. Each user of the server holds a connection to that socket,
// which the kernel closes when the user dies. The socket has an abstract name instead of a file.
// The kernel gives the name to only one process at a time, and frees it when that process dies. The
// processes therefore need no lock and no cleanup.

// ownerVariable makes a test binary own a server instead of running its tests. Its value is the
// process id of the go command whose tests use the server.
const ownerVariable = "ELOBOT_PGTEST_OWNER"

// idleTime is how long a server without users waits for the next user while the run continues. go
// test may be compiling meanwhile.
const idleTime = 30 * time.Second

// errOwnerEnded means that an owner has ended or is about to end. Another owner can be started.
var errOwnerEnded = errors.New("the process that owns the server has ended")

// shareAttempts is the maximum number of attempts to join a server. After an attempt that failed
// because an owner was starting or ending, share waits for shareDelay.
const (
	shareAttempts = 100
	shareDelay    = 20 * time.Millisecond
)

// membership is the connection that makes this process a user of the server. The kernel closes it
// when the process ends.
var membership net.Conn //nolint:unused // what matters is that it stays open

// share makes this process a user of the run's server, and starts an owner if there is none.
func share() (url string, err error) {
	address := &net.UnixAddr{Net: "unix", Name: socketName(os.Getppid(), os.Getenv(choiceVariable))}
	for range shareAttempts {
		url, membership, err = join(address)
		if errors.Is(err, syscall.ECONNREFUSED) {
			if err = startOwner(address); err == nil {
				continue
			}
		}
		if !errors.Is(err, errOwnerEnded) && !errors.Is(err, syscall.EADDRINUSE) {
			return url, err
		}
		<-time.After(shareDelay)
	}
	return "", errOwnerEnded
}

// socketName returns a name that differs for each user, for each run of go test, and for each kind
// of server.
func socketName(run int, choice string) string {
	hash := sha256.Sum256(fmt.Append(nil, os.Getuid(), run, choice, settings()))
	return fmt.Sprintf("@elobot-pgtest-%x", hash[:16])
}

// join connects to the owner and waits for its answer. The answer is a line with the server's URL,
// or with the reason why there is none.
func join(address *net.UnixAddr) (answer string, _ net.Conn, err error) {
	conn, err := net.DialUnix("unix", nil, address)
	if err != nil {
		return "", nil, err
	}
	err = errors.Join(checkSameUser(conn), conn.SetReadDeadline(time.Now().Add(startTimeout+time.Minute)))
	if err == nil {
		answer, err = bufio.NewReader(conn).ReadString('\n')
		switch {
		case err == nil && strings.HasPrefix(answer, "postgres://"):
			return strings.TrimSpace(answer), conn, nil
		case err == nil:
			err = errors.New(strings.TrimSpace(answer))
		case !errors.Is(err, os.ErrDeadlineExceeded):
			err = errOwnerEnded
		}
	}
	return "", nil, errors.Join(err, conn.Close())
}

// checkSameUser returns an error if the peer belongs to another user. Any user can connect to an
// abstract socket, or listen on one.
func checkSameUser(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *syscall.Ucred
	var peerErr error
	err = raw.Control(func(fd uintptr) {
		peer, peerErr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err := errors.Join(err, peerErr); err != nil {
		return err
	}
	if int(peer.Uid) != os.Getuid() {
		return fmt.Errorf("the peer belongs to user %d", peer.Uid)
	}
	return nil
}

// startOwner starts an owner that listens on the address. The owner runs this same program, in
// which init calls own.
func startOwner(address *net.UnixAddr) error {
	listener, err := net.ListenUnix("unix", address)
	if err != nil {
		return err
	}
	file, err := listener.File()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{"elobot-pgtest-owner"}
	cmd.Env = append(os.Environ(), ownerVariable+"="+strconv.Itoa(os.Getppid()))
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{file}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// The owner does not inherit the standard streams, because go test waits until all processes
	// have closed them.
	err = cmd.Start()
	if err == nil {
		err = cmd.Process.Release()
	}
	return errors.Join(err, file.Close(), listener.Close())
}

func init() { //nolint:gochecknoinits // must run before a package's TestMain
	if run := os.Getenv(ownerVariable); run != "" {
		if err := own(run); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// own runs a server until awaitEnd returns. Users that connect before the server is ready wait for
// their answer.
func own(run string) error {
	pid, err := strconv.Atoi(run)
	if err != nil {
		return err
	}
	listener, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		return err
	}
	if err := useMemory(); err != nil {
		return err
	}
	answer, stop, err := startServer()
	if err != nil {
		answer, stop = strings.ReplaceAll(err.Error(), "\n", "; "), func() error { return nil }
	}
	users := make(chan int)
	go serve(listener, answer, users)
	awaitEnd(pid, users)
	// The end of this process tells later users that another owner can be started.
	return stop()
}

// useMemory puts temporary folders in memory if there is enough memory. Creating a database then
// takes a fifth of the processor time.
func useMemory() error {
	const folder = "/dev/shm" // small in containers
	const room = 4 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < room {
		return nil //nolint:nilerr // not enough memory
	}
	return os.Setenv("TMPDIR", folder)
}

// serve answers all users. It sends 1 on users when a user connects, and -1 when a user
// disconnects.
func serve(listener net.Listener, answer string, users chan<- int) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return // this process is ending
		}
		go func() {
			defer conn.Close() //nolint:errcheck // the user has disconnected
			if checkSameUser(conn.(*net.UnixConn)) != nil {
				return
			}
			users <- 1 // before the answer, so that the server does not end in between
			if _, err := io.WriteString(conn, answer+"\n"); err == nil {
				// Users send nothing; an error means that the user is gone.
				_, _ = io.Copy(io.Discard, conn)
			}
			users <- -1
		}()
	}
}

// awaitEnd returns when the server has no users, and either the run has ended or idleTime has
// passed since the last user disconnected, or since the start.
func awaitEnd(run int, users <-chan int) {
	count, idleSince := 0, time.Now()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case change := <-users:
			count += change
			idleSince = time.Now()
		case <-tick.C:
			if count == 0 && (errors.Is(syscall.Kill(run, 0), syscall.ESRCH) || time.Since(idleSince) > idleTime) {
				return
			}
		}
	}
}
