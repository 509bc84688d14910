package markup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// htmlTags maps the supported tags to the types of their entities.
var htmlTags = map[string]string{
	"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
	"s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "tg-spoiler": "spoiler",
	"span": "spoiler", "code": "code", "pre": "pre", "blockquote": "blockquote", "a": "text_link",
	"tg-emoji": "custom_emoji",
}

// cantParse returns an error that begins as Telegram's errors for invalid markup do.
func cantParse(format string, args ...any) error {
	return fmt.Errorf("can't parse entities: "+format, args...)
}

type openTag struct {
	name   string
	entity Entity
	start  int // byte offset in the plain text
}

// htmlParser parses a text with parse_mode HTML. Its rules and error messages are Telegram's.
type htmlParser struct {
	in       string
	pos      int
	out      strings.Builder
	units    int // UTF-16 code units written to out
	open     []openTag
	entities []Entity
	warnings []string
	exists   func(user int64) bool
}

// ParseHTML returns a text without its markup, the entities sorted by offset, and warnings about
// parts that look like markup but are shown literally or dropped. exists reports whether a user can
// be mentioned.
func ParseHTML(
	text string, exists func(user int64) bool,
) (plain string, marked []Entity, warnings []string, err error) {
	p := &htmlParser{in: text, exists: exists}
	for p.pos < len(p.in) {
		var err error
		switch p.in[p.pos] {
		case '&':
			p.reference()
		case '<':
			err = p.tag()
		default:
			n := strings.IndexAny(p.in[p.pos:], "&<")
			if n < 0 {
				n = len(p.in) - p.pos
			}
			p.write(p.in[p.pos : p.pos+n])
			p.pos += n
		}
		if err != nil {
			return "", nil, nil, err
		}
	}
	if n := len(p.open); n > 0 {
		return "", nil, nil, cantParse("Can't find end tag corresponding to start tag %q", p.open[n-1].name)
	}
	slices.SortStableFunc(p.entities, inOrder)
	return p.out.String(), p.entities, p.warnings, nil
}

func (p *htmlParser) write(text string) {
	p.out.WriteString(text)
	p.units += UTF16Len(text)
}

// reference reads a character reference such as &lt;. An & that begins no known reference is shown
// literally, and causes a warning.
func (p *htmlParser) reference() {
	decoded, n := decodeReference(p.in[p.pos:])
	if n == 0 {
		shown := p.in[p.pos:min(p.pos+12, len(p.in))]
		p.warnings = append(p.warnings, fmt.Sprintf("%q does not begin with a reference that Telegram knows", shown))
		decoded, n = "&", 1
	}
	p.write(decoded)
	p.pos += n
}

func decodeReference(text string) (string, int) {
	end := strings.IndexByte(text[:min(len(text), 12)], ';')
	if end < 0 {
		return "", 0
	}
	switch name := text[1:end]; {
	case name == "lt":
		return "<", end + 1
	case name == "gt":
		return ">", end + 1
	case name == "amp":
		return "&", end + 1
	case name == "quot":
		return `"`, end + 1
	case strings.HasPrefix(name, "#"):
		digits, base := name[1:], 10
		if strings.HasPrefix(digits, "x") {
			digits, base = digits[1:], 16
		}
		code, err := strconv.ParseUint(digits, base, 32)
		if err != nil || code == 0 || code >= utf8.MaxRune || end >= 10 {
			return "", 0
		}
		return string(rune(code)), end + 1
	}
	return "", 0
}

func (p *htmlParser) tag() error {
	at := p.pos
	if strings.HasPrefix(p.in[at:], "</") {
		return p.endTag(at)
	}
	end := at + 1
	for end < len(p.in) && !isSpace(p.in[end]) && p.in[end] != '>' {
		end++
	}
	if end == len(p.in) {
		return cantParse("Unclosed start tag at byte offset %d", at)
	}
	name := strings.ToLower(p.in[at+1 : end])
	kind, ok := htmlTags[name]
	if !ok {
		return cantParse("Unsupported start tag %q at byte offset %d", name, at)
	}
	p.pos = end
	attributes, err := p.attributes(name, at)
	if err != nil {
		return err
	}
	e := Entity{Type: kind, Offset: p.units}
	switch name {
	case "span":
		if attributes["class"] != "tg-spoiler" {
			return cantParse(`Tag "span" must have class "tg-spoiler" at byte offset %d`, at)
		}
	case "tg-emoji":
		if _, err := strconv.ParseInt(attributes["emoji-id"], 10, 64); err != nil {
			return cantParse("Invalid custom emoji identifier specified at byte offset %d", at)
		}
		e.CustomEmojiID = attributes["emoji-id"]
	case "a":
		e.URL = attributes["href"]
	case "code":
		e.Language = strings.TrimPrefix(attributes["class"], "language-")
	case "blockquote":
		if _, ok := attributes["expandable"]; ok {
			e.Type = "expandable_blockquote"
		}
	}
	p.open = append(p.open, openTag{name: name, entity: e, start: p.out.Len()})
	return nil
}

