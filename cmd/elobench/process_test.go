package main

import "testing"

func TestLastLine(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"": "", "no end": "no end", "one\n": "one", "one\ntwo\n": "two", "one\ntwo\nthr": "two",
	} {
		o := new(output)
		if _, err := o.Write([]byte(written)); err != nil {
			t.Fatal(err)
		}
		if got := o.lastLine(); got != want {
			t.Errorf("last line of %q = %q, want %q", written, got, want)
		}
	}
}
