package media

// bits is a string of bits, the highest of a byte first, as MPEG writes its numbers.
type bits struct {
	b    []byte
	free int // bits of the last byte that are not used
}

func (w *bits) put(v uint32, n int) {
	for n--; n >= 0; n-- {
		if w.free == 0 {
			w.b, w.free = append(w.b, 0), 8
		}
		w.free--
		w.b[len(w.b)-1] |= byte(v>>n&1) << w.free
	}
}

// ue writes a number by the Exp-Golomb code.
func (w *bits) ue(v uint32) {
	n := 0
	for (v+1)>>(n+1) != 0 {
		n++
	}
	w.put(0, n)
	w.put(v+1, n+1)
}

// end closes a unit of H.264.
func (w *bits) end() {
	w.put(1, 1)
	w.free = 0
}
