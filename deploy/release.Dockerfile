# Builds the image of a release from the release's binaries, such as linux/amd64/elobot. Otherwise,
# the image equals the one that the Dockerfile in the root builds, as `.ci/run release` checks.

FROM golang:1.26 AS certificates

FROM scratch
COPY --from=certificates /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY LICENSE docs/third-party.md docs/third-party-licenses.txt /licenses/
ARG VERSION=
ARG SOURCE=
LABEL org.opencontainers.image.title=elobot \
    org.opencontainers.image.description="Elo rankings in Telegram groups" \
    org.opencontainers.image.licenses=MIT \
    org.opencontainers.image.version=$VERSION \
    org.opencontainers.image.source=$SOURCE
ENV DATA_DIR=off
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/elobot /
ENV ADMIN_ADDR=127.0.0.1:8081
HEALTHCHECK --interval=10s --timeout=6s --start-period=1h CMD ["/elobot", "health"]
USER 65532:65532
ENTRYPOINT ["/elobot"]
CMD ["run"]
