package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// systemCache is the folder in which root keeps fetched programs for all users.
const systemCache = "/var/cache/elobot"

// cache is the set of folders that keep fetched programs.
type cache struct {
	own  []string // folders to write to, best first
	read []string // folders to search
}

// openCache returns the cache in folder, or the default one if folder is empty. The server's user must be able to enter
// the cache, so root cannot use its home folder.
func openCache(folder string) cache {
	if folder != "" {
		return cache{[]string{folder}, []string{folder}}
	}
	own := []string{filepath.Join(os.TempDir(), "elobot-cache-"+strconv.Itoa(os.Geteuid()))}
	if os.Geteuid() == 0 {
		own = slices.Insert(own, 0, systemCache)
	} else if home, err := os.UserCacheDir(); err == nil { // fails without HOME
		own = slices.Insert(own, 0, filepath.Join(home, "elobot"))
	}
	return cache{own, append(slices.Clone(own), systemCache)}
}

// form is what fetched programs look like in a cache folder.
type form struct {
	root string // the pattern of the folder that contains all of them
	bin  string // the pattern of the folder in it that contains the programs
}

var (
	archiveForm  = form{"archive-*", "bin"}
	packagesForm = form{"packages-*", "usr/lib/postgresql/*/bin"}
)

// patterns returns the patterns of all program folders in the cache that have one of the forms and are complete.
func (c cache) patterns(forms ...form) []string {
	var patterns []string
	for _, folder := range c.read {
		if checkUsable(folder) != nil {
			continue
		}
		for _, f := range forms {
			roots, err := filepath.Glob(filepath.Join(folder, f.root))
			if err != nil {
				continue // the folder's name is no pattern, and is not searched
			}
			for _, root := range roots {
				if checkComplete(root) == nil {
					patterns = append(patterns, filepath.Join(root, f.bin))
				}
			}
		}
	}
	return patterns
}

// checkUsable returns an error unless the folder exists and only this user or root can write to it.
func checkUsable(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return fmt.Errorf("use cache folder: %w", err)
	}
	if !trusted(info) {
		return fmt.Errorf("use cache folder: other users can write to %s", folder)
	}
	return nil
}

// choose returns the first folder that is usable, and makes it if necessary.
func (c cache) choose() (folder string, err error) {
	var reasons []error
	for _, folder := range c.own {
		err := makeFolder(folder, 0o755)
		if err == nil {
			err = checkUsable(folder)
		}
		if err == nil {
			return folder, nil
		}
		reasons = append(reasons, err)
	}
	return "", errors.Join(reasons...)
}

// ensure returns the programs that find finds in the cache. If there are none, it calls fill for a new folder and renames
// the folder to name when it is complete.
func (c cache) ensure(name string, find func() (installation, error), fill func(*Watcher, string) error) (installation, error) {
	if found, err := find(); err == nil {
		return found, nil
	}
	folder, err := c.choose()
	if err != nil {
		return installation{}, err
	}
	partial := filepath.Join(folder, "new-"+newPassword())
	watcher, err := watch(nil, programsScript, partial)
	if err != nil {
		return installation{}, err
	}
	if err = os.Mkdir(partial, 0o755); err == nil {
		err = fill(watcher, partial)
	}
	if err == nil {
		err = recordSums(partial)
	}
	if err == nil {
		err = os.Chmod(partial, 0o755) // regardless of the umask
	}
	var found installation
	if err == nil {
		found, err = publish(partial, filepath.Join(folder, name), find)
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
	if err := os.Rename(partial, name); err != nil && !errors.Is(err, os.ErrExist) {
		return installation{}, err
	}
	return find()
}

// find returns a function that searches the cache for suitable programs of the given form.
func (c cache) find(ctx context.Context, f form, user identity, dataMajor string) func() (installation, error) {
	return func() (installation, error) {
		return findPrograms(ctx, "", c.patterns(f), dataMajor, user.apply)
	}
}
