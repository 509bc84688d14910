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

// Sources are where settings come from apart from flags: a file of NAME=value lines, if it exists, and the environment, which overrides the
// file. The parser resolves flags from them.
type Sources struct {
	path    string
	values  map[string]string // of the file
	names   []lineName        // of the file, in order
	environ []string

	used    bool     // the command has settings
	faults  []string // one sentence each, which never quotes a value
	unknown []string // names of the file that are no settings
}

type lineName struct {
	name string
	line int
}

// otherPrograms matches names that are close to a setting by chance: well-known programs use them.
var otherPrograms = regexp.MustCompile(`^(` + strings.Join([]string{
	`PORTS|PORT[0-9]`, // Marathon gives these to each program that it starts
	`DATABASE_URI`,    // programs that are made with Flask and SQLAlchemy
	`DATABASE_SSL`,    // Strapi
}, "|") + `)$`)

var (
	nameForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)
	// usualName is the form of a name that may be printed. Others may be the end of a secret, which a line break has cut off.
	usualName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
)

// ReadSources reads the file, and takes an environment as os.Environ returns it.
func ReadSources(path string, environ []string) *Sources {
	s := &Sources{path: path, environ: environ}
	content, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		s.faults = append(s.faults, "the file "+path+" exists but cannot be opened: it must be a file, not a folder, and readable for this user")
	default:
		s.read(strings.TrimPrefix(string(content), "\ufeff")) // byte order mark, which editors on Windows write
	}
	return s
}

// read reads the lines of the file.
func (s *Sources) read(content string) {
	var readable, unreadable []string
	for i, line := range strings.Split(content, "\n") {
		values, err := godotenv.Unmarshal(line)
		names := slices.Collect(maps.Keys(values))
		if err != nil || len(names) > 1 || len(names) == 1 && !nameForm.MatchString(names[0]) {
			unreadable = append(unreadable, strconv.Itoa(i+1))
			continue
		}
		readable = append(readable, line)
		if len(names) == 1 {
			s.names = append(s.names, lineName{names[0], i + 1})
		}
	}
	var err error
	s.values, err = godotenv.Unmarshal(strings.Join(readable, "\n")) // together: a value may refer to others
	if err != nil || len(unreadable) > 0 {
		s.faults = append(s.faults, fmt.Sprintf("%s cannot be read as settings in line %s: each line must be NAME=value, or a comment that begins with #",
			s.path, strings.Join(unreadable, " and line ")))
	}
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

// Validate implements kong.Resolver. It looks for names that are slips of the settings of all commands.
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
		case settings[n.name]:
		case meant != "":
			s.faults = append(s.faults, fmt.Sprintf("%s in %s is not a setting, but nearly %s: correct the name, or remove the line", n.name, s.path, meant))
		case usualName.MatchString(n.name):
			s.unknown = append(s.unknown, n.name)
		default:
			s.unknown = append(s.unknown, "line "+strconv.Itoa(n.line))
		}
	}
	for _, variable := range slices.Sorted(slices.Values(s.environ)) {
		name, _, _ := strings.Cut(variable, "=")
		if meant := meantBy(name, known); meant != "" && !settings[name] {
			s.faults = append(s.faults, fmt.Sprintf("%s in the environment is not a setting, but nearly %s: correct the name, or unset it", name, meant))
		}
	}
	return nil
}

// meantBy returns the setting that a name is a slip of, or "": two letters may be wrong, and only one in a setting of fewer than eight
// letters. Small letters for capital ones are not counted.
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

// Check returns a *ConfigError with the faults, if the command has settings.
func (s *Sources) Check() error {
	if !s.used || len(s.faults) == 0 {
		return nil
	}
	return &ConfigError{s.faults}
}

func (s *Sources) logUnknown(ctx context.Context, log *slog.Logger) {
	if len(s.unknown) > 0 {
		log.WarnContext(ctx, "names that are no settings have no effect", "file", s.path, "names", strings.Join(s.unknown, ", "))
	}
}
