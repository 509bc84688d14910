package web_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"html"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"elobot/internal/command"
	"elobot/internal/ladder"
	"elobot/internal/pgtemp/pgtest"
	"elobot/internal/postgres/dbtest"
	"elobot/internal/postgres/pgranking"
	"elobot/internal/postgres/pgstats"
	"elobot/internal/ranking"
	"elobot/internal/stats"
	"elobot/internal/web"
)

const botToken = "123:secret"

// club is a group with a web board. The server also serves the web board of another group.
type club struct {
	t     *testing.T
	w     *dbtest.World
	views *stats.Service
	board *web.Board
	links web.Links
	url   string
	stop  func()
	reads *dbtest.Recorder // what pages read
	group ranking.GroupID
}

// hostile is a name that must not become markup.
const hostile = `"><script>alert(1)</script>`

// dora is a member of another group, otherChat. mallory is a member of the club.
var (
	otherChat = ranking.Chat{ID: -200, Kind: ranking.Group, Title: "Secret society"}
	dora      = command.Person{ID: 77, Username: "dora", Name: "Dora the Hidden"}
	mallory   = command.Person{ID: 66, Username: "mallory", Name: hostile}
)

func newClub(t *testing.T) *club {
	t.Helper()
	return newClubAt(t, time.Now)
}

// stopped returns a clock that stands still, so that nothing depends on the machine's speed.
func stopped() func() time.Time {
	at := time.Now()
	return func() time.Time { return at }
}

func newClubAt(t *testing.T, now func() time.Time) *club {
	t.Helper()
	c := &club{t: t, w: dbtest.NewWorld(t, dbtest.Alice, dbtest.Bob, dbtest.Carol, mallory), reads: new(dbtest.Recorder)}
	c.w.Store.WebChanged = func(g ranking.GroupID) { c.board.Changed(g) }
	dbtest.Must(t, dbtest.Upsert(t.Context(), c.w.Store, otherChat, []ranking.PlayerChange{dbtest.AsNew(dora)}))
	for i := range 4 {
		c.w.Record(t, fmt.Sprint("a", i), dbtest.Alice, dbtest.Bob, 3, 1)
		c.w.Record(t, fmt.Sprint("b", i), dbtest.Bob, mallory, 3, 2)
	}
	c.w.Record(t, "carol", dbtest.Carol, mallory, 0, 2)
	c.w.Undo(t, "undo", dbtest.Bob, 2)
	dbtest.Exec(t, c.w.Pool, `UPDATE groups SET web_on = true, web_salt = gen_random_uuid()`)
	c.group = dbtest.Value[ranking.GroupID](t, c.w.Pool, `SELECT group_id FROM matches LIMIT 1`)
	pool := dbtest.Open(t, c.w.Pool.Config().ConnString(),
		func(config *pgxpool.Config) { config.ConnConfig.Tracer = c.reads })
	c.views = stats.NewService(pgstats.NewStore(pool, pool))
	c.board, c.links, c.stop = c.serve(now)
	c.url = c.links.Link(c.boardOf(c.group))
	return c
}

// boardOf returns the data that a link to a group's board is made of.
func (c *club) boardOf(group ranking.GroupID) ranking.WebBoard {
	c.t.Helper()
	return ranking.WebBoard{
		Group: group, Salt: dbtest.Value[string](c.t, c.w.Pool, `SELECT web_salt::text FROM groups WHERE id = $1`, group),
	}
}

// serve serves the club's boards at an address of their own.
func (c *club) serve(now func() time.Time) (board *web.Board, links web.Links, stop func()) {
	c.t.Helper()
	proxies, err := web.ReadProxies("127.0.0.1")
	dbtest.Must(c.t, err)
	server := listen(c.t)
	server.ExpectBoard()
	links = web.NewLinks("http://"+server.Addr(), botToken)
	board = web.NewBoard(c.views, links, proxies, now, slog.New(slog.DiscardHandler))
	server.Board(board)
	_, stop, _ = run(c.t, server)
	return board, links, stop
}

// get requests a page of the board. headers lists names and values of request headers in turn.
func (c *club) get(path string, headers ...string) answer {
	c.t.Helper()
	return c.ask(c.url+path, headers...)
}

