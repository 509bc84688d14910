package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// oldestMajor is the oldest version that is good enough.
const oldestMajor = 15

// usualFolders are where packages put versions beside each other, outside PATH.
func usualFolders() []string {
	return []string{
		"/usr/lib/postgresql/*/bin",                          // Debian, Ubuntu
		"/usr/pgsql-*/bin",                                   // Red Hat, Fedora
		"/opt/homebrew/opt/postgresql@*/bin",                 // Homebrew, Apple silicon
		"/usr/local/opt/postgresql@*/bin",                    // Homebrew, Intel
		"/Applications/Postgres.app/Contents/Versions/*/bin", // Postgres.app
		"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",    // Homebrew, Linux
		"/usr/local/pgsql/bin",                               // built from source
	}
}

// installation is a folder with the PostgreSQL programs.
type installation struct {
	bin     string
	major   int
	version string
}

// program is the path of one of the programs.
func (i installation) program(name string) string { return filepath.Join(i.bin, name+executable) }

// apply lets cmd find the libraries of programs whose packages were unpacked and not installed: they are beside the
// programs, where the system does not look.
func (i installation) apply(cmd *exec.Cmd) {
	root, _, found := strings.Cut(i.bin, "/usr/lib/postgresql/")
	if !found || root == "" {
		return
	}
	var folders []string
	for _, pattern := range []string{"/usr/lib/*-linux-*", "/lib/*-linux-*"} {
		some, err := filepath.Glob(root + pattern)
		if err != nil {
			continue // the folder's name has characters that mean something in a pattern: the programs will tell
		}
		folders = append(folders, some...)
	}
	if before, set := os.LookupEnv("LD_LIBRARY_PATH"); set {
		folders = append(folders, before)
	}
	cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+strings.Join(folders, ":"))
}

// installed is the source of programs that are there, installed or kept from an earlier fetch.
func installed(ctx context.Context, o Options, user identity, dataMajor string) (installation, error) {
	folders := o.programFolders
	if folders == nil {
		folders = usualFolders()
	}
	folders = append(folders, openCache(o.cache).patterns(archivePattern, packagesPattern)...)
	return findPrograms(ctx, os.Getenv("PATH"), folders, dataMajor, user.apply)
}

// findPrograms chooses the installation to use: the first good one in PATH, else the newest in folders. With a
// dataMajor only that version is good, because a version cannot read another's data. runnable adjusts a command to run
// as the user that the server will run as.
func findPrograms(ctx context.Context, path string, folders []string, dataMajor string, runnable func(*exec.Cmd)) (installation, error) {
	var refused []string
	look := func(bin string) (installation, bool) {
		if !filepath.IsAbs(bin) {
			return installation{}, false
		}
		found, err := inspect(ctx, bin, runnable)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return found, false
		case err != nil:
			refused = append(refused, err.Error())
			return found, false
		case found.major < oldestMajor:
			refused = append(refused, fmt.Sprintf("%s in %s is too old", found.version, found.bin))
			return found, false
		case dataMajor != "" && dataMajor != strconv.Itoa(found.major):
			refused = append(refused, fmt.Sprintf("%s in %s cannot read data of version %s", found.version, found.bin, dataMajor))
			return found, false
		}
		return found, true
	}
	for _, bin := range filepath.SplitList(path) {
		if found, ok := look(bin); ok {
			return found, nil
		}
	}
	var good []installation
	for _, pattern := range folders {
		bins, err := filepath.Glob(pattern)
		if err != nil {
			return installation{}, fmt.Errorf("search %s: %w", pattern, err)
		}
		for _, bin := range bins {
			if found, ok := look(bin); ok {
				good = append(good, found)
			}
		}
	}
	if len(good) == 0 {
		if len(refused) == 0 {
			return installation{}, errors.New("none in PATH or the usual folders")
		}
		slices.Sort(refused)
		return installation{}, errors.New(strings.Join(slices.Compact(refused), ", "))
	}
	return slices.MaxFunc(good, newer), nil
}

func newer(a, b installation) int {
	if a.major != b.major {
		return a.major - b.major
	}
	return minor(a.version) - minor(b.version)
}

// minor is the second number of a version such as 15.18; a beta has none and is older than the first release.
func minor(version string) int {
	_, after, found := strings.Cut(version, ".")
	n, err := strconv.Atoi(after)
	if !found || err != nil {
		return -1
	}
	return n
}

// inspect asks the programs in bin for their version. The error is os.ErrNotExist when there are none.
func inspect(ctx context.Context, bin string, runnable func(*exec.Cmd)) (installation, error) {
	server, err := filepath.EvalSymlinks(installation{bin: bin}.program("postgres"))
	if err != nil {
		return installation{}, fmt.Errorf("find programs in %s: %w", bin, os.ErrNotExist)
	}
	found := installation{bin: filepath.Dir(server)}
	bin = found.bin
	if info, err := os.Stat(found.program("initdb")); err != nil || info.IsDir() {
		return installation{}, fmt.Errorf("find initdb in %s: %w", bin, os.ErrNotExist)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, server, "--version")
	cmd.Dir = "/"
	cmd.WaitDelay = time.Second
	runnable(cmd)
	found.apply(cmd)
	output, err := cmd.Output()
	if err != nil {
		return installation{}, fmt.Errorf("run %s: %w", server, err)
	}
	return parseVersion(bin, string(output))
}

// parseVersion reads what postgres --version prints, such as "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)".
func parseVersion(bin, output string) (installation, error) {
	_, rest, found := strings.Cut(output, "(PostgreSQL) ")
	fields := strings.Fields(rest)
	if !found || len(fields) == 0 {
		return installation{}, fmt.Errorf("understand the version of %s: %q", bin, strings.TrimSpace(output))
	}
	version := fields[0]
	digits := len(version) - len(strings.TrimLeft(version, "0123456789"))
	major, err := strconv.Atoi(version[:digits])
	if err != nil {
		return installation{}, fmt.Errorf("understand the version of %s: %q", bin, version)
	}
	return installation{bin: bin, major: major, version: version}, nil
}
