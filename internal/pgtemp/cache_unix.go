//go:build unix

package pgtemp

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// systemCache is the folder in which root keeps fetched programs for all users. The server's user could not enter root's home folder.
const systemCache = "/var/cache/elobot"

// cacheFolders returns the folders to search for fetched programs. The first is the one that this user fetches into.
func cacheFolders(o Options) []string {
	if o.cache != "" {
		return []string{o.cache}
	}
	if home, err := os.UserCacheDir(); err == nil && os.Geteuid() != 0 {
		return []string{filepath.Join(home, "elobot"), systemCache}
	}
	return []string{systemCache}
}

// cached returns the folders with programs that were fetched under a name.
func cached(o Options, name string) (bins []string) {
	for _, cache := range cacheFolders(o) {
		root := filepath.Join(cache, name)
		for _, pattern := range []string{"bin", "usr/lib/postgresql/*/bin"} {
			found, err := fs.Glob(os.DirFS(root), pattern)
			if err != nil {
				continue // the patterns are valid
			}
			for _, bin := range found {
				bins = append(bins, filepath.Join(root, bin))
			}
		}
	}
	return bins
}

// fetch returns the programs in the cache that were fetched under a name and can be used, see firstSuitable. If there are none, it calls
// fill for a new folder and renames that when it is complete.
func fetch(
	ctx context.Context, o Options, name string, user identity, dataMajor string, fill func(w *Watcher, folder string) error,
) (installation, error) {
	find := func() (installation, error) { return firstSuitable(ctx, cached(o, name), user, dataMajor) }
	if found, err := find(); err == nil {
		return found, nil
	}
	cache := cacheFolders(o)[0]
	partial := filepath.Join(cache, "new-"+newPassword())
	watcher, err := watch(nil, programsScript, partial)
	if err != nil {
		return installation{}, err
	}
	if err = makeFolder(cache, 0o755); err == nil {
		err = os.Mkdir(partial, 0o755)
	}
	if err == nil {
		err = fill(watcher, partial)
	}
	if err == nil {
		err = complete(partial)
	}
	var found installation
	if err == nil {
		found, err = publish(partial, filepath.Join(cache, name), find)
	}
	return found, errors.Join(err, os.RemoveAll(partial), watcher.Dismiss())
}

// publish renames a complete folder. If another process has published one first, that one is used: it is equivalent and
// may be in use already.
func publish(partial, name string, find func() (installation, error)) (installation, error) {
	if found, err := find(); err == nil {
		return found, nil
	}
	if err := os.RemoveAll(name); err != nil {
		return installation{}, err
	}
	if err := os.Rename(partial, name); err != nil && !errors.Is(err, fs.ErrExist) {
		return installation{}, err
	}
	return find()
}

// complete lets all users read fetched programs, regardless of the umask: the server may run as another user. It returns when the
// programs are on the disk, so that no power failure leaves files without their content.
func complete(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().Perm() | 0o444
		if info.IsDir() || mode&0o100 != 0 {
			mode |= 0o111
		}
		if err := os.Chmod(path, mode); err != nil {
			return err
		}
		return syncFile(path)
	})
}
