package botsim

// RepeatDelay is the default of WithWebhookDelays.
var RepeatDelay = repeatDelay
