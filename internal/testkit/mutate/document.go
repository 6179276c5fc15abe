package mutate

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// numbers are what a broken file has in place of one: nothing, less than nothing, and more than
// a list can have elements.
var numbers = []string{"0", "-1", "1000000000", "1000000000000000000", "1e18", "100000000", "NaN", "9223372036854775807", "0.5"}

// value finds keys, texts and numbers of JSON and YAML. A key ends in a colon.
var value = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"\s*:?|[A-Za-z_]\w*:|-?\d[\d.eE+-]*`)

// Document is a version of a JSON document, of JSON lines or of YAML with one thing wrong that a
// reader of text takes for right: a number that is another one, or a line that is there twice,
// not at all, or in the place of the next. It says what it has done.
func Document(random *rand.Rand, text string) (what, broken string) {
	lines := strings.SplitAfter(text, "\n")
	i := random.IntN(max(len(lines)-1, 1))
	switch kind := random.IntN(10); {
	case kind < 7:
		if what, broken := otherNumber(random, text); what != "" {
			return what, broken
		}
		fallthrough
	case kind == 7 || len(lines) < 3:
		return fmt.Sprintf("line %d twice", i+1), strings.Join(slices.Insert(lines, i, lines[i]), "")
	case kind == 8:
		return fmt.Sprintf("no line %d", i+1), strings.Join(slices.Delete(lines, i, i+1), "")
	default:
		i = min(i, len(lines)-3) // behind the last one is nothing
		lines[i], lines[i+1] = lines[i+1], lines[i]
		return fmt.Sprintf("lines %d and %d swapped", i+1, i+2), strings.Join(lines, "")
	}
}

// otherNumber puts another number in place of one. Each key has the same chance, however often it
// stands there: most numbers of a record file are stamps of reads.
func otherNumber(random *rand.Rand, text string) (what, broken string) {
	places, key := map[string][][]int{}, ""
	for _, at := range value.FindAllStringIndex(text, -1) {
		switch word := text[at[0]:at[1]]; {
		case strings.HasSuffix(word, ":"):
			key = strings.Trim(word, "\": ")
		case word[0] != '"':
			places[key] = append(places[key], at)
		}
	}
	if len(places) == 0 {
		return "", ""
	}
	keys := slices.Sorted(maps.Keys(places))
	key = keys[random.IntN(len(keys))]
	at := places[key][random.IntN(len(places[key]))]
	n := numbers[random.IntN(len(numbers))]
	line := 1 + strings.Count(text[:at[0]], "\n")
	return fmt.Sprintf("line %d: %s %s for %s", line, key, n, text[at[0]:at[1]]), text[:at[0]] + n + text[at[1]:]
}

// Frames is a version of a zstd file of which one frame is cut: the file ends there, or the next
// frame follows.
func Frames(random *rand.Rand, packed []byte) (what string, broken []byte) {
	magic := []byte("\x28\xb5\x2f\xfd")
	var starts []int
	for i := 0; ; {
		n := bytes.Index(packed[i:], magic)
		if n < 0 {
			break
		}
		starts, i = append(starts, i+n), i+n+len(magic)
	}
	if len(starts) == 0 {
		return "as it was", packed
	}
	k := random.IntN(len(starts))
	end := len(packed)
	if k+1 < len(starts) {
		end = starts[k+1]
	}
	cut := starts[k] + random.IntN(end-starts[k])
	if random.IntN(2) == 0 {
		return fmt.Sprintf("the end at byte %d, in frame %d", cut, k+1), slices.Clone(packed[:cut])
	}
	return fmt.Sprintf("frame %d cut at byte %d", k+1, cut), slices.Concat(packed[:cut], packed[end:])
}
