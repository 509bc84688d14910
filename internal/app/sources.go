package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/joho/godotenv"

	"elobot/internal/command"
)

// Sources is where settings come from if they are not given as flags: a file of NAME=value lines,
// if it exists, and the environment. A variable that is set and not empty overrides the file. Kong
// asks Sources for the value of each flag of the command that is not given.
type Sources struct {
	path    string
	values  map[string]string // from the file
	names   []lineName        // from the file, in order
	environ []string

	used    bool     // a setting of the command was not given as a flag
	faults  []string // one sentence each; they never quote a value
	hints   []string // like faults, about settings that may not have the intended effect
	tokens  []string // like hints, about names that may be intended as TELEGRAM_BOT_TOKEN
	unknown []string // names in the file that are not settings
}

type lineName struct {
	name   string
	line   int
	dollar bool // the value has a $ that other programs may read differently
}

// otherPrograms matches names that well-known programs use, and that resemble a setting only by
// chance.
var otherPrograms = regexp.MustCompile(`^(` + strings.Join([]string{
	`PORTS|PORT[0-9]`, // Marathon sets these for each program that it starts
	`DATABASE_URI`,    // programs made with Flask and SQLAlchemy
	`DATABASE_SSL`,    // Strapi
}, "|") + `)$`)

var (
	nameForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)
	// usualName is the form of a name that may be printed although it does not resemble a setting.
	// A name of any other form may be the end of a secret that a line break has cut off.
	usualName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	// tokenName matches names that other bots use for their token.
	tokenName = regexp.MustCompile(`^(?i:(TELEGRAM|TG|ELOBOT|BOT|API|_)*TOKEN)$`)
	proxyName = regexp.MustCompile(`^(?i:HTTPS?_PROXY)$`)
	// httpsProxy matches an environment variable, with its value, that names the proxy through
	// which the bot reaches Telegram.
	httpsProxy = regexp.MustCompile(`^(?i:HTTPS_PROXY)=.`)
)

const otherToken = "%s in %s is not a setting: if it is the bot's token, rename it to TELEGRAM_BOT_TOKEN"

// dollar stands for a $ in a line that is parsed without expanding variables.
const dollar = "\x00"

// ReadSources returns the settings from the file at path, which need not exist, and from environ,
// which has the form of os.Environ. Sources.Check reports faults of the file later.
func ReadSources(path string, environ []string) *Sources {
	s := &Sources{path: path, environ: environ}
	content, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		s.faults = append(s.faults,
			"the file "+path+" exists but cannot be opened: it must be a file, not a folder, and readable for this user")
	default:
		// Some editors on Windows write a byte order mark.
		s.read(strings.TrimPrefix(string(content), "\ufeff"))
	}
	return s
}

func (s *Sources) read(content string) {
	var readable, unreadable []string
	for i, line := range strings.Split(content, "\n") {
		values, err := godotenv.Unmarshal(strings.ReplaceAll(line, "$", dollar))
		names := slices.Collect(maps.Keys(values))
		if err != nil || len(names) > 1 || len(names) == 1 && !nameForm.MatchString(names[0]) {
			unreadable = append(unreadable, strconv.Itoa(i+1))
			continue
		}
		readable = append(readable, line)
		if len(names) == 1 {
			s.names = append(s.names, lineName{names[0], i + 1, ambiguous(line, values[names[0]])})
		}
	}
	var err error
	// Parse all lines together, because a value may refer to the value of another line.
	s.values, err = godotenv.Unmarshal(strings.Join(readable, "\n"))
	if err != nil || len(unreadable) > 0 {
		s.faults = append(s.faults, fmt.Sprintf(
			"%s cannot be read as settings in line %s: each line must be NAME=value, or a comment that begins with #",
			s.path, strings.Join(unreadable, " and line ")))
	}
}

// ambiguous reports whether programs read a $ in the value differently. All of them keep a $ in
// single quotes, except that Compose v1 expands ${NAME} even there.
func ambiguous(line, value string) bool {
	raw := strings.TrimSpace(line[strings.IndexAny(line, "=:")+1:])
	return strings.Contains(value, dollar) && (!strings.HasPrefix(raw, "'") || strings.Contains(value, dollar+"{"))
}

