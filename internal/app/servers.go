package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"elobot/internal/web"
)

// ServingConfig configures the HTTP servers of the bot.
type ServingConfig struct {
	ListenAddr     string `env:"LISTEN_ADDR" placeholder:"ADDRESS" help:"Public address to serve the webhook, the web boards and health checks at, such as :8080 or 127.0.0.1:8080 (default: nowhere)."`
	Port           string `env:"PORT" placeholder:"N" help:"Public port to serve them at if LISTEN_ADDR is not set (default: none)."`
	PublicURL      string `env:"PUBLIC_URL" placeholder:"URL" help:"Address at which browsers reach LISTEN_ADDR or PORT, such as https://elo.example.org; without it there are no web boards (default: none)."`
	TrustedProxies string `env:"TRUSTED_PROXIES" placeholder:"ADDRESSES" help:"Addresses or networks of the proxies in front of the bot, separated by commas, such as 127.0.0.1,10.0.0.0/8: they say where a request comes from (default: none)."`
	AdminAddr      string `env:"ADMIN_ADDR" placeholder:"ADDRESS" help:"Private address to serve the metrics and health checks at, such as 127.0.0.1:8081 (default: nowhere)."`
}

func (c ServingConfig) faults(webhookURL string) (faults []string) {
	for _, setting := range []struct{ name, address, example string }{
		{"LISTEN_ADDR", c.ListenAddr, "such as :8080 or 127.0.0.1:8080"},
		{"ADMIN_ADDR", c.AdminAddr, "such as 127.0.0.1:8081 or :8081"},
	} {
		if setting.address == "" {
			continue
		}
		_, port, err := net.SplitHostPort(setting.address)
		if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
			faults = append(faults,
				setting.name+" must be a colon and a port, optionally after an address, "+setting.example+", or not be set")
		}
	}
	if _, err := strconv.ParseUint(cmp.Or(c.Port, "1"), 10, 16); err != nil {
		faults = append(faults, "PORT must be a port number such as 8080, or not set")
	}
	if _, err := web.ReadProxies(c.TrustedProxies); err != nil {
		faults = append(faults,
			"TRUSTED_PROXIES must be addresses or networks, separated by commas, such as 127.0.0.1,10.0.0.0/8")
	}
	switch u := readAddress(c.PublicURL); {
	case c.PublicURL == "":
	case u == nil || strings.Trim(u.Path, "/") != "":
		faults = append(faults,
			"PUBLIC_URL must have only a scheme and a host, such as https://elo.example.org, or not be set")
	case c.publicAddr(webhookURL) == "":
		faults = append(faults, "PUBLIC_URL needs LISTEN_ADDR or PORT: that is where the bot serves it")
	}
	return faults
}

// servers holds the two servers of an instance: public is for Telegram, browsers and health checks,
// admin is for the operator.
type servers struct {
	public, admin *web.Server
}

// listen listens at the configured addresses and adds health checks and metrics, which work from
// the start. With a webhook, the public server does not listen yet: every client that can connect
// must get an answer, and the webhook has no handler yet.
func (c *Config) listen(ctx context.Context, ready *readiness, log *slog.Logger) (servers, error) {
	s := servers{public: web.New(log), admin: web.New(log)}
	s.public.Health(ready.check)
	if c.PublicURL != "" {
		s.public.ExpectBoard()
	}
	s.admin.Health(ready.check)
	s.admin.Metrics(ready.stats, s.public)
	err := listenError("ADMIN_ADDR", s.admin.Listen(ctx, c.AdminAddr))
	if err == nil && c.WebhookURL == "" {
		err = s.listenInPublic(ctx, c)
	}
	return s, err
}

func (s servers) listenInPublic(ctx context.Context, c *Config) error {
	return listenError("LISTEN_ADDR or PORT", s.public.Listen(ctx, c.publicAddr(c.WebhookURL)))
}

// errForbiddenPort means that the system does not let this user listen at the port.
var errForbiddenPort = errors.New("the user of the bot may not listen at this port: choose one from 1024 on")

// listenError explains why a server cannot listen at the address of a setting. It returns nil if
// err is nil.
func listenError(setting string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("serve at %s: %w (%w)", setting, errForbiddenPort, err)
	default:
		return fmt.Errorf("serve at %s: %w\nIs the port free, and the address one of this machine?", setting, err)
	}
}

// publicAddr returns the address at which the public server listens, or "" for none. If webhookURL
// is not empty, there is a default, because a webhook needs a public address.
func (c ServingConfig) publicAddr(webhookURL string) string {
	switch {
	case c.ListenAddr != "":
		return c.ListenAddr
	case c.Port != "":
		return net.JoinHostPort("", c.Port)
	case webhookURL != "":
		return ":8080"
	default:
		return ""
	}
}

// HealthURL returns the URL of the health check at path, such as web.ReadyPath, for a program on
// this machine. It returns a *ConfigError if the settings have faults, or if the bot serves no
// health checks.
func (c ServingConfig) HealthURL(webhookURL, path string) (string, error) {
	if faults := c.faults(webhookURL); len(faults) > 0 {
		return "", &ConfigError{faults}
	}
	address := cmp.Or(c.AdminAddr, c.publicAddr(webhookURL))
	if address == "" {
		return "", &ConfigError{
			[]string{"the bot serves no health checks: set ADMIN_ADDR, such as 127.0.0.1:8081, for elobot run and here"}}
	}
	host, port, _ := net.SplitHostPort(address) // faults has checked it
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port) + path, nil
}

// run serves until the context ends or a server fails. With a webhook it runs only the admin
// server, because the function serve runs the public server.
func (s servers) run(ctx context.Context, c *Config) error {
	serving, ctx := errgroup.WithContext(ctx)
	serving.Go(func() error { return s.admin.Run(ctx) })
	if c.WebhookURL == "" {
		serving.Go(func() error { return s.public.Run(ctx) })
	}
	return serving.Wait()
}

// close closes the servers that have not been run.
func (s servers) close() {
	s.public.Close()
	s.admin.Close()
}
