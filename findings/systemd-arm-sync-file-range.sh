#!/bin/sh
# systemd 252 and libseccomp 2.5.4 (Debian 12): SystemCallFilter=@system-service does not allow 32-bit ARM's system call
# for sync_file_range, although the group has the names sync_file_range and sync_file_range2. There, the call has the
# number 341, and libseccomp knows that number as arm_sync_file_range alone; both other names stand for calls that the
# architecture does not have, so that systemd skips them in silence. A service then gets the filter's error.
#
# It matters to PostgreSQL in such a service: it calls sync_file_range during checkpoints, tolerates ENOSYS alone, and
# ends the server with a PANIC for any other error, such as the EPERM of SystemCallErrorNumber=EPERM.
#
# Seen: on arm, 341 is arm_sync_file_range, both names of the group have negative numbers, and the group lacks the one
# that has a call. On x86_64 and aarch64, sync_file_range has a number.
#
# What helps: SystemCallFilter=@system-service arm_sync_file_range. Elsewhere, the name changes nothing.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
apt-get download -q=2 seccomp=2.5.4-1+deb12u1 libseccomp2=2.5.4-1+deb12u1 2>/dev/null
for package in *.deb; do
    dpkg-deb --extract "$package" root
done
library=$(dirname "$(find "$work/root" -name libseccomp.so.2)")
number() { LD_LIBRARY_PATH=$library root/usr/bin/scmp_sys_resolver -a "$1" "$2"; }
for machine in x86_64 aarch64 arm; do
    for name in sync_file_range sync_file_range2 arm_sync_file_range; do
        echo "$machine $name: $(number "$machine" "$name")"
    done
done
systemd-analyze --version | head -n 1
group=$(systemd-analyze syscall-filter @system-service @sync | grep sync_file_range | tr -d ' ' | sort -u | xargs)
echo "the names in @system-service: $group"
[ "$(number arm arm_sync_file_range)" = 341 ] && [ "$(number arm sync_file_range)" -lt 0 ] &&
    [ "$(number arm sync_file_range2)" -lt 0 ] && [ "$(number x86_64 sync_file_range)" -gt 0 ] &&
    [ "$(number aarch64 sync_file_range)" -gt 0 ] && [ "$group" = 'sync_file_range sync_file_range2' ] ||
    { echo 'it is no longer so'; exit 1; }
