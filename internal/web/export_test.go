package web

// RoutePaths are the paths of all pages of a board, below that of the board.
func RoutePaths() (all []string) {
	for _, r := range routes() {
		all = append(all, r.path)
	}
	return all
}

// AssetPaths are the paths of the files of the pages.
func AssetPaths() (all []string) {
	for path := range assets() {
		all = append(all, path)
	}
	return all
}

// Client is where a request comes from.
var Client = Proxies.client

// MaxViewersOf is how many viewers one address may have.
const MaxViewersOf = maxViewersOf
