package mutate

import (
	"testing"
)

// With each seed come broken versions of it, of every kind of input, also where the target skips some.
func FuzzInputs(f *testing.F) {
	tried := map[string]int{}
	f.Add("word and word", []byte{1, 2}, true, int8(3), uint16(4), 5.0)
	f.Add("", []byte(nil), false, int8(0), uint16(0), 0.0)
	f.Cleanup(func() {
		for _, kind := range []string{"text", "data", "flag", "whole", "count", "number"} {
			if tried[kind] == 0 {
				f.Errorf("%s was never broken: %v", kind, tried)
			}
		}
		if tried["all"] != 2+2*perSeed {
			f.Errorf("%d inputs", tried["all"])
		}
	})
	Fuzz(f, func(t *testing.T, text string, data []byte, flag bool, whole int8, count uint16, number float64) {
		tried["all"]++
		for kind, broken := range map[string]bool{
			"text": text != "word and word" && text != "", "data": string(data) != "\x01\x02" && len(data) > 0, "flag": flag == (len(data) == 0),
			"whole": whole != 3 && whole != 0, "count": count != 4 && count != 0, "number": number != 5 && number != 0,
		} {
			if broken {
				tried[kind]++
			}
		}
		if len(text) > 5 {
			t.Skip("the others are tried all the same")
		}
	})
}
