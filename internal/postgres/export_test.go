package postgres

// What tests look at that nobody else needs.
var (
	LaneLists        = laneLists
	ReadLanes        = readLanes
	NextNotification = next
)
