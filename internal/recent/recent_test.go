package recent_test

import (
	"testing"
	"testing/synctest"
	"time"

	"elobot/internal/recent"
)

func TestSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := recent.NewSet[int](2)
		check := func(what string, want ...bool) {
			t.Helper()
			for key, has := range want {
				if s.Has(key) != has {
					t.Errorf("%s: %d is remembered: %t", what, key, !has)
				}
			}
		}
		check("at first", false, false)
		s.Add(0, time.Minute)
		s.Add(1, time.Hour)
		<-time.After(time.Minute - 1)
		check("within a minute", true, true)
		<-time.After(1)
		check("after a minute", false, true)
		s.Add(0, time.Hour)
		s.Add(2, time.Hour)
		check("after a third one", true, false, true)
	})
}
