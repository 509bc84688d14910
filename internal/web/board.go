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
	// fresh is how long a cached page or group is used if nothing changes. It bounds staleness on
	// an instance that missed a notification.
	fresh = 1500 * time.Millisecond
	// keptPages is the maximum number of cached pages, and of cached groups.
	keptPages = 64
	// pagesAtOnce is the maximum number of pages that are made concurrently, so that some database
	// connections remain for questions in chats.
	pagesAtOnce = 2
	// readingTimeout limits making a page, including the wait for other pages, and reading a group.
	readingTimeout = 5 * time.Second
	// addressRate and addressBurst limit the requests per address. groupRate and groupBurst limit
	// the uncached pages made per group, which cost database time. The rates are per second. One
	// address alone cannot exhaust a group's rate.
	addressRate, addressBurst = 20, 150
	groupRate, groupBurst     = 50, 200
	// knownSenders is the maximum number of addresses, and of groups, whose requests are counted
	// for these limits.
	knownSenders = 10_000
)

// Board serves the web boards of all groups, below BoardPath. The only parts of a request that a
// page depends on are the path and the query. Neither is logged, because the path contains the
// token.
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
	makes     *semaphore.Weighted // limits the pages that are made concurrently
	addresses *lru.Cache[netip.Addr, *rate.Limiter]
	makers    *lru.Cache[ranking.GroupID, *rate.Limiter]
}

// pageKey is the cache key of a page, or of a group. A change in the group changes the version.
type pageKey struct {
	group   ranking.GroupID
	version uint64
	address string // path below the board, and known query parameters; empty for the group itself
}

// NewBoard returns the web boards to which links lead. now is the messenger's clock.
func NewBoard(views *stats.Service, links Links, proxies Proxies, now func() time.Time, log *slog.Logger) *Board {
	b := &Board{
		views: views, links: links, proxies: proxies, now: now, log: log, mux: http.NewServeMux(), live: newLive(),
		pages: newLRU[pageKey, kept[*page]](keptPages), groups: newLRU[pageKey, kept[*stats.WebGroup]](keptPages),
		makes: semaphore.NewWeighted(pagesAtOnce), addresses: newLRU[netip.Addr, *rate.Limiter](knownSenders),
		makers: newLRU[ranking.GroupID, *rate.Limiter](knownSenders),
	}
	for _, r := range routes() {
		b.mux.HandleFunc("GET "+BoardPath+"{group}/{token}/"+r.path,
			func(w http.ResponseWriter, req *http.Request) { b.serve(w, req, r) })
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

// route is a kind of page, or the event stream.
type route struct {
	path string
	show func(b *Board, ctx context.Context, v *visit) (*page, error) // nil for the event stream
	// filters lists the query parameters that the page takes in addition to ladder.
	filters []string
}

// routes returns the pages and the event stream of a board, with their paths below the board's
// path.
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
	// The mux would redirect a path that is not clean.
	if clean := path.Clean(r.URL.Path); clean != r.URL.Path && clean+"/" != r.URL.Path {
		refuse(w, http.StatusNotFound)
		return
	}
	b.mux.ServeHTTP(w, r)
}

// setHeaders sets the default headers of an answer. They keep pages from loading files of other
// servers, and from leaking their own addresses.
func setHeaders(h http.Header) {
	for name, value := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; " +
			"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Robots-Tag": "noindex, nofollow",
		"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
	} {
		h.Set(name, value)
	}
}

// refuse answers with a status and no details.
func refuse(w http.ResponseWriter, status int) {
	if status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodGet)
	}
	if status == http.StatusNotFound { // the link may have worked before
		w.Header().Set("Clear-Site-Data", `"cache"`)
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	http.Error(w, http.StatusText(status), status)
}

// allows reports whether the rate of a sender permits one more event, and counts the event if so.
func allows[K comparable](
	all *lru.Cache[K, *rate.Limiter], sender K, now time.Time, perSecond rate.Limit, burst int,
) bool {
	fresh := rate.NewLimiter(perSecond, burst)
	if known, ok, _ := all.PeekOrAdd(sender, fresh); ok {
		all.Get(sender)
		return known.AllowN(now, 1)
	}
	return fresh.AllowN(now, 1)
}

func (b *Board) serve(w http.ResponseWriter, r *http.Request, of route) {
	id, err := strconv.ParseInt(r.PathValue("group"), 10, 64)
	if err != nil {
		refuse(w, http.StatusNotFound)
		return
	}
	group := ranking.GroupID(id)
	version := b.live.version(group) // read the version first: what is read afterward may be newer
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

// open returns the group if the token opens its board. If the token does not, or the group has no
// board, open fails with stats.ErrNotThere.
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

// page returns the requested page of a group's board, from the cache if it has the page for this
// version. It fails with errTooMany if too many uncached pages of the group have been requested.
func (b *Board) page(r *http.Request, g *stats.WebGroup, version uint64, of route) (*page, error) {
	known := make(url.Values)
	for _, name := range append([]string{"ladder"}, of.filters...) {
		if r.URL.Query().Has(name) {
			known.Set(name, r.URL.Query().Get(name))
		}
	}
	_, below, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, BoardPath), "/") // cut off the group
	_, below, _ = strings.Cut(below, "/")                                      // cut off the token
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

// kept is a cached value and the time until which it may be used.
type kept[T any] struct {
	value T
	until time.Time
}

// keep returns a cached value, or produces and caches it. An error is not cached. Concurrent calls
// with the same key produce the value once.
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
		// Other requests may wait for the value, so producing it must not end with this request.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readingTimeout)
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

// page is a response, ready to be sent.
type page struct {
	contentType  string
	body, zipped []byte
	etag         string
}

func newPage(contentType string, body []byte) *page {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(body) // writing to memory never fails
	_ = z.Close()
	sum := sha256.Sum256(body)
	return &page{contentType, body, zipped.Bytes(), hex.EncodeToString(sum[:12])}
}

// write answers a request with the page, or with 304 if the client already has it. caching is the
// Cache-Control header of the answer.
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

// assetTypes maps the files that pages load to their content types.
var assetTypes = map[string]string{
	"board.css": "text/css; charset=utf-8", "board.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml",
}

// assetPath returns the path of a file. The path contains the checksum, so clients can cache the
// file forever.
func assetPath(name string, p *page) string { return BoardPath + "assets/" + p.etag + "-" + name }

// assets returns the files by path.
var assets = sync.OnceValue(func() map[string]*page {
	all := make(map[string]*page)
	for name, contentType := range assetTypes {
		body, err := assetFiles.ReadFile("assets/" + name)
		if err != nil { // the file is part of the program
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