// Resolve implements kong.Resolver.
func (s *Sources) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		s.used = true
		value, inFile := s.values[name]
		if os.Getenv(name) == "" && inFile {
			return value, nil
		}
	}
	return nil, nil //nolint:nilnil // documented by kong: no value
}

// Validate implements kong.Resolver. It looks for misspelled names of settings of any command, and
// for settings and other variables that may not have the intended effect.
func (s *Sources) Validate(program *kong.Application) error {
	settings := make(map[string]bool)
	err := kong.Visit(program, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			for _, name := range flag.Envs {
				settings[name] = true
			}
		}
		return next(nil)
	})
	if err != nil {
		return err
	}
	known := slices.Sorted(maps.Keys(settings))
	for _, n := range s.names {
		meant := meantBy(n.name, known)
		switch {
		case settings[n.name] && n.dollar:
			s.hints = append(s.hints,
				fmt.Sprintf("%s in line %d of %s has a $, which Compose and systemd may read differently: "+
					"write the value itself, as %[1]s='…' in single quotes, with %%24 for each $ of an address",
					n.name, n.line, s.path))
		case settings[n.name]:
		case meant != "":
			s.faults = append(s.faults, fmt.Sprintf(
				"%s in %s is not a setting, but nearly %s: correct the name, or remove the line", n.name, s.path, meant))
		case usualName.MatchString(n.name):
			if tokenName.MatchString(n.name) {
				s.tokens = append(s.tokens, fmt.Sprintf(otherToken, n.name, s.path))
			}
			s.unknown = append(s.unknown, n.name)
		default:
			s.unknown = append(s.unknown, "line "+strconv.Itoa(n.line))
		}
	}
	for _, variable := range slices.Sorted(slices.Values(s.environ)) {
		name, value, _ := strings.Cut(variable, "=")
		meant := meantBy(name, known)
		switch {
		case settings[name] || value == "" && meant == "":
		case meant != "":
			s.faults = append(s.faults,
				fmt.Sprintf("%s in the environment is not a setting, but nearly %s: correct the name, or unset it", name, meant))
		// Part of a password might be looked up as a host.
		case proxyName.MatchString(name) && !isProxy(value) && strings.Contains(value, "@"):
			s.faults = append(s.faults, name+" is not the address of a proxy: "+
				"write :, /, ?, # and @ in its user and password as %3A, %2F, %3F, %23 and %40")
		case proxyName.MatchString(name) && !isProxy(value):
			s.hints = append(s.hints, name+" is not the address of a proxy, such as http://proxy.example.org:3128")
		case strings.EqualFold(name, "ALL_PROXY") && !slices.ContainsFunc(s.environ, httpsProxy.MatchString):
			s.hints = append(s.hints, name+" has no effect: to reach Telegram through that proxy, set HTTPS_PROXY")
		case tokenName.MatchString(name):
			s.tokens = append(s.tokens, fmt.Sprintf(otherToken, name, "the environment"))
		}
	}
	return nil
}

// meantBy returns the setting that name is or misspells, or "" if there is none or if another
// program uses the name. Two characters may be wrong, but only one if the setting has fewer than
// eight. Case does not count.
func meantBy(name string, settings []string) string {
	if otherPrograms.MatchString(name) {
		return ""
	}
	for _, setting := range settings {
		limit := 2
		if len(setting) < 8 {
			limit = 1
		}
		if command.Distance([]rune(strings.ToUpper(name)), []rune(setting), limit) <= limit {
			return setting
		}
	}
	return ""
}

// Check returns a *ConfigError with the faults, if there are any. It ignores them if the command
// has no settings, or if all its settings are given as flags.
func (s *Sources) Check() error {
	if !s.used || len(s.faults) == 0 {
		return nil
	}
	return &ConfigError{s.faults}
}

// warn logs the settings and names that may not have the intended effect.
func (s *Sources) warn(ctx context.Context, log *slog.Logger) {
	for _, hint := range s.hints {
		log.WarnContext(ctx, "a setting may not have the effect that was meant", "hint", hint)
	}
	if len(s.unknown) > 0 {
		log.WarnContext(ctx, "names that are no settings have no effect",
			"file", s.path, "names", strings.Join(s.unknown, ", "))
	}
}
