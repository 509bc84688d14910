//go:build browser

package web_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/postgres"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/web"
)

var (
	update      = flag.Bool("update", false, "write the pictures of the docs")
	screenshots = flag.String("screenshots", "", "folder for a picture of each page")
)

// browser is a tab, with the problems that its pages have reported.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string
}

// newBrowser starts a browser. It runs without a sandbox, which root cannot use. That is safe,
// because all pages belong to the tests.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.NoSandbox, chromedp.Flag("lang", "en-GB"))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		// Let the browser close itself, because a killed browser leaves files behind.
		if err := chromedp.Cancel(ctx); err != nil {
			t.Error(err)
		}
		cancel()
	})
	return newTab(ctx, t)
}

// newTab returns the tab of a context, in front of all others.
func newTab(ctx context.Context, t *testing.T) *browser {
	t.Helper()
	// Run has no timeout, because the tab lives only as long as the context of this first call, and
	// so does the browser if this is its first tab.
	dbtest.Must(t, chromedp.Run(ctx))
	b := &browser{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			b.problems = append(b.problems, e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			b.problems = append(b.problems, fmt.Sprint(e.Type, e.Args))
		case *log.EventEntryAdded:
			b.problems = append(b.problems, e.Entry.Text)
		}
	})
	b.do(log.Enable())
	return b
}

func (b *browser) do(actions ...chromedp.Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, dbtest.MaxWait)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// open opens a page in a window of the given size and color scheme.
func (b *browser) open(url string, width, height int64, scheme string) {
	b.t.Helper()
	b.do(emulation.SetDeviceMetricsOverride(width, height, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.Navigate(url), chromedp.WaitReady("main"))
}

// eval returns the value of a JavaScript expression.
func eval[T any](b *browser, expression string) (value T) {
	b.t.Helper()
	b.do(chromedp.Evaluate(expression, &value))
	return value
}

// await waits until a JavaScript expression is true. It polls, so it also works in a hidden tab,
// which draws no frames.
func (b *browser) await(expression string) {
	b.t.Helper()
	b.do(chromedp.Poll(expression, nil, chromedp.WithPollingInterval(50*time.Millisecond),
		chromedp.WithPollingTimeout(dbtest.MaxWait)))
}

// quiet checks that no page of the tab has reported a problem.
func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.problems) > 0 {
		b.t.Errorf("the console says %q", b.problems)
	}
}

// rules lists the accessibility rules. Each has an expression that returns its violations, and a
// page that violates it.
var rules = []struct{ name, faults, broken string }{
	{"a language", `document.documentElement.lang ? [] : ["none"]`, `<title>x</title><main>x</main>`},
	{"a title", `document.title.trim() ? [] : ["none"]`, `<main>x</main>`},
	{"one main part", `document.querySelectorAll("main").length === 1 ? [] : ["not one"]`, `<p>x</p>`},
	{"a name for each navigation", `[...document.querySelectorAll("nav:not([aria-label])")].map(String)`, `<nav>x</nav>`},
	{"one first heading, and none left out",
		`(() => { const levels = [...document.querySelectorAll("h1,h2,h3,h4")].map((h) => +h.tagName[1]);
		   return levels.filter((l) => l === 1).length !== 1 ? ["first headings"] :
		       levels.filter((l, i) => i && l > levels[i-1] + 1).map(String) })()`,
		`<h1>x</h1><h3>x</h3>`},
	{"a name for each link and button", `[...document.querySelectorAll("a,button,summary")].filter((e) => !e.textContent.trim() && !e.ariaLabel).map((e) => e.outerHTML)`, `<a href="/"></a>`},
	{"a label for each field", `[...document.querySelectorAll("input:not([type=hidden]),select")].filter((e) => !e.labels.length).map((e) => e.outerHTML)`, `<input>`},
	{"heads in each table", `[...document.querySelectorAll("table")].filter((t) => !t.querySelector("thead th[scope=col]") || [...t.querySelectorAll("tbody tr")].some((r) => !r.querySelector("th[scope=row]"))).map((t) => t.outerHTML)`, `<table><tr><td>x</td></tr></table>`},
	{"a text for each picture", `[...document.querySelectorAll("svg,img")].filter((e) => !e.ariaLabel && !e.alt && !document.getElementById(e.getAttribute("aria-labelledby"))?.textContent.trim()).map((e) => e.outerHTML)`, `<svg role="img"></svg>`},
	{"ids that are unique", `[...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i)`, `<p id="a">x</p><p id="a">x</p>`},
	{"the order of the page for the keyboard", `[...document.querySelectorAll("[tabindex]")].filter((e) => e.tabIndex > 0).map((e) => e.outerHTML)`, `<p tabindex="2">x</p>`},
	{"zoom", `[...document.querySelectorAll("meta[name=viewport]")].filter((m) => /user-scalable|maximum/.test(m.content)).map((m) => m.content)`, `<meta name="viewport" content="maximum-scale=1">`},
	{"colors that differ enough", `(() => {
		const rgb = (c) => {
			const n = c.match(/[\d.]+/g).map(Number);
			return n.length > 3 && n[3] === 0 ? null : n.slice(0, 3) };
		const light = (c) => {
			const [r, g, b] = c.map((v) => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
			return .2126 * r + .7152 * g + .0722 * b };
		const ground = (e) => {
			for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c) return c }
			return [255, 255, 255] };
		const faults = [];
		const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		for (let n; n = texts.nextNode();) {
			const e = n.parentElement, style = getComputedStyle(e);
			if (!n.data.trim() || !e.checkVisibility()) continue;
			const one = rgb(e.closest("svg") ? style.fill : style.color), other = ground(e);
			const [a, b] = [light(one), light(other)].sort((x, y) => y - x), size = parseFloat(style.fontSize);
			const needed = size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5;
			if ((a + .05) / (b + .05) < needed) faults.push(n.data.trim() + " " + one + " on " + other);
		}
		return faults })()`, `<p style="color:#999">x</p>`},
}

