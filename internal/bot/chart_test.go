package bot

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"

	"elobot/internal/chart"
	"elobot/internal/outbox"
)

// dot draws a chart as a picture of one pixel, which is quick.
func dot(chart.Chart) ([]byte, error) {
	var out bytes.Buffer
	err := png.Encode(&out, image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black}))
	return out.Bytes(), err
}

// whenReady sends a message, as soon as its content is ready.
func whenReady(ctx context.Context, s outbox.Sender, m outbox.Message) (outbox.Receipt, error) {
	for {
		receipt, err := s.Send(ctx, m)
		var f *outbox.Failure
		if !errors.As(err, &f) || f.Class != outbox.NotReady {
			return receipt, err
		}
		<-f.Ready
	}
}
