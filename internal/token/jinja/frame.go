package jinja

// frame is what Jinja knows of a block's variables before it renders it. A name that the block
// sets before it reads it, and that no block around it mentions, is undefined until then, also
// to loops and macros inside it: they do not see the caller's variable of that name.
type frame struct {
	outer    *frame
	known    map[string]bool // names that stand in the block itself
	first    []string        // those among them that are set before they are read, come what may
	branches int             // conditions around the present place

	later []string // of first, those that no block around this one mentions
}

func newFrame(outer *frame) *frame { return &frame{outer: outer, known: map[string]bool{}} }

func (f *frame) read(name string) { f.known[name] = true }

func (f *frame) set(name string) {
	if !f.known[name] && f.branches == 0 {
		f.first = append(f.first, name)
	}
	f.known[name] = true
}

// resolveNames finds the names that are undefined at first; the frames around must be complete.
func (f *frame) resolveNames() {
	for _, name := range f.first {
		around := f.outer
		for around != nil && !around.known[name] {
			around = around.outer
		}
		if around == nil {
			f.later = append(f.later, name)
		}
	}
}

func (f *frame) enter(s *scope) *scope {
	inner := s.inner()
	for _, name := range f.later {
		inner.set(name, &undefined{"'" + name + "'"})
	}
	return inner
}

// within parses a part of the template as a frame of its own with known parameters.
func (p *parser) within(params []string, parse func()) *frame {
	f := newFrame(p.frame)
	for _, name := range params {
		f.read(name)
	}
	p.frames = append(p.frames, f)
	p.frame = f
	parse()
	p.frame = f.outer
	return f
}

func names(t target) []string {
	switch t := t.(type) {
	case nameTarget:
		return []string{string(t)}
	case tupleTarget:
		var out []string
		for _, each := range t {
			out = append(out, names(each)...)
		}
		return out
	}
	return nil
}
