//go:build !unix

package pgtemp

import (
	"context"
	"errors"
)

func startPrograms(context.Context, Options, *folder) (started, error) {
	return started{}, errors.New("not offered on this system")
}
