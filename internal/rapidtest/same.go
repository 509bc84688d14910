//go:build !soak

package rapidtest

import (
	"flag"
	"strconv"
)

// Same has all property tests of a test binary try the same cases at each run, that many each, so that none of them fails by
// chance. It is called before the tests run; -rapid.checks and -rapid.seed on the command line still mean what they say. With
// the build tag soak the cases are random, and many.
func Same(checks int) {
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(checks), "rapid.seed": "1"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
}
