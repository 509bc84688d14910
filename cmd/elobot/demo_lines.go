package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// lineReader reads a line, behind a prompt if people type. After a pasted line, the message goes
// on.
type lineReader func(prompt string) (line string, pasted bool, err error)

// linesOf returns the lines of a file.
func linesOf(file io.Reader) lineReader {
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, longestLine)
	return func(string) (string, bool, error) {
		switch {
		case scanner.Scan():
			return scanner.Text(), false, nil
		case scanner.Err() != nil:
			return "", false, fmt.Errorf("read input: %w", scanner.Err())
		default:
			return "", false, io.EOF
		}
	}
}

// startTyping lets people type on the terminal that shows the transcript, also messages of several
// lines that they paste, until end is called.
func (t *transcript) startTyping(in *os.File) (input lineReader, end func(), err error) {
	fd := int(in.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return nil, nil, fmt.Errorf("prepare the terminal: %w", err)
	}
	out := t.out
	terminal := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, out}, "")
	terminal.SetBracketedPasteMode(true)
	t.out, t.typed = terminal, true
	return typedLines(in, terminal), func() {
		terminal.SetBracketedPasteMode(false)
		_ = term.Restore(fd, before)
		t.out = out
		t.print("\n") // what the shell prints does not stand behind a line that is not entered
	}, nil
}

// typedLines returns the lines that people type on a terminal, which can edit a line only while it
// is asked for.
func typedLines(in *os.File, t *term.Terminal) lineReader {
	return func(prompt string) (string, bool, error) {
		fd := int(in.Fd())
		if width, height, err := term.GetSize(fd); err == nil {
			_ = t.SetSize(width, height) // fails only with the output
		}
		before, err := term.MakeRaw(fd)
		if err != nil {
			return "", false, fmt.Errorf("prepare the terminal: %w", err)
		}
		defer func() { _ = term.Restore(fd, before) }()
		return typedLine(t, prompt)
	}
}

// typedLine reads a line of a terminal. It ends with io.EOF when people interrupt it.
func typedLine(t *term.Terminal, prompt string) (line string, pasted bool, err error) {
	t.SetPrompt(prompt)
	line, err = t.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		return line, true, nil
	}
	return line, false, err
}

// readMessage reads a message, which continues behind a pasted line and behind a backslash.
func readMessage(next lineReader, prompt string) (string, error) {
	var lines []string
	for {
		line, goesOn, err := next(prompt)
		if err != nil { // also in the middle of a message, which people have interrupted then
			return "", err
		}
		line, hasMore := strings.CutSuffix(line, `\`)
		lines = append(lines, line)
		if !goesOn && !hasMore {
			return strings.Join(lines, "\n"), nil
		}
		prompt = continued
	}
}

// message is what the user types, or why nothing more comes.
type message struct {
	text string
	err  error
}
