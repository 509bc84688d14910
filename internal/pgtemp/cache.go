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

// systemCache is where root keeps fetched programs, for everybody.
const systemCache = "/var/cache/elobot"

// cache is where fetched programs are kept.
type cache struct {
	own  []string // the places for a new one, best first
	read []string // the places to look at
}

// The server's user must be able to enter the cache: root's home is closed to it.
func openCache(folder string) cache {
	if folder != "" {
		return cache{[]string{folder}, []string{folder}}
	}
	own := []string{filepath.Join(os.TempDir(), "elobot-cache-"+strconv.Itoa(os.Geteuid()))}
	if os.Geteuid() == 0 {
		own = slices.Insert(own, 0, systemCache)
	} else if home, err := os.UserCacheDir(); err == nil { // there is none without HOME
		own = slices.Insert(own, 0, filepath.Join(home, "elobot"))
	}
	return cache{own, append(slices.Clone(own), systemCache)}
}

// What is kept in the cache has one of these forms.
const (
	archivePattern  = "archive-*/bin"
	packagesPattern = "packages-*/usr/lib/postgresql/*/bin"
)

// patterns are where to look for programs of these forms.
func (c cache) patterns(forms ...string) []string {
	var patterns []string
	for _, folder := range c.read {
		if usable(folder) != nil {
			continue
		}
		for _, form := range forms {
			patterns = append(patterns, filepath.Join(folder, form))
		}
	}
	return patterns
}

// usable is an error unless the folder is there and nobody but this user or root can have put programs into it.
func usable(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return fmt.Errorf("use cache folder: %w", err)
	}
	if !trusted(info) {
		return fmt.Errorf("use cache folder: others can write %s", folder)
	}
	return nil
}

// choose makes the first folder that can be made and used.
func (c cache) choose() (folder string, err error) {
	var reasons []error
	for _, folder := range c.own {
		err := makeFolder(folder, 0o755)
		if err == nil {
			err = usable(folder)
		}
		if err == nil {
			return folder, nil
		}
		reasons = append(reasons, err)
	}
	return "", errors.Join(reasons...)
}

// keep returns the programs that find has under a name in the cache. When it has none, fill puts them into a new folder,
// which gets the name when it is complete.
func (c cache) keep(name string, find func() (installation, error), fill func(*Watcher, string) error) (installation, error) {
	if found, err := find(); err == nil {
		return found, nil
	}
	folder, err := c.choose()
	if err != nil {
		return installation{}, err
	}
	half := filepath.Join(folder, "new-"+newPassword())
	watcher, err := watch(nil, programsScript, half)
	if err != nil {
		return installation{}, err
	}
	if err = os.Mkdir(half, 0o755); err == nil {
		err = fill(watcher, half)
	}
	if err == nil {
		err = os.Chmod(half, 0o755) // whatever the umask
	}
	var found installation
	if err == nil {
		found, err = settle(half, filepath.Join(folder, name), find)
	}
	return found, errors.Join(err, os.RemoveAll(half), watcher.Dismiss())
}

// settle gives a complete folder its name. What another process has put there meanwhile is as good, and may be in use.
func settle(half, name string, find func() (installation, error)) (installation, error) {
	if found, err := find(); err == nil {
		return found, nil
	}
	if err := os.RemoveAll(name); err != nil {
		return installation{}, err
	}
	if err := os.Rename(half, name); err != nil && !errors.Is(err, os.ErrExist) {
		return installation{}, err
	}
	return find()
}

// find returns good programs of a form from the cache.
func (c cache) find(ctx context.Context, form string, user identity, dataMajor string) func() (installation, error) {
	return func() (installation, error) {
		return findPrograms(ctx, "", c.patterns(form), dataMajor, user.apply)
	}
}
