#!/usr/bin/env bash
# Checks that the Compose file works as README.md says. With each version of Compose on the machine,
# it runs the README's command in the root of a clone without a .env file, reports a match in a
# simulated group, and waits for the bot's card. Afterward, it removes everything.
#
# The simulated Telegram listens on the address of Docker's bridge, so that containers can reach it.
# Do not run this script where other machines can reach that address.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

fail() {
    echo "composetest: $*" >&2
    exit 1
}

# Settings in this shell would override the .env file.
unset "${!TELEGRAM_@}" "${!LOG_@}" "${!COMPOSE_@}"
# Use a separate project and image, so that a real bot on the same engine is not affected.
export COMPOSE_PROJECT_NAME=elobot-composetest-$$ IMAGE=elobot-composetest-$$

read -r -a readme < <(grep -E '^ *docker compose .*\<up\>' README.md) || fail 'README.md has no line that starts the bot with docker compose'
bridge=$(ip -4 -o address show docker0 | awk '{sub("/.*", "", $4); print $4; exit}')
[[ -n $bridge ]] || fail 'docker0 has no IPv4 address'
[[ ! -e .env ]] || fail 'there is a .env file, and it is not overwritten'

# await TEXT waits until the bot sends a line that contains TEXT.
await() {
    local line=
    until [[ $line == *$1* ]]; do
        read -r -t 120 -u "${telegram[0]}" line || fail "the bot did not say $1"
        echo "bot: $line"
    done
}

clean_up() {
    local result=$?
    ((result == 0)) || "${compose[@]}" logs --no-color --tail 50 || true
    "${compose[@]}" down --volumes || result=1
    docker image rm --force "$IMAGE" >/dev/null || result=1
    rm -f .env
    exit "$result"
}

# play COMPOSE... runs the check with one version of Compose. It is a subshell, so its EXIT trap
# runs for each version. The simulated Telegram ends when its input does.
play() (
    compose=("$@")
    coproc telegram { exec go run ./deploy/composetest "$bridge:0"; }
    trap clean_up EXIT
    for _ in token url; do
        read -r -t 120 -u "${telegram[0]}" setting
        echo "$setting" >>.env
    done
    echo 'LOG_LEVEL=debug' >>.env
    "${compose[@]}" "${readme[@]:2}"
    echo '/match @bob 3:1' >&"${telegram[1]}"
    await 1516
    await 1484
    "${compose[@]}" exec -T bot /elobot health
)

tried=0
for program in 'docker compose' 'docker-compose'; do
    read -r -a words <<<"$program"
    version=$("${words[@]}" version --short 2>/dev/null) || { echo "$program: not installed"; continue; }
    echo "$program: $version"
    play "${words[@]}"
    tried=1
done
((tried)) || fail 'neither docker compose nor docker-compose is installed'
