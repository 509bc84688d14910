package markup

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The limits of rich messages.
const (
	maxRich    = 32_768 // characters
	maxBlocks  = 500
	maxColumns = 20
)

// richBlocks maps each simulated block tag to the tag of the block that it must be in, or to "" if
// it must be in none.
var richBlocks = map[string]string{
	"p": "", "footer": "", "h1": "", "h2": "", "h3": "", "h4": "", "h5": "", "h6": "", "table": "",
	"caption": "table", "tr": "table", "th": "tr", "td": "tr",
}

// richAttributes lists the attributes of block tags and their values. An empty list stands for an
// attribute without a value, and nil for a number.
var richAttributes = map[string]map[string][]string{
	"table": {"bordered": {}, "striped": {}},
	"th":    {"align": {"left", "center", "right"}, "valign": {"top", "middle", "bottom"}, "colspan": nil, "rowspan": nil},
	"td":    {"align": {"left", "center", "right"}, "valign": {"top", "middle", "bottom"}, "colspan": nil, "rowspan": nil},
}

var (
	richTag       = regexp.MustCompile(`<(/?)([a-z0-9]+)((?:\s[^<>]*)?)>`)
	richAttribute = regexp.MustCompile(`\s+([a-z]+)(?:="([^"]*)")?`)
)

// richParser parses the HTML of a rich message. It handles the tags of blocks, and leaves the text
// between them to ParseHTML.
type richParser struct {
	out      strings.Builder
	units    int
	open     []string // names of the open block tags, the innermost last
	blocks   int
	columns  int // in the current row
	entities []Entity
	warnings []string
	exists   func(user int64) bool
}

// ParseRich returns the visible text of a rich message in HTML, the entities sorted by offset, and
// warnings. In the text, cells are separated by " | ", and each row, caption, paragraph, heading or
// footer is a line. Tags of blocks that the bot does not send are not simulated and cause an error.
// The warnings and exists are as in ParseHTML.
func ParseRich(
	html string, exists func(user int64) bool,
) (plain string, marked []Entity, warnings []string, err error) {
	p := &richParser{exists: exists}
	done := 0
	for _, at := range richTag.FindAllStringSubmatchIndex(html, -1) {
		if _, isBlock := richBlocks[html[at[4]:at[5]]]; !isBlock {
			continue
		}
		if err := p.text(html[done:at[0]]); err != nil {
			return "", nil, nil, err
		}
		if err := p.tag(html[at[2]:at[3]] != "", html[at[4]:at[5]], html[at[6]:at[7]]); err != nil {
			return "", nil, nil, err
		}
		done = at[1]
	}
	if err := p.text(html[done:]); err != nil {
		return "", nil, nil, err
	}
	switch plain := p.out.String(); {
	case len(p.open) > 0:
		return "", nil, nil, cantParse("Can't find end tag corresponding to start tag %q", p.open[len(p.open)-1])
	case p.blocks > maxBlocks:
		return "", nil, nil, fmt.Errorf("rich message has too many blocks")
	case len([]rune(plain)) > maxRich:
		return "", nil, nil, fmt.Errorf("message is too long")
	default:
		return plain, p.entities, p.warnings, nil
	}
}

func (p *richParser) write(text string) {
	p.out.WriteString(text)
	p.units += UTF16Len(text)
}

// text parses a text without block tags.
func (p *richParser) text(html string) error {
	if strings.TrimSpace(html) == "" {
		return nil
	}
	if len(p.open) > 0 && slices.Contains([]string{"table", "tr"}, p.open[len(p.open)-1]) {
		return cantParse("Text in the tag %q", p.open[len(p.open)-1])
	}
	plain, marked, warnings, err := ParseHTML(html, p.exists)
	if err != nil {
		return err
	}
	for _, e := range marked {
		e.Offset += p.units
		p.entities = append(p.entities, e)
	}
	p.warnings = append(p.warnings, warnings...)
	p.write(plain)
	return nil
}

// tag handles a start or end tag of a block.
func (p *richParser) tag(isEnd bool, name, attributes string) error {
	if isEnd {
		if len(p.open) == 0 || p.open[len(p.open)-1] != name {
			return cantParse("Unexpected end tag %q", name)
		}
		p.open = p.open[:len(p.open)-1]
		if name != "td" && name != "th" && name != "table" {
			p.write("\n")
		}
		return nil
	}
	in := ""
	if len(p.open) > 0 {
		in = p.open[len(p.open)-1]
	}
	if in != richBlocks[name] {
		return cantParse("Unexpected tag %q in %q", name, in)
	}
	if err := checkAttributes(name, attributes); err != nil {
		return err
	}
	p.open = append(p.open, name)
	switch name {
	case "th", "td":
		if p.columns++; p.columns > maxColumns {
			return fmt.Errorf("table has too many columns")
		}
		if p.columns > 1 {
			p.write(" | ")
		}
	case "tr":
		p.columns = 0
		p.blocks++
	case "caption":
	default:
		p.blocks++
	}
	return nil
}

func checkAttributes(tag, text string) error {
	for _, a := range richAttribute.FindAllStringSubmatch(text, -1) {
		values, ok := richAttributes[tag][a[1]]
		_, numberErr := strconv.Atoi(a[2])
		if !ok || values == nil && numberErr != nil || values != nil && a[2] != "" && !slices.Contains(values, a[2]) ||
			len(values) > 0 && a[2] == "" {
			return cantParse("Unsupported attribute %q of the tag %q", strings.TrimSpace(a[0]), tag)
		}
	}
	if strings.TrimSpace(richAttribute.ReplaceAllString(text, "")) != "" {
		return cantParse("Unsupported attributes %q of the tag %q", text, tag)
	}
	return nil
}
