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
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/xi2/xz"
)

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
		o.log("fetching PostgreSQL %s from %s", archiveVersion, path.Dir(a.address))
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
