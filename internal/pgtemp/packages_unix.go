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
	"strings"
)

const packagesName = "packages-postgresql"

// fromPackages is the source that fetches packages with apt-get. It unpacks them without installing anything, so that it
// needs no privileges.
func fromPackages(ctx context.Context, o Options, user identity, dataMajor string) (installation, error) {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return installation{}, errors.New("the apt-get command is not in PATH")
	}
	return fetch(ctx, o, packagesName, user, dataMajor, func(w *Watcher, folder string) error {
		a := apt{watcher: w, private: filepath.Join(folder, "apt")}
		for _, name := range []string{"lists/partial", "archives/partial"} {
			if err := os.MkdirAll(filepath.Join(a.private, name), 0o755); err != nil {
				return err
			}
		}
		return errors.Join(a.unpackServer(ctx, o, folder, dataMajor), os.RemoveAll(a.private))
	})
}

// apt runs apt-get and similar programs with package lists and archives in a private folder.
type apt struct {
	watcher *Watcher
	private string
}

var (
	serverDependency = regexp.MustCompile(`Depends: (postgresql-\d+)\n`)
	wantedPackage    = regexp.MustCompile(`(?m)^Inst (\S+) `)
	// excluded are libraries that the server does not need, and the C library, which must match the system's loader.
	// Without LLVM the server does not compile queries.
	excluded = regexp.MustCompile(`^(libc6|libc-bin|libllvm.*|libz3.*|.*-dev|.*-perl)$`)
)

// unpackServer fetches and unpacks the server, and the libraries and client programs that the machine lacks.
func (a apt) unpackServer(ctx context.Context, o Options, folder, dataMajor string) error {
	o.log("fetching the lists of packages by apt-get")
	// If some lists cannot be fetched, the others may be sufficient.
	_, updateErr := a.run(ctx, "apt-get", "update")
	dependencies, err := a.run(ctx, "apt-cache", "depends", "postgresql")
	if err != nil {
		return errors.Join(updateErr, err)
	}
	server := serverDependency.FindStringSubmatch(dependencies)
	if server == nil {
		return errors.Join(updateErr, errors.New("no package contains a PostgreSQL server"))
	}
	if dataMajor != "" && server[1] != "postgresql-"+dataMajor {
		return fmt.Errorf("%s cannot read data of version %s", server[1], dataMajor)
	}
	plan, err := a.run(ctx, "apt-get", "install", "--simulate", "--reinstall", "--no-install-recommends", server[1])
	if err != nil {
		return errors.Join(updateErr, err)
	}
	names := []string{server[1]}
	clients := strings.Replace(server[1], "postgresql-", "postgresql-client-", 1) // psql and the like
	for _, match := range wantedPackage.FindAllStringSubmatch(plan, -1) {
		name, _, _ := strings.Cut(match[1], ":")
		if name == clients || strings.HasPrefix(name, "lib") && !excluded.MatchString(name) {
			names = append(names, match[1])
		}
	}
	o.log("fetching %s and %d packages that it needs by apt-get", server[1], len(names)-1)
	if _, err := a.run(ctx, "apt-get", append([]string{"download"}, names...)...); err != nil {
		return errors.Join(updateErr, err)
	}
	files, err := filepath.Glob(filepath.Join(a.private, "*.deb"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if _, err := a.run(ctx, "dpkg-deb", "--extract", file, folder); err != nil {
			return err
		}
	}
	return removeCompiler(folder)
}

// removeCompiler removes the server's JIT module, which needs LLVM, so that the server does not try to load it.
func removeCompiler(folder string) error {
	parts, err := filepath.Glob(filepath.Join(folder, "usr/lib/postgresql/*/lib/llvmjit.so"))
	if err != nil {
		return err
	}
	for _, part := range parts {
		if err := os.Remove(part); err != nil {
			return err
		}
	}
	return nil
}

// run runs a program in the private folder. It adds the options that the apt programs need.
func (a apt) run(ctx context.Context, program string, args ...string) (output string, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	if strings.HasPrefix(program, "apt-") {
		args = append([]string{
			"--quiet=2",
			"--option=Dir::State::Lists=" + filepath.Join(a.private, "lists"),
			"--option=Dir::Cache=" + a.private,
			"--option=APT::Sandbox::User=root", // apt's sandbox user could not enter the folder
			"--option=Acquire::Languages=none",
			"--option=Acquire::Retries=1",
			"--option=Acquire::http::Timeout=10",
			"--option=Acquire::https::Timeout=10",
		}, args...)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = a.private
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	output, err = a.watcher.run(cmd)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", program, args[len(args)-1], err)
	}
	return output, nil
}
