package web

// RoutePaths returns the paths of the pages and the event stream of a board, relative to the
// board's path.
func RoutePaths() (all []string) {
	for _, r := range routes() {
		all = append(all, r.path)
	}
	return all
}

// AssetPaths returns the paths of the files that pages load.
func AssetPaths() (all []string) {
	for path := range assets() {
		all = append(all, path)
	}
	return all
}

// Client returns the address that a request comes from; see Proxies.client.
var Client = Proxies.client

// MaxViewersOf is the maximum number of viewers per address.
const MaxViewersOf = maxViewersOf
