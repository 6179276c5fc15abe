package profileexport

// Averages are the two figures of a file on language models: how long the first response
// takes, and how far responses lie apart.
type Averages struct {
	Requests int // that were answered
	Gaps     int // between two adjacent responses of a request, of all requests
	first    uint64
	gaps     uint64
}

// Averages are those of the requests of one experiment.
func (e *Experiment) Averages() Averages {
	var a Averages
	for _, r := range e.Requests {
		if len(r.Moments) == 0 {
			continue
		}
		a.Requests++
		a.first += since(r.Moments[0], r.Timestamp)
		for i := 1; i < len(r.Moments); i++ {
			a.Gaps++
			a.gaps += since(r.Moments[i], r.Moments[i-1])
		}
	}
	return a
}

// since is the time between two times; times in the wrong order are one.
func since(after, before uint64) uint64 { return after - min(after, before) }

// First is the mean time from a request to its first response, in seconds. There must be
// a request.
func (a *Averages) First() float64 { return float64(a.first) / float64(a.Requests) / 1e9 }

// Gap is the mean time between two adjacent responses, in seconds. There must be a gap.
func (a *Averages) Gap() float64 { return float64(a.gaps) / float64(a.Gaps) / 1e9 }