func (c *club) ask(url string, headers ...string) answer {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, url, nil)
	dbtest.Must(c.t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := (&http.Transport{DisableKeepAlives: true, DisableCompression: true}).RoundTrip(r)
	dbtest.Must(c.t, err)
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK && resp.Header.Get("Content-Type") == "text/event-stream" {
		return answer{resp.StatusCode, resp.Header, ""}
	}
	body, err := io.ReadAll(resp.Body)
	dbtest.Must(c.t, err)
	return answer{resp.StatusCode, resp.Header, string(body)}
}

// fill replaces the wildcards in the path of a route.
func fill(path string, values map[string]any) string {
	return regexp.MustCompile(`{(\w+|\$)}`).ReplaceAllStringFunc(path, func(name string) string {
		if name == "{$}" {
			return ""
		}
		return fmt.Sprint(values[strings.Trim(name, "{}")])
	})
}

// TestRoutes checks that each page can be read with its link, and shows neither the link's token
// nor a person of another group. A request with a foreign or invalid token, salt, group, player,
// ladder, season, month or page number gets 404. Pages and refusals have the security headers.
func TestRoutes(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	alice, bob := c.w.ID(t, "Alice"), c.w.ID(t, "Bob")
	foreign := c.w.ID(t, dora.Name)
	other := dbtest.Value[ranking.GroupID](t, c.w.Pool, `SELECT max(id) FROM groups`)
	foreignLadder := dbtest.Value[int64](t, c.w.Pool, `SELECT id FROM ladders WHERE group_id = $1`, other)
	token := strings.Split(c.url, "/")[5]
	base := strings.TrimSuffix(c.url, fmt.Sprintf("/g/%d/%s/", c.group, token))
	link := func(group any, token string) string { return fmt.Sprintf("%s/g/%v/%s/", base, group, token) }
	ours := map[string]any{"player": alice, "other": bob, "season": 1}
	for _, route := range web.RoutePaths() {
		path := fill(route, ours)
		a := c.get(path)
		if a.code != http.StatusOK || strings.Contains(a.body, token) || strings.Contains(a.body, "Dora") ||
			strings.Contains(a.body, "<script>") {
			t.Errorf("%s: %d, %s", route, a.code, a.body)
		}
		refused := map[string]string{
			"a foreign token":      link(c.group, strings.Split(c.links.Link(c.boardOf(other)), "/")[5]) + path,
			"a foreign salt":       c.links.Link(ranking.WebBoard{Group: c.group, Salt: c.boardOf(other).Salt}) + path,
			"no salt":              c.links.Link(ranking.WebBoard{Group: c.group}) + path,
			"another bot's token":  web.NewLinks(base, "124:secret").Link(c.boardOf(c.group)) + path,
			"no token":             link(c.group, "-") + path,
			"half of the token":    link(c.group, token[:12]) + path,
			"a foreign group":      link(other, token) + path,
			"an unknown group":     link(c.group+1000, token) + path,
			"a group with a sign":  link(fmt.Sprint("+", c.group), token+"x") + path,
			"a group that is none": link("x", token) + path,
		}
		if route != "events" {
			refused["a foreign ladder"] = c.url + path + fmt.Sprint("?ladder=", foreignLadder)
			refused["a ladder that is none"] = c.url + path + "?ladder=x"
		}
		for _, name := range []string{"player", "other", "season"} {
			for what, value := range map[string]any{
				"a foreign": foreign, "an unknown": int64(1 << 40), "no": "x", "a negative": -1, "a hostile": "%3Cscript%3E",
			} {
				values := map[string]any{"player": alice, "other": bob, "season": 1}
				values[name] = value
				if strings.Contains(route, "{"+name+"}") {
					refused[what+" "+name] = c.url + fill(route, values)
				}
			}
		}
		if route == "matches" {
			refused["matches of a foreign player"] = c.url + path + fmt.Sprint("?player=", foreign)
			refused["matches of a month that is none"] = c.url + path + "?month=2026-13"
			refused["a page that is none"] = c.url + path + "?older=99999999999"
		}
		for what, url := range refused {
			if b := c.ask(url); b.code != http.StatusNotFound || b.body != "Not Found\n" {
				t.Errorf("%s with %s: %d, %s", route, what, b.code, b.body)
			}
		}
		for _, got := range []answer{a, c.ask(refused["no token"])} {
			for name, want := range map[string]string{
				"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Robots-Tag": "noindex, nofollow",
			} {
				if got.header.Get(name) != want {
					t.Errorf("%s: %s is %q", route, name, got.header.Get(name))
				}
			}
			policy := got.header.Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none';") || !strings.Contains(policy, "frame-ancestors 'none'") ||
				strings.Contains(policy, "unsafe") {
				t.Errorf("%s: the policy is %q", route, policy)
			}
		}
	}
}

