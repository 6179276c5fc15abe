package sessions

// order is that in which sessions begin whose turns stand alone: those of a name are one, and a
// turn without one is a session of its own whenever it comes. nil means turns do not stand alone.
type order []begun

// begun is how many sessions have begun ahead of a turn's, and how many without a name ahead of it.
type begun struct {
	all, nameless uint64
	named         bool
}

// newOrder goes through the turns of a file. The last of it is what has begun when all have come.
func newOrder(turns []turn) order {
	o := make(order, 0, len(turns)+1)
	known := map[string]uint64{}
	var now begun
	for i := range turns {
		name := turns[i].prompt.Session
		this := begun{now.all, now.nameless, name != ""}
		if at, seen := known[name]; seen {
			this.all = at
		} else {
			now.all++
		}
		if o = append(o, this); this.named {
			known[name] = this.all
		} else {
			now.nameless++
		}
	}
	return append(o, now)
}

// session is the number of the session at a place.
func (o order) session(i uint64) uint64 {
	n := uint64(len(o) - 1)
	round, turn, end := i/n, o[i%n], o[n]
	if round == 0 || turn.named {
		return turn.all
	}
	return end.all + (round-1)*end.nameless + turn.nameless
}
