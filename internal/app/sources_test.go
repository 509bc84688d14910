package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// parsed parses the command line of elobot run with an environment and a file. Sentences in the
// result call the file .env.
func parsed(t *testing.T, content string, environ ...string) (*Config, *Sources) {
	t.Helper()
	path := filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	s := ReadSources(path, environ)
	c := parseWith(t, s)
	for _, sentences := range [][]string{s.faults, s.hints, s.tokens} {
		for i := range sentences {
			sentences[i] = strings.ReplaceAll(sentences[i], path, ".env")
		}
	}
	return c, s
}

func parseWith(t *testing.T, s *Sources) *Config {
	t.Helper()
	c := new(Config)
	parser, err := kong.New(c, kong.Resolvers(s))
	if err == nil {
		_, err = parser.Parse([]string{"--log-format=json"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestDotenv checks that the values of a file apply unless a flag overrides them. The file may be
// missing, but a folder in its place is a fault.
func TestDotenv(t *testing.T) {
	t.Parallel()
	c, s := parsed(t,
		"\ufeff# mine\r\n\r\nTELEGRAM_BOT_TOKEN=123:hush\r\nexport LOG_LEVEL = 'warn' # loud\nLOG_FORMAT=text\nSECRET=hush\n"+
			`DATABASE_URL="postgres://elobot:${SECRET}@db/elobot"`)
	if c.Token != "123:hush" || c.LogFormat != "json" || c.LogLevel != "warn" ||
		c.DatabaseURL != "postgres://elobot:hush@db/elobot" || s.Check() != nil {
		t.Errorf("read %q, %q, %q and %q, %v", c.Token, c.LogFormat, c.LogLevel, c.DatabaseURL, s.Check())
	}
	none := ReadSources(filepath.Join(t.TempDir(), ".env"), nil)
	parseWith(t, none)
	if err := none.Check(); err != nil {
		t.Errorf("without a file: %v", err)
	}
	folder := ReadSources(t.TempDir(), nil)
	parseWith(t, folder)
	if err := folder.Check(); err == nil || !strings.Contains(err.Error(), "exists but cannot be opened") {
		t.Errorf("a folder: %v", err)
	}
}

// TestUnreadableLines checks that each line that is not NAME=value is reported by its line number
// and not quoted. The other lines apply.
func TestUnreadableLines(t *testing.T) {
	t.Parallel()
	for content, lines := range map[string]string{
		"TELEGRAM_BOT_TOKEN 4242\nLOG_LEVEL=warn\nhush": "1 and line 3", "LOG_LEVEL=warn\nTELEGRAM_BOT_TOKEN 123:hush\n": "2",
		"LOG_LEVEL=warn\n\nTELEGRAM_BOT_TOKEN='hush\n# '": "3", "LOG_LEVEL='warn' HUSH=hush\n=hush\nLOG_LEVEL=warn": "1 and line 2",
		"LOG_LEVEL=warn\nDATABASE_URL=postgres://elobot:hu\nsh@host/db?sslmode=require": "3", "hush-hush=1\nLOG_LEVEL=warn": "1",
		"\xff\xfeh\x00u\x00s\x00h\x00\nLOG_LEVEL=warn": "1",
	} {
		c, s := parsed(t, content)
		want := []string{".env cannot be read as settings in line " + lines +
			": each line must be NAME=value, or a comment that begins with #"}
		if diff := cmp.Diff(want, s.faults); diff != "" || c.LogLevel != "warn" {
			t.Errorf("%q: LOG_LEVEL is %q (-want +got):\n%s", content, c.LogLevel, diff)
		}
	}
}

// TestMisspelledSettings checks that a name counts as a misspelled setting if at most two
// characters are wrong, or one if the setting has fewer than eight characters. A setting's name in
// the wrong case also counts as misspelled. The name of a well-known program's variable never does.
func TestMisspelledSettings(t *testing.T) {
	t.Parallel()
	for name, meant := range map[string]string{
		"DATABSE_URL": "DATABASE_URL", "DATABASE_ULR": "DATABASE_URL", "DATABASEURL": "DATABASE_URL", "DATTABASES_URL": "DATABASE_URL",
		"DATABASE_urL": "DATABASE_URL", "ATABASE_UR": "DATABASE_URL", "TELEGRAM_BOT_TOKN": "TELEGRAM_BOT_TOKEN",
		"DATADIR": "DATA_DIR", "DATE_DIRS": "DATA_DIR", "LOGLEVEL": "LOG_LEVEL", "LISTENADDR": "LISTEN_ADDR",
		"database_url": "DATABASE_URL", "Telegram_Bot_Tokn": "TELEGRAM_BOT_TOKEN", "port": "PORT",
		"PROT": "PORT", "PRT": "PORT", "PORTT": "PORT", "POTR": "PORT",

		"ATABASE_U": "", "DATABASE_URL_OLD": "", "DATABASE_SSL": "", "http_proxy": "", "TELEGRAM_TOKEN": "", "DATA_DISC2": "", "PROTT": "", "PO": "", "SPORTS": "",
		"PORTS": "", "PORT0": "", "PORT9": "", "DATABASE_URI": "", "PGPORT": "", "PGHOST": "", "DB_PORT": "", "LISTEN_FDS": "", "LISTEN_PID": "",
		"XDG_DATA_DIRS": "", "TEST_DATABASE_URL": "", "SHADOW_DATABASE_URL": "", "TELEGRAM_API_ID": "", "POSTGRES_URL": "", "PATH": "", "HOME": "",
		"DATABASE_URL": "", "PORT": "",
	} {
		var inFile, inEnvironment []string
		if meant != "" {
			inFile = []string{name + " in .env is not a setting, but nearly " + meant + ": correct the name, or remove the line"}
			inEnvironment = []string{name + " in the environment is not a setting, but nearly " + meant +
				": correct the name, or unset it"}
		}
		_, s := parsed(t, name+"=hush")
		if diff := cmp.Diff(inFile, s.faults); diff != "" {
			t.Errorf("%s in the file (-want +got):\n%s", name, diff)
		}
		_, s = parsed(t, "", name+"=hush", "HOME=/root")
		if diff := cmp.Diff(inEnvironment, s.faults); diff != "" || s.unknown != nil {
			t.Errorf("%s in the environment, unknown %v (-want +got):\n%s", name, s.unknown, diff)
		}
	}
}

// TestDollars checks that a $ in a setting is reported unless all programs that read the file keep
// it. They keep a $ in single quotes, except that Compose v1 expands ${NAME} even there.
func TestDollars(t *testing.T) {
	t.Parallel()
	for line, ambiguous := range map[string]bool{
		`LOG_LEVEL=${HUSH:-hush}`: true, `LOG_LEVEL=hu$$sh`: true, `LOG_LEVEL=hush$`: true, `LOG_LEVEL=$HUSH # '$HUSH'`: true,
		`LOG_LEVEL="hu$sh"`: true, `LOG_LEVEL="hu\$sh"`: true, `LOG_LEVEL="'hu$sh'"`: true, `LOG_LEVEL='hu${X}sh'`: true,
		`export LOG_LEVEL = "$HUSH" # mine`: true, `LOG_LEVEL: $HUSH`: true,

		`LOG_LEVEL='hu$sh'`: false, `LOG_LEVEL = 'hu$$sh' # mine`: false, `LOG_LEVEL='hush' # $5`: false, `LOG_LEVEL=hush # $5`: false,
		`LOG_LEVEL=hu%24sh`: false, `# LOG_LEVEL=$HUSH`: false, `COMPOSE_PROJECT_NAME=$HUSH`: false,
	} {
		var want []string
		if ambiguous {
			want = []string{"LOG_LEVEL in line 2 of .env has a $, which Compose and systemd may read differently: " +
				"write the value itself, as LOG_LEVEL='…' in single quotes, with %24 for each $ of an address"}
		}
		if _, s := parsed(t, "\n"+line); s.faults != nil || !cmp.Equal(want, s.hints) {
			t.Errorf("%s: faults %v, hints %q", line, s.faults, s.hints)
		}
	}
}

// TestOtherNamesOfTheToken checks that, without a token, names that other bots use for their token
// are reported. With a token, these names are not faults.
func TestOtherNamesOfTheToken(t *testing.T) {
	t.Parallel()
	for name, similar := range map[string]bool{
		"TELEGRAM_TOKEN": true, "BOT_TOKEN": true, "TOKEN": true, "TG_BOT_TOKEN": true, "TELEGRAM_APITOKEN": true, "TELEGRAM_BOT_API_TOKEN": true,
		"GITHUB_TOKEN": false, "SLACK_BOT_TOKEN": false, "TOKENS": false, "TELEGRAM_BOT_TOKEN": false,
	} {
		for place, sources := range map[string][]string{".env": {name + "=", ""}, "the environment": {"", name + "=hush"}} {
			hint := name + " in " + place + " is not a setting: if it is the bot's token, rename it to TELEGRAM_BOT_TOKEN"
			c, s := parsed(t, sources[0], sources[1])
			s.environ, c.Sources = nil, *s
			for _, token := range []string{"", "123:abcdefghijklmnopqrstuvwxyz"} {
				c.Token = token
				err := c.Resolve()
				if told := err != nil && strings.Contains(err.Error(), hint); told != (similar && token == "") ||
					(err == nil) != (token != "") {
					t.Errorf("%s in %s, with the token %q: %v", name, place, token, err)
				}
			}
		}
	}
}

// TestProxies checks that a proxy is reported if net/http cannot use it, if its address has a path,
// or if only ALL_PROXY names it. The report names the variable and does not quote the value.
func TestProxies(t *testing.T) {
	t.Parallel()
	const noAddress = " is not the address of a proxy, such as http://proxy.example.org:3128"
	const badPassword = "HTTPS_PROXY is not the address of a proxy: " +
		"write :, /, ?, # and @ in its user and password as %3A, %2F, %3F, %23 and %40"
	const noEffect = " has no effect: to reach Telegram through that proxy, set HTTPS_PROXY"
	for environ, want := range map[string]string{
		"HTTPS_PROXY=hush": "HTTPS_PROXY" + noAddress, "HTTP_PROXY=http://": "HTTP_PROXY" + noAddress, "http_proxy=hush hush:1": "http_proxy" + noAddress,
		"https_proxy=ftp://hush:21": "https_proxy" + noAddress, "HTTPS_PROXY=http://us:12/hush@proxy:3128": badPassword,
		"HTTPS_PROXY=user:hu#sh@proxy:3128": badPassword, "HTTPS_PROXY=http://user:hu%sh@proxy": badPassword,
		"HTTPS_PROXY=http://us:12/hush@proxy:3128/us:12": badPassword, "HTTPS_PROXY=http://proxy:3128/path": "HTTPS_PROXY" + noAddress,
		"ALL_PROXY=socks5://hush:1": "ALL_PROXY" + noEffect, "all_proxy=hush": "all_proxy" + noEffect, "ALL_PROXY=hush;HTTPS_PROXY=": "ALL_PROXY" + noEffect,

		"ALL_PROXY=hush;https_proxy=proxy:3128": "", "ALL_PROXY=;HTTPS_PROXY=;http_proxy=;NO_PROXY=hush": "", "HTTPS_PROXY=10.0.0.1:3128": "",
		"HTTP_PROXY=http://proxy": "", "HTTPS_PROXY=HTTPS://user:hush@proxy:3128/": "", "HTTPS_PROXY=socks5h://[::1]:1080": "", "HTTPS_PROXY=user:hush@proxy:1": "",
	} {
		var hints, faults []string
		switch want {
		case "":
		case badPassword: // the bot must not look up a part of it
			faults = []string{want}
		default:
			hints = []string{want}
		}
		if _, s := parsed(t, "", strings.Split(environ, ";")...); !cmp.Equal(faults, s.faults) || !cmp.Equal(hints, s.hints) {
			t.Errorf("%s: faults %q, hints %q", environ, s.faults, s.hints)
		}
	}
}

// TestUnknownNames checks that names in the file that do not resemble a setting are not faults. A
// name that may be the end of a secret is replaced by its line number.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	_, s := parsed(t, "COMPOSE_PROJECT_NAME=a\nLOG_LEVEL=info\nPGHOST=db\nWEBHOOK_SECRET=c2VjcmV0\naHVzaGh1c2g==")
	if diff := cmp.Diff([]string{"COMPOSE_PROJECT_NAME", "PGHOST", "line 5"}, s.unknown); diff != "" || s.faults != nil {
		t.Errorf("faults %v, unknown (-want +got):\n%s", s.faults, diff)
	}
}
