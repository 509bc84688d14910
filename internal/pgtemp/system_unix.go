//go:build unix

package pgtemp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// lockFile opens or creates a file and locks it. The lock lasts until unlockFile, or until this
// process and all processes that inherit the file have closed it. lockFile fails with errInUse if
// the file is locked already.
func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errInUse
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// unlockFile unlocks a file at once and closes it. Closing alone might not unlock it: a process
// that is just being started may briefly have inherited the file.
func unlockFile(file *os.File) error {
	return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
}

func processAlive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return pid > 0 && (err == nil || errors.Is(err, syscall.EPERM))
}

// syncFile returns once the content of a file, or the names in a folder, are on the disk.
func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// detach protects cmd from the signals that a terminal sends to this process.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// identity is the user that the server runs as. Without a credential, that is this process's user.
// PostgreSQL refuses to run as root.
type identity struct{ credential *syscall.Credential }

// chooseIdentity returns the user to run the server as: this process's user, or for root an
// unprivileged user, if possible the owner of existing data.
func chooseIdentity(data string) (identity, error) {
	if os.Geteuid() != 0 {
		return identity{}, nil
	}
	info, err := os.Stat(data)
	if err == nil {
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != 0 {
			return identity{&syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return identity{}, fmt.Errorf("find the owner of the data: %w", err)
	}
	for _, name := range []string{"postgres", "nobody"} {
		if credential, err := lookUp(name); err == nil { // not every machine has both
			return identity{credential}, nil
		}
	}
	return identity{}, errors.New("cannot run as root, and there is no user postgres or nobody to run as")
}

// lookUp returns the user id and the group id of a user.
func lookUp(name string) (*syscall.Credential, error) {
	account, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, uidErr := strconv.ParseInt(account.Uid, 10, 64) // -2 for nobody on macOS
	gid, gidErr := strconv.ParseInt(account.Gid, 10, 64)
	//nolint:gosec // -2 wraps around, as macOS intends
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(uidErr, gidErr)
}

// apply makes cmd run as this user, with an environment that keeps only PATH and the paths of
// libraries. PGDATA, PGPORT and the like would change what cmd does, LANG may name a missing
// locale, and HOME may be a folder that cmd must not touch.
func (id identity) apply(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: id.credential}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/bin:/bin", "HOME=/", "LC_ALL=C", "TZ=UTC"}
	for _, name := range []string{"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"} {
		if value, set := os.LookupEnv(name); set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
}

// chown makes this user the owner of path. Without a credential it does nothing.
func (id identity) chown(path string) error {
	if id.credential == nil {
		return nil
	}
	return os.Chown(path, int(id.credential.Uid), int(id.credential.Gid))
}

// test returns nil if this user can enter the folder, and the shell's test of the folder succeeds.
// permission is the operator of the test, such as -w.
func (id identity) test(folder, permission string) error {
	cmd := exec.Command("/bin/sh", "-c", "test "+permission+" .")
	id.apply(cmd)
	cmd.Dir = folder
	return cmd.Run()
}

// Enterable reports whether the server's user can enter the folder or, if the folder does not
// exist, its nearest existing parent. If this process is root, the server runs as another user,
// whom permissions may keep out.
func Enterable(folder string) (bool, error) {
	path, err := filepath.Abs(folder)
	if err != nil {
		return false, fmt.Errorf("find data folder: %w", err)
	}
	user, err := chooseIdentity(filepath.Join(path, "data"))
	if err != nil {
		return false, err
	}
	for ; ; path = filepath.Dir(path) {
		if _, err := os.Stat(path); err == nil {
			return user.test(path, "-x") == nil, nil
		}
		if path == filepath.Dir(path) {
			return false, fmt.Errorf("find a parent of the folder %s", folder)
		}
	}
}
