package pgtemp

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/xi2/xz"
)

const (
	// mavenCentral hosts the archives of github.com/zonkyio/embedded-postgres-binaries: PostgreSQL's programs and all the
	// libraries that they need, for most systems.
	mavenCentral   = "https://repo1.maven.org/maven2"
	archiveVersion = "17.5.0"
	// fetchTimeout limits each step of a fetch. It is short because Start tries another way if the repository is unreachable.
	fetchTimeout = 5 * time.Second
)

// archiveSums are the SHA-256 checksums of the archives of archiveVersion. They are the same for all users, whatever the repository says.
var archiveSums = map[string]string{
	"darwin-amd64":   "fb70f783928e77c3d6ef5ca8ed644f1ac502f740fcfc032a375c8347820f2bdd",
	"darwin-arm64v8": "e9d3398e10c2ec926395498b03e75ad1a24eeaed82895e756a7e173b202cf6de",
	"linux-amd64":    "646f3269075d1a23904127374e3cdbcef96beb32979fedee25d835877400fcbe",
	"linux-arm64v8":  "e02f27ff50ff2d90b6541d54f3f108505aacd84ea53c2890e976a684bfea2752",
	"windows-amd64":  "06ced3b3267c569ffb3f85544aac0075926dd81bf78bd5247abb1aa9fe994d6b",
}

// fromArchive is the source that fetches an archive of programs from the repository.
func fromArchive(ctx context.Context, o Options, user identity, dataMajor string) (installation, error) {
	if major, _, _ := strings.Cut(archiveVersion, "."); dataMajor != "" && dataMajor != major {
		return installation{}, fmt.Errorf("%s cannot read data of version %s", archiveVersion, dataMajor)
	}
	repository := cmp.Or(o.repository, mavenCentral)
	_, alpineErr := os.Stat("/etc/alpine-release")
	system := platform(runtime.GOOS, runtime.GOARCH, alpineErr == nil)
	sum := cmp.Or(o.sum, archiveSums[system])
	if sum == "" {
		return installation{}, fmt.Errorf("there is none for %s", system)
	}
	artifact := "embedded-postgres-binaries-" + system
	address := fmt.Sprintf("%s/io/zonky/test/postgres/%s/%s/%s-%[3]s.jar", repository, artifact, archiveVersion, artifact)
	c := openCache(o.cache)
	return c.ensure("archive-"+archiveVersion, c.find(ctx, archiveForm, user, dataMajor), func(_ *Watcher, folder string) error {
		o.log("fetching PostgreSQL %s from %s", archiveVersion, repository)
		archive := filepath.Join(folder, "archive")
		if err := fetchArchive(ctx, o, address, sum, archive); err != nil {
			return err
		}
		if err := unpackArchive(archive, folder); err != nil {
			return fmt.Errorf("unpack %s: %w", path.Base(address), err)
		}
		return os.Remove(archive)
	})
}

// platform returns the archives' name of a system.
func platform(system, processor string, alpine bool) string {
	if processor == "arm64" {
		processor = "arm64v8"
	}
	if alpine {
		processor += "-alpine"
	}
	return system + "-" + processor
}

// fetchArchive fetches an archive into a file and verifies its checksum.
func fetchArchive(ctx context.Context, o Options, address, sum, to string) error {
	stepTimeout := cmp.Or(o.stepTimeout, fetchTimeout)
	client := &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: stepTimeout}).DialContext,
		TLSHandshakeTimeout:   stepTimeout,
		ResponseHeaderTimeout: 2 * stepTimeout,
	}}
	defer client.CloseIdleConnections()
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	hash := sha256.New()
	f := fetcher{client: client, stall: 4 * stepTimeout, progress: func(percent int64) { o.log("fetched %d %%", percent) }}
	err = f.fetch(ctx, address, io.MultiWriter(file, hash))
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != sum {
		return fmt.Errorf("fetch %s: its checksum is %s, want %s", address, got, sum)
	}
	return nil
}

type fetcher struct {
	client *http.Client
	// stall is how long a transfer may go without receiving data before it is aborted.
	stall time.Duration
	// progress is called after each tenth of the announced length.
	progress func(percent int64)
}

// fetch downloads the address into to.
func (f fetcher) fetch(ctx context.Context, address string, to io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := f.client.Do(request)
	if urlErr := (*url.Error)(nil); errors.As(err, &urlErr) {
		return fmt.Errorf("fetch %s: %w", address, urlErr.Err) // urlErr would repeat the address
	}
	if err != nil {
		return fmt.Errorf("fetch %s: %w", address, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("fetch %s: %s", address, response.Status)
	}
	stalled := time.AfterFunc(f.stall, func() { cancel(errors.New("no more data received in time")) })
	defer stalled.Stop()
	var done, tenths int64
	buffer := make([]byte, 1<<16)
	for {
		n, readErr := response.Body.Read(buffer)
		if _, err := to.Write(buffer[:n]); err != nil {
			return fmt.Errorf("fetch %s: %w", address, err)
		}
		stalled.Reset(f.stall)
		done += int64(n)
		if total := response.ContentLength; total > 0 && done*10/total > tenths {
			tenths = done * 10 / total
			f.progress(tenths * 10)
		}
		if errors.Is(readErr, io.EOF) {
			return nil
		}
		if readErr != nil {
			return fmt.Errorf("fetch %s: %w", address, errors.Join(readErr, context.Cause(ctx)))
		}
	}
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

// unpackTar unpacks into the folder and nowhere else. Regardless of the umask, all users may read the files and execute
// the programs, because the server may run as another user.
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
		if err := unpackEntry(root, header, archive); err != nil {
			return err
		}
	}
}

func unpackEntry(root *os.Root, header *tar.Header, content io.Reader) error {
	name := filepath.Clean(filepath.FromSlash(header.Name))
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%s is outside the folder", header.Name)
	}
	if err := openFolders(root, filepath.Dir(name)); err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeDir:
		return openFolders(root, name)
	case tar.TypeSymlink:
		return root.Symlink(header.Linkname, name)
	case tar.TypeLink:
		return root.Link(filepath.Clean(filepath.FromSlash(header.Linkname)), name)
	case tar.TypeReg:
		file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if header.Mode&0o111 != 0 {
			mode = 0o755
		}
		_, err = io.Copy(file, content)
		return errors.Join(err, file.Close(), root.Chmod(name, mode))
	default:
		return fmt.Errorf("%s has an unknown type", header.Name)
	}
}

// openFolders makes a folder and its parents, accessible to all users.
func openFolders(root *os.Root, name string) error {
	if name == "." {
		return nil
	}
	if err := openFolders(root, filepath.Dir(name)); err != nil {
		return err
	}
	if err := root.Mkdir(name, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	return root.Chmod(name, 0o755)
}
