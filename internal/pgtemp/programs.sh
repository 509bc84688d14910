# Ends the process group in $state, "SIGNAL PID", and removes the folders in the arguments.

# A dead process that nobody has collected yet is as good as gone.
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

# Children of a killed server may write a little longer.
for folder; do
	tries=0
	while ! rm -rf -- "$folder" && [ "$tries" -lt 50 ]; do
		sleep 0.1 || sleep 1
		tries=$((tries + 1))
	done
done
