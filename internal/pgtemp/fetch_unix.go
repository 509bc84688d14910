//go:build unix

package pgtemp

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/xi2/xz"
)

// systemCache is the folder for fetched programs if this process's user has no cache folder, or is
// root. The server's user could not enter root's home folder.
const systemCache = "/var/cache/elobot"

func cacheFolder(o Options) string {
	if o.cache != "" {
		return o.cache
	}
	if home, err := os.UserCacheDir(); err == nil && os.Geteuid() != 0 {
		return filepath.Join(home, "elobot")
	}
	return systemCache
}

// cached returns the folders with programs in one of the cache's subfolders.
func cached(o Options, name string) (bins []string) {
	for _, pattern := range []string{"bin", "usr/lib/postgresql/*/bin"} {
		// If pattern characters in the cache's path prevent a match, programs are fetched again.
		found, _ := filepath.Glob(filepath.Join(cacheFolder(o), name, pattern))
		bins = append(bins, found...)
	}
	return bins
}

// fetcher fetches programs into a new folder. If dataMajor is not empty, the programs must be able
// to read data of that version.
type fetcher func(ctx context.Context, o Options, w *Watcher, folder, dataMajor string) error

// fetch returns suitable programs (see firstSuitable) from the given subfolder of the cache. If
// there are none, fill puts programs into a new folder, which fetch renames once it is complete.
func fetch(
	ctx context.Context, o Options, name string, user identity, dataMajor string, fill fetcher,
) (found installation, err error) {
	find := func() (installation, error) { return firstSuitable(ctx, cached(o, name), user, dataMajor) }
	if found, err = find(); err == nil {
		return found, nil
	}
	cache := cacheFolder(o)
	partial := filepath.Join(cache, "new-"+newPassword())
	watcher, err := watch(nil, programsScript, partial)
	if err != nil {
		return found, err
	}
	if err = errors.Join(makeFolder(cache, 0o755), os.Mkdir(partial, 0o755)); err == nil {
		err = fill(ctx, o, watcher, partial, dataMajor)
	}
	if err == nil {
		// The server may run as another user, who must be able to read the files, whatever the
		// umask is. Sync, because a power failure must not leave files without their content.
		_, err = watcher.run(exec.CommandContext(ctx, "/bin/sh", "-ec", `chmod -R a+rX "$1"; sync`, "sh", partial))
	}
	if err == nil {
		found, err = publish(partial, filepath.Join(cache, name), find)
	}
	return found, errors.Join(err, os.RemoveAll(partial), watcher.Dismiss())
}

// publish renames the complete folder partial to name, and returns the programs in it. If another
// process has published a folder first, publish returns the programs of that process, which are
// equivalent and may already be in use.
func publish(partial, name string, find func() (installation, error)) (installation, error) {
	if found, err := find(); err == nil {
		return found, nil
	}
	if err := errors.Join(os.RemoveAll(name), os.Rename(partial, name)); err != nil && !errors.Is(err, fs.ErrExist) {
		return installation{}, err
	}
	return find()
}

const (
	// mavenCentral hosts the archives of github.com/zonkyio/embedded-postgres-binaries.
	mavenCentral   = "https://repo1.maven.org/maven2/io/zonky/test/postgres"
	archiveVersion = "17.5.0"
	archiveName    = "archive-" + archiveVersion
	// fetchTimeout limits the download of an archive, and each command that fetches or unpacks
	// packages.
	fetchTimeout = 5 * time.Minute
	// largestArchive exceeds the size of every archive, in bytes.
	largestArchive = 200 << 20
	// answerTimeout limits dialing and the TLS handshake; the response headers may take twice as
	// long. It is short because Start tries another source if the server is unreachable.
	answerTimeout = 5 * time.Second
)

// archives has the archives of archiveVersion by system and processor. The checksums are fixed
// here, so that all users get the same files, whatever the download server sends. None of the
// archives is for Alpine, which has a different C library.
var archives = map[string]struct{ platform, sum string }{
	"darwin-amd64": {"darwin-amd64", "fb70f783928e77c3d6ef5ca8ed644f1ac502f740fcfc032a375c8347820f2bdd"},
	"darwin-arm64": {"darwin-arm64v8", "e9d3398e10c2ec926395498b03e75ad1a24eeaed82895e756a7e173b202cf6de"},
	"linux-amd64":  {"linux-amd64", "646f3269075d1a23904127374e3cdbcef96beb32979fedee25d835877400fcbe"},
	"linux-arm64":  {"linux-arm64v8", "e02f27ff50ff2d90b6541d54f3f108505aacd84ea53c2890e976a684bfea2752"},
}

// archiveFor returns the archive for a system, such as linux-amd64. It fails if there is no such
// archive.
func archiveFor(system string) (archive, error) {
	known, ok := archives[system]
	if !ok {
		return archive{}, fmt.Errorf("there is none for %s", system)
	}
	artifact := "embedded-postgres-binaries-" + known.platform
	address := fmt.Sprintf("%s/%s/%s/%s-%[3]s.jar", mavenCentral, artifact, archiveVersion, artifact)
	return archive{address, known.sum, fetchTimeout}, nil
}

