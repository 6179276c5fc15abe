package awkward

import (
	"math"
	"math/rand/v2"
	"time"
)

// server has four places that take a tenth of a second each: 40 requests/s at most. What is
// awkward of it is in its functions, of which any may be nil.
type server struct {
	places
	rng     *rand.Rand
	service func(at time.Duration) time.Duration // in place of a tenth of a second
	after   func(a *Response)                    // what becomes of a response in the end
}

func (s *server) Arrive(at time.Duration) Response {
	service := 100 * time.Millisecond
	if s.service != nil {
		service = s.service(at)
	}
	a := Response{Took: s.serve(at, around(s.rng, service)) - at}
	if s.after != nil {
		s.after(&a)
	}
	return a
}

func newServer(seed uint64) *server { return &server{places: newPlaces(4), rng: chance(seed)} }

func failing(seed uint64) Server {
	s := newServer(seed)
	s.after = func(a *Response) {
		if s.rng.Float64() < 0.02 {
			a.Failure = Failed
		}
	}
	return s
}

// slow takes two seconds longer for two of a hundred requests.
func slow(seed uint64) Server {
	s := newServer(seed)
	s.after = func(a *Response) {
		if s.rng.Float64() < 0.02 {
			a.Took += 2 * time.Second
		}
	}
	return s
}

func broken(seed uint64) Server {
	s := newServer(seed)
	s.after = func(a *Response) { *a = Response{Took: time.Millisecond, Failure: Failed} }
	return s
}

// distant ones a tenth of a second after it was asked.
func distant(seed uint64) Server {
	s := newServer(seed)
	s.after = func(a *Response) { a.Took += 100 * time.Millisecond }
	return s
}

// warming takes twice as long at first, and comes down to its time over some minutes.
func warming(seed uint64) Server {
	s := newServer(seed)
	begun, first := false, time.Duration(0)
	s.service = func(at time.Duration) time.Duration {
		if !begun {
			begun, first = true, at
		}
		cold := math.Exp(-float64(at-first) / float64(time.Minute))
		return time.Duration((1 + cold) * float64(100*time.Millisecond))
	}
	return s
}

// cliff has one place that takes 50 ms, and eight times that while more than ten wait.
func cliff(seed uint64) Server {
	s := &server{places: newPlaces(1), rng: chance(seed)}
	s.service = func(at time.Duration) time.Duration {
		if s.waiting(at) > 10 {
			return 400 * time.Millisecond
		}
		return 50 * time.Millisecond
	}
	return s
}

// overloaded collapses when more than 12 requests/s come for a while, and is slow from then on:
// until nothing has come for eight seconds.
type overloaded struct {
	rng       *rand.Rand
	rate      float64 // lately, in requests per second
	last      time.Duration
	collapsed bool
}

func collapsing(seed uint64) Server { return &overloaded{rng: chance(seed)} }

func (s *overloaded) Arrive(at time.Duration) Response {
	const (
		memory = 20 * time.Second
		most   = 12
		rest   = 8 * time.Second
	)
	idle := at - s.last
	s.last = at
	if idle >= rest {
		s.collapsed, s.rate = false, 0
	}
	s.rate = s.rate*math.Exp(-float64(idle)/float64(memory)) + float64(time.Second)/float64(memory)
	s.collapsed = s.collapsed || s.rate > most
	if s.collapsed {
		return Response{Took: around(s.rng, 3*time.Second)}
	}
	return Response{Took: around(s.rng, 200*time.Millisecond)}
}

func (s *overloaded) Abandon(time.Duration) {}

// limited lets 17.5 requests/s pass in the long run, and a hundred at once when it has rested.
type limited struct {
	rng *rand.Rand
	due time.Duration // when all that was let pass has been earned
}

func bucket(seed uint64) Server { return &limited{rng: chance(seed)} }

const (
	limitedEach  = 2 * time.Second / 35
	limitedBurst = 100 * limitedEach
)

func (s *limited) Arrive(at time.Duration) Response {
	s.due = max(s.due, at) + limitedEach
	return Response{Took: max(s.due-limitedBurst-at, 0) + around(s.rng, 100*time.Millisecond)}
}

func (s *limited) Abandon(at time.Duration) { s.due = min(s.due, at+limitedBurst) }

// crashes goes down when sixty requests wait, and refuses connections until it has started again.
type crashes struct {
	server
	up time.Duration
}

func crashing(seed uint64) Server { return &crashes{server: *newServer(seed)} }

func (s *crashes) Arrive(at time.Duration) Response {
	const (
		most    = 60
		startup = 10 * time.Second
	)
	if at < s.up {
		return Response{Took: time.Millisecond, Failure: Refused}
	}
	if s.waiting(at) >= most {
		s.up = at + startup
		s.Abandon(at)
		return Response{Took: time.Millisecond, Failure: Refused}
	}
	return s.server.Arrive(at)
}
