package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/outbox"
	"elobot/internal/pgtemp"
	"elobot/internal/postgres"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/ranking"
	"elobot/internal/telegram"
	"elobot/migrations"
)

const (
	// doctorPatience limits each step of examining the database.
	doctorPatience = 5 * time.Second
	// longBacklog is how long a notice may wait before that counts as a problem, unless its chat is
	// frozen or parked, or only a newer release can send it.
	longBacklog = 5 * time.Minute
	// oldestPostgres is the oldest major version of PostgreSQL that the bot supports.
	oldestPostgres = 15
	// clockTolerance is how far another clock may differ from this machine's clock.
	clockTolerance = 30 * time.Second
	// deliveryTrouble is how long a failed delivery to the webhook counts as a problem.
	deliveryTrouble = time.Hour
)

// Finding is the result of examining one thing. Text states a fact if OK is set. Otherwise it says
// what is wrong, and usually what to do.
type Finding struct {
	About string
	OK    bool
	Text  string // one line
}

// doctor examines the environment of a bot.
type doctor struct {
	config *Config
	report func(Finding)
	self   telegram.Self // zero if unknown
	clocks []aheadClock  // the clocks that could be read
}

// aheadClock is a clock, and how far it is ahead of this machine's clock. ahead is negative if the
// clock is behind.
type aheadClock struct {
	name  string
	ahead time.Duration
}

// Examine resolves the configuration, examines everything that the bot needs, and reports each
// finding until ctx ends. It may start the bot's own PostgreSQL for the examination, but changes
// nothing else outside this process.
func (c *Config) Examine(ctx context.Context, report func(Finding)) {
	d := doctor{config: c}
	d.report = func(f Finding) {
		if ctx.Err() == nil { // the findings of a canceled examination are not about the bot
			report(f)
		}
	}
	d.settings()
	d.timeZones("/usr/share/zoneinfo")
	d.telegram(ctx)
	d.database(ctx)
}

func (d *doctor) well(about, format string, args ...any) {
	d.report(Finding{about, true, fmt.Sprintf(format, args...)})
}

func (d *doctor) wrong(about, format string, args ...any) {
	d.report(Finding{about, false, fmt.Sprintf(format, args...)})
}

// failed reports an error, which may have several lines, as one line.
func (d *doctor) failed(about string, err error) {
	d.wrong(about, "%s", strings.NewReplacer(":\n\t", ": ", "\n\t", "; ", "\n", ". ").Replace(err.Error()))
}

func (d *doctor) settings() {
	var invalid *ConfigError
	switch err := d.config.Resolve(); {
	case errors.As(err, &invalid):
		for _, fault := range invalid.Faults {
			d.wrong("settings", "%s", fault)
		}
	case err != nil:
		d.failed("settings", err)
	default:
		text := "valid"
		if unknown := d.config.Sources.unknown; len(unknown) > 0 {
			text += fmt.Sprintf("; in %s, these are no settings and have no effect: %s",
				d.config.Sources.path, strings.Join(unknown, ", "))
		}
		d.well("settings", "%s", text)
		for _, hint := range d.config.Sources.hints {
			d.wrong("settings", "%s", hint)
		}
	}
}

// timeZones adds a finding if the machine's zone files, in dir, are newer than the zone files of
// this release.
func (d *doctor) timeZones(dir string) {
	for _, name := range []string{"tzdata.zi", "+VERSION"} { // +VERSION on macOS
		text, err := os.ReadFile(filepath.Join(dir, name))
		line, _, _ := strings.Cut(string(text), "\n")
		own, edition := ranking.TimeZoneEdition(), regexp.MustCompile(`\b[0-9]{4}[a-z]+\b`).FindString(line)
		if err == nil && edition > own {
			d.well("time zones", "this release has edition %s, and the machine has %s, so that days may begin at the "+
				"wrong time where clocks have new rules: is there a newer release?", own, edition)
			return
		}
	}
}

