#!/bin/sh
# Makes time_zones.zip from a package of Debian: the files of all zones, without tables and leap
# seconds, in a fixed order. The archive's comment is their edition. It runs on Debian 12 with dpkg
# and zip, and the same package always makes the same file.
#
# For a new edition, write the version that `apt-cache policy tzdata` shows here, with the checksum
# that `apt-cache show tzdata` shows. From Debian 13 on, some names are in a package of their own,
# tzdata-legacy.
set -eu
version=2026f-0+deb12u1
checksum=3254eb870c8a949518214805aee5e4276af7699988ea8b9a3a583cd0f1eab31c

archive=$(cd "$(dirname "$0")" && pwd)/time_zones.zip
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download "tzdata=$version"
echo "$checksum  tzdata_${version}_all.deb" | sha256sum --check
dpkg-deb --extract "tzdata_${version}_all.deb" .
cd usr/share/zoneinfo
edition=$(sed -n '1s/^# version //p' tzdata.zi)
rm -rf right posix posixrules localtime Factory leap* ./*.tab tzdata.zi
rm -f "$archive"
find -L . -type f | sed 's|^\./||' | LC_ALL=C sort | TZ=UTC zip -9 -q -X -@ "$archive"
printf %s "$edition" | zip -q -z "$archive"
echo "$archive has the zones of edition $edition: $(find -L . -type f | wc -l)"
