//go:build soak

package rapidtest

// Same does nothing, so the property tests try random cases. The flag -rapid.checks sets how many.
func Same(int) {}