// TestPages checks that each page shows its content, and the ranking is in the group's language.
// Names are never markup. A player who has left the group is in its matches, but not in its
// ranking.
func TestPages(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	alice, bob := c.w.ID(t, "Alice"), c.w.ID(t, "Bob")
	for path, want := range map[string][]string{
		"":    {"<h1>Ranking</h1>", "Alice", "Last match", "1 newcomer · a place takes 3 matches", "&lt;script&gt;alert(1)", "ranking.json"},
		"?tv": {`class="tv"`, "<noscript><meta http-equiv=\"refresh\"", "Last matches"},
		fmt.Sprint("player/", alice): {"1 of 3", "Rating: 1500 at first", "<path d=\"M",
			fmt.Sprintf("h2h/%d/%d", alice, bob), "4–0"},
		fmt.Sprintf("h2h/%d/%d", alice, bob):     {"4–0", "12:4"},
		"matches":                                {"Bob", "<s>", "undone", "#"},
		fmt.Sprint("matches?player=", alice):     {"+16", "show everybody"},
		"matches?month=2001-05":                  {"No matches yet."},
		"season/1":                               {"Season 1", "Goes on", "Alice"},
		"seasons":                                {"season/1", `class="p1"`},
		"records":                                {"Longest winning streak", "4 wins in a row"},
		"records?month=2001-05":                  {"No matches yet."},
		"ranking.json":                           {`{"group":"Club","players":[{"place":1,"name":"Alice","rating":15`},
		fmt.Sprintf("player/%d?period=x", alice): nil,
	} {
		a := c.get(path)
		if (a.code == http.StatusOK) != (want != nil) {
			t.Errorf("%s: %d %s", path, a.code, a.body)
		}
		for _, part := range want {
			if !strings.Contains(a.body, part) && !strings.Contains(html.UnescapeString(a.body), part) {
				t.Errorf("%s does not have %q:\n%s", path, part, a.body)
			}
		}
		if strings.Contains(a.body, "<script>") || strings.Contains(a.body, "style=") {
			t.Errorf("%s has markup of a name or of a style:\n%s", path, a.body)
		}
	}
	dbtest.Exec(t, c.w.Pool, `UPDATE chats SET language = 'de', time_zone = 'Pacific/Kiritimati'`)
	c.board.Changed(c.group)
	if a := c.get(""); !strings.Contains(a.body, "<h1>Rangliste</h1>") || !strings.Contains(a.body, `lang="de"`) ||
		!strings.Contains(a.body, "&#43;14:00") {
		t.Errorf("in German: %s", a.body)
	}
	for name, isShown := range map[string]bool{"tennis": true, "CLUB": false} {
		dbtest.Exec(t, c.w.Pool, `UPDATE ladders SET name = $1 WHERE group_id = $2`, name, c.group)
		c.board.Changed(c.group)
		if a := c.get("?tv"); strings.Contains(a.body, "· <bdi>"+name) != isShown {
			t.Errorf("a screen with the ladder %s: %s", name, a.body)
		}
	}
	dbtest.Exec(t, c.w.Pool, `UPDATE group_players SET left_at = now() WHERE name = 'Alice'`)
	c.board.Changed(c.group)
	if a := c.get(""); strings.Contains(a.body[strings.Index(a.body, `id="ranking"`):], "Alice") {
		t.Errorf("who left is in the ranking: %s", a.body)
	}
	if a := c.get("matches"); !strings.Contains(a.body, "Alice") {
		t.Errorf("who left is not in the matches: %s", a.body)
	}
}

