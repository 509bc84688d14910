package pgtemp

import "slices"

// sortedSettings returns the settings as name=value pairs in sorted order.
func sortedSettings(settings map[string]string) []string {
	var pairs []string
	for name, value := range settings {
		pairs = append(pairs, name+"="+value)
	}
	slices.Sort(pairs)
	return pairs
}
