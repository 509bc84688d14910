package app

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"elobot/internal/outbox"
)

const (
	// longestWindow is the longest time over which requests are counted.
	longestWindow = time.Hour
	// longestRequest bounds a request to Telegram, however long the lease is.
	longestRequest = 5 * time.Second
	// shortestRenewal keeps the database from being asked for nothing but the lease.
	shortestRenewal = 100 * time.Millisecond
)

// SendingConfig is how what has been committed is sent, and by which of several instances.
type SendingConfig struct {
	SendParallel      string `env:"SEND_PARALLEL" placeholder:"N" help:"How many requests to send may be under way at the same time (default: 32)."`
	SendLimitPrivate  string `env:"SEND_LIMIT_PRIVATE" placeholder:"LIMITS" help:"How much is sent to each private chat, as N/duration, several separated by commas, or off (default: 1/1s)."`
	SendLimitGroup    string `env:"SEND_LIMIT_GROUP" placeholder:"LIMITS" help:"How much is sent to each group (default: 20/1m,5/5s)."`
	SendLimitTotal    string `env:"SEND_LIMIT_TOTAL" placeholder:"LIMITS" help:"How much is sent in all (default: 30/1s)."`
	SendMerge         string `env:"SEND_MERGE" placeholder:"on|off" help:"Whether what waits in a chat is told in one message (default: on)."`
	SendMaxPerChat    string `env:"SEND_MAX_PER_CHAT" placeholder:"N" help:"How much may wait in a chat before the rest is told as a number (default: 1000)."`
	SendMaxTotal      string `env:"SEND_MAX_TOTAL" placeholder:"N" help:"How much may wait in all chats before those with much of it are cut (default: 100000)."`
	SendAttempts      string `env:"SEND_ATTEMPTS" placeholder:"N" help:"After how many failures of its own something is a dead letter (default: 8)."`
	SendFavouredChats string `env:"SEND_FAVOURED_CHATS" placeholder:"IDS" help:"Telegram's ids of chats that come before others, separated by commas (default: none)."`
	LeaseDuration     string `env:"LEASE_DURATION" placeholder:"DURATION" help:"For how long an instance that has vanished keeps others from taking over (default: 10s)."`
	LeaseRenewal      string `env:"LEASE_RENEWAL" placeholder:"DURATION" help:"How often the instance at work says that it is there (default: 3s)."`

	outbox outbox.Settings // what complete has read
	lease  leaseTimes
}

// leaseTimes are how long the right to be the instance at work lasts, and how often it is renewed.
type leaseTimes struct {
	duration, renewal time.Duration
}

// Resolve reads the settings and returns what is wrong with them.
func (c *SendingConfig) Resolve() []string {
	var r settingsReader
	c.outbox = outbox.Settings{
		Parallel: r.number("SEND_PARALLEL", c.SendParallel, 32, 1, 1000),
		Limits: outbox.Limits{
			Private: r.windows("SEND_LIMIT_PRIVATE", orDefault(c.SendLimitPrivate, "1/1s")),
			Group:   r.windows("SEND_LIMIT_GROUP", orDefault(c.SendLimitGroup, "20/1m,5/5s")),
			Total:   r.windows("SEND_LIMIT_TOTAL", orDefault(c.SendLimitTotal, "30/1s")),
		},
		Bounds:      outbox.Bounds{Merge: 64, Waiting: r.number("SEND_MAX_PER_CHAT", c.SendMaxPerChat, 1000, 10, 1_000_000)},
		MaxFailures: r.number("SEND_ATTEMPTS", c.SendAttempts, 8, 1, 100),
		Favoured:    r.chats("SEND_FAVOURED_CHATS", c.SendFavouredChats),
	}
	if !r.toggle("SEND_MERGE", orDefault(c.SendMerge, "on")) {
		c.outbox.Bounds.Merge = 1
	}
	c.outbox.WaitingTotal = r.number("SEND_MAX_TOTAL", c.SendMaxTotal, 100_000, 10, 1_000_000_000)
	if total := c.outbox.WaitingTotal; total > 0 && total < c.outbox.Bounds.Waiting {
		r.wrong("SEND_MAX_TOTAL must be at least SEND_MAX_PER_CHAT")
	}

	c.lease.duration = duration(orDefault(c.LeaseDuration, "10s"))
	if c.lease.duration < 500*time.Millisecond {
		r.wrong("LEASE_DURATION must be a time of at least 500ms, such as 10s")
	}
	c.lease.renewal = duration(orDefault(c.LeaseRenewal, "3s"))
	if c.lease.renewal < shortestRenewal || c.lease.duration > 0 && c.lease.renewal > c.lease.duration/5*2 {
		r.wrong("LEASE_RENEWAL must be a time from 100ms to two fifths of LEASE_DURATION, such as 3s for 10s")
	}
	c.outbox.SendTimeout = min(c.lease.duration/2, longestRequest)
	return r.faults
}