// TestUnnamed checks that no answer of any route has the name, the username or an id of players who
// do not want to be on the web. Each is “a player”, with a number from the second one on, and in
// the ranking without form and curve. Their pages are gone, also under the id of a player merged
// into theirs. Whoever changes their mind is named again.
func TestUnnamed(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	dbtest.Exec(t, c.w.Pool, `ALTER SEQUENCE players_id_seq RESTART 987654`)
	quintus := command.Person{ID: 76543210, Username: "fifth", Name: "Quintus"}
	sextus := command.Person{ID: 76543211, Username: "sixth", Name: "Sextus"}
	for i := range 6 {
		c.w.Record(t, fmt.Sprint("q", i), quintus, dbtest.Alice, 3, 0)
		c.w.Record(t, fmt.Sprint("s", i), sextus, dbtest.Alice, 3, i%2*4)
	}
	first := c.w.ID(t, quintus.Name)
	dbtest.Exec(t, c.w.Pool, `INSERT INTO players (display_name, merged_into) VALUES ('Merged', $1)`, first)
	merged := c.w.ID(t, "Merged")
	traces := regexp.MustCompile(`(?i)quintus|sextus|fifth|sixth|7654321|98765`)
	named := func() (paths []string) {
		t.Helper()
		c.board.Changed(c.group)
		alice, bob := c.w.ID(t, "Alice"), c.w.ID(t, "Bob")
		all := []string{"?tv", "records?month=" + time.Now().Format("2006-01"), fmt.Sprint("matches?player=", alice)}
		for _, route := range web.RoutePaths() {
			all = append(all, fill(route, map[string]any{"player": alice, "other": bob, "season": 1}))
		}
		for _, path := range all {
			a := c.get(path)
			if a.code != http.StatusOK {
				t.Errorf("%s: %d", path, a.code)
			}
			if traces.MatchString(html.UnescapeString(a.body) + fmt.Sprint(a.header)) {
				paths = append(paths, path)
			}
		}
		for _, path := range []string{"player/%d", "matches?player=%d", "h2h/%d/" + fmt.Sprint(alice)} {
			for _, id := range []ladder.PlayerID{first, merged} {
				if path := fmt.Sprintf(path, id); c.get(path).code == http.StatusOK {
					paths = append(paths, path)
				}
			}
		}
		return paths
	}
	choose := func(off bool, people ...command.Person) {
		t.Helper()
		for _, p := range people {
			origin := dbtest.By(fmt.Sprint(p.Name, off), p)
			origin.Chat, origin.Button, origin.Pressed = ranking.Chat{ID: ranking.ExternalChatID(p.ID), Kind: "private"}, "1", 1
			dbtest.Must(t, dbtest.Service(c.w.Store).Do(t.Context(), origin, ranking.StayOffWeb{Off: off}))
		}
	}
	if n := len(named()); n != 16 {
		t.Errorf("%d pages have traces before", n)
	}
	choose(true, quintus, sextus)
	if paths := named(); paths != nil {
		t.Errorf("traces are on %q", paths)
	}
	ranked := c.get("").body
	row := regexp.MustCompile(`<bdi>a player( \(2\))?</bdi></th>.*<td class="form"></td><td class="wide"></td></tr>`)
	if len(row.FindAllString(ranked, -1)) != 2 || !strings.Contains(ranked, "a player (2)") {
		t.Errorf("the ranking is %s", ranked)
	}
	dbtest.Exec(t, c.w.Pool, `UPDATE chats SET language = 'de'`)
	choose(false, sextus)
	c.board.Changed(c.group)
	if a := c.get("ranking.json"); !strings.Contains(a.body, `"eine Person"`) || !strings.Contains(a.body, "Sextus") {
		t.Errorf("in German, with one of them: %s", a.body)
	}
}

