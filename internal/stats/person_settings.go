package stats

import (
	"context"

	"elobot/internal/notice"
	"elobot/internal/ranking"
)

// PersonSettingsQuestion asks for what the sender has chosen for all groups.
type PersonSettingsQuestion struct{ ofNobody }

func (PersonSettingsQuestion) answer(ctx context.Context, s *Service, a ranking.Asked) (notice.Notice, error) {
	off, err := s.store.IsOffWeb(ctx, a.Origin.Sender.ID)
	return ranking.PersonSettings{OffWeb: off}, err
}
