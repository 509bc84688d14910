//go:build !linux

package main

import (
	"errors"
	"time"
)

// resident returns an error: it is implemented only on Linux.
func resident(int) (now, peak float64, err error) { return 0, 0, errors.ErrUnsupported }

// processorTime returns an error: it is implemented only on Linux.
func processorTime(int) (time.Duration, error) { return 0, errors.ErrUnsupported }