// TestNotListed checks that who leaves the ranking or the group is in no list.
func TestNotListed(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	service := dbtest.Service(c.w.Store)
	dbtest.Must(t, service.Do(t.Context(), dbtest.By("leave", dbtest.Alice), ranking.Leave{}))
	dbtest.Must(t, service.MemberLeft(t.Context(), dbtest.By("left", dbtest.Bob), dbtest.Bob))
	c.board.Changed(c.group)
	for path, section := range map[string]string{
		"": `id="ranking"`, "?tv": `id="ranking"`, "season/1": "<tbody>", "seasons": "<h1>", "ranking.json": "{",
	} {
		body := c.get(path).body
		list, _, _ := strings.Cut(body[strings.Index(body, section):], "<dl class")
		list, _, _ = strings.Cut(list, "</section>")
		lists := func(name string) bool { return strings.Contains(list, name) }
		if lists("Alice") || lists("Bob") || path != "seasons" && !lists("Carol") {
			t.Errorf("%q lists %s", path, list)
		}
	}
}

// TestCaching checks that clients revalidate pages each time and cache files forever. Both are
// compressed. A new match changes the ETag of the ranking.
func TestCaching(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	for url, want := range map[string]string{
		c.url: "private, no-cache",
		c.url[:strings.Index(c.url, "/g/")] + web.AssetPaths()[0]: "public, max-age=31536000, immutable",
	} {
		plain, zipped := c.ask(url), c.ask(url, "Accept-Encoding", "br, gzip")
		if plain.header.Get("Cache-Control") != want || zipped.header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%v, %v", plain.header, zipped.header)
		}
		z, err := gzip.NewReader(strings.NewReader(zipped.body))
		dbtest.Must(t, err)
		if unzipped, err := io.ReadAll(z); err != nil || string(unzipped) != plain.body {
			t.Errorf("unzipped, it is another one: %v", err)
		}
		if again := c.ask(url, "If-None-Match", plain.header.Get("ETag")); again.code != http.StatusNotModified ||
			again.body != "" {
			t.Errorf("asked again, it is %d", again.code)
		}
	}
	before := c.get("").header.Get("ETag")
	c.w.Record(t, "later", dbtest.Alice, dbtest.Bob, 3, 0)
	if after := c.get("").header.Get("ETag"); after == before {
		t.Error("a match has changed nothing")
	}
}

// viewer is a browser that follows a board.
type viewer struct {
	events chan struct{}
	cut    chan struct{}
}

// follow requests the board's events for a client at the address from, as a trusted proxy does, and
// returns the status of the response.
func (c *club) follow(ctx context.Context, from string) (viewer, int) {
	c.t.Helper()
	v := viewer{make(chan struct{}, 100), make(chan struct{})}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+"events", nil)
	dbtest.Must(c.t, err)
	r.Header.Set("X-Forwarded-For", from)
	//nolint:bodyclose // closed here, or by the goroutine below
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	dbtest.Must(c.t, err)
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return v, resp.StatusCode
	}
	go func() {
		defer close(v.cut)
		defer resp.Body.Close()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "data:") {
				v.events <- struct{}{}
			}
		}
	}()
	return v, http.StatusOK
}

// TestQueriesOfViewers checks that a change costs as many queries for 500 viewers as for one.
func TestQueriesOfViewers(t *testing.T) {
	t.Parallel()
	c := newClubAt(t, stopped())
	queries := func(viewers int) int {
		ctx, stop := context.WithCancel(t.Context())
		var all []viewer
		for i := range viewers {
			v, status := c.follow(ctx, fmt.Sprintf("10.0.%d.%d", i/250, i%250))
			if status != http.StatusOK {
				t.Fatalf("viewer %d gets %d", i, status)
			}
			all = append(all, v)
		}
		c.reads.Take()
		c.w.Record(t, fmt.Sprint("match for ", viewers), dbtest.Alice, dbtest.Bob, 3, 1)
		var seeing sync.WaitGroup
		for i, v := range all {
			seeing.Go(func() {
				<-v.events
				if a := c.get("", "X-Forwarded-For", fmt.Sprintf("10.0.%d.%d", i/250, i%250)); a.code != http.StatusOK {
					t.Errorf("viewer %d gets %d", i, a.code)
				}
			})
		}
		seeing.Wait()
		n := len(c.reads.Take())
		stop()
		for _, v := range all {
			<-v.cut
		}
		return n
	}
	one := queries(1)
	if many := queries(500); one == 0 || many != one {
		t.Errorf("a change costs %d statements for one viewer, and %d for 500", one, many)
	}
}

