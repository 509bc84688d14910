//go:build !crashpoints || !unix

package crashpoint

// At does nothing.
func At(Point) {}

// AtUpdate does nothing.
func AtUpdate([]byte) {}
