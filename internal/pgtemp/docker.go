package pgtemp

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// dockerScript removes the container named in its argument.
//
//go:embed docker.sh
var dockerScript string

// newestMajor is the version that a container runs unless its data requires another one.
const newestMajor = "17"

// container is a server that runs in a container.
type container struct {
	name    string
	url     string
	home    *folder
	report  func(format string, args ...any)
	watcher *Watcher
}

func startDocker(ctx context.Context, o Options, named *folder) (started, error) {
	if _, err := exec.LookPath("docker"); err != nil {
		return started{}, errors.New("the docker command is not in PATH")
	}
	asking, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	if _, err := docker(asking, "version", "--format", "{{.Server.Version}}"); err != nil {
		return started{}, fmt.Errorf("no Docker engine answers: %w", err)
	}
	major, err := named.dataVersion()
	if err != nil {
		return started{}, err
	}
	if major == "" {
		major = newestMajor
	}
	image := "postgres:" + major
	if _, err := docker(ctx, "image", "inspect", image); err != nil {
		o.log("fetching the image %s", image)
	}
	password, err := named.password()
	if err != nil {
		return started{}, err
	}
	var s started
	// The port is chosen here, because Docker would choose another one when the container restarts.
	err = onFreePort(func(port int) error {
		c := &container{name: "elobot-postgres-" + strings.ToLower(newPassword()), url: serverURL(port, password), home: named, report: o.log}
		s, err = c.start(ctx, o, image, port, password)
		return err
	})
	return s, err
}

// docker runs a docker command that needs no cleanup.
func docker(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.WaitDelay = time.Second
	output, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", args[0], err, lastLines(string(output)))
	}
	return strings.TrimSpace(string(output)), nil
}

func (c *container) start(ctx context.Context, o Options, image string, port int, password string) (s started, err error) {
	if c.watcher, err = watch(c.home.lock, dockerScript, c.name); err != nil {
		return s, err
	}
	// A container can outlive its watcher.
	if err := c.home.write("container", c.name); err != nil {
		return s, errors.Join(err, c.watcher.Dismiss())
	}
	o.log("starting the container %s of %s", c.name, image)
	version, err := c.launch(ctx, o, image, port, password)
	if err == nil {
		return started{c, port, c.url, version, "PostgreSQL " + version + " in a container of " + image}, nil
	}
	if left := c.stop(ctx); left != nil { // no other server may use the data
		return s, &launchError{errors.Join(err, left)}
	}
	if strings.Contains(err.Error(), "already allocated") || strings.Contains(err.Error(), "already in use") {
		err = errPortTaken
	}
	return s, err
}

// launch makes and starts the container, and waits until its server answers.
func (c *container) launch(ctx context.Context, o Options, image string, port int, password string) (version string, err error) {
	// No --rm: a busy engine may mistake the restart of a container for its end and remove it.
	args := []string{
		"run", "--detach", "--name", c.name,
		// Shows users and tests which process owns the container.
		"--label", "elobot.pid=" + strconv.Itoa(os.Getpid()), "--publish", "127.0.0.1:" + strconv.Itoa(port) + ":5432",
		"--env", "POSTGRES_PASSWORD", "--env", "PGDATA=/var/lib/postgresql/data",
	}
	if !c.home.named() {
		args = append(args, "--env", "POSTGRES_INITDB_ARGS=--no-sync")
	} else {
		// The locale is that of the programs, which may run on the same data later.
		args = append(args, "--env", "POSTGRES_INITDB_ARGS=--locale=C.UTF-8", "--volume", c.home.data()+":/var/lib/postgresql/data")
		if uid := os.Getuid(); uid > 0 {
			args = append(args, "--user", fmt.Sprintf("%d:%d", uid, os.Getgid()))
			if err := os.Mkdir(c.home.data(), 0o700); err != nil && !os.IsExist(err) {
				return "", err
			}
		}
	}
	cmd := exec.CommandContext(ctx, "docker", slices.Concat(args, []string{image, "postgres"}, o.arguments())...)
	// Pass the password in the environment, because all users can read the arguments of a process.
	cmd.Env = append(os.Environ(), "POSTGRES_PASSWORD="+password)
	if _, err := c.watcher.run(cmd); err != nil {
		return "", err
	}
	return waitReady(ctx, c.url, c.checkAlive, c.report)
}

// checkAlive returns an error with the end of the container's log if the container has ended.
func (c *container) checkAlive(ctx context.Context) error {
	running, err := docker(ctx, "container", "inspect", "--format", "{{.State.Running}}", c.name)
	if err == nil && running == "true" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the container is gone: %w", err)
	}
	output, err := docker(ctx, "logs", "--tail", "4", c.name)
	if err != nil {
		return fmt.Errorf("the container ended: %w", err)
	}
	return fmt.Errorf("the container ended: %s", lastLines(output))
}

func (*container) pid() int { return 0 }

func (c *container) pause(ctx context.Context, immediate bool) error {
	seconds := "10"
	if immediate {
		seconds = "0"
	}
	_, err := docker(ctx, "stop", "--time", seconds, c.name)
	return err
}

func (c *container) resume(ctx context.Context) error {
	if _, err := docker(ctx, "start", c.name); err != nil {
		return err
	}
	_, err := waitReady(ctx, c.url, c.checkAlive, c.report)
	return err
}

// stop shuts the server down gracefully if ctx allows, and removes the container in any case.
func (c *container) stop(ctx context.Context) error {
	if err := removeContainer(ctx, c.name); err != nil {
		return err
	}
	return errors.Join(c.home.remove("container"), c.watcher.Dismiss())
}

// removeContainer stops a container if ctx allows, and removes it in any case.
func removeContainer(ctx context.Context, name string) error {
	_, stopErr := docker(ctx, "stop", "--time", "10", name)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	err := pollUntil(ctx, func() (bool, error) {
		_, removeErr := docker(ctx, "rm", "--force", "--volumes", name)
		left, err := docker(ctx, "ps", "--all", "--quiet", "--filter", "name=^/"+name+"$")
		if err != nil {
			return false, errors.Join(stopErr, removeErr, err)
		}
		return left == "", nil
	})
	if err != nil {
		return fmt.Errorf("remove the container: %w", err)
	}
	return nil
}

// removeLeftContainer removes a container that may still use the data in the folder: the process that started it was killed, and its
// watcher too. No other server can know that the container is there.
func removeLeftContainer(ctx context.Context, o Options, named *folder) error {
	name, err := named.read("container")
	if err != nil || name == "" {
		return err
	}
	o.log("removing the container %s, if it is still there", name)
	if err := removeContainer(ctx, name); err != nil {
		return fmt.Errorf("the container %s may still use the data: start Docker, or delete the file %s if there is no such container: %w",
			name, named.file("container"), err)
	}
	return named.remove("container")
}