// TestCut checks that, when the board is turned off or gets a new link, or the bot is removed, all
// viewers are cut off and the link is dead. When the board is on again, or the bot is back, the old
// link opens the board, unless a new link has replaced it.
func TestCut(t *testing.T) {
	t.Parallel()
	type step func(ctx context.Context, s *ranking.Service, o ranking.Origin) error
	web := func(value string) step {
		return func(ctx context.Context, s *ranking.Service, o ranking.Origin) error {
			setting, _ := ranking.FindSetting(ranking.SettingWeb)
			return s.Do(dbtest.AsAdmin(ctx), o, ranking.ChangeSetting{Setting: setting, Value: value})
		}
	}
	removed := func(ctx context.Context, s *ranking.Service, o ranking.Origin) error { return s.BotRemoved(ctx, o) }
	back := func(ctx context.Context, s *ranking.Service, o ranking.Origin) error { return s.BotBack(ctx, o) }
	for what, tc := range map[string]struct {
		ends, begins []step
		isNew        bool // a new link replaces the old one
	}{
		"off":        {ends: []step{web(ranking.Off)}, begins: []step{web(ranking.On)}},
		"a new link": {ends: []step{web(ranking.NewLink)}, begins: []step{web(ranking.Off), web(ranking.On)}, isNew: true},
		"removed":    {ends: []step{removed}, begins: []step{back}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := newClubAt(t, stopped())
			do := func(steps ...step) {
				t.Helper()
				for _, s := range steps {
					dbtest.Must(t, s(t.Context(), dbtest.Service(c.w.Store),
						dbtest.By(fmt.Sprint("change ", rand.Int()), dbtest.Alice)))
				}
			}
			dbtest.Exec(t, c.w.Pool, `UPDATE chats SET parked_at = now(),
				parked_until = now() + interval '1 hour', parkings = 1`)
			var all []viewer
			for i := range 100 {
				v, status := c.follow(t.Context(), fmt.Sprint("10.0.0.", i))
				if status != http.StatusOK {
					t.Fatal(status)
				}
				all = append(all, v)
			}
			begun := time.Now()
			do(tc.ends...)
			for _, v := range all {
				dbtest.Receive(t, v.cut)
			}
			t.Logf("all are cut after %v", time.Since(begun))
			if a := c.get(""); a.code != http.StatusNotFound {
				t.Errorf("the link leads to %d", a.code)
			}
			do(tc.begins...)
			if link := c.links.Link(c.boardOf(c.group)); c.ask(link).code != http.StatusOK || link != c.url != tc.isNew {
				t.Errorf("the board is at %s, and was at %s", link, c.url)
			}
			if a := c.get(""); (a.code == http.StatusNotFound) != tc.isNew {
				t.Errorf("the old link leads to %d then", a.code)
			}
		})
	}
}

// TestOtherDatabase checks that a link opens no board of another database, although the bot and the
// ids are the same.
func TestOtherDatabase(t *testing.T) {
	t.Parallel()
	c, restored := newClub(t), newClub(t)
	if c.group != restored.group {
		t.Fatal("the ids differ")
	}
	if a := restored.ask(restored.links.Link(c.boardOf(c.group))); a.code != http.StatusNotFound {
		t.Errorf("it leads to %d", a.code)
	}
}

// TestTooManyViewers checks that the number of viewers per address is limited, whatever other
// addresses a client claims to come from.
func TestTooManyViewers(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	for i := range web.MaxViewersOf + 1 {
		_, status := c.follow(t.Context(), fmt.Sprintf("10.9.9.%d, 10.1.1.1", i))
		want := http.StatusOK
		if i == web.MaxViewersOf {
			want = http.StatusTooManyRequests
		}
		if status != want {
			t.Errorf("viewer %d: %d", i, status)
		}
	}
}

