# Ends the server whose data folder is $1 and removes the folder $2.

if read -r pid <"$1/postmaster.pid"; then
	kill -QUIT "$pid"
	tries=0
	while [ -e "$1/postmaster.pid" ] && [ "$tries" -lt 100 ]; do
		sleep 0.1 || sleep 1
		tries=$((tries + 1))
	done
fi
tries=0
while ! rm -rf -- "$2" && [ "$tries" -lt 50 ]; do
	sleep 0.1 || sleep 1
	tries=$((tries + 1))
done
