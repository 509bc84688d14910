package markup

import (
	"net/url"
	"strings"
)

// ValidURL reports whether Telegram accepts an address as a link: a host with a dot, or one of Telegram's own schemes.
func ValidURL(address string) bool {
	if strings.HasPrefix(address, "tg://") || strings.HasPrefix(address, "ton://") {
		return true
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "tonsite" {
		return false
	}
	return strings.Contains(strings.Trim(u.Hostname(), "."), ".")
}

// HasScheme reports whether an address is written out in full, such as https://example.org.
func HasScheme(address string) bool { return schemePattern.MatchString(address) }
