package main

import (
	"strings"
	"testing"
)

func TestMountedAt(t *testing.T) {
	t.Parallel()
	const mounts = `rootfs / rootfs rw 0 0
/dev/vda / ext4 rw,relatime 0 0
tmpfs /tmp tmpfs rw 0 0
/dev/vdb /tmp/disk xfs rw 0 0
tmpfs /with\040space tmpfs rw 0 0
broken
`
	for folder, want := range map[string]string{
		"/":                 "ext4",
		"/var/lib":          "ext4",
		"/tmp":              "tmpfs",
		"/tmp/elobot/data":  "tmpfs",
		"/tmpfiles":         "ext4",
		"/tmp/disk/data":    "xfs",
		"/tmp/disks":        "tmpfs",
		"/with space/data":  "tmpfs",
		"/with space else/": "ext4",
	} {
		if got := mountedAt(strings.NewReader(mounts), folder); got != want {
			t.Errorf("%s is on %s, want %s", folder, got, want)
		}
	}
	if got := mountedAt(strings.NewReader(""), "/tmp"); got != unknownFileSystem || inMemory(got) {
		t.Errorf("without mounts: %s", got)
	}
}
