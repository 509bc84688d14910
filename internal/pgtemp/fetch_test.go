//go:build unix

package pgtemp

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"errors"
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

// internet starts an HTTP server with an archive of one file, and returns the archive's checksum. What is named stalled never arrives in
// full, and nothing else is there.
func internet(t *testing.T, file string) (server *httptest.Server, sum string) {
	t.Helper()
	var packed bytes.Buffer
	writer := zip.NewWriter(&packed)
	entry, err := writer.Create(file)
	must(t, err)
	_, err = entry.Write(programsArchive)
	must(t, errors.Join(err, writer.Close()))
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/postgres.jar":
			_, _ = w.Write(packed.Bytes()) // the client detects missing data
		case "/stalled":
			_ = http.NewResponseController(w).Flush() // the client has gone, or waits
			<-r.Context().Done()
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server, fmt.Sprintf("%x", sha256.Sum256(packed.Bytes()))
}

// TestArchiveIsFetchedOnce also checks that fetched programs run like installed ones, also as root, that the server has the
// right settings and access rules, and that nothing remains of a server that dies before it is stopped.
func TestArchiveIsFetchedOnce(t *testing.T) {
	t.Parallel()
	if !hasPrograms(t) {
		return
	}
	maven, sum := internet(t, "postgres.txz")
	o := Options{
		Sources: []Source{Archive}, cache: filepath.Join(publicFolder(t), "a b", "cache"), programFolders: []string{},
		archive:  &archive{maven.URL + "/postgres.jar", sum, testTimeout},
		Settings: map[string]string{"work_mem": "5MB", "shared_buffers": "1MB", "port": "1", "application_name": "it's a=b"},
	}
	server := start(t, o)
	mustHaveSettings(t, server)
	mustStopAfterKill(t, server)

	maven.Close()
	user, err := chooseIdentity("")
	must(t, err)
	for _, way := range []Source{Programs, Archive} {
		found, err := findPrograms(t.Context(), o, way, user, "")
		if err != nil || way == Archive && !strings.HasPrefix(found.bin, o.cache) {
			t.Errorf("without the repository, %s: found %s, %v", way, found.bin, err)
		}
	}
	if link, err := os.Readlink(filepath.Join(o.cache, archiveName, "lib/library.so")); link != "library.so.1" {
		t.Errorf("a link points to %q, %v", link, err)
	}
}

func TestBadArchiveLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		path, file, sum string // sum is that of another archive
		timeout         time.Duration
		want            string
	}{
		{"/postgres.jar", "postgres.txz", "0000", testTimeout, "want 0000"},
		{"/postgres.jar", "README", "", testTimeout, "no .txz"},
		{"/missing", "", "", testTimeout, "404 Not Found"},
		{"/stalled", "", "", 50 * time.Millisecond, "deadline exceeded"},
	} {
		maven, sum := internet(t, test.file)
		if test.sum != "" {
			sum = test.sum
		}
		cache := publicFolder(t)
		_, err := Start(t.Context(), Options{
			Sources: []Source{Archive}, cache: cache, archive: &archive{maven.URL + test.path, sum, test.timeout},
		})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Start does not say %q: %v", test.want, err)
		}
		must(t, empty(cache))
	}
}

// TestArchiveForEachSystem: the checksum of what is fetched is known beforehand, and nothing is fetched where it is not.
func TestArchiveForEachSystem(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"linux", "darwin"} {
		for processor, name := range map[string]string{"amd64": "amd64", "arm64": "arm64v8"} {
			a, err := archiveFor(system, processor, false)
			want := fmt.Sprintf("/embedded-postgres-binaries-%s-%s/%s/embedded-postgres-binaries-%[1]s-%[2]s-%[3]s.jar", system, name, archiveVersion)
			if err != nil || len(a.sum) != 64 || !strings.HasSuffix(a.address, want) {
				t.Errorf("%s %s: %+v, %v", system, processor, a, err)
			}
		}
	}
	if a, err := archiveFor("linux", "amd64", true); err == nil {
		t.Errorf("Alpine: %+v", a)
	}
}

// aptScripts simulate apt's programs on a machine that lacks the server and a library. Their server runs the machine's
// own, but only if it finds its libraries.
var aptScripts = map[string]string{
	"apt-cache": `printf 'postgresql\n  Depends: postgresql-15\n'`,
	"apt-get": `case "$*" in
		*"install --download-only"*" postgresql-15 "*) for name in libone libc6_2 postgresql-15; do : >"archives/$name.deb"; done ;;
		*update*) exit 100 ;; # one of many lists cannot be had
	esac`,
	"dpkg-deb": `umask 022 # as tar does for root
	mkdir -p "$3/usr/lib/some-linux-gnu" "$3/usr/lib/postgresql/15/bin"
	: >"$3/usr/lib/some-linux-gnu/${2##*/}"
	for name in postgres initdb; do
		cat >"$3/usr/lib/postgresql/15/bin/$name" <<END
#!/bin/sh
case \$LD_LIBRARY_PATH in */usr/lib/some-linux-gnu*) ;; *) echo no libraries >&2; exit 1 ;; esac
for folder in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /usr/local/pgsql/bin; do
	[ -x "\$folder/$name" ] && exec "\$folder/$name" "\$@"
done
exec $name "\$@"
END
		chmod 755 "$3/usr/lib/postgresql/15/bin/$name"
	done`,
}

// putApt writes aptScripts into a folder.
func putApt(t *testing.T, folder string) {
	t.Helper()
	for name, script := range aptScripts {
		putScript(t, filepath.Join(folder, name), "#!/bin/sh -e\n"+script)
	}
}

// mustHavePackages checks the packages in the cache, and that they are found without apt.
func mustHavePackages(t *testing.T, cache string) {
	t.Helper()
	user, err := chooseIdentity("")
	must(t, err)
	if _, err := firstSuitable(t.Context(), cached(Options{cache: cache}, packagesName), user, ""); err != nil {
		t.Errorf("find programs in the cache: %v", err)
	}
	found, err := filepath.Glob(filepath.Join(cache, "*/*/lib/*/*.deb"))
	must(t, err)
	for i := range found {
		found[i] = filepath.Base(found[i])
	}
	if want := "[libone.deb postgresql-15.deb]"; fmt.Sprint(found) != want {
		t.Errorf("unpacked %v, want %v", found, want)
	}
	for _, folder := range []string{"new-*", packagesName + "/apt"} {
		if exists(filepath.Join(cache, folder)) == nil {
			t.Errorf("%s is left", folder)
		}
	}
}
