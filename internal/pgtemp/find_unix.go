//go:build unix

package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// oldestMajor is the oldest supported major version of PostgreSQL.
const oldestMajor = 15

// usualFolders returns patterns of the folders in which PostgreSQL is usually installed, and which
// PATH may lack.
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

func (i installation) program(name string) string { return filepath.Join(i.bin, name) }

// apply sets the library path of cmd if the programs need one.
func (i installation) apply(cmd *exec.Cmd) {
	if path := i.libraryPath(); path != "" {
		cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+path)
	}
}

// libraryPath returns the LD_LIBRARY_PATH that programs need if their packages were unpacked but
// not installed: the system would not find their libraries. For other programs it returns "".
func (i installation) libraryPath() string {
	root, _, found := strings.Cut(i.bin, "/usr/lib/postgresql/")
	if !found || root == "" {
		return ""
	}
	var folders []string
	for _, pattern := range []string{"/usr/lib/*-linux-*", "/lib/*-linux-*"} {
		// If pattern characters in root prevent a match, the programs will report the missing
		// libraries.
		some, _ := filepath.Glob(root + pattern)
		folders = append(folders, some...)
	}
	if before, set := os.LookupEnv("LD_LIBRARY_PATH"); set {
		folders = append(folders, before)
	}
	return strings.Join(folders, ":")
}

// PreferPrograms puts the folder of the PostgreSQL programs that fit the data in Options.DataDir
// first in this process's PATH, if the machine has such programs. Others, such as the psql already
// in PATH, may be too old for the server. PreferPrograms also sets LD_LIBRARY_PATH if the programs
// need it, and makes the folder of Options.DataDir if necessary.
func PreferPrograms(ctx context.Context, o Options) error {
	home, err := openFolder(o)
	if err != nil {
		return err
	}
	found, _, err := home.programs(ctx, o, Programs)
	if err != nil {
		return nil //nolint:nilerr // PATH may have what is wanted
	}
	err = os.Setenv("PATH", found.bin+":"+os.Getenv("PATH"))
	if path := found.libraryPath(); path != "" {
		err = errors.Join(err, os.Setenv("LD_LIBRARY_PATH", path))
	}
	if err != nil {
		return fmt.Errorf("prefer %s: %w", found.bin, err)
	}
	return nil
}

// programs finds or fetches programs that can read the folder's data. It also chooses the user to
// run them as.
func (f *folder) programs(
	ctx context.Context, o Options, source Source,
) (found installation, user identity, err error) {
	if user, err = chooseIdentity(f.data()); err != nil {
		return found, user, err
	}
	major, err := f.dataVersion()
	if err == nil {
		found, err = findPrograms(ctx, o, source, user, major)
	}
	return found, user, err
}

// findPrograms finds or fetches programs that can run as user and read data of version dataMajor.
// An empty dataMajor means any version.
func findPrograms(
	ctx context.Context, o Options, source Source, user identity, dataMajor string,
) (installation, error) {
	switch source {
	case Programs:
		return installed(ctx, o, user, dataMajor)
	case Archive:
		return fetch(ctx, o, archiveName, user, dataMajor, fillFromArchive)
	case Packages:
		return fetch(ctx, o, packagesName, user, dataMajor, fillFromPackages)
	default:
		return installation{}, errors.New("there is no such source")
	}
}

// installed finds programs that are already on the machine: in PATH, in the usual folders, or in
// the cache.
func installed(ctx context.Context, o Options, user identity, dataMajor string) (installation, error) {
	patterns := o.programFolders
	if patterns == nil {
		patterns = usualFolders()
	}
	bins := filepath.SplitList(os.Getenv("PATH"))
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return installation{}, fmt.Errorf("search %s: %w", pattern, err)
		}
		slices.Reverse(found) // the newest version first
		bins = append(bins, found...)
	}
	bins = slices.Concat(bins, cached(o, archiveName), cached(o, packagesName))
	return firstSuitable(ctx, bins, user, dataMajor)
}

// firstSuitable returns the first usable installation in the folders. If dataMajor is not empty,
// the installation must be of that major version, because no version can read another's data.
func firstSuitable(ctx context.Context, bins []string, user identity, dataMajor string) (installation, error) {
	var rejected []string
	for _, bin := range bins {
		if !filepath.IsAbs(bin) {
			continue
		}
		found, err := inspect(ctx, bin, user)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			rejected = append(rejected, err.Error())
		case found.major < oldestMajor:
			rejected = append(rejected, fmt.Sprintf("%s in %s is too old", found.version, found.bin))
		case dataMajor != "" && dataMajor != strconv.Itoa(found.major):
			rejected = append(rejected, fmt.Sprintf("%s in %s cannot read data of version %s",
				found.version, found.bin, dataMajor))
		default:
			return found, nil
		}
	}
	if len(rejected) == 0 {
		return installation{}, errors.New("none in PATH or the usual folders")
	}
	slices.Sort(rejected) // a folder may have been found more than once
	return installation{}, errors.New(strings.Join(slices.Compact(rejected), ", "))
}

// versionTimeout limits how long a server program may take to print its version. On a busy machine
// that can take many seconds, and a working installation must not be passed over.
const versionTimeout = time.Minute

// inspect runs the server program in bin as user to get its version. It fails with os.ErrNotExist
// if bin lacks the programs.
func inspect(ctx context.Context, bin string, user identity) (installation, error) {
	server, err := filepath.EvalSymlinks(installation{bin: bin}.program("postgres"))
	if err != nil {
		return installation{}, fmt.Errorf("find programs in %s: %w", bin, os.ErrNotExist)
	}
	found := installation{bin: filepath.Dir(server)}
	if info, err := os.Stat(found.program("initdb")); err != nil || info.IsDir() {
		return installation{}, fmt.Errorf("find initdb in %s: %w", found.bin, os.ErrNotExist)
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, server, "--version")
	cmd.Dir = "/"
	cmd.WaitDelay = time.Second
	user.apply(cmd)
	found.apply(cmd)
	output, err := cmd.Output()
	if err != nil {
		return installation{}, fmt.Errorf("run %s: %w", server, err)
	}
	version := versionPattern.FindStringSubmatch(string(output))
	if version == nil {
		return installation{}, fmt.Errorf("%s does not say its version: %q", server, output)
	}
	found.version = version[1]
	found.major, _ = strconv.Atoi(version[2]) // the pattern allows only digits
	return found, nil
}

// versionPattern matches the version in the output of postgres --version, such as "postgres
// (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)".
var versionPattern = regexp.MustCompile(`\(PostgreSQL\) ((\d+)\S*)`)
