package pgtest

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The test processes of one run of go test share a server. One of them starts a process that owns the server and listens on
// a socket. Each user of the server holds a connection to it, which the kernel closes when the user dies. The socket's name
// is abstract, not a file: the kernel gives it to one process at a time and frees it when that process dies, so that no
// lock or cleanup is necessary.

// The owner sends each user lines of a word and a text, up to the first line with wordURL or wordFailed.
const (
	wordLog    = "log"
	wordURL    = "url"
	wordFailed = "failed"
)

// errOwnerEnded means that an owner has ended or is about to end. Another one can be started.
var errOwnerEnded = errors.New("the process that owns the server has ended")

// shareAttempts is sufficient unless owners die as soon as they start. In the delay between two attempts another process's
// owner starts to listen, or an old owner ends.
const (
	shareAttempts = 100
	shareDelay    = 20 * time.Millisecond
)

// share joins the users of this run's server, and starts its owner if there is none.
func share(log func(msg string)) (server, error) {
	var wanted []byte
	for _, name := range []string{choiceVariable, "TMPDIR", "PATH", "HOME", "XDG_CACHE_HOME", "DOCKER_HOST"} {
		wanted = fmt.Appendf(wanted, " %s=%q", name, os.Getenv(name))
	}
	address := &net.UnixAddr{Net: "unix", Name: socketName(os.Getppid(), string(wanted))}
	for range shareAttempts {
		s, err := join(address, log)
		if errors.Is(err, syscall.ECONNREFUSED) {
			if err = startOwner(address); err == nil {
				s, err = join(address, log)
			}
		}
		if !errors.Is(err, errOwnerEnded) && !errors.Is(err, syscall.EADDRINUSE) && !errors.Is(err, syscall.ECONNREFUSED) {
			return s, err
		}
		<-time.After(shareDelay)
	}
	return server{}, errOwnerEnded
}

// socketName returns a name that is different for each run of go test, and for environments that lead to different servers.
func socketName(run int, wanted string) string {
	hash := sha256.Sum256(fmt.Append(nil, os.Getuid(), run, settings(), wanted))
	return "@elobot-pgtest-" + hex.EncodeToString(hash[:16])
}

// join connects to the owner and waits for its answer.
func join(address *net.UnixAddr, log func(msg string)) (server, error) {
	conn, err := net.DialUnix("unix", nil, address)
	if err != nil {
		return server{}, err
	}
	url, err := awaitAnswer(conn, log)
	if err != nil {
		return server{}, errors.Join(err, conn.Close())
	}
	return server{url: url, hold: conn}, nil
}

func awaitAnswer(conn *net.UnixConn, log func(msg string)) (url string, err error) {
	if err := checkSameUser(conn); err != nil {
		return "", err
	}
	if err := conn.SetReadDeadline(time.Now().Add(startTimeout + time.Minute)); err != nil {
		return "", err
	}
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		word, text, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case wordLog:
			log(text)
		case wordURL:
			return text, nil
		case wordFailed:
			return "", errors.New(text)
		}
	}
	if errors.Is(lines.Err(), os.ErrDeadlineExceeded) {
		return "", lines.Err()
	}
	return "", errOwnerEnded
}

// checkSameUser returns an error if the peer belongs to another user. Any user can connect to an abstract socket, or listen
// on one.
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

// startOwner starts an owner that listens on the address. The owner runs this same program, see init.
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
	// Without the standard streams, because go test waits until all processes have closed them.
	err = cmd.Start()
	if err == nil {
		err = cmd.Process.Release()
	}
	return errors.Join(err, file.Close(), listener.Close())
}
