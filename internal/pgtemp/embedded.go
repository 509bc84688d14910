package pgtemp

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// embeddedScript ends the server whose folder is in its first argument and removes the second.
//
//go:embed embedded.sh
var embeddedScript string

// embedded is a server that runs from programs fetched from the internet.
type embedded struct {
	server    *embeddedpostgres.EmbeddedPostgres
	watcher   *Watcher
	url       string
	data      string
	temporary string
}

func startEmbedded(ctx context.Context, o Options, named *folder) (started, error) {
	if os.Geteuid() == 0 {
		return started{}, errors.New("cannot run as root")
	}
	version := embeddedpostgres.V17
	major, err := named.dataVersion()
	if err != nil {
		return started{}, err
	}
	if major != "" && !strings.HasPrefix(string(version), major+".") {
		return started{}, fmt.Errorf("%s cannot read data of version %s", version, major)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir() // nothing better without HOME
	}
	cache = filepath.Join(cache, "elobot", "embedded-postgres")
	password, err := named.password()
	if err != nil {
		return started{}, err
	}
	port, err := freePort()
	if err != nil {
		return started{}, err
	}
	e := &embedded{url: serverURL(port, password), data: named.data()}
	e.temporary = filepath.Join(os.TempDir(), "elobot-postgres-"+newPassword())
	if !named.named() {
		e.data = filepath.Join(e.temporary, "data")
	}
	if e.watcher, err = watch(named.lock, embeddedScript, e.data, e.temporary); err != nil {
		return started{}, err
	}
	o.log("fetching PostgreSQL %s into %s", version, cache)
	var output bytes.Buffer
	e.server = embeddedpostgres.NewDatabase(embeddedpostgres.DefaultConfig().
		Version(version).Port(uint32(port)).Username(superuser).Password(password).Database("postgres").
		Encoding("UTF8").Locale("C").CachePath(cache).RuntimePath(filepath.Join(e.temporary, "programs")).
		DataPath(e.data).StartParameters(embeddedSettings(o.Settings)).StartTimeout(startTimeout).Logger(&output))
	return e.start(ctx, "PostgreSQL "+string(version)+" fetched from the internet")
}

// embeddedSettings are ours and the caller's.
func embeddedSettings(settings map[string]string) map[string]string {
	all := map[string]string{"shared_buffers": "32MB"}
	for name, value := range settings {
		all[name] = value
	}
	all["listen_addresses"] = "127.0.0.1"
	all["unix_socket_directories"] = ""
	return all
}

func (e *embedded) start(ctx context.Context, kind string) (started, error) {
	if err := os.Mkdir(e.temporary, 0o700); err != nil {
		return started{}, errors.Join(err, e.watcher.Dismiss())
	}
	// The library knows no context. When ours ends first, the watcher cleans up at the end of this process.
	result := make(chan error, 1)
	go func() { result <- e.server.Start() }()
	select {
	case <-ctx.Done():
		return started{}, context.Cause(ctx)
	case err := <-result:
		if err != nil {
			return started{}, errors.Join(errors.New(lastLines(err.Error())), os.RemoveAll(e.temporary), e.watcher.Dismiss())
		}
	}
	version, err := waitReady(ctx, e.url, func(context.Context) error { return nil })
	if err != nil {
		return started{}, errors.Join(err, e.stop(ctx))
	}
	return started{engine: e, url: e.url, version: version, kind: kind}, nil
}

func (e *embedded) pid() int {
	content, err := os.ReadFile(filepath.Join(e.data, "postmaster.pid"))
	if err != nil {
		return 0 // the file is there exactly while the server runs
	}
	line, _, _ := strings.Cut(string(content), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return 0
	}
	return pid
}

func (e *embedded) pause(_ context.Context, immediate bool) error {
	if immediate {
		return errors.New("a fetched server cannot be ended immediately")
	}
	return e.server.Stop()
}

func (e *embedded) resume(ctx context.Context) error {
	if err := e.server.Start(); err != nil {
		return err
	}
	_, err := waitReady(ctx, e.url, func(context.Context) error { return nil })
	return err
}

func (e *embedded) stop(context.Context) error {
	if err := e.server.Stop(); err != nil {
		return err
	}
	if err := os.RemoveAll(e.temporary); err != nil {
		return err
	}
	return e.watcher.Dismiss()
}
