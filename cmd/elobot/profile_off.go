//go:build !profile

package main

import "context"

// profile does nothing: only a program that is built with the tag profile writes profiles.
func profile(context.Context) (finish func()) { return func() {} }
