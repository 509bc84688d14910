package web

// RoutePaths returns the paths of the pages and the event stream of a board, relative to the
// board's path.
func RoutePaths() (all []string) {
	for _, r := range routes() {
		all = append(all, r.path)
	}
	return all
}

// AssetPaths returns the paths of the pages' files.
func AssetPaths() (all []string) {
	for path := range assets() {
		all = append(all, path)
	}
	return all
}

// Client returns where a request comes from.
var Client = Proxies.client

// MaxViewersOf is the maximum number of viewers per address.
const MaxViewersOf = maxViewersOf
