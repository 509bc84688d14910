package pgtemp

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// sumsFile lists all files of fetched programs with their checksums, in the format of sha256sum. A power failure can leave files
// without their content, and whatever clears temporary folders can remove some of them: such programs are fetched again.
const sumsFile = "SHA256SUMS"

// recordSums writes the list for a folder of fetched programs.
func recordSums(root string) error {
	var sums strings.Builder
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // a link of a package to what the server does not need
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		sum, err := sumOf(path)
		if err == nil {
			_, err = fmt.Fprintf(&sums, "%s  %s\n", sum, name)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("record checksums: %w", err)
	}
	list := filepath.Join(root, sumsFile)
	err = writeDurably(list, strings.TrimSuffix(sums.String(), "\n"))
	if err == nil {
		err = os.Chmod(list, 0o644) // for all users, like the programs
	}
	if err != nil {
		return fmt.Errorf("record checksums: %w", err)
	}
	return nil
}

// checkComplete returns an error unless a folder of fetched programs has all that was fetched.
func checkComplete(root string) error {
	list, err := os.Open(filepath.Join(root, sumsFile))
	if err != nil {
		return fmt.Errorf("check programs: %w", err)
	}
	defer list.Close() //nolint:errcheck // only read
	lines := bufio.NewScanner(list)
	files := 0
	for ; lines.Scan(); files++ {
		want, name, _ := strings.Cut(lines.Text(), "  ")
		got, err := sumOf(filepath.Join(root, name))
		if err != nil {
			return fmt.Errorf("check programs: %w", err)
		}
		if got != want {
			return fmt.Errorf("check programs: %s was changed", name)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("check programs: %w", err)
	}
	if files == 0 {
		return fmt.Errorf("check programs: %s is empty", list.Name())
	}
	return nil
}

// sumOf returns the checksum of a file in hexadecimal digits.
func sumOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // only read
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}
