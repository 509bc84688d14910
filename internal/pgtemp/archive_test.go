//go:build unix

package pgtemp

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// programsArchive contains scripts that run the machine's own programs.
//
//go:embed testdata/archive.txz
var programsArchive []byte

// internet starts an HTTP server with the given handler.
func internet(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server
}

// repository serves an archive under any name, and the checksum that fits it beside it.
func repository(archive []byte, sum string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		content := archive
		if strings.HasSuffix(r.URL.Path, ".sha256") {
			content = []byte(sum + "\n")
		}
		_, _ = w.Write(content) // the client detects missing data
	}
}

// hang sends nothing until the client gives up; stall sends only the beginning of a response.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func stall(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Length", "100")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush() // the client has gone, or waits
	<-r.Context().Done()
}

func jar(t *testing.T, name string, content []byte) (archive []byte, sum string) {
	t.Helper()
	var out bytes.Buffer
	packed := zip.NewWriter(&out)
	entry, err := packed.Create(name)
	if err == nil {
		_, err = entry.Write(content)
	}
	if err == nil {
		err = packed.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), fmt.Sprintf("%x", sha256.Sum256(out.Bytes()))
}

// TestArchiveIsFetchedOnce also checks that fetched programs run like installed ones, also as root, that the server has the
// right settings and access rules, and that nothing remains of a server that dies before it is stopped.
func TestArchiveIsFetchedOnce(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	archive, sum := jar(t, "postgres.txz", programsArchive)
	maven := internet(t, repository(archive, sum))
	o := Options{cache: filepath.Join(publicFolder(t), "a b", "cache"), repository: maven.URL, sum: sum, programFolders: []string{}}
	var messages []string
	server, err := Start(t.Context(), Options{
		Sources: []Source{Archive}, InMemory: true, cache: o.cache, repository: o.repository, sum: o.sum,
		Settings: map[string]string{"work_mem": "5MB", "shared_buffers": "1MB", "port": "1", "application_name": "it's a=b"},
		Log:      func(msg string) { messages = append(messages, msg) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(messages, "\n"); !strings.Contains(all, "fetching PostgreSQL") || !strings.Contains(all, "fetched 100 %") {
		t.Errorf("progress = %q", all)
	}
	mustHaveSettings(t, server)
	mustStopAfterKill(t, server)

	// what is not complete any more is fetched again
	if err := os.Truncate(filepath.Join(o.cache, "archive-"+archiveVersion, "bin/initdb"), 0); err != nil {
		t.Fatal(err)
	}
	user, err := chooseIdentity("")
	if err != nil {
		t.Fatal(err)
	}
	if found, err := installed(t.Context(), o, user, ""); err == nil && strings.HasPrefix(found.bin, o.cache) {
		t.Errorf("incomplete programs are used: %s", found.bin)
	}
	if _, err := fromArchive(t.Context(), o, user, ""); err != nil {
		t.Errorf("incomplete programs are not fetched again: %v", err)
	}
	maven.Close()
	for way, find := range map[Source]source{Programs: installed, Archive: fromArchive} {
		found, err := find(t.Context(), o, user, "")
		if err != nil || way == Archive && !strings.HasPrefix(found.bin, o.cache) {
			t.Errorf("without the repository, %s: found %s, %v", way, found.bin, err)
		}
	}
	if link, err := os.Readlink(filepath.Join(o.cache, "archive-"+archiveVersion, "lib/library.so")); link != "library.so.1" {
		t.Errorf("a link points to %q, %v", link, err)
	}
}

func TestBadArchiveLeavesNothing(t *testing.T) {
	t.Parallel()
	good, goodSum := jar(t, "postgres.txz", programsArchive)
	noPrograms, noProgramsSum := jar(t, "README", []byte("no programs"))
	noArchive, noArchiveSum := jar(t, "postgres.txz", []byte("no archive"))
	const soon = 50 * time.Millisecond
	for name, test := range map[string]struct {
		answer      http.HandlerFunc
		sum         string
		stepTimeout time.Duration
		want        string
	}{
		// that of this system's archive is wanted, whatever the repository says
		"another checksum": {repository(good, goodSum), "", testTimeout, "its checksum is"},
		"no programs":      {repository(noPrograms, noProgramsSum), noProgramsSum, testTimeout, "no .txz"},
		"no archive":       {repository(noArchive, noArchiveSum), noArchiveSum, testTimeout, "unpack"},
		"no such file":     {http.NotFound, goodSum, testTimeout, "404 Not Found"},
		"no response":      {hang, goodSum, soon, "time"},
		"half a response":  {stall, goodSum, soon, "time"}, // on a busy machine less than half
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cache := publicFolder(t)
			_, err := Start(t.Context(), Options{
				Sources: []Source{Archive}, cache: cache, repository: internet(t, test.answer).URL, sum: test.sum, stepTimeout: test.stepTimeout,
			})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Start: %v", err)
			}
			if err := empty(cache); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestKilledDuringFetch(t *testing.T) {
	t.Parallel()
	cache := publicFolder(t)
	asked := make(chan struct{}, 1)
	maven := internet(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		hang(w, r)
	})
	h := startHelper(t, order{Ways: []Source{Archive}, Cache: cache, Repository: maven.URL}, nil)
	<-asked
	h.kill()
	eventually(t, func() error { return empty(cache) })
}

func TestArchiveStaysInItsFolder(t *testing.T) {
	t.Parallel()
	for name, entries := range map[string][]tar.Header{
		"a parent":             {{Name: "../out", Typeflag: tar.TypeReg}},
		"an absolute name":     {{Name: "/tmp/out", Typeflag: tar.TypeReg}},
		"a link to elsewhere":  {{Name: "a", Typeflag: tar.TypeSymlink, Linkname: ".."}, {Name: "a/out", Typeflag: tar.TypeReg}},
		"a device or the like": {{Name: "out", Typeflag: tar.TypeFifo}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var packed bytes.Buffer
			archive := tar.NewWriter(&packed)
			for _, entry := range entries {
				if err := archive.WriteHeader(&entry); err != nil {
					t.Fatal(err)
				}
			}
			folder := filepath.Join(t.TempDir(), "inner")
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := unpackTar(tar.NewReader(&packed), folder); err == nil {
				t.Error("the archive was unpacked")
			}
			if _, err := os.Lstat(filepath.Join(folder, "../out")); err == nil {
				t.Error("a file was written outside the folder")
			}
		})
	}
}

func TestCacheWritableByOthersIsNotUsed(t *testing.T) {
	t.Parallel()
	cache := publicFolder(t)
	putPrograms(t, filepath.Join(cache, "archive-1/bin"), "17.0")
	if err := recordSums(filepath.Join(cache, "archive-1")); err != nil {
		t.Fatal(err)
	}
	find := openCache(cache).find(t.Context(), archiveForm, identity{}, "")
	if _, err := find(); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(cache, 0o777); err != nil {
		t.Fatal(err)
	}
	if found, err := find(); err == nil {
		t.Errorf("found %v, want nothing", found)
	}
	if folder, err := openCache(cache).choose(); err == nil {
		t.Errorf("chose the folder %s", folder)
	}
}
