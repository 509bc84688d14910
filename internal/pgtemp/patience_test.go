package pgtemp

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestPatience: a server that recovers may take any time, a silent one does not, and one that refuses its own password is given up
// soon.
func TestPatience(t *testing.T) {
	t.Parallel()
	answer := func(code string) error { return fmt.Errorf("connect: %w", &pgconn.PgError{Code: code}) }
	silent, recovering := errors.New("no connection"), answer(pgerrcode.CannotConnectNow)
	for name, tc := range map[string]struct {
		errs  []error // one a second, the last for ever
		limit time.Duration
		ends  time.Duration // 0 if it goes on
		want  error
		told  int
	}{
		"silent":                     {[]error{silent}, time.Hour, startTimeout + time.Second, errSilent, 0},
		"recovering":                 {[]error{recovering}, time.Hour, 0, nil, 10}, // after 5 s, 10 s … 2560 s
		"silent after a recovery":    {[]error{recovering, recovering, silent}, time.Hour, startTimeout + 2*time.Second, errSilent, 0},
		"a wrong password":           {[]error{silent, answer(pgerrcode.InvalidPassword)}, time.Hour, refusalTimeout + time.Second, errRefused, 0},
		"no such role":               {[]error{answer(pgerrcode.InvalidAuthorizationSpecification)}, time.Hour, refusalTimeout, errRefused, 0},
		"no such database":           {[]error{answer(pgerrcode.InvalidCatalogName)}, time.Hour, refusalTimeout, errRefused, 0},
		"another server on the port": {[]error{answer(pgerrcode.InvalidPassword), silent}, startTimeout, 0, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			p, told := newPatience(begun), 0
			for second := time.Duration(0); second <= tc.limit; second += time.Second {
				progress, err := p.failed(begun.Add(second), tc.errs[min(int(second/time.Second), len(tc.errs)-1)])
				if progress != "" {
					told++
				}
				if err != nil {
					if second != tc.ends || !errors.Is(err, tc.want) {
						t.Errorf("after %v: %v, want %v after %v", second, err, tc.want, tc.ends)
					}
					return
				}
			}
			if tc.want != nil || told != tc.told {
				t.Errorf("it goes on, want %v; %d reports, want %d", tc.want, told, tc.told)
			}
		})
	}
}
