//go:build mutants

package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mutant is a change to the code that some test must detect.
type mutant struct {
	name          string // the name in docs/dev/guarantees.md
	file          string // relative to the root of the repository, with slashes
	before, after string // before occurs exactly once in the file
	packages      string // the packages of the tests, separated by spaces
	tests         string // the -run pattern of the tests that detect it
}

// root is the root of the repository, relative to this package.
const root = "../.."

// TestMutantsApply checks that each mutant can be applied, and that its package still compiles.
func TestMutantsApply(t *testing.T) {
	t.Parallel()
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			overlay := m.overlay(t)
			if out, err := run(t.Context(), overlay, "build", "-o", os.DevNull, "./"+path.Dir(m.file)); err != nil {
				t.Fatalf("the mutant does not compile: %v\n%s", err, out)
			}
		})
	}
}

// TestMutantsAreDocumented checks that docs/dev/guarantees.md names each mutant.
func TestMutantsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs", "dev", "guarantees.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		if !strings.Contains(string(page), "`"+m.name+"`") {
			t.Errorf("docs/dev/guarantees.md does not name the mutant %s", m.name)
		}
	}
}

// TestMutantsDie checks that the tests of each mutant pass without it and fail with it.
func TestMutantsDie(t *testing.T) {
	t.Parallel()
	for _, m := range mutants { //nolint:paralleltest // each needs the whole machine
		t.Run(m.name, func(t *testing.T) {
			args := append([]string{"test", "-count=1", "-timeout=5m", "-run=" + m.tests}, strings.Fields(m.packages)...)
			out, err := run(t.Context(), "", args...)
			if err != nil || !bytes.Contains(out, []byte("ok ")) || bytes.Contains(out, []byte("no tests to run")) {
				t.Fatalf("the tests do not pass without the mutant: %v\n%s", err, out)
			}
			out, err = run(t.Context(), m.overlay(t), args...)
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				t.Fatalf("the mutant lives: %s passes with it (%v)\n%s", m.tests, err, out)
			}
			killer := failed.FindSubmatch(out)
			if killer == nil || bytes.Contains(out, []byte("[build failed]")) {
				t.Fatalf("something other than a test failed: %v\n%s", err, out)
			}
			t.Logf("killed by %s", killer[1])
		})
	}
}

// failed matches the line of output about a test that failed or timed out, or about a failed
// package.
var failed = regexp.MustCompile(`(?m)^\s*(?:--- FAIL: |panic: test timed out|FAIL\s+elobot/)(\S*)`)

// overlay applies the mutant to a copy of its file, and returns the path of the overlay file for
// the go command.
func (m mutant) overlay(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(m.file)))
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(content), m.before); n != 1 {
		t.Fatalf("the mutant does not apply: its line occurs %d times in %s", n, m.file)
	}
	folder := t.TempDir()
	changed, list := filepath.Join(folder, "mutated"+filepath.Ext(m.file)), filepath.Join(folder, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		changed: strings.Replace(string(content), m.before, m.after, 1), list: string(replace),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// run runs the go command in the root of the repository. It passes the overlay in the environment,
// so the overlay also applies to programs that tests build.
func run(ctx context.Context, overlay string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	if overlay != "" {
		cmd.Env = append(os.Environ(), fmt.Sprintf("GOFLAGS=%s -overlay=%s", os.Getenv("GOFLAGS"), overlay))
	}
	return cmd.CombinedOutput()
}
