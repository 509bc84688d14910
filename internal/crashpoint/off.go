//go:build !crashpoints || !unix

package crashpoint

// At does nothing: the program was built without crash points.
func At(Point) {}

// AtUpdate does nothing: the program was built without crash points.
func AtUpdate([]byte) {}