func (d *doctor) telegram(ctx context.Context) {
	if len(d.config.TelegramConfig.Resolve()) > 0 {
		return // reported by settings
	}
	d.proxy()
	err := d.config.WithClient(ctx, nil, func(ctx context.Context, client *telegram.Client) error {
		self, err := client.GetMe(ctx)
		if err != nil {
			return err
		}
		d.self = self
		d.account()
		d.updates(ctx, client)
		if now, known := client.Clock(); known {
			d.clocks = append(d.clocks, aheadClock{"Telegram", time.Until(now)})
		}
		return nil
	})
	switch {
	case err == nil:
	case errors.Is(err, telegram.ErrTokenRefused):
		d.failed("token", err)
	default:
		d.failed("Telegram", err)
	}
}

// proxy reports how requests reach the Bot API, without the proxy's user and password.
func (d *doctor) proxy() {
	api := readAddress(d.config.TelegramURL)
	switch proxy, err := http.ProxyFromEnvironment(&http.Request{URL: api}); {
	case err != nil:
		d.failed("proxy", err)
	case proxy == nil:
		scheme := strings.ToUpper(api.Scheme)
		d.well("proxy", "none: by %s_PROXY and NO_PROXY, requests to %s are direct", scheme, api.Host)
	case isProxy(proxy.String()): // otherwise, settings reports it
		d.well("proxy", "%s://%s, for requests to %s", proxy.Scheme, proxy.Host, api.Host)
	}
}

func (d *doctor) account() {
	d.well("token", "it is that of @%s (%d)", d.self.Username, d.self.ID)
	if d.self.JoinsGroups {
		d.well("groups", "anybody may add the bot: %s", d.self.AddToGroupLink())
	} else {
		d.wrong("groups", "nobody can add the bot to a group: send /setjoingroups to @BotFather, and choose Enable")
	}
	if d.self.ReadsAll {
		d.well("privacy mode", "off: the bot receives all messages of its groups, and stores only those meant for it")
	} else {
		d.well("privacy mode", "on: the bot receives commands and replies to its messages, which is all it needs. "+
			"If other bots are in the group, write /match@%s, or make this bot an admin", d.self.Username)
	}
}

func (d *doctor) updates(ctx context.Context, client *telegram.Client) {
	if state, err := client.Webhook(ctx, d.config.Webhook()); err != nil {
		d.failed("updates", err)
	} else {
		d.deliveries(state, client.Now())
	}
}

// deliveries reports how updates arrive. now is Telegram's time.
func (d *doctor) deliveries(state telegram.WebhookState, now time.Time) {
	polls := d.config.WebhookURL == ""
	waiting, host := fmt.Sprintf("%d waiting at Telegram", state.Pending), hostOf(state.URL)
	if state.LastError != "" {
		waiting += fmt.Sprintf(", last error %q at %s", state.LastError, state.LastErrorAt.Format(time.RFC3339))
	}
	switch {
	case polls && state.URL != "":
		d.wrong("updates",
			"Telegram delivers them to %s, so that the bot cannot poll: run `elobot webhook delete`, or set WEBHOOK_URL (%s)",
			host, waiting)
	case polls:
		d.well("updates", "by polling, %s", waiting)
	case len(state.Differences) > 0:
		d.wrong("updates", "the webhook at Telegram differs in %s: `elobot run` or `elobot webhook set` corrects it (%s)",
			strings.Join(state.Differences, ", "), waiting)
	case state.LastError != "" && state.Pending > 0 && now.Sub(state.LastErrorAt) < deliveryTrouble:
		d.wrong("updates", "Telegram cannot deliver them to %s: %s. "+
			"Is that address reachable from the internet, and does the bot run?", host, waiting)
	default:
		d.well("updates", "by webhook at %s, %s", host, waiting)
	}
}

// hostOf returns the host of a webhook's URL, or a substitute for it if the URL is invalid. The
// rest of the URL may be a secret.
func hostOf(webhook string) string {
	u, err := url.Parse(webhook)
	if err != nil {
		return "another address"
	}
	return u.Host
}

