//go:build !profile

package main

import "context"

// profile does nothing: only a bot that is built with the tag profile looks at itself, for whoever measures it.
func profile(context.Context) (finish func()) { return func() {} }