// outboxSettings returns how the dispatcher of a complete configuration works.
func (c *SendingConfig) outboxSettings() outbox.Settings { return c.outbox }

// leaseTimes returns those of a complete configuration.
func (c *SendingConfig) leaseTimes() leaseTimes { return c.lease }

// settingsReader reads what settings say, and collects a sentence for each that says nothing that it may say. The
// sentences do not repeat it: whatever was pasted there by mistake may be a secret.
type settingsReader struct {
	faults []string
}

func (r *settingsReader) wrong(sentence string) { r.faults = append(r.faults, sentence) }

// number returns a whole number in a range.
func (r *settingsReader) number(name, value string, fallback, low, high int) int {
	n, err := strconv.Atoi(orDefault(value, strconv.Itoa(fallback)))
	if err == nil && low <= n && n <= high {
		return n
	}
	r.wrong(fmt.Sprintf("%s must be a whole number from %d to %d", name, low, high))
	return 0
}

// toggle returns whether something is on.
func (r *settingsReader) toggle(name, value string) bool {
	if value != "on" && value != "off" {
		r.wrong(name + " must be on or off")
	}
	return value == "on"
}

// duration returns a time, 0 if it is none.
func duration(value string) time.Duration {
	d, err := time.ParseDuration(value)
	if err != nil {
		return 0
	}
	return d
}

// windows returns limits such as 20/1m,5/5s.
func (r *settingsReader) windows(name, value string) []outbox.Window {
	if value == "off" {
		return nil
	}
	var all []outbox.Window
	for part := range strings.SplitSeq(value, ",") {
		count, per, _ := strings.Cut(strings.TrimSpace(part), "/")
		n, err := strconv.Atoi(count)
		window := duration(per)
		if err != nil || n < 1 || window <= 0 || window > longestWindow {
			r.wrong(name + " must be limits as 20/1m, several of them separated by commas, or off for none: " +
				"a number of at least 1, and a time of at most 1h")
			return nil
		}
		all = append(all, outbox.Window{N: n, Per: window})
	}
	return all
}

// chats returns Telegram's ids of chats.
func (r *settingsReader) chats(name, value string) []int64 {
	if value == "" {
		return nil
	}
	var ids []int64
	for part := range strings.SplitSeq(value, ",") {
		id, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
		if err != nil || id == 0 {
			r.wrong(name + " must be Telegram's ids of chats, separated by commas, such as 123456789,-1001234567890")
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

// listenFault says what is wrong with LISTEN_ADDR, if anything is.
func listenFault(address string) string {
	if address == "" {
		return ""
	}
	_, port, err := net.SplitHostPort(address)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		return "LISTEN_ADDR must be a port with a colon, perhaps with an address in front of it, as :8080 or 127.0.0.1:8080, " +
			"and can be left out"
	}
	return ""
}