func (d *doctor) database(ctx context.Context) {
	c := d.config.DatabaseConfig
	if len(c.Faults()) > 0 {
		return // reported by settings
	}
	var err error
	if c.own() {
		if dir, _, err := c.ownDir(); err == nil && !pgtemp.HasData(dir) {
			d.well("database", "none yet: `elobot run` makes its own in %s", absolute(dir))
			d.compareClocks()
			return
		}
		err = c.WithOwn(ctx, func(address, _ string) error { return d.checkDatabase(ctx, address) })
	} else {
		err = d.checkDatabase(ctx, c.DatabaseURL)
	}
	if err != nil {
		d.failed("database", err)
		d.compareClocks()
	}
}

// checkDatabase reports on the server at an address and the bot's tables there. It returns an error
// if it cannot ask the server.
func (d *doctor) checkDatabase(ctx context.Context, address string) error {
	pool, err := postgres.Open(ctx, address, doctorPatience, slog.New(slog.DiscardHandler))
	if err != nil {
		return d.config.withHint(err)
	}
	defer postgres.Close(pool)
	f, err := patiently(ctx,
		func(ctx context.Context) (postgres.ServerFacts, error) { return postgres.ExamineServer(ctx, pool) })
	if err != nil {
		return err
	}
	config := pool.Config().ConnConfig
	d.server(f, postgres.Address(config))
	if postgres.AsksTwice(config) {
		d.wrong("sslmode",
			"undecided: of the hosts in DATABASE_URL, each connection asks a standby twice, the second time unencrypted, "+
				"even if TLS works. Add sslmode=verify-full, or sslmode=disable if the servers have no TLS")
	}
	d.schema(ctx, pool)
	return nil
}

// patiently runs one step of examining the database, for at most doctorPatience. The database may
// accept connections but not answer.
func patiently[T any](ctx context.Context, step func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	result, err := step(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && err != nil {
		err = fmt.Errorf("no answer within %s: %w", doctorPatience, err)
	}
	return result, err
}

func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// server reports on the server, the connection to it, the role's rights, and the clocks. name
// identifies the server in the reports.
func (d *doctor) server(f postgres.ServerFacts, name string) {
	d.clocks = append(d.clocks, aheadClock{"database", time.Until(f.Now)})
	switch {
	case f.Major < oldestPostgres:
		d.wrong("database", "PostgreSQL %s at %s is too old: upgrade it to %d or newer", f.Version, name, oldestPostgres)
	case f.ReadOnly:
		d.wrong("database",
			"PostgreSQL %s at %s accepts no writes: is it a standby? DATABASE_URL may name several hosts", f.Version, name)
	default:
		d.well("database", "PostgreSQL %s at %s", f.Version, name)
	}
	switch {
	case f.Exposed:
		d.wrong("encryption", "none: others can read and change what the bot and the database tell each other. "+
			"Add sslmode=verify-full to DATABASE_URL")
	case f.TLS != "":
		d.well("encryption", "%s", f.TLS)
	default:
		d.well("encryption",
			"none, which is fine: the connection stays on this machine, or in a private network of containers")
	}
	switch {
	case !f.MayCreate:
		d.wrong("rights",
			"the role may not create tables, which the first start and upgrades need: make it the owner of the database")
	case !f.Owns:
		d.wrong("rights", "the role does not own the bot's tables, which upgrades change: make it their owner")
	default:
		d.well("rights", "the role may create, read and write tables")
	}
	if f.Collation != f.ActualCollation {
		d.wrong("collation",
			"the database sorts by version %s of its language's rules, and the server has %s, so that names may not be found. "+
				"Run REINDEX DATABASE %[3]s; and then ALTER DATABASE %[3]s REFRESH COLLATION VERSION;",
			f.Collation, cmp.Or(f.ActualCollation, "none"), pgx.Identifier{f.Database}.Sanitize())
	}
	if f.Asynchronous > 0 {
		d.well("replication",
			"asynchronous (standbys: %d), so that a failover may lose the last results. To prevent that, make a standby "+
				"synchronous with synchronous_standby_names", f.Asynchronous)
	}
	d.compareClocks()
}

// schema reports on the bot's tables and their contents.
func (d *doctor) schema(ctx context.Context, pool *pgxpool.Pool) {
	_, err := patiently(ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, postgres.CheckSchema(ctx, pool, migrations.FS)
	})
	switch {
	case errors.Is(err, postgres.ErrNoSchema):
		d.well("schema", "none yet: `elobot run` creates its tables")
		return
	case err != nil:
		d.failed("schema", err)
		return
	}
	d.well("schema", "that of this release")
	f, err := patiently(ctx,
		func(ctx context.Context) (postgres.WorkFacts, error) { return postgres.ExamineWork(ctx, pool) })
	if err != nil {
		d.failed("schema", err)
		return
	}
	d.owner(f)
	d.lease(f)
	if f.Oldest > longBacklog {
		d.wrong("backlog",
			"%s, the oldest for %s: is the bot running, and can it reach Telegram? Its log says why they are not sent",
			notices(f.Waiting), f.Oldest.Round(time.Second))
	} else {
		d.well("backlog", "%s, and %d more for chats that are closed or limited", notices(f.Waiting), f.HeldBack)
	}
	d.detached(ctx, pool)
	d.abandoned(ctx, pool)
	if f.DeadLetters > 0 {
		d.wrong("dead letters", "%d: `elobot dead list` shows why they failed", f.DeadLetters)
	} else {
		d.well("dead letters", "none")
	}
}

