package botsim

// RetryDelay is the default of WithWebhookDelays.
var RetryDelay = retryDelay
