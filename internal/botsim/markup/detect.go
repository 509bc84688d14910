package markup

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// These patterns match an entity or a part of one. Where the characters before or after the match
// matter, the code checks them.
var (
	commandPattern = regexp.MustCompile(`^/[A-Za-z0-9_]{1,64}(@[A-Za-z0-9_]{3,32})?`)
	// Telegram requires four characters, with few exceptions; users in tests may have shorter
	// names.
	mentionPattern = regexp.MustCompile(`^@[A-Za-z0-9_]{3,32}`)
	hashtagPattern = regexp.MustCompile(`^#[\pL\p{Nd}_\x{200c}\x{b7}]{1,256}`)
	cashtagPattern = regexp.MustCompile(`^\$(1INCH|[A-Z]{1,8})`)
	emailPattern   = regexp.MustCompile(`^[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,12}`)
	schemePattern  = regexp.MustCompile(`^(?i:https?|ftp|tg|ton|tonsite)://[^\s<>"«»]+`)
	domainPattern  = regexp.MustCompile(`^(?:[\pL\p{Nd}](?:[\pL\p{Nd}_-]*[\pL\p{Nd}])?\.)+[\pL]{2,24}`)
	domainTail     = regexp.MustCompile(`^(?::\d{1,5})?(?:[/?#][^\s<>"«»]*)?`)
)

// topLevelDomains lists the endings, besides country codes, that turn a name with a dot into a
// link.
var topLevelDomains = []string{
	"com", "org", "net", "edu", "gov", "mil", "int", "info", "biz", "name", "pro", "app", "dev", "xyz", "site",
	"online", "shop", "store", "blog", "club", "live", "life", "news", "tech", "space", "wiki", "world", "games",
	"game", "bot", "cloud", "chat", "team", "link", "page", "top", "win", "vip", "fun", "art", "run", "ninja",
	"рф", "рус", "укр", "бел", "онлайн", "сайт",
}

// countryCodes lists the pairs of letters that count as top-level domains.
const countryCodes = "ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs " +
	"bt bw by bz ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi " +
	"fj fk fm fo fr ga gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq " +
	"ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk " +
	"ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm " +
	"pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st su sv sx sy sz tc td " +
	"tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw"

// Detect returns the entities that Telegram detects in a text. It makes one pass and tries the
// patterns only at characters with which an entity can begin.
func Detect(text string) []Entity {
	var found []Entity
	before, offset, wordStart := rune(0), 0, true
	for i := 0; i < len(text); {
		kind, length := "", 0
		r, size := decode(text[i:])
		switch {
		case r == '/' || r == '@' || r == '#' || r == '$':
			kind, length = matchMark(text[i:], r, before)
		case wordStart && isWord(r):
			kind, length = matchAddress(text[i:], before)
		}
		if length == 0 {
			before, wordStart = r, !isWord(r) && !strings.ContainsRune(".@-+%", r)
			offset += UTF16Len(text[i : i+size])
			i += size
			continue
		}
		units := UTF16Len(text[i : i+length])
		found = append(found, Entity{Type: kind, Offset: offset, Length: units})
		before, _ = lastRune(text[:i+length])
		wordStart = false
		offset += units
		i += length
	}
	return found
}

// matchMark matches an entity at the beginning of rest, which begins with the mark /, @, # or $.
// before is the character in front of it. matchMark returns the entity's type and length in bytes,
// or "" and 0 for none.
func matchMark(rest string, mark, before rune) (string, int) {
	if isWord(before) {
		return "", 0
	}
	switch mark {
	case '/':
		n := len(commandPattern.FindString(rest))
		next, _ := decode(rest[n:])
		if n > 0 && !strings.ContainsRune("/<>", before) && !isWord(next) && !strings.ContainsRune("/<>", next) {
			return Command, n
		}
	case '@':
		n := len(mentionPattern.FindString(rest))
		if next, _ := decode(rest[n:]); n > 0 && before != '/' && !isWord(next) {
			return Mention, n
		}
	case '#':
		tag := hashtagPattern.FindString(rest)
		next, _ := decode(rest[len(tag):])
		if tag != "" && next != '#' && strings.ContainsFunc(tag, unicode.IsLetter) {
			return Hashtag, len(tag)
		}
	case '$':
		n := len(cashtagPattern.FindString(rest))
		if next, _ := decode(rest[n:]); n > 0 && !isWord(next) && next != '$' {
			return Cashtag, n
		}
	}
	return "", 0
}

// matchAddress matches an e-mail address or a link at the beginning of rest. before is the
// character in front of it. matchAddress returns the entity's type and length in bytes, or "" and 0
// for none.
func matchAddress(rest string, before rune) (string, int) {
	token := rest
	if end := strings.IndexFunc(rest, unicode.IsSpace); end >= 0 {
		token = rest[:end]
	}
	if !strings.Contains(token, ".") && !strings.Contains(token, "://") {
		return "", 0 // shortcut for most words
	}
	if n := len(emailPattern.FindString(rest)); n > 0 {
		return Email, n
	}
	if n := len(schemePattern.FindString(rest)); n > 0 {
		return URL, len(strings.TrimRight(rest[:n], ".,:;!?)'"))
	}
	domain := domainPattern.FindString(rest)
	if domain == "" || before == '@' {
		return "", 0
	}
	next, _ := decode(rest[len(domain):])
	ending := strings.ToLower(domain[strings.LastIndexByte(domain, '.')+1:])
	country := len(ending) == 2 && strings.Contains(" "+countryCodes+" ", " "+ending+" ")
	if isWord(next) || !country && !slices.Contains(topLevelDomains, ending) {
		return "", 0
	}
	n := len(domain) + len(domainTail.FindString(rest[len(domain):]))
	return URL, len(strings.TrimRight(rest[:n], ".,:;!?)'"))
}

// ValidURL reports whether Telegram accepts an address as a link. It must begin with tg:// or
// ton://, or be an address with the scheme http, https, tonsite or none, and with a dot inside its
// host.
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

// HasScheme reports whether an address begins with a scheme that Telegram detects, as
// https://example.org does.
func HasScheme(address string) bool { return schemePattern.MatchString(address) }
