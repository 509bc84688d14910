//go:build container && unix

package pgtemp

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// needImage fetches the image, so that no timeout of a test includes the fetch.
func needImage(t *testing.T) {
	t.Helper()
	const image = "postgres:" + newestMajor
	if _, err := docker(t.Context(), "image", "inspect", image); err == nil {
		return
	}
	if _, err := docker(t.Context(), "pull", "--quiet", image); err != nil {
		t.Fatal(err)
	}
}

// containerGone returns an error while the container exists, in any state.
func containerGone(t *testing.T, name string) error {
	t.Helper()
	left, err := docker(t.Context(), "ps", "--all", "--quiet", "--filter", "name="+name)
	if err == nil && left != "" {
		err = errors.New("there is still the container " + name)
	}
	return err
}

func TestContainer(t *testing.T) {
	t.Parallel()
	needImage(t)
	server := start(t, Options{Sources: []Source{Docker}, Settings: map[string]string{"work_mem": "5MB"}})
	if got := query(t, server.URL(), "SHOW work_mem"); got != "5MB" {
		t.Errorf("work_mem is %s", got)
	}
	storeValue(t, server.URL())
	for _, immediate := range []bool{false, true} {
		if err := server.Restart(t.Context(), immediate); err != nil {
			t.Fatal(err)
		}
		checkValue(t, server.URL())
	}
	if !strings.Contains(server.Kind(), "container of postgres:17") || !strings.HasPrefix(server.Version(), "17.") {
		t.Errorf("Kind is %q, Version %q", server.Kind(), server.Version())
	}
	address, name := server.URL(), server.engine.(*container).name
	if err := server.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := containerGone(t, name); err != nil {
		t.Error(err)
	}
	eventually(t, func() error { return portFree(t, address) })
}

// TestLeftContainerIsRemoved: a container whose process and watcher were killed does not use the data any more when the next server
// starts.
func TestLeftContainerIsRemoved(t *testing.T) {
	t.Parallel()
	needImage(t)
	o := Options{DataDir: filepath.Join(publicFolder(t), "named"), Sources: []Source{Docker}}
	left := start(t, o)
	storeValue(t, left.URL())
	c := left.engine.(*container)
	if err := c.watcher.process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := unlockFile(left.home.lock); err != nil { // as the end of the process does
		t.Fatal(err)
	}
	left.home.lock = nil
	server := start(t, o)
	checkValue(t, server.URL())
	if err := containerGone(t, c.name); err != nil {
		t.Error(err)
	}
	if err := server.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if name, err := server.home.read("container"); err != nil || name != "" {
		t.Errorf("the container %q is not forgotten: %v", name, err)
	}
}

func TestContainerEndsWithProcess(t *testing.T) {
	t.Parallel()
	needImage(t)
	moments := map[string]func(h *helper, name string){
		"before it exists": func(*helper, string) {},
		"while it is made": func(_ *helper, name string) {
			eventually(t, func() error {
				if noProcessWith("docker run --detach --name "+name) == nil {
					return errors.New("the command does not run yet")
				}
				return nil
			})
		},
		"when it exists": func(_ *helper, name string) {
			eventually(t, func() error {
				_, err := docker(t.Context(), "container", "inspect", name)
				return err
			})
		},
		"when it is ready": func(h *helper, _ string) { h.await("ready", "") },
	}
	for moment, reach := range moments {
		t.Run("killed "+moment, func(t *testing.T) {
			t.Parallel()
			h := startHelper(t, order{Ways: []Source{Docker}}, nil)
			text := h.await("log", "starting the container").Text
			name := strings.Fields(text)[3]
			reach(h, name)
			h.kill()
			// The watcher and the command that creates the container have the name in their arguments.
			eventually(t, func() error { return noProcessWith(name) })
			if err := containerGone(t, name); err != nil {
				t.Error(err)
			}
		})
	}
}
