# Sends the signal in $state, "SIGNAL PID", to the process group and removes the folders in the arguments.

# A zombie counts as ended.
running() {
	kill -0 "$1" || return 1
	case $(ps -o stat= -p "$1") in Z*) return 1 ;; esac
}

if [ -n "$state" ]; then
	signal=${state% *} pid=${state#* }
	kill -"$signal" -"$pid"
	tries=0
	while running "$pid" && [ "$tries" -lt 100 ]; do
		sleep 0.1 || sleep 1
		tries=$((tries + 1))
	done
	kill -KILL -"$pid"
fi

# Children of a killed server may continue to write for a moment.
for folder; do
	tries=0
	while ! rm -rf -- "$folder" && [ "$tries" -lt 50 ]; do
		sleep 0.1 || sleep 1
		tries=$((tries + 1))
	done
done
