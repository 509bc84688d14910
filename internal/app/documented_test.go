package app

import (
	"cmp"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	gocmp "github.com/google/go-cmp/cmp"
)

type documented struct {
	flag, fallback string // fallback is the default
}

var (
	settingRow  = regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| `(--[a-z-]+)` \\| ([^|]+) \\| [^|]+ \\|$")
	helpDefault = regexp.MustCompile(`\(default: ([^)]+)\)\.$`)
	exampleLine = regexp.MustCompile(`(?m)^#?([A-Z_]+)=(.*)$`)
	composeLine = regexp.MustCompile(`(?m)^ {6}([A-Z_]+): (.*)$`)
	buildArg    = regexp.MustCompile(`(?m)^ARG ([A-Z_]+)=?$`)
)

func readPage(t *testing.T, path string) string {
	t.Helper()
	page, err := os.ReadFile("../../" + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// realSettings returns the settings of elobot run, with the defaults in its help.
func realSettings(t *testing.T) map[string]documented {
	t.Helper()
	parser, err := kong.New(&Config{})
	if err != nil {
		t.Fatal(err)
	}
	settings := make(map[string]documented)
	for _, flag := range parser.Model.Flags {
		if flag.Name == "help" {
			continue
		}
		if len(flag.Envs) != 1 {
			t.Fatalf("--%s has the variables %v, want one", flag.Name, flag.Envs)
		}
		fallback := "needed"
		if m := helpDefault.FindStringSubmatch(flag.Help); m != nil {
			fallback = m[1]
		}
		settings[flag.Envs[0]] = documented{"--" + flag.Name, fallback}
	}
	return settings
}

// TestSettingsDocumented checks that docs/configuration.md documents all settings and no others,
// with their flags and real defaults.
func TestSettingsDocumented(t *testing.T) {
	t.Parallel()
	page := make(map[string]documented)
	for _, m := range settingRow.FindAllStringSubmatch(readPage(t, "docs/configuration.md"), -1) {
		name, flag, fallback := m[1], m[2], m[3]
		page[name] = documented{flag, strings.Trim(fallback, "`")}
		if !strings.HasPrefix(fallback, "`") {
			continue // a word such as none, not a value
		}
		implicit, err := configured(t)
		if err != nil {
			t.Fatal(err)
		}
		explicit, err := configured(t, flag+"="+strings.Trim(fallback, "`"))
		if err != nil {
			t.Errorf("the default of %s cannot be set: %v", name, err)
			continue
		}
		if diff := gocmp.Diff(meaningOf(implicit), meaningOf(explicit)); diff != "" {
			t.Errorf("%s is not the default of %s (-default +documented):\n%s", fallback, name, diff)
		}
	}
	if diff := gocmp.Diff(realSettings(t), page, gocmp.AllowUnexported(documented{})); diff != "" {
		t.Errorf("docs/configuration.md differs (-real +documented):\n%s", diff)
	}
}

// meaningOf returns the effective values of a resolved configuration, except for ASK_UNUSUAL and
// BOARD_INTERVAL.
func meaningOf(c *Config) []any {
	return []any{sendingOf(c), c.Token, c.DatabaseURL, cmp.Or(c.DataDir, dataDir), c.TelegramURL,
		c.UndoWindow, c.LogLevel, c.LogFormat,
		c.ServingConfig, c.WebhookConfig, c.resultLimit}
}

// TestSettingsInFiles checks that .env.example lists all settings with their real defaults, and
// that the Compose file passes them to the bot: a setting in .env that Compose does not pass on has
// no effect. DATA_DIR and DATABASE_URL are exceptions, because the Compose project has its own
// database server.
func TestSettingsInFiles(t *testing.T) {
	t.Parallel()
	want := make(map[string]string)
	for name, setting := range realSettings(t) {
		switch setting.fallback {
		case "needed", "none", "nowhere":
			want[name] = ""
		default:
			want[name] = setting.fallback
		}
	}
	example := make(map[string]string)
	for _, m := range exampleLine.FindAllStringSubmatch(readPage(t, ".env.example"), -1) {
		example[m[1]] = m[2]
	}
	delete(example, "IMAGE") // for Compose alone
	if diff := gocmp.Diff(want, example); diff != "" {
		t.Errorf(".env.example differs (-default +example):\n%s", diff)
	}

	compose := readPage(t, "compose.yaml")
	_, compose, found := strings.Cut(compose, "\n  bot:\n")
	if !found {
		t.Fatal("compose.yaml has no service named bot")
	}
	handedOn := make(map[string]string)
	for _, m := range composeLine.FindAllStringSubmatch(compose, -1) {
		name, value := m[1], m[2]
		switch {
		case name == "DATABASE_URL": // the Compose project's own database
		case name == "ADMIN_ADDR" && value == "${ADMIN_ADDR:-127.0.0.1:8081}": // as in the image
		case name == "TELEGRAM_BOT_TOKEN" && strings.HasPrefix(value, "${TELEGRAM_BOT_TOKEN:?"):
		case value == "${"+name+":-}" || value == "${"+name+":-"+want[name]+"}":
		default:
			t.Errorf("compose.yaml has %s: %s", name, value)
		}
		handedOn[name] = value
	}
	delete(want, "DATA_DIR") // the Compose project has its own server
	for name := range want {
		if _, ok := handedOn[name]; !ok {
			t.Errorf("compose.yaml does not pass on %s", name)
		}
	}
}

// TestProxiesPassedOn checks that Compose passes on each proxy variable that is set, under each
// name that net/http reads. compose.yaml gives none of them a value, because an empty value would
// override the proxy from Docker's own configuration.
func TestProxiesPassedOn(t *testing.T) {
	t.Parallel()
	_, compose, _ := strings.Cut(readPage(t, "compose.yaml"), "\n  bot:\n")
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"} {
		for _, name := range []string{name, strings.ToLower(name)} {
			if !strings.Contains(compose, "\n      "+name+":\n") {
				t.Errorf("compose.yaml does not pass on %s", name)
			}
		}
	}
}

// TestBuildArguments checks that compose.override.yaml passes on all build arguments of the
// Dockerfile.
func TestBuildArguments(t *testing.T) {
	t.Parallel()
	compose := readPage(t, "compose.override.yaml")
	args := buildArg.FindAllStringSubmatch(readPage(t, "Dockerfile"), -1)
	if len(args) != 5 {
		t.Errorf("the Dockerfile has the arguments %q, want GOPROXY, and VERSION and SOURCE twice", args)
	}
	for _, arg := range args {
		if name := arg[1]; !strings.Contains(compose, "\n        "+name+":") {
			t.Errorf("compose.override.yaml does not pass on %s", name)
		}
	}
}

// TestIgnoredByGit checks that Git ignores files with a token, and files that the docs' commands
// write in a clone.
func TestIgnoredByGit(t *testing.T) {
	t.Parallel()
	ignored := strings.Split(readPage(t, ".gitignore"), "\n")
	for _, name := range []string{".env", dataDir, "elobot.dump"} {
		if !slices.Contains(ignored, name) {
			t.Errorf(".gitignore lacks %s", name)
		}
	}
}
