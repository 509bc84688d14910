//go:build !soak

package rapidtest

import (
	"flag"
	"strconv"
)

// Same makes each property test of a test binary try the same cases in every run, so that no test
// fails by chance. checks is the number of cases per test. Call Same in TestMain, before the tests
// run. The flags -rapid.checks and -rapid.seed override it. With the build tag soak, Same does
// nothing.
func Same(checks int) {
	for name, value := range map[string]string{"rapid.checks": strconv.Itoa(checks), "rapid.seed": "1"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
}