func (d *doctor) detached(ctx context.Context, pool *pgxpool.Pool) {
	groups, err := patiently(ctx, func(ctx context.Context) ([]ranking.DetachedGroup, error) {
		return pgranking.NewStore(pool, func(outbox.Lane) {}).DetachedGroups(ctx, 0)
	})
	if err != nil {
		d.failed("old rankings", err)
	}
	for _, g := range groups {
		d.well("old rankings", "%s has no chat, and %d of its matches are kept: another group has the chat", g, g.Matches)
	}
}

// abandoned proposes to delete the groups that removed the bot long ago.
func (d *doctor) abandoned(ctx context.Context, pool *pgxpool.Pool) {
	groups, err := patiently(ctx, pgranking.NewStore(pool, func(outbox.Lane) {}).Abandoned)
	switch {
	case err != nil:
		d.failed("old groups", err)
	case len(groups) > 0:
		d.well("old groups",
			"%d removed the bot a year ago or earlier, such as %d: `elobot forget --group=%[2]d` deletes one",
			len(groups), groups[0])
	}
}

func notices(n int) string {
	if n == 1 {
		return "1 notice waits"
	}
	return fmt.Sprintf("%d notices wait", n)
}

func (d *doctor) owner(f postgres.WorkFacts) {
	switch {
	case f.Owner == 0 || d.self.ID == 0:
	case int64(f.Owner) == d.self.ID:
		d.well("owner", "the database belongs to @%s", d.self.Username)
	default:
		d.failed("owner", &otherBotError{f.Owner, d.self})
	}
}

func (d *doctor) lease(f postgres.WorkFacts) {
	switch {
	case f.Leader == "":
		d.well("lease", "free: no bot is running on this database")
	case f.LeaseEnds > 0:
		d.well("lease", "%s leads", f.Leader)
	default:
		d.wrong("lease",
			"no bot is running on this database: %s ended without a clean stop %s ago. Start it, and look at the end of its log",
			f.Leader, (-f.LeaseEnds).Round(time.Second))
	}
}

// compareClocks reports how far each clock that could be read is ahead of this machine's clock.
func (d *doctor) compareClocks() {
	var differ, agree []string
	for _, c := range d.clocks {
		text := fmt.Sprintf("%s %+.0f s", c.name, math.Round(c.ahead.Seconds())+0) // not −0
		if c.ahead.Abs() > clockTolerance {
			differ = append(differ, text)
		} else {
			agree = append(agree, text)
		}
	}
	switch {
	case len(differ) > 0:
		d.wrong("clocks", "ahead of this machine: %s. Synchronize the clocks, for example with NTP",
			strings.Join(append(differ, agree...), ", "))
	case len(agree) > 0:
		d.well("clocks", "ahead of this machine: %s", strings.Join(agree, ", "))
	}
}