// pagesOf returns the paths of the HTML pages of a board, by name.
func (c *club) pagesOf() map[string]string {
	alice, bob := c.w.ID(c.t, "Alice"), c.w.ID(c.t, "Bob")
	return map[string]string{
		"ranking": "", "tv": "?tv", "player": fmt.Sprint("player/", alice), "h2h": fmt.Sprintf("h2h/%d/%d", alice, bob), "matches": "matches",
		"month": "matches?month=2026-05", "season": "season/1", "seasons": "seasons", "records": "records",
	}
}

// strangeNames has names in six scripts. One name is as long as names can be, and another must not
// become markup.
var strangeNames = []string{
	"Ольга Їжакевич", "محمد علي", "王小明", "สมชาย ใจดี", "Γιώργος", "Zoë Łukasz-Müller", strings.Repeat("Maximilian", 6) + "Alex", hostile, "🏓 Kim",
}

// busyClub returns a club in which people with strange names have played.
func busyClub(t *testing.T) *club {
	t.Helper()
	c := newClub(t)
	for i, name := range strangeNames {
		p := command.Person{ID: ladder.UserID(500 + i), Username: fmt.Sprint("strange", i), Name: name}
		c.w.Upsert(t, dbtest.AsNew(p))
		for n := range 4 {
			c.w.Record(t, fmt.Sprint("strange", i, n), p, dbtest.Bob, n%2+2, 2*(i%2)+1)
		}
	}
	dbtest.Exec(t, c.w.Pool, `UPDATE matches SET played_at = played_at - (100 - number) * interval '7 hours'`)
	return c
}

// TestPagesInABrowser checks that, in four window sizes and both color schemes, no page scrolls
// sideways or reports a problem, and all pages follow the accessibility rules. An unattended screen
// is always dark.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	c, b := busyClub(t), newBrowser(t)
	for name, path := range c.pagesOf() {
		for _, scheme := range []string{"light", "dark"} {
			for _, size := range [][2]int64{{320, 600}, {390, 844}, {1280, 800}, {1920, 1080}} {
				b.open(c.url+path, size[0], size[1], scheme)
				where := fmt.Sprintf("%s-%d-%s", name, size[0], scheme)
				if wide := eval[int](b, `document.documentElement.scrollWidth`); wide > int(size[0]) {
					t.Errorf("%s is %d wide", where, wide)
				}
				for _, rule := range rules {
					if faults := eval[[]string](b, rule.faults); len(faults) > 0 {
						t.Errorf("%s breaks %q: %q", where, rule.name, faults)
					}
				}
				if dark := eval[string](b, `getComputedStyle(document.documentElement).backgroundColor`) !=
					"rgb(255, 255, 255)"; dark != (scheme == "dark" || name == "tv") {
					t.Errorf("%s is dark: %t", where, dark)
				}
				if *screenshots != "" && size[0] > 320 {
					b.picture(filepath.Join(*screenshots, where+".png"))
				}
			}
		}
	}
	b.quiet()
}

// picture writes a screenshot to the file path.
func (b *browser) picture(path string) {
	b.t.Helper()
	var picture []byte
	b.do(chromedp.CaptureScreenshot(&picture))
	dbtest.Must(b.t, os.WriteFile(path, picture, 0o644))
}

// TestRulesFindFaults checks that each rule finds the page that breaks it.
func TestRulesFindFaults(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	for _, rule := range rules {
		b.do(chromedp.Navigate("data:text/html;base64," + base64.StdEncoding.EncodeToString([]byte(rule.broken))))
		if faults := eval[[]string](b, rule.faults); len(faults) == 0 {
			t.Errorf("%q does not find what is wrong with %s", rule.name, rule.broken)
		}
	}
}

