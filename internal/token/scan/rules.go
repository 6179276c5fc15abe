package scan

// contraction is the length of an English ending with the apostrophe that s begins with; 0: there
// is none. fold: in any case; the long s is then an s.
func contraction(s string, fold bool) int {
	if len(s) < 2 {
		return 0
	}
	c := s[1]
	if fold && c >= 'A' && c <= 'Z' {
		c |= 0x20
	}
	switch c {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v', 'l':
		if len(s) < 3 {
			return 0
		}
		d := s[2]
		if fold && d >= 'A' && d <= 'Z' {
			d |= 0x20
		}
		if (c == 'l' && d == 'l') || (c != 'l' && d == 'e') {
			return 3
		}
	case 0xc5:
		if fold && len(s) > 2 && s[2] == 0xbf {
			return 3
		}
	}
	return 0
}

// white is the length of a piece of white space that s begins with: with lines up to its last line
// end, if any, else without its last character where text follows.
func (sc *Scanner) white(s string, lines bool) int {
	t := sc.classes
	i, last, line := 0, 0, 0
	for {
		class, size := t.class(s, i)
		if class&blank == 0 {
			if class == end && sc.allAtEnd {
				return i
			}
			if lines && line > 0 {
				return line
			}
			if class&sc.stop != 0 || last == 0 {
				return i
			}
			return last
		}
		last = i
		i += size
		if class == newline {
			line = i
		}
	}
}

// gpt2 is the length of the first piece by the expression of GPT-2.
func (sc *Scanner) gpt2(s string) int {
	t := sc.classes
	if s[0] == '\'' {
		if n := contraction(s, false); n > 0 {
			return n
		}
	}
	i := 0
	if s[0] == ' ' {
		i = 1
	}
	class, size := t.class(s, i)
	switch {
	case class&letters != 0:
		return t.run(s, i+size, letters)
	case class&sc.stop != 0 || class&blank != 0:
		return sc.white(s, false)
	case class == number:
		return t.run(s, i+size, number)
	}
	return t.run(s, i+size, all&^(blank|letters|number))
}

// gpt2Digits isolates digits and does the rest as gpt2.
func (sc *Scanner) gpt2Digits(s string) int {
	if class, size := sc.classes.class(s, 0); class == number {
		if sc.digits == 1 {
			return size
		}
		return sc.classes.run(s, size, number)
	}
	return sc.gpt2(s)
}

// few is where up to sc.digits digits end, the first of which is s[:size].
func (sc *Scanner) few(s string, size int) int {
	i := size
	for n := 1; n < sc.digits; n++ {
		class, size := sc.classes.class(s, i)
		if class != number {
			break
		}
		i += size
	}
	return i
}

// cl100k is the length of the first piece by the expressions of GPT-4, Llama 3 and Qwen.
func (sc *Scanner) cl100k(s string) int {
	t := sc.classes
	if s[0] == '\'' {
		if n := contraction(s, true); n > 0 {
			return n
		}
	}
	class, size := t.class(s, 0)
	if class&sc.word != 0 {
		return t.run(s, size, sc.word)
	}
	after, afterSize := t.class(s, size)
	if class&sc.lead != 0 && after&sc.word != 0 {
		return t.run(s, size+afterSize, sc.word)
	}
	if class == number {
		return sc.few(s, size)
	}
	if class&sc.marks != 0 {
		return t.run(s, t.run(s, size, sc.marks), newline)
	}
	if s[0] == ' ' && after&sc.marks != 0 {
		return t.run(s, t.run(s, size+afterSize, sc.marks), newline)
	}
	return sc.white(s, true)
}

const (
	upperWord = upper | letter | mark
	lowerWord = lower | letter | mark
	bothWord  = letter | mark
)

// o200k is the length of the first piece by the expressions of GPT-4o and Tekken.
func (sc *Scanner) o200k(s string) int {
	t := sc.classes
	class, size := t.class(s, 0)
	if class&(letters|mark|sc.lead) != 0 {
		if n := sc.casedWord(s, class, size); n > 0 {
			if sc.contractions && n < len(s) && s[n] == '\'' {
				n += contraction(s[n:], true)
			}
			return n
		}
	}
	if class == number {
		return sc.few(s, size)
	}
	i := size
	if s[0] == ' ' {
		class, size = t.class(s, 1)
		i += size
	}
	if class&sc.marks != 0 {
		i = t.run(s, i, sc.marks)
		for i < len(s) && (s[i] == '\r' || s[i] == '\n' || (sc.tail && s[i] == '/')) {
			i++
		}
		return i
	}
	return sc.white(s, true)
}

// casedWord is the length of the word that s begins with, with what may stand before it: capitals,
// then small letters, or capitals alone. Marks and letters without case are both. 0: none.
func (sc *Scanner) casedWord(s string, class set, size int) int {
	switch {
	case class&sc.lead == 0:
		return sc.wordFrom(s, 0)
	case class != mark:
		return sc.wordFrom(s, size)
	}
	if low := sc.lowEnd(s, size); low > 0 {
		return low
	}
	return sc.lowEnd(s, 0)
}

// wordFrom is where a word that begins at s[i:] ends, or 0.
func (sc *Scanner) wordFrom(s string, i int) int {
	if low := sc.lowEnd(s, i); low > 0 {
		return low
	}
	if up := sc.classes.run(s, i, upperWord); up > i {
		return up
	}
	return 0
}

// lowEnd is where a word at s[i:] ends that ends in a small letter or one without case; 0: none.
func (sc *Scanner) lowEnd(s string, i int) int {
	t := sc.classes
	both := 0
	for {
		class, size := t.class(s, i)
		if class == lower {
			return t.run(s, i+size, lowerWord)
		}
		if class&upperWord == 0 {
			return both
		}
		i += size
		if class&bothWord != 0 {
			both = i
		}
	}
}

// deepSeek is the length of the first piece by the three expressions of DeepSeek V3.
// Digits and han end every piece, since the first two expressions set them apart.
func (sc *Scanner) deepSeek(s string) int {
	t := sc.classes
	class, size := t.class(s, 0)
	switch class {
	case number:
		return sc.few(s, size)
	case han:
		return t.run(s, size, han)
	}
	n := sc.deepSeekMatch(s, class, size)
	if n > 0 {
		return n
	}
	// What no expression matches is one piece up to the next match.
	for i := size; ; i += size {
		class, size = t.class(s, i)
		if class&sc.stop != 0 || sc.deepSeekMatch(s[i:], class, size) > 0 {
			return i
		}
	}
}

// deepSeekMatch is the length of the match that s begins with, or 0.
func (sc *Scanner) deepSeekMatch(s string, class set, size int) int {
	t := sc.classes
	after, afterSize := t.class(s, size)
	if class&(punct|symbol) != 0 {
		if size == 1 && size < len(s) && asciiLetter(s[1]) {
			i := 2
			for i < len(s) && asciiLetter(s[i]) {
				i++
			}
			return i
		}
		return t.run(s, t.run(s, size, punct|symbol), newline)
	}
	if class&(letters|mark) != 0 {
		return t.run(s, size, letters|mark)
	}
	if class != newline && after&(letters|mark) != 0 {
		return t.run(s, size+afterSize, letters|mark)
	}
	if s[0] == ' ' && after&(punct|symbol) != 0 {
		return t.run(s, t.run(s, size+afterSize, punct|symbol), newline)
	}
	if class&blank != 0 {
		return sc.white(s, true)
	}
	return 0
}

func asciiLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
