package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"elobot/internal/ranking"
	"elobot/internal/stats"
)

const (
	// fresh is for how long a page is shown again without reading anything, unless something has changed: so late is what an instance shows
	// that a notification has not reached.
	fresh = 1500 * time.Millisecond
	// keptPages is how many pages are kept that long.
	keptPages = 64
	// pagesAtOnce is how many pages are made at the same time: chats need the connections, too.
	pagesAtOnce = 2
	// readingTimeout limits the reads of a page.
	readingTimeout = 5 * time.Second
	// Of an address, so many requests are answered, and of a group, so many pages are made that are not kept: those cost the database time.
	// One address alone cannot use up what a group has.
	addressRate, addressBurst = 20, 150
	groupRate, groupBurst     = 50, 200
	// knownSenders is for how many addresses and groups that is counted.
	knownSenders = 10_000
)

// Board serves the web boards of all groups, below BoardPath. All that it knows of a request is its path and its query; it logs neither,
// because the path has the token.
type Board struct {
	views   *stats.Service
	links   Links
	proxies Proxies
	now     func() time.Time
	log     *slog.Logger

	mux       *http.ServeMux
	live      *live
	pages     *lru.Cache[pageKey, kept[*page]]
	groups    *lru.Cache[pageKey, kept[*stats.WebGroup]]
	making    singleflight.Group
	makes     *semaphore.Weighted // pages
	addresses *lru.Cache[netip.Addr, *rate.Limiter]
	makers    *lru.Cache[ranking.GroupID, *rate.Limiter]
}

// pageKey identifies a page as long as nothing changes in its group.
type pageKey struct {
	group   ranking.GroupID
	version uint64
	address string // the path and the query without what they do not know; empty for the group itself
}

// NewBoard returns the web boards at the links. now is the messenger's clock.
func NewBoard(views *stats.Service, links Links, proxies Proxies, now func() time.Time, log *slog.Logger) *Board {
	b := &Board{
		views: views, links: links, proxies: proxies, now: now, log: log, mux: http.NewServeMux(), live: newLive(),
		pages: newLRU[pageKey, kept[*page]](keptPages), groups: newLRU[pageKey, kept[*stats.WebGroup]](keptPages),
		makes: semaphore.NewWeighted(pagesAtOnce), addresses: newLRU[netip.Addr, *rate.Limiter](knownSenders), makers: newLRU[ranking.GroupID, *rate.Limiter](knownSenders),
	}
	for _, r := range routes() {
		b.mux.HandleFunc("GET "+BoardPath+"{group}/{token}/"+r.path, func(w http.ResponseWriter, req *http.Request) { b.serve(w, req, r) })
	}
	b.mux.HandleFunc("GET "+BoardPath+"assets/{name}", serveAsset)
	b.mux.HandleFunc(BoardPath, func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound) })
	return b
}

func newLRU[K comparable, V any](size int) *lru.Cache[K, V] {
	all, err := lru.New[K, V](size)
	if err != nil { // the size is below 1
		panic(err)
	}
	return all
}

// route is a kind of page.
type route struct {
	path string
	show func(b *Board, ctx context.Context, v *visit) (*page, error) // nil for the events
	// filters are the parameters of the query that it knows, besides that of the ladder
	filters []string
}

// routes returns all pages of a board, by their paths below that of the board.
func routes() []route {
	return []route{
		{"{$}", (*Board).ranking, []string{"tv"}},
		{"ranking.json", (*Board).rankingJSON, nil},
		{"player/{player}", (*Board).player, []string{"period"}},
		{"h2h/{player}/{other}", (*Board).headToHead, nil},
		{"matches", (*Board).matches, []string{"month", "player", "older", "newer"}},
		{"season/{season}", (*Board).season, nil},
		{"seasons", (*Board).seasons, nil},
		{"records", (*Board).records, []string{"month"}},
		{"events", nil, nil},
	}
}

// ServeHTTP implements http.Handler.
func (b *Board) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	address := b.proxies.client(r)
	if !allows(b.addresses, address, b.now(), addressRate, addressBurst) {
		refuse(w, http.StatusTooManyRequests)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		refuse(w, http.StatusMethodNotAllowed)
		return
	}
	if clean := path.Clean(r.URL.Path); clean != r.URL.Path && clean+"/" != r.URL.Path { // the mux would redirect
		refuse(w, http.StatusNotFound)
		return
	}
	b.mux.ServeHTTP(w, r)
}

// setHeaders sets what holds for all answers: nothing but our own files is loaded, and nobody else learns the address of a page.
func setHeaders(h http.Header) {
	for name, value := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
			"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Robots-Tag": "noindex, nofollow",
		"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
	} {
		h.Set(name, value)
	}
}

// refuse answers without saying more than that it does.
func refuse(w http.ResponseWriter, status int) {
	if status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodGet)
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	http.Error(w, http.StatusText(status), status)
}

// allows counts something of a sender.
func allows[K comparable](all *lru.Cache[K, *rate.Limiter], sender K, now time.Time, perSecond rate.Limit, burst int) bool {
	fresh := rate.NewLimiter(perSecond, burst)
	if known, ok, _ := all.PeekOrAdd(sender, fresh); ok {
		all.Get(sender)
		return known.AllowN(now, 1)
	}
	return fresh.AllowN(now, 1)
}