// TestLivePage checks that an open page shows a new match, and keeps what is open and where the
// focus is. An unattended screen is empty while the board is off, and reports when the server is
// away.
func TestLivePage(t *testing.T) {
	t.Parallel()
	c, b := newClub(t), newBrowser(t)
	b.open(c.url, 1280, 800, "light")
	b.do(chromedp.Click("summary"), chromedp.Focus(`tbody a`))
	focused := eval[string](b, `document.activeElement.textContent`)
	before := eval[string](b, `document.querySelector("tr.p1 .rating").textContent`)
	c.w.Record(t, "live", dbtest.Alice, dbtest.Bob, 3, 0)
	b.await(fmt.Sprintf(`document.querySelector("tr.p1 .rating").textContent !== %q`, before))
	if !eval[bool](b, `document.querySelector("details").open`) ||
		eval[string](b, `document.activeElement.textContent`) != focused {
		t.Error("what was open is closed, or the keyboard is elsewhere")
	}
	b.open(c.url+"?tv", 1920, 1080, "light")
	c.w.Record(t, "tv", mallory, dbtest.Bob, 9, 7)
	b.await(`document.querySelector("#last").textContent.includes("9:7")`)
	b.quiet()
	dbtest.Exec(t, c.w.Pool, `UPDATE groups SET web_on = false`)
	c.board.Changed(c.group)
	b.await(`document.querySelector("#ranking").textContent === ""`)
	dbtest.Exec(t, c.w.Pool, `UPDATE groups SET web_on = true`)
	b.await(`document.querySelector("#ranking").textContent.includes("Alice")`)
	c.board.Close()
	c.stop()
	b.await(`document.querySelector("#status").textContent.startsWith("No connection since ") &&
		document.querySelector("#ranking").textContent.includes("Alice")`)
}

// TestManyTabs checks that ten tabs and an unattended screen can show a board at the same time,
// although a browser opens at most six connections to a host. Hidden tabs, except for the screen,
// do not follow the board. They catch up when they are shown again.
func TestManyTabs(t *testing.T) {
	t.Parallel()
	c, screen := newClub(t), newBrowser(t)
	screen.open(c.url+"?tv", 1280, 800, "light")
	const most = 10
	var tabs []*browser
	for range most {
		ctx, stop := chromedp.NewContext(screen.ctx)
		t.Cleanup(stop)
		tab := newTab(ctx, t)
		tab.open(c.url, 1280, 800, "light")
		tabs = append(tabs, tab)
	}
	first, last := tabs[0], tabs[most-1]
	for _, b := range []*browser{screen, first} {
		if !eval[bool](b, `document.hidden`) {
			t.Fatal("a tab behind others is not hidden")
		}
	}
	c.w.Record(t, "seen", mallory, dbtest.Bob, 9, 7)
	for _, b := range []*browser{screen, last} {
		b.await(`document.querySelector("#last").textContent.includes("9:7")`)
	}
	if eval[bool](first, `document.querySelector("#last").textContent.includes("9:7")`) {
		t.Error("a hidden tab follows the board")
	}
	first.do(page.BringToFront())
	first.await(`document.querySelector("#last").textContent.includes("9:7")`)
	c.w.Record(t, "seen later", mallory, dbtest.Bob, 8, 7)
	first.await(`document.querySelector("#last").textContent.includes("8:7")`)
	for _, b := range append(tabs, screen) {
		b.quiet()
	}
}

// TestTwoInstances checks that a match that one instance records shows on the pages of both
// instances.
func TestTwoInstances(t *testing.T) {
	t.Parallel()
	c, b := newClub(t), newBrowser(t)
	other, links, _ := c.serve(time.Now)
	for _, board := range []*web.Board{c.board, other} {
		c.w.Store.WebChanged = notify(t, c.w.Pool, board).WebChanged // so the last instance records the matches
	}
	for i, url := range []string{c.url, links.Link(c.boardOf(c.group))} {
		b.open(url, 1280, 800, "light")
		c.w.Record(t, url, dbtest.Alice, dbtest.Bob, 20+i, 1)
		b.await(fmt.Sprintf(`document.querySelector("#last").textContent.includes("%d:1")`, 20+i))
	}
	b.quiet()
}

// notify runs a notifier until the test ends. The notifier tells the board which groups any
// instance has changed.
func notify(t *testing.T, pool *pgxpool.Pool, board *web.Board) *postgres.Notifier {
	t.Helper()
	began := make(chan struct{}, 1)
	n := postgres.NewNotifier(pool, postgres.Events{WebChanged: board.Changed, Began: func() { began <- struct{}{} }},
		slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- n.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		dbtest.Must(t, <-ended)
	})
	<-began
	return n
}