// attributes reads a tag's attributes up to and including the closing bracket. at is the tag's byte
// offset, for errors.
func (p *htmlParser) attributes(tag string, at int) (map[string]string, error) {
	found := map[string]string{}
	for {
		for p.pos < len(p.in) && isSpace(p.in[p.pos]) {
			p.pos++
		}
		if p.pos == len(p.in) {
			return nil, cantParse("Unclosed start tag %q at byte offset %d", tag, at)
		}
		if p.in[p.pos] == '>' {
			p.pos++
			return found, nil
		}
		start := p.pos
		for p.pos < len(p.in) && !isSpace(p.in[p.pos]) && p.in[p.pos] != '=' && p.in[p.pos] != '>' {
			p.pos++
		}
		name := strings.ToLower(p.in[start:p.pos])
		if name == "" {
			return nil, cantParse("Empty attribute name in the tag %q at byte offset %d", tag, at)
		}
		if p.pos < len(p.in) && p.in[p.pos] != '=' {
			found[name] = "" // such as <blockquote expandable>
			continue
		}
		p.pos++
		value, err := p.attributeValue(tag, at)
		if err != nil {
			return nil, err
		}
		found[name] = value
	}
}

func (p *htmlParser) attributeValue(tag string, at int) (string, error) {
	if p.pos >= len(p.in) {
		return "", cantParse("Unclosed start tag %q at byte offset %d", tag, at)
	}
	var end int
	quote := p.in[p.pos]
	if quote == '"' || quote == '\'' {
		p.pos++
		if end = strings.IndexByte(p.in[p.pos:], quote); end < 0 {
			return "", cantParse("Unclosed start tag at byte offset %d", at)
		}
	} else if end = strings.IndexFunc(p.in[p.pos:], func(r rune) bool { return !isToken(r) }); end <= 0 {
		return "", cantParse("Unexpected end of name token at byte offset %d", p.pos)
	}
	raw := p.in[p.pos : p.pos+end]
	p.pos += end
	if quote == '"' || quote == '\'' {
		p.pos++
	}
	var value strings.Builder
	for i := 0; i < len(raw); {
		if raw[i] == '&' {
			if decoded, n := decodeReference(raw[i:]); n > 0 {
				value.WriteString(decoded)
				i += n
				continue
			}
		}
		value.WriteByte(raw[i])
		i++
	}
	return value.String(), nil
}

func (p *htmlParser) endTag(at int) error {
	if len(p.open) == 0 {
		return cantParse("Unexpected end tag at byte offset %d", at)
	}
	length := strings.IndexByte(p.in[at:], '>')
	if length < 0 {
		return cantParse("Unclosed end tag at byte offset %d", at)
	}
	name := strings.ToLower(strings.TrimRight(p.in[at+2:at+length], " \t\r\n"))
	last := p.open[len(p.open)-1]
	if name != "" && name != last.name {
		return cantParse("Unmatched end tag at byte offset %d, expected \"</%s>\", found \"</%s>\"", at, last.name, name)
	}
	p.open = p.open[:len(p.open)-1]
	p.pos = at + length + 1
	e := last.entity
	e.Length = p.units - e.Offset
	if e.Length > 0 && p.completeLink(&e, last) {
		p.entities = append(p.entities, e)
	}
	return nil
}

// completeLink sets the user or the address of a link's entity, and reports whether the entity is
// valid. A link to an unknown user or an invalid address is not valid; only its text is shown. The
// entities of all other tags are valid.
func (p *htmlParser) completeLink(e *Entity, tag openTag) bool {
	if tag.name != "a" {
		return true
	}
	if e.URL == "" {
		e.URL = p.out.String()[tag.start:]
	}
	if id, ok := strings.CutPrefix(e.URL, "tg://user?id="); ok {
		number, err := strconv.ParseInt(id, 10, 64)
		if err != nil || !p.exists(number) {
			p.warnings = append(p.warnings, fmt.Sprintf("the link to %q was dropped: no such user", e.URL))
			return false
		}
		e.Type, e.URL, e.UserID = textMention, "", number
		return true
	}
	if !ValidURL(e.URL) {
		p.warnings = append(p.warnings, fmt.Sprintf("the link to %q was dropped: no valid address", e.URL))
		return false
	}
	return true
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0 || c == '\v'
}

func isToken(r rune) bool {
	return r == '-' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}
