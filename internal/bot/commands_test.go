package bot

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"elobot/internal/catalog"
)

// commandsPage returns the page about the commands in the documentation.
func commandsPage() string {
	var b strings.Builder
	b.WriteString("# Commands\n\nThe bot’s own help texts, generated from the table of commands: " +
		"`go test ./internal/bot -run TestCommandsPage -update`.\n")
	markdown := strings.NewReplacer("<b>", "**", "</b>", "**", "<code>", "`", "</code>", "`", "\n\n", "\n\n", "\n", "  \n")
	for _, c := range commands() {
		b.WriteString("\n## /" + c.Name + "\n\n")
		switch {
		case c.OnlyPrivate:
			b.WriteString("In a private chat with the bot.")
		case c.Private:
			b.WriteString("In groups, and in a private chat with the bot.")
		default:
			b.WriteString("In groups.")
		}
		for i, alias := range c.Aliases {
			b.WriteString([]string{" Also ", ", "}[min(i, 1)] + "`/" + alias + "`")
		}
		if len(c.Aliases) > 0 {
			b.WriteString(".")
		}
		b.WriteString("\n\n")
		if c.hasHelp() {
			b.WriteString(markdown.Replace(wordsFor("").Text("commands."+c.Name+".help", nil)) + "\n")
		} else {
			b.WriteString(wordsFor("").menuLine(c.Name, false) + ".\n")
		}
	}
	b.WriteString("\n## Other names\n\nThey work when typed, with and without accents. With other letters than a to z, " +
		"Telegram may deliver them\nonly in private chats, and in groups to bots that are admins.\n\n| language | names |\n| --- | --- |\n")
	for _, l := range catalog.All() {
		var rows []string
		for _, name := range append(commandNames(), namePlayers) {
			if id := "aliases." + name; l.Has(id) {
				also := "`/" + strings.ReplaceAll(l.Text(id, nil), " ", "`, `/") + "`"
				rows = append(rows, also+" for `/"+strings.Replace(name, namePlayers, "ranking all", 1)+"`")
			}
		}
		b.WriteString("| " + wordsFor(l.Tag()).Text("language.name", nil) + " | " + strings.Join(rows, "; ") + " |\n")
	}
	b.WriteString("\n## Menus\n\n")
	for i, m := range menusIn(wordsFor(""), "") {
		names := make([]string, len(m.Commands))
		for j, c := range m.Commands {
			names[j] = "`/" + c.Command + "`"
		}
		b.WriteString([]string{"In groups", "To admins in groups", "In private chats"}[i] +
			", Telegram’s menu offers " + strings.Join(names, ", ") + ".  \n")
	}
	return b.String()
}

// TestCommandsPage checks that docs/commands.md agrees with the command table.
func TestCommandsPage(t *testing.T) {
	t.Parallel()
	const path = "../../docs/commands.md"
	if *updateGolden {
		must(t, os.WriteFile(path, []byte(commandsPage()), 0o644))
	}
	page, err := os.ReadFile(path)
	must(t, err)
	equal(t, string(page), commandsPage(), "docs/commands.md")
}

// TestExamplesMention checks that examples, which people may copy, contain no mention that is too
// short for Telegram to mark.
func TestExamplesMention(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../catalog/*.toml")
	if err != nil || len(files) != len(catalog.All()) {
		t.Fatal(files, err)
	}
	mention := regexp.MustCompile(`(?:^|[^\w@/.])@\w{1,4}\b`)
	for _, file := range append(files, "wrong_form.go", "../../README.md", "../../docs/using.md",
		"../../docs/commands.md", "../../docs/configuration.md") {
		text, err := os.ReadFile(file)
		must(t, err)
		if short := mention.FindAllString(string(text), -1); short != nil {
			t.Errorf("%s: %q", file, short)
		}
	}
}

// TestCommandTable checks that names and button codes are unique, each command has a help text and
// lines in /help if its entry says so, and the menus are short and within Telegram's limits.
func TestCommandTable(t *testing.T) {
	t.Parallel()
	var names []string
	for _, c := range commands() {
		names = append(append(names, c.Name), c.Aliases...)
		if c.Handle == nil {
			t.Errorf("/%s does nothing", c.Name)
		}
		equal(t, wordsFor("").Has("commands."+c.Name+".help"), c.hasHelp(), "/%s has a help", c.Name)
		if got := wordsFor("").Has("commands." + c.Name + ".usage"); got != (c.Topic != "") || c.Short && c.Topic == "" {
			t.Errorf("/%s is listed by /help: %t, and its topic is %q", c.Name, got, c.Topic)
		}
		if c.Topic != "" && !slices.Contains(helpTopics(), c.Topic) {
			t.Errorf("/%s has the topic %q", c.Name, c.Topic)
		}
	}
	for _, m := range menusIn(wordsFor(""), "") {
		for _, c := range m.Commands {
			if n := len([]rune(c.Description)); n == 0 || n > 256 {
				t.Errorf("/%s has a menu line of %d characters", c.Command, n)
			}
		}
	}
	for _, menu := range [][]string{memberMenu, adminMenu} {
		for _, name := range menu {
			if c, ok := findCommand(name); !ok || c.Name != name {
				t.Errorf("a menu of groups has /%s", name)
			}
		}
	}
	if len(memberMenu) > 12 || len(adminMenu) > 6 {
		t.Errorf("the menus have %d commands for members, and %d more for admins", len(memberMenu), len(adminMenu))
	}
	var codes []string
	for _, c := range callbacks() {
		codes = append(codes, c.Code)
	}
	slices.Sort(codes)
	if once := slices.Compact(slices.Clone(codes)); len(once) != len(codes) {
		t.Errorf("a code of buttons is used twice: %q", codes)
	}
	slices.Sort(names)
	if once := slices.Compact(slices.Clone(names)); len(once) != len(names) {
		t.Errorf("a name is used twice: %q", names)
	}
}
