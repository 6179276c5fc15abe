package chat

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// strftime writes a time as Python's strftime does in the C locale.
func strftime(t time.Time, format string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		plain := format[i] == '-' && i+1 < len(format)
		if plain {
			i++
		}
		s, err := directive(t, format[i])
		if err != nil {
			return "", err
		}
		if plain {
			s = strings.TrimLeft(s, " 0")
			if s == "" {
				s = "0"
			}
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// layouts are the directives that Go can write itself.
var layouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'd': "02", 'e': "_2", 'm': "01", 'y': "06", 'H': "15", 'I': "03",
	'M': "04", 'S': "05", 'p': "PM", 'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06",
	'x': "01/02/06", 'X': "15:04:05", 'c': "Mon Jan _2 15:04:05 2006", 'r': "03:04:05 PM",
}

func directive(t time.Time, c byte) (string, error) {
	if c == 'z' || c == 'Z' {
		return "", nil // now() has no zone
	}
	if l, ok := layouts[c]; ok {
		return t.Format(l), nil
	}
	switch c {
	case 'Y':
		return strconv.Itoa(t.Year()), nil
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100), nil
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), nil
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay()), nil
	case 'k':
		return fmt.Sprintf("%2d", t.Hour()), nil
	case 'l':
		return fmt.Sprintf("%2d", (t.Hour()+11)%12+1), nil
	case 'u':
		return strconv.Itoa((int(t.Weekday())+6)%7 + 1), nil
	case 'w':
		return strconv.Itoa(int(t.Weekday())), nil
	case 'U':
		return fmt.Sprintf("%02d", (t.YearDay()+6-int(t.Weekday()))/7), nil
	case 'W':
		return fmt.Sprintf("%02d", (t.YearDay()+6-(int(t.Weekday())+6)%7)/7), nil
	case 'G', 'V':
		year, week := t.ISOWeek()
		if c == 'G' {
			return strconv.Itoa(year), nil
		}
		return fmt.Sprintf("%02d", week), nil
	case 'n':
		return "\n", nil
	case 't':
		return "\t", nil
	case '%':
		return "%", nil
	}
	return "", fmt.Errorf("strftime_now does not support %%%c", c)
}
