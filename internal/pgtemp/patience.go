package pgtemp

import (
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// startTimeout is how long a server may say nothing. The first start in a container can take long on a slow disk.
	startTimeout = 90 * time.Second
	// refusalTimeout is how long a server may refuse the connection. Until the server finds that its port is taken, another one
	// answers there.
	refusalTimeout = 5 * time.Second
	// recoveryReport is after how long a recovery is reported first, then after twice as long and so on.
	recoveryReport = 5 * time.Second
)

var (
	errSilent  = errors.New("the server was not ready in time")
	errRefused = errors.New("the server refuses the password that is kept with its data, or its own role or database")
)

// patience decides how long to wait for a server that lives and does not answer queries yet. The recovery of its data may take any
// time: to break it off would only make it start over.
type patience struct {
	begun    time.Time
	deadline time.Time // for a server that says nothing
	refused  time.Time // since when the server has been refusing, or zero
	report   time.Duration
}

func newPatience(now time.Time) *patience {
	return &patience{begun: now, deadline: now.Add(startTimeout), report: recoveryReport}
}

// failed considers a failed attempt. It returns what to report, if anything, and an error if there is no point in waiting.
func (p *patience) failed(now time.Time, err error) (progress string, hopeless error) {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		answer = new(pgconn.PgError)
	}
	refused := p.refused
	p.refused = time.Time{}
	switch answer.Code {
	case pgerrcode.CannotConnectNow:
		p.deadline = now.Add(startTimeout)
		if waited := now.Sub(p.begun); waited >= p.report {
			p.report = 2 * waited
			return fmt.Sprintf("the server is recovering its data, for %v so far", waited.Round(time.Second)), nil
		}
	case pgerrcode.InvalidPassword, pgerrcode.InvalidAuthorizationSpecification, pgerrcode.InvalidCatalogName:
		if p.refused = refused; refused.IsZero() {
			p.refused = now
		}
		if now.Sub(p.refused) >= refusalTimeout {
			return "", errRefused
		}
	}
	if now.After(p.deadline) {
		return "", errSilent
	}
	return "", nil
}