// serve answers a request for a page of a board.
func (b *Board) serve(w http.ResponseWriter, r *http.Request, of route) {
	id, err := strconv.ParseInt(r.PathValue("group"), 10, 64)
	if err != nil {
		refuse(w, http.StatusNotFound)
		return
	}
	group := ranking.GroupID(id)
	version := b.live.version(group) // before anything is read, which may then be newer
	g, err := b.open(r.Context(), group, r.PathValue("token"))
	switch {
	case errors.Is(err, stats.ErrNotThere):
		refuse(w, http.StatusNotFound)
		return
	case err != nil:
		b.log.WarnContext(r.Context(), "failed to read the group of a web board", "group", group, "error", err)
		refuse(w, http.StatusServiceUnavailable)
		return
	case of.show == nil:
		b.follow(w, r, group)
		return
	}
	p, err := b.page(r, g, version, of)
	switch {
	case errors.Is(err, stats.ErrNotThere):
		refuse(w, http.StatusNotFound)
	case errors.Is(err, errTooMany):
		refuse(w, http.StatusTooManyRequests)
	case err != nil:
		if r.Context().Err() == nil {
			b.log.WarnContext(r.Context(), "failed to make a page of a web board", "group", group, "page", of.path, "error", err)
		}
		refuse(w, http.StatusServiceUnavailable)
	default:
		p.write(w, r, "private, no-cache")
	}
}

// open returns a group whose board a token opens. Otherwise it fails with stats.ErrNotThere.
func (b *Board) open(ctx context.Context, group ranking.GroupID, token string) (*stats.WebGroup, error) {
	key := pageKey{group: group, version: b.live.version(group)}
	g, err := keep(ctx, b, b.groups, key, func(ctx context.Context) (*stats.WebGroup, error) {
		return b.views.WebGroup(ctx, group)
	})
	if err == nil && !b.links.opens(token, g.WebBoard) {
		return nil, stats.ErrNotThere
	}
	return g, err
}

var errTooMany = errors.New("too many pages of the group")

// page returns the page that a request for the board of a group asks for.
func (b *Board) page(r *http.Request, g *stats.WebGroup, version uint64, of route) (*page, error) {
	known := make(url.Values)
	for _, name := range append([]string{"ladder"}, of.filters...) {
		if r.URL.Query().Has(name) {
			known.Set(name, r.URL.Query().Get(name))
		}
	}
	_, below, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, BoardPath), "/") // the group
	_, below, _ = strings.Cut(below, "/")                                      // the token
	key := pageKey{g.Group, version, below + "?" + known.Encode()}
	return keep(r.Context(), b, b.pages, key, func(ctx context.Context) (*page, error) {
		if !allows(b.makers, g.Group, b.now(), groupRate, groupBurst) {
			return nil, errTooMany
		}
		if err := b.makes.Acquire(ctx, 1); err != nil {
			return nil, fmt.Errorf("wait for other pages: %w", err)
		}
		defer b.makes.Release(1)
		v, err := b.visit(g, r, below, known)
		if err != nil {
			return nil, err
		}
		return of.show(b, ctx, v)
	})
}

// kept is what need not be made again for a while.
type kept[T any] struct {
	value T
	until time.Time
}

// keep returns what is kept, or makes it. Of several who want the same, one makes it.
func keep[T any](
	ctx context.Context, b *Board, all *lru.Cache[pageKey, kept[T]], key pageKey, produce func(context.Context) (T, error),
) (value T, err error) {
	if k, ok := all.Get(key); ok && b.now().Before(k.until) {
		return k.value, nil
	}
	made, err, _ := b.making.Do(fmt.Sprintf("%T %v", value, key), func() (any, error) {
		if k, ok := all.Get(key); ok && b.now().Before(k.until) {
			return k.value, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readingTimeout) // others wait for it, too
		defer cancel()
		until := b.now().Add(fresh)
		value, err := produce(ctx)
		if err == nil {
			all.Add(key, kept[T]{value, until})
		}
		return value, err
	})
	value, _ = made.(T)
	return value, err
}

// page is an answer as it is sent.
type page struct {
	contentType  string
	body, zipped []byte
	etag         string
}

func newPage(contentType string, body []byte) *page {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(body) // memory never fails
	_ = z.Close()
	sum := sha256.Sum256(body)
	return &page{contentType, body, zipped.Bytes(), hex.EncodeToString(sum[:12])}
}

// write answers a request with the page, or says that the client has it already.
func (p *page) write(w http.ResponseWriter, r *http.Request, caching string) {
	h := w.Header()
	h.Set("Cache-Control", caching)
	h.Set("Vary", "Accept-Encoding")
	h.Set("ETag", `W/"`+p.etag+`"`)
	if strings.Contains(r.Header.Get("If-None-Match"), `"`+p.etag+`"`) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", p.contentType)
	body := p.body
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = p.zipped
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may be gone
	}
}

//go:embed assets
var assetFiles embed.FS

// assetTypes are the files of the pages, with their types.
var assetTypes = map[string]string{
	"board.css": "text/css; charset=utf-8", "board.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml",
}

// assetPath returns the path of a file, which has its checksum, so that it can be kept for ever.
func assetPath(name string, p *page) string { return BoardPath + "assets/" + p.etag + "-" + name }

// assets returns the files by their paths.
var assets = sync.OnceValue(func() map[string]*page {
	all := make(map[string]*page)
	for name, contentType := range assetTypes {
		body, err := assetFiles.ReadFile("assets/" + name)
		if err != nil { // it is a part of the program
			panic(err)
		}
		p := newPage(contentType, body)
		all[assetPath(name, p)] = p
	}
	return all
})

func serveAsset(w http.ResponseWriter, r *http.Request) {
	p, ok := assets()[r.URL.Path]
	if !ok {
		refuse(w, http.StatusNotFound)
		return
	}
	p.write(w, r, "public, max-age=31536000, immutable")
}