// TestWithoutJavaScript checks that, without JavaScript, the ranking shows its content, including
// the hidden details, and the links to a player and on to the player's matches work.
func TestWithoutJavaScript(t *testing.T) {
	t.Parallel()
	c, b := newClub(t), newBrowser(t)
	b.do(emulation.SetScriptExecutionDisabled(true))
	b.open(c.url, 390, 844, "light")
	var text string
	b.do(chromedp.Text("main", &text), chromedp.Click("summary"), chromedp.WaitVisible("details table"))
	if !strings.Contains(text, "Alice") || !strings.Contains(text, "Last match") {
		t.Errorf("the page shows %s", text)
	}
	b.do(chromedp.Click(`tbody a`), chromedp.WaitVisible(".curve"), chromedp.Click(`a[href*="matches?player="]`),
		chromedp.WaitVisible(".matches"))
	b.quiet()
}

// TestKeyboard checks that all links and details of the ranking page can be reached with the
// keyboard, and the focus is visible.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	c, b := newClub(t), newBrowser(t)
	b.open(c.url, 1280, 800, "light")
	all := eval[int](b, `[...document.querySelectorAll("a,summary")].filter((e) => e.checkVisibility()).length`)
	seen := map[string]bool{}
	for range all {
		b.do(chromedp.KeyEvent("\t"))
		at := eval[string](b, `document.activeElement.outerHTML`)
		if seen[at] = true; eval[string](b, `getComputedStyle(document.activeElement).outlineStyle`) == "none" {
			t.Errorf("nothing shows that the keyboard is at %s", at)
		}
	}
	if len(seen) != all {
		t.Errorf("the keyboard reaches %d of %d: %v", len(seen), all, seen)
	}
	b.quiet()
}

// TestPictures writes the pictures of the README and of docs/web.md if the flag update is set.
func TestPictures(t *testing.T) {
	t.Parallel()
	if !*update {
		return
	}
	c, b := newClub(t), newBrowser(t)
	for i, name := range []string{"Dave", "Erin", "Frank", "Grace"} {
		p := command.Person{ID: ladder.UserID(600 + i), Username: strings.ToLower(name), Name: name}
		c.w.Upsert(t, dbtest.AsNew(p))
		for n := range 6 {
			opponent := []command.Person{dbtest.Alice, dbtest.Bob, dbtest.Carol}[(i+n)%3]
			c.w.Record(t, fmt.Sprint(name, n), p, opponent, 3*((n+i)%2), (n*i)%3+1)
		}
	}
	dbtest.Exec(t, c.w.Pool, `UPDATE group_players SET name = 'Mallory' WHERE name LIKE '%script%'`)
	dbtest.Exec(t, c.w.Pool, `UPDATE matches
		SET played_at = timestamptz '2026-03-28 18:30Z' - (40 - number) * interval '17 hours'`)
	dbtest.Exec(t, c.w.Pool, `UPDATE group_players SET last_played_at = now()`)
	dbtest.Exec(t, c.w.Pool, `UPDATE matches SET played_at = played_at + (now() - '2026-03-28 18:30Z')`)
	c.board.AllChanged()
	var parts []image.Image
	for _, size := range [][2]int64{{390, 700}, {1100, 700}} {
		b.open(c.url, size[0], size[1], "light")
		var shot []byte
		b.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
			shot, err = page.CaptureScreenshot().Do(ctx)
			return err
		}))
		picture, err := png.Decode(bytes.NewReader(shot))
		dbtest.Must(t, err)
		parts = append(parts, picture)
	}
	const gap = 24
	whole := image.NewRGBA(image.Rect(0, 0, parts[0].Bounds().Dx()+gap+parts[1].Bounds().Dx(), 700))
	draw.Draw(whole, whole.Bounds(), image.NewUniform(color.Gray{Y: 0xcc}), image.Point{}, draw.Src)
	draw.Draw(whole, parts[0].Bounds(), parts[0], image.Point{}, draw.Src)
	draw.Draw(whole, parts[1].Bounds().Add(image.Pt(parts[0].Bounds().Dx()+gap, 0)), parts[1], image.Point{}, draw.Src)
	left := parts[0].Bounds().Dx() + gap
	for name, part := range map[string]image.Rectangle{
		"web": whole.Bounds(), "board": image.Rect(left, 0, left+780, 536),
	} {
		var out bytes.Buffer
		dbtest.Must(t, png.Encode(&out, whole.SubImage(part)))
		dbtest.Must(t, os.WriteFile("../../docs/"+name+".png", out.Bytes(), 0o644))
	}
}
