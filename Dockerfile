# The bot in an image of its own, built from source: one static binary, and the certificates that it trusts. A release has the same
# image, made of its own binaries by deploy/release.Dockerfile.
#
#   docker build --build-arg VERSION=1.2.3 --build-arg SOURCE=https://example.org/elobot -t elobot .

FROM golang:1.26 AS build
WORKDIR /src

# Where modules come from, if not from Go's own proxy.
ARG GOPROXY

# The modules have a layer of their own, which stays valid while only the code changes.
COPY go.mod go.sum ./
RUN go mod download

# .dockerignore leaves nothing here but what the image is made of.
COPY . .
ARG VERSION=
ARG SOURCE=
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -o /elobot \
    -ldflags "-s -w -X elobot/internal/release.Version=$VERSION -X elobot/internal/release.Source=$SOURCE" ./cmd/elobot

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY LICENSE docs/third-party.md docs/third-party-licenses.txt /licenses/
ARG VERSION=
ARG SOURCE=
LABEL org.opencontainers.image.title=elobot \
    org.opencontainers.image.description="Elo rankings in Telegram groups" \
    org.opencontainers.image.licenses=MIT \
    org.opencontainers.image.version=$VERSION \
    org.opencontainers.image.source=$SOURCE
# A container's files end with it: the database must be somewhere else.
ENV DATA_DIR=off
COPY --from=build /elobot /
# Only the container itself can reach this address: it is for the health check.
ENV ADMIN_ADDR=127.0.0.1:8081
# A start may have to wait for Telegram or upgrade a large database; a bot that cannot start ends by itself. The period ends
# with the first check that succeeds.
HEALTHCHECK --interval=10s --timeout=6s --start-period=1h CMD ["/elobot", "health"]
USER 65532:65532
ENTRYPOINT ["/elobot"]
CMD ["run"]
