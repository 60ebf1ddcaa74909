package audit

import "log"

// Logger writes lines.
type Logger struct{ prefix string }

// Log writes one.
func (l Logger) Log(line string) { log.Println(l.format(line)) }

func (l Logger) format(line string) string { return l.prefix + line }

// Level is how bad it is.
type Level int

// Levels.
const (
	Info Level = iota
	Error
)

func (l Level) String() string {
	switch l {
	case Info:
		return "info"
	}
	return unknown(l)
}

func unknown(l Level) string { return "?" }