// TestTooManyRequests checks that a client that sends too many requests gets 429, and others are
// still answered. Each group has a limit of its own for uncached pages.
func TestTooManyRequests(t *testing.T) {
	t.Parallel()
	c := newClubAt(t, stopped())
	ask := func(url, from string) int {
		t.Helper()
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, url[strings.Index(url, web.BoardPath):], nil)
		r.RemoteAddr = from + ":5"
		c.board.ServeHTTP(w, r)
		if w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "" {
			t.Error("a refusal does not say when to come back")
		}
		return w.Code
	}
	until429 := func(ask func(i int) int) {
		t.Helper()
		for i := range 1000 {
			if ask(i) == http.StatusTooManyRequests {
				return
			}
		}
		t.Error("1000 requests are not too many")
	}
	until429(func(int) int { return ask(c.url+"assets/none", "192.0.2.1") })
	if code := ask(c.url, "192.0.2.2"); code != http.StatusOK {
		t.Errorf("another address gets %d", code)
	}
	until429(func(i int) int { return ask(fmt.Sprint(c.url, "matches?older=", i), fmt.Sprint("198.51.100.", i%250)) })
	other := dbtest.Value[ranking.GroupID](t, c.w.Pool, `SELECT max(id) FROM groups`)
	if code := ask(c.links.Link(c.boardOf(other)), "192.0.2.2"); code != http.StatusOK {
		t.Errorf("the board of another group gets %d", code)
	}
}

// TestSizeOfTheRanking checks that the ranking of 200 players, with a sparkline for each,
// compresses to at most 60,000 bytes.
func TestSizeOfTheRanking(t *testing.T) {
	t.Parallel()
	c := newClub(t)
	dbtest.Exec(t, c.w.Pool, `
		WITH added AS (
		    INSERT INTO players (telegram_user_id, username, display_name)
		    SELECT 5000 + n, 'user' || n, md5(n::text) FROM generate_series(1, 200) n RETURNING id, display_name
		), standing AS (
		    INSERT INTO group_players (season_id, player_id, name, elo, start_elo,
		        best_elo, played, won, lost, last_played_at)
		    SELECT (SELECT season_id FROM matches LIMIT 1), id, display_name, 1400 + id * 37 % 200, 1500, 1600, 8, 5, 3, now()
		    FROM added
		    RETURNING player_id
		), match AS (
		    INSERT INTO matches (group_id, ladder_id, season_id, number, score_a, score_b,
		        k_factor, played_at, idempotency_key)
		    SELECT group_id, ladder_id, season_id, 1000 + n, 3, 1, 32, now() - n * interval '1 minute', 'x' || n
		    FROM (SELECT * FROM matches LIMIT 1) AS m, generate_series(1, 2000) n RETURNING id, number
		), part AS (
		    INSERT INTO match_players (match_id, player_id, side)
		    SELECT m.id, p.player_id, side FROM match m, generate_series(1, 2) side,
		           (SELECT player_id, row_number() OVER () AS n FROM standing) AS p
		    WHERE p.n = 1 + (m.number * 7 + side * (1 + m.number / 200)) % 200 RETURNING match_id, player_id, side)
		INSERT INTO elo_history (match_id, player_id, elo_before, elo_after, k_factor,
			best_before, streak_before, longest_before, reason)
		SELECT match_id, player_id, 1400 + match_id * 13 % 200, 1400 + match_id * 29 % 200, 32, 1700, 1, 1, 'match'
		FROM part`)
	c.board.Changed(c.group)
	a := c.get("", "Accept-Encoding", "gzip")
	if t.Logf("%d bytes", len(a.body)); a.code != http.StatusOK || len(a.body) > 60_000 {
		t.Errorf("%d with %d bytes", a.code, len(a.body))
	}
	if n := strings.Count(c.get("").body, `class="spark"`); n < 200 {
		t.Errorf("there are %d sparklines", n)
	}
}

