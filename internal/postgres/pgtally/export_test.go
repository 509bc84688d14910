package pgtally

// WithStep returns a store whose steps take this many marks, and count this many matches of players.
func (s *Store) WithStep(marks, parts int) *Store {
	clone := *s
	clone.marks, clone.parts = marks, parts
	return &clone
}
