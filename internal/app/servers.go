package app

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"

	"elobot/internal/intake"
	"elobot/internal/telegram"
	"elobot/internal/web"
)

// ServingConfig says where the bot serves HTTP.
type ServingConfig struct {
	ListenAddr string `env:"LISTEN_ADDR" placeholder:"ADDRESS" help:"Public address to serve the webhook and health checks at, such as :8080 or 127.0.0.1:8080 (default: nowhere)."`
	Port       string `env:"PORT" placeholder:"N" help:"Public port to serve the webhook and health checks at if LISTEN_ADDR is not set (default: none)."`
	AdminAddr  string `env:"ADMIN_ADDR" placeholder:"ADDRESS" help:"Private address to serve the metrics and health checks at, such as 127.0.0.1:8081 (default: nowhere)."`
}

// faults returns the faults of the addresses.
func (c ServingConfig) faults() (faults []string) {
	for _, setting := range []struct{ name, address, example string }{
		{"LISTEN_ADDR", c.ListenAddr, "such as :8080 or 127.0.0.1:8080"}, {"ADMIN_ADDR", c.AdminAddr, "such as 127.0.0.1:8081 or :8081"},
	} {
		if setting.address == "" {
			continue
		}
		_, port, err := net.SplitHostPort(setting.address)
		if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
			faults = append(faults, setting.name+" must be a colon and a port, optionally after an address, "+setting.example+", or not be set")
		}
	}
	if _, err := strconv.ParseUint(orDefault(c.Port, "1"), 10, 16); err != nil {
		faults = append(faults, "PORT must be a port number such as 8080, or not set")
	}
	return faults
}

// servers are the servers of an instance: one that anybody may reach, and one for operators.
type servers struct {
	public, admin *web.Server
}

// listen listens at the configured addresses.
func (c *Config) listen(ctx context.Context, log *slog.Logger) (s servers, err error) {
	const hint = "%s: %w\nIs the port free, and the address one of this machine?"
	if s.public, err = web.Listen(ctx, c.publicAddr(c.WebhookURL), log); err != nil {
		return s, fmt.Errorf(hint, "serve at LISTEN_ADDR or PORT", err)
	}
	if s.admin, err = web.Listen(ctx, c.AdminAddr, log); err != nil {
		s.public.Close()
		return s, fmt.Errorf(hint, "serve at ADMIN_ADDR", err)
	}
	return s, nil
}

// publicAddr returns the public address, empty for none. A webhook needs one.
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

// HealthURL returns the URL of a health check, such as web.ReadyPath, for this machine. It returns a *ConfigError if nothing is
// served.
func (c ServingConfig) HealthURL(webhookURL, path string) (string, error) {
	if faults := c.faults(); len(faults) > 0 {
		return "", &ConfigError{faults}
	}
	address := orDefault(c.AdminAddr, c.publicAddr(webhookURL))
	if address == "" {
		return "", &ConfigError{[]string{"the bot serves no health checks: set ADMIN_ADDR, such as 127.0.0.1:8081, for elobot run and here"}}
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("read the address: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port) + path, nil
}

// add adds what an instance serves: health checks on both servers, the webhook on the public one, and the metrics on the other.
func (s servers) add(b *instance, c Config, ready func(context.Context) web.Readiness) error {
	s.public.Health(ready)
	s.admin.Health(ready)
	s.admin.Metrics(b.dispatcher.Stats, s.public)
	if b.polls {
		return nil
	}
	path, err := c.webhookPath()
	if err != nil {
		return err
	}
	s.public.Webhook(path, intake.NewWebhook(c.WebhookSecret, telegram.ReadUpdate, b.withoutLease.worker))
	return nil
}

// close closes servers that were not run.
func (s servers) close() {
	s.public.Close()
	s.admin.Close()
}
