# Removes the container named in $1. $state is "SIGNAL PID" while a docker command is creating the container.

if [ -n "$state" ]; then
	kill -"${state% *}" -"${state#* }"
	# The engine may still create the container after the docker command has ended.
	tries=10
else
	docker stop --time 5 "$1"
	tries=3
fi
while docker rm --force --volumes "$1"; tries=$((tries - 1)); [ "$tries" -gt 0 ]; do
	[ -n "$state" ] || docker container inspect "$1" || break
	sleep 1
done