// fillFromArchive is a fetcher that downloads an archive and unpacks its programs.
func fillFromArchive(ctx context.Context, o Options, _ *Watcher, folder, dataMajor string) error {
	if major, _, _ := strings.Cut(archiveVersion, "."); dataMajor != "" && dataMajor != major {
		return fmt.Errorf("%s cannot read data of version %s", archiveVersion, dataMajor)
	}
	system := runtime.GOOS + "-" + runtime.GOARCH
	if _, err := os.Stat("/etc/alpine-release"); err == nil {
		system += "-alpine"
	}
	a, err := archiveFor(system)
	if o.archive != nil {
		a, err = *o.archive, nil
	}
	if err != nil {
		return err
	}
	o.log("fetching PostgreSQL %s from %s", archiveVersion, strings.TrimSuffix(a.address, "/"+path.Base(a.address)))
	content, err := a.fetch(ctx)
	if err != nil {
		return fmt.Errorf("fetch %s: %w", a.address, err)
	}
	if err := unpackArchive(content, folder); err != nil {
		return fmt.Errorf("unpack %s: %w", path.Base(a.address), err)
	}
	return nil
}

// fetch downloads the archive and verifies its checksum.
func (a archive) fetch(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: answerTimeout}).DialContext,
		TLSHandshakeTimeout:   answerTimeout,
		ResponseHeaderTimeout: 2 * answerTimeout,
	}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.address, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if urlErr := (*url.Error)(nil); errors.As(err, &urlErr) {
		return nil, urlErr.Err // urlErr would repeat the address
	}
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, largestArchive))
	if err != nil {
		return nil, err
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(content)); got != a.sum {
		return nil, fmt.Errorf("its checksum is %s, want %s", got, a.sum)
	}
	return content, nil
}

// unpackArchive unpacks the compressed tar file in a zip file into the folder.
func unpackArchive(archive []byte, folder string) error {
	outer, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return err
	}
	names, err := fs.Glob(outer, "*.txz")
	if err != nil || len(names) == 0 {
		return errors.Join(err, errors.New("the archive contains no .txz"))
	}
	packed, err := outer.Open(names[0])
	if err != nil {
		return err
	}
	defer func() { _ = packed.Close() }() // it is in memory
	unpacked, err := xz.NewReader(packed, 0)
	if err != nil {
		return err
	}
	return unpackTar(tar.NewReader(unpacked), folder)
}

// unpackTar unpacks a tar file into the folder. It fails if a file would be written elsewhere.
func unpackTar(archive *tar.Reader, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.Clean(header.Name)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		switch header.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(name, 0o755)
		case tar.TypeSymlink:
			err = root.Symlink(header.Linkname, name)
		case tar.TypeLink:
			err = root.Link(filepath.Clean(header.Linkname), name)
		case tar.TypeReg:
			var content []byte
			if content, err = io.ReadAll(archive); err == nil {
				err = root.WriteFile(name, content, header.FileInfo().Mode().Perm())
			}
		default:
			err = fmt.Errorf("%s has an unknown type", name)
		}
		if err != nil {
			return err
		}
	}
}

const packagesName = "packages-postgresql"

// fillFromPackages is a fetcher that downloads packages with apt-get: the server, its client
// programs, and the libraries that the machine lacks. It unpacks them without installing anything,
// so it needs no privileges.
func fillFromPackages(ctx context.Context, o Options, w *Watcher, folder, dataMajor string) error {
	a := apt{watcher: w, private: filepath.Join(folder, "apt")}
	for _, name := range []string{"lists/partial", "archives/partial"} {
		if err := os.MkdirAll(filepath.Join(a.private, name), 0o755); err != nil {
			return err
		}
	}
	o.log("fetching the lists of packages by apt-get")
	// If some lists cannot be fetched, the others may suffice.
	_, updateErr := a.run(ctx, "apt-get", "update")
	dependencies, err := a.run(ctx, "apt-cache", "depends", "postgresql")
	if err != nil {
		return errors.Join(updateErr, err)
	}
	server := serverDependency.FindStringSubmatch(dependencies)
	if server == nil {
		return errors.Join(updateErr, errors.New("no package contains a PostgreSQL server"))
	}
	major := server[1]
	if dataMajor != "" && major != dataMajor {
		return fmt.Errorf("postgresql-%s cannot read data of version %s", major, dataMajor)
	}
	o.log("fetching postgresql-%s and the packages that it needs by apt-get", major)
	_, err = a.run(ctx, "apt-get", "install", "--download-only", "--reinstall", "--no-install-recommends", "--yes",
		"postgresql-"+major, "postgresql-client-"+major)
	if err != nil {
		return errors.Join(updateErr, err)
	}
	files, err := filepath.Glob(filepath.Join(a.private, "archives", "*.deb"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "libc6_") {
			continue // the C library must match the system's loader
		}
		if _, err := a.run(ctx, "dpkg-deb", "--extract", file, folder); err != nil {
			return err
		}
	}
	return os.RemoveAll(a.private)
}

var serverDependency = regexp.MustCompile(`Depends: postgresql-(\d+)\n`)

// apt runs apt-get and similar programs with package lists and archives in a private folder.
type apt struct {
	watcher *Watcher
	private string
}

// run runs a program in the private folder. It adds options that keep apt programs inside that
// folder.
func (a apt) run(ctx context.Context, program string, args ...string) (output string, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	if strings.HasPrefix(program, "apt-") {
		args = append([]string{
			"--quiet=2",
			"--option=Dir::State::Lists=" + filepath.Join(a.private, "lists"),
			"--option=Dir::Cache=" + a.private,
			"--option=APT::Sandbox::User=root", // apt's sandbox user could not enter the folder
			"--option=Debug::NoLocking=true",   // nothing is installed
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
