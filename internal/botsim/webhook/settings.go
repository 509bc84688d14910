package webhook

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Settings are the parameters of setWebhook that stay in force.
type Settings struct {
	URL, Secret string
	Connections int // how many updates are delivered at a time
}

var ports = []string{"", "443", "80", "88", "8443"}

// Check returns an error, in Telegram's words, if Telegram does not accept the settings. It adds a missing scheme to the
// URL. Only a loopback address may use http or any port.
func (w *Settings) Check() error {
	if !strings.Contains(w.URL, "://") {
		w.URL = "https://" + w.URL
	}
	u, err := url.Parse(w.URL)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("invalid webhook URL specified")
	}
	ip, err := netip.ParseAddr(u.Hostname())
	switch {
	case u.Hostname() == "localhost", err == nil && ip.IsLoopback():
	case u.Scheme == "http":
		return errors.New("bad webhook: An HTTPS URL must be provided for webhook")
	case !slices.Contains(ports, u.Port()):
		return errors.New("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")
	}
	return nil
}
