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

// lineReader reads a line of input. It shows the prompt first if the user types on a terminal.
// pasted reports whether the line was pasted. If so, the message continues on the next line. At the
// end of the input, err is io.EOF.
type lineReader func(prompt string) (line string, pasted bool, err error)

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

// startTyping lets the user type on the terminal that shows the transcript, until end is called.
// The user can also paste messages of several lines.
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
		t.print("\n") // so that the shell's prompt does not follow an unfinished line
	}, nil
}

// typedLines returns a reader of the lines typed on a terminal. The terminal is in raw mode, in
// which the line can be edited, only while a line is being read.
func typedLines(in *os.File, t *term.Terminal) lineReader {
	return func(prompt string) (string, bool, error) {
		fd := int(in.Fd())
		if width, height, err := term.GetSize(fd); err == nil {
			_ = t.SetSize(width, height) // fails only if the output does
		}
		before, err := term.MakeRaw(fd)
		if err != nil {
			return "", false, fmt.Errorf("prepare the terminal: %w", err)
		}
		defer func() { _ = term.Restore(fd, before) }()
		return typedLine(t, prompt)
	}
}

// typedLine reads a line from a terminal. It returns io.EOF if the user presses Ctrl-C, or Ctrl-D
// on an empty line.
func typedLine(t *term.Terminal, prompt string) (line string, pasted bool, err error) {
	t.SetPrompt(prompt)
	line, err = t.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		return line, true, nil
	}
	return line, false, err
}

// readMessage reads a message. After a line that was pasted or ends in a backslash, the message
// continues on the next line.
func readMessage(next lineReader, prompt string) (string, error) {
	var lines []string
	for {
		line, goesOn, err := next(prompt)
		if err != nil { // drops an unfinished message
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

// message is a message that the user has typed, or the reason why there is no more input.
type message struct {
	text string
	err  error
}
