package pgtemp

import "slices"

// sortedSettings are name=value pairs in an order that is always the same.
func sortedSettings(settings map[string]string) []string {
	var pairs []string
	for name, value := range settings {
		pairs = append(pairs, name+"="+value)
	}
	slices.Sort(pairs)
	return pairs
}
