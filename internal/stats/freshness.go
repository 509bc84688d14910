package stats

import "time"

// Freshness says how current the figures of a view are that are derived from matches some seconds after they were recorded. The zero
// value means that they are current.
type Freshness struct {
	// Recounting is true if the figures are being counted again, so that some of them lack matches.
	Recounting bool `json:"recounting,omitempty"`
	// AsOf is the time up to which the figures have all matches, undos and corrections, zero for now.
	AsOf time.Time `json:"as_of,omitzero"`
}