// TestClient checks that only trusted proxies can tell where a request comes from.
func TestClient(t *testing.T) {
	t.Parallel()
	proxies, err := web.ReadProxies("127.0.0.1, 10.0.0.0/8,2001:db8::/32")
	dbtest.Must(t, err)
	for _, tc := range []struct{ peer, forwarded, want string }{
		{"192.0.2.1:5", "", "192.0.2.1"}, {"192.0.2.1:5", "198.51.100.7", "192.0.2.1"}, {"127.0.0.1:5", "198.51.100.7", "198.51.100.7"},
		{"127.0.0.1:5", "203.0.113.9, 198.51.100.7, 10.1.1.1", "198.51.100.7"}, {"127.0.0.1:5", "nonsense", "127.0.0.1"},
		{"[::ffff:127.0.0.1]:5", "198.51.100.7", "198.51.100.7"}, {"[2001:db8::1]:5", "2a00:1:2:3f4:5::6", "2a00:1:2:300::"}, {"nonsense", "1.1.1.1", "invalid IP"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.RemoteAddr = tc.peer
		r.Header.Set("X-Forwarded-For", tc.forwarded)
		if got := web.Client(proxies, r).String(); got != tc.want {
			t.Errorf("%v comes from %s", tc, got)
		}
	}
}

// TestLinks checks that a link depends on its group, the group's salt and the bot's token.
// FitsButtons reports which addresses Telegram accepts in buttons.
func TestLinks(t *testing.T) {
	t.Parallel()
	var all []string
	for _, token := range []string{"1:a", "1:b"} {
		for _, b := range []ranking.WebBoard{{Group: 1, Salt: "1"}, {Group: 1, Salt: "11"}, {Group: 11, Salt: "1"}} {
			link := web.NewLinks("https://elo.example.org/", token).Link(b)
			if !regexp.MustCompile(`^https://elo\.example\.org/g/\d+/[\w-]{24}/$`).MatchString(link) ||
				slices.Contains(all, link) {
				t.Errorf("%s is a link like others: %q", link, all)
			}
			all = append(all, link)
		}
	}
	for url, want := range map[string]bool{
		"https://elo.example.org": true, "https://elo.example.org:8443": true, "http://elo.example.org": false, "https://localhost": false,
		"https://127.0.0.1": false, "https://[::1]:8080": false, "https://board": false, "https://board.local": false,
	} {
		if got := web.NewLinks(url, "1:a").FitsButtons(); got != want {
			t.Errorf("%s fits buttons: %t", url, got)
		}
	}
}

// FuzzBoard checks that the answer to any GET request, except for events, is a page or a refusal,
// never a server error.
func FuzzBoard(f *testing.F) {
	pool := pgtest.Borrow(f).Pool
	store := pgranking.NewStore(pool, dbtest.Ignore)
	dbtest.Must(f, dbtest.Upsert(f.Context(), store, dbtest.Club,
		[]ranking.PlayerChange{dbtest.AsNew(dbtest.Alice), dbtest.AsNew(dbtest.Bob)}))
	dbtest.Must(f, dbtest.Service(store).Do(f.Context(), dbtest.By("m", dbtest.Bob),
		dbtest.Reported(dbtest.Singles(dbtest.Alice, dbtest.Bob, ladder.Score{A: 3}))))
	var b ranking.WebBoard
	dbtest.Must(f, pool.QueryRow(f.Context(), `UPDATE groups SET web_on = true, web_salt = gen_random_uuid()
		RETURNING id, web_salt::text`).Scan(&b.Group, &b.Salt))
	links := web.NewLinks("", botToken)
	proxies, err := web.ReadProxies("10.0.0.0/9")
	dbtest.Must(f, err)
	board := web.NewBoard(stats.NewService(pgstats.NewStore(pool, pool)),
		links, proxies, time.Now, slog.New(slog.DiscardHandler))
	for _, route := range web.RoutePaths() {
		if route != "events" {
			f.Add(fill(route, map[string]any{"player": 1, "other": 2, "season": 1}),
				"ladder=1&month=2026-05&player=1&older=5&newer=7&period=all&tv=1", "gzip", "10.0.0.1")
		}
	}
	f.Fuzz(func(t *testing.T, path, query, encoding, forwarded string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.URL.Path, r.URL.RawQuery = links.Link(b)+path, query
		// Use many addresses, so that none sends too many requests.
		r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:5", rand.N(256), rand.N(256), rand.N(256))
		r.Header.Set("Accept-Encoding", encoding)
		r.Header.Set("If-None-Match", encoding)
		r.Header.Set("X-Forwarded-For", forwarded)
		if strings.HasSuffix(path, "events") {
			return
		}
		w := httptest.NewRecorder()
		board.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%q?%q: %d", path, query, w.Code)
		}
	})
}
