//go:build !linux

package main

import "errors"

// resident returns an error: it is implemented only on Linux.
func resident(int) (now, peak float64, err error) { return 0, 0, errors.ErrUnsupported }
