//go:build soak

package rapidtest

// Same does nothing, so the property tests try random cases. The flag -rapid.checks sets their
// number.
func Same(int) {}
