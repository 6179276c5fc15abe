package jinja

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// strftime writes a time as Python's strftime does in the C locale.
func strftime(t time.Time, format string) string {
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
		s := directive(t, format[i])
		if plain {
			s = strings.TrimLeft(s, " 0")
			if s == "" {
				s = "0"
			}
		}
		b.WriteString(s)
	}
	return b.String()
}

// layouts are the directives that Go can write itself.
var layouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'd': "02", 'e': "_2", 'm': "01", 'y': "06", 'H': "15", 'I': "03",
	'M': "04", 'S': "05", 'p': "PM", 'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06",
	'x': "01/02/06", 'X': "15:04:05", 'c': "Mon Jan _2 15:04:05 2006", 'r': "03:04:05 PM",
}

func directive(t time.Time, c byte) string {
	if l, ok := layouts[c]; ok {
		return t.Format(l)
	}
	switch c {
	case 'z', 'Z':
		return "" // now() has no zone
	case 'Y':
		return strconv.Itoa(t.Year())
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100)
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000)
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay())
	case 'k':
		return fmt.Sprintf("%2d", t.Hour())
	case 'l':
		return fmt.Sprintf("%2d", (t.Hour()+11)%12+1)
	case 'u':
		return strconv.Itoa((int(t.Weekday())+6)%7 + 1)
	case 'w':
		return strconv.Itoa(int(t.Weekday()))
	case 'U':
		return fmt.Sprintf("%02d", (t.YearDay()+6-int(t.Weekday()))/7)
	case 'W':
		return fmt.Sprintf("%02d", (t.YearDay()+6-(int(t.Weekday())+6)%7)/7)
	case 'G':
		year, _ := t.ISOWeek()
		return strconv.Itoa(year)
	case 'V':
		_, week := t.ISOWeek()
		return fmt.Sprintf("%02d", week)
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case '%':
		return "%"
	}
	panic(bad("strftime_now does not support %%%c", c))
}
