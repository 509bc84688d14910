//go:build unix

package pgtemp

import (
	"archive/tar"
	"archive/zip"
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

const (
	// mavenCentral hosts the archives of github.com/zonkyio/embedded-postgres-binaries.
	mavenCentral   = "https://repo1.maven.org/maven2/io/zonky/test/postgres"
	archiveVersion = "17.5.0"
	archiveName    = "archive-" + archiveVersion
	// fetchTimeout limits a download, and each command of apt-get.
	fetchTimeout = 5 * time.Minute
	// answerTimeout limits each step up to the beginning of a download. It is short because Start tries another way if the server is
	// unreachable.
	answerTimeout = 5 * time.Second
)

// archiveSums are the checksums of the archives of archiveVersion. They are the same for all users, whatever a server says.
var archiveSums = map[string]string{
	"darwin-amd64":   "fb70f783928e77c3d6ef5ca8ed644f1ac502f740fcfc032a375c8347820f2bdd",
	"darwin-arm64v8": "e9d3398e10c2ec926395498b03e75ad1a24eeaed82895e756a7e173b202cf6de",
	"linux-amd64":    "646f3269075d1a23904127374e3cdbcef96beb32979fedee25d835877400fcbe",
	"linux-arm64v8":  "e02f27ff50ff2d90b6541d54f3f108505aacd84ea53c2890e976a684bfea2752",
}

// archiveFor returns the archive for a system. There is none for Alpine, whose C library is another one.
func archiveFor(system, processor string, alpine bool) (archive, error) {
	if processor == "arm64" {
		processor = "arm64v8"
	}
	platform := system + "-" + processor
	if alpine {
		platform += "-alpine"
	}
	sum, known := archiveSums[platform]
	if !known {
		return archive{}, fmt.Errorf("there is none for %s", platform)
	}
	artifact := "embedded-postgres-binaries-" + platform
	address := fmt.Sprintf("%s/%s/%s/%s-%[3]s.jar", mavenCentral, artifact, archiveVersion, artifact)
	return archive{address, sum, fetchTimeout}, nil
}

// fromArchive is the source that fetches an archive of programs.
func fromArchive(ctx context.Context, o Options, user identity, dataMajor string) (installation, error) {
	if major, _, _ := strings.Cut(archiveVersion, "."); dataMajor != "" && dataMajor != major {
		return installation{}, fmt.Errorf("%s cannot read data of version %s", archiveVersion, dataMajor)
	}
	_, alpineErr := os.Stat("/etc/alpine-release")
	a, err := archiveFor(runtime.GOOS, runtime.GOARCH, alpineErr == nil)
	if o.archive != nil {
		a, err = *o.archive, nil
	}
	if err != nil {
		return installation{}, err
	}
	return fetch(ctx, o, archiveName, user, dataMajor, func(_ *Watcher, folder string) error {
		o.log("fetching PostgreSQL %s from %s", archiveVersion, strings.TrimSuffix(a.address, "/"+path.Base(a.address)))
		packed := filepath.Join(folder, "archive")
		if err := a.fetch(ctx, o, packed); err != nil {
			return fmt.Errorf("fetch %s: %w", a.address, err)
		}
		if err := unpackArchive(packed, folder); err != nil {
			return fmt.Errorf("unpack %s: %w", path.Base(a.address), err)
		}
		return os.Remove(packed)
	})
}

// fetch downloads the archive into a file and verifies its checksum.
func (a archive) fetch(ctx context.Context, o Options, to string) error {
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
		return err
	}
	response, err := client.Do(request)
	if urlErr := (*url.Error)(nil); errors.As(err, &urlErr) {
		return urlErr.Err // urlErr would repeat the address
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(file, sum, &progress{total: response.ContentLength, log: o.log}), response.Body)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if got := fmt.Sprintf("%x", sum.Sum(nil)); got != a.sum {
		return fmt.Errorf("its checksum is %s, want %s", got, a.sum)
	}
	return nil
}

// progress logs each tenth of a download whose length is known.
type progress struct {
	total, done int64
	log         func(format string, args ...any)
}

func (p *progress) Write(part []byte) (int, error) {
	before := p.done
	p.done += int64(len(part))
	if p.total > 0 && p.done*10/p.total > before*10/p.total {
		p.log("fetched %d %%", p.done*10/p.total*10)
	}
	return len(part), nil
}

// unpackArchive unpacks the compressed tar file inside the zip file.
func unpackArchive(archive, folder string) error {
	outer, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer outer.Close() //nolint:errcheck // only read
	for _, entry := range outer.File {
		if !strings.HasSuffix(entry.Name, ".txz") {
			continue
		}
		packed, err := entry.Open()
		if err != nil {
			return err
		}
		defer packed.Close()
		unpacked, err := xz.NewReader(packed, 0)
		if err != nil {
			return err
		}
		return unpackTar(tar.NewReader(unpacked), folder)
	}
	return errors.New("the archive contains no .txz")
}

// unpackTar unpacks into the folder and nowhere else.
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
			err = unpackFile(root, name, header.FileInfo().Mode().Perm(), archive)
		default:
			err = fmt.Errorf("%s has an unknown type", name)
		}
		if err != nil {
			return err
		}
	}
}

func unpackFile(root *os.Root, name string, mode fs.FileMode, content io.Reader) error {
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Chmod(mode), file.Close()) // regardless of the umask
}

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
