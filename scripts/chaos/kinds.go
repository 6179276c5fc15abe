//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// topology is where the workers are and what carries their records.
type topology string

const (
	local    topology = "local"    // the coordinator starts the workers, and embeds NATS
	embedded topology = "embedded" // the workers join the NATS that the coordinator embeds
	external topology = "nats"     // all meet at a nats-server
)

// role is which process a fault hits.
type role string

const (
	worker      role = "worker"
	coordinator role = "coordinator"
	natsServer  role = "nats"
)

type action string

const (
	kill           action = "kill"
	term           action = "term"
	interrupt      action = "int"
	interruptTwice action = "int-twice"
	freeze         action = "freeze"
	restart        action = "restart" // killed, and started again after a while
	fill           action = "disk"    // its directory has 300 kB
	unable         action = "unable"  // it cannot prepare: its directory cannot be made
	refused        action = "refused" // the server that the run is to measure refuses connections
	badPlan        action = "plan"    // its plan cannot be read
)

type fault struct {
	Who    role          `json:"who"`
	Does   action        `json:"does"`
	Run    int           `json:"run"`
	Worker int           `json:"worker,omitempty"`
	At     time.Duration `json:"at"`            // from the first request of the first run, or from the first join where nothing is sent
	For    time.Duration `json:"for,omitempty"` // how long it lasts
}

// lasting reports whether it cuts a process off for longer than a lease, or may do so.
func (f fault) lasting() bool {
	return f.Does == kill || f.Does == restart || f.Does == freeze && f.For > lease-time.Second
}

func (f fault) set() bool {
	return f.Does == fill || f.Does == unable || f.Does == refused || f.Does == badPlan
}

type scenario struct {
	Topology topology      `json:"topology"`
	Workers  int           `json:"workers"` // of each run
	Length   time.Duration `json:"length"`
	Load     []string      `json:"load"`
	Faults   []fault       `json:"faults"`
	// Starts are when the runs start: the first at once, others so long after its first request, or at
	// once where it is negative.
	Starts []time.Duration `json:"starts"`
	// Ahead is how long before their coordinators the workers start.
	Ahead time.Duration `json:"ahead,omitempty"`
	// Waiting: one worker never comes, and the faults hit a run that waits for it.
	Waiting bool `json:"waiting,omitempty"`
}

// unsent reports whether the run cannot begin.
func (s scenario) unsent() bool {
	for _, f := range s.Faults {
		if f.Does == unable || f.Does == refused || f.Does == badPlan {
			return true
		}
	}
	return s.Waiting
}

type kind struct {
	name string
	make func(*rand.Rand) scenario
}

func (k kind) scenario(seed uint64) scenario { return k.make(rand.New(rand.NewPCG(seed, 0))) }

// drain is how long a run's last requests may take.
const drain = 3 * time.Second

func base(r *rand.Rand, t topology) scenario {
	s := scenario{Topology: t, Workers: 2 + r.IntN(2), Length: 4*time.Second + rand64(r, 4*time.Second), Starts: []time.Duration{0}}
	if t != local && r.IntN(3) == 0 {
		s.Ahead = rand64(r, 2*time.Second)
	}
	if r.IntN(3) == 0 {
		s.Load = []string{"--rate", fmt.Sprint(20 + r.IntN(40)), "--arrival", "poisson", "--max-in-flight", "200"}
	} else {
		s.Load = []string{"--concurrency", fmt.Sprint(s.Workers * (2 + r.IntN(4)))}
	}
	return s
}

func rand64(r *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(most)))
}

// moment is one of the run, or one shortly after it has sent its last request.
func (s scenario) moment(r *rand.Rand) time.Duration { return rand64(r, s.Length+300*time.Millisecond) }

func single(t topology, who role, does action, lasts time.Duration, name string) kind {
	return kind{name + "/" + string(t), func(r *rand.Rand) scenario {
		s := base(r, t)
		f := fault{Who: who, Does: does, Worker: r.IntN(s.Workers), At: s.moment(r), For: lasts}
		switch {
		case does == restart:
			f.For = time.Second + rand64(r, 7*time.Second)
		case does == interruptTwice:
			f.For = 50*time.Millisecond + rand64(r, time.Second) // between the two
		case f.set():
			f.At = 0
		}
		if does == refused {
			s.Ahead = 2 * time.Second // so that the workers are there to be told
		}
		if does == fill {
			s.Length += 2 * time.Second // so that the disk is full before the end
			s.Load = []string{"--concurrency", fmt.Sprint(4 * s.Workers)}
			if r.IntN(2) == 0 {
				s.Load = append(s.Load, "--on-disk-full", "stop")
			}
		}
		s.Faults = []fault{f}
		return s
	}}
}

func kinds() (list []kind) {
	const short, long = 2 * time.Second, 9 * time.Second
	add := func(k ...kind) { list = append(list, k...) }
	for _, t := range []topology{local, embedded, external} {
		add(kind{"none/" + string(t), func(r *rand.Rand) scenario { return base(r, t) }},
			single(t, worker, kill, 0, "worker-kill"), single(t, worker, term, 0, "worker-term"),
			single(t, worker, freeze, short, "worker-freeze-2"), single(t, worker, freeze, long, "worker-freeze-9"),
			single(t, coordinator, kill, 0, "coordinator-kill"), single(t, coordinator, term, 0, "coordinator-term"),
			single(t, coordinator, interrupt, 0, "coordinator-int"), single(t, coordinator, interruptTwice, 0, "coordinator-int-twice"),
			single(t, coordinator, freeze, short, "coordinator-freeze-2"), single(t, coordinator, freeze, long, "coordinator-freeze-9"),
			single(t, coordinator, fill, 0, "coordinator-disk"), pair(t))
		if t != local {
			add(single(t, worker, fill, 0, "worker-disk"), single(t, worker, unable, 0, "start-worker-unable"), single(t, coordinator, refused, 0, "start-refused"),
				waiting(t, kill), waiting(t, term), waiting(t, interrupt))
		}
	}
	add(single(external, natsServer, kill, 0, "nats-kill"), single(external, natsServer, restart, 0, "nats-restart"),
		single(external, natsServer, freeze, short, "nats-freeze-2"), single(external, natsServer, freeze, long, "nats-freeze-9"),
		single(external, coordinator, badPlan, 0, "start-plan"),
		several(2, false), several(3, false), several(2, true), several(3, true), next(), pair(external), pair(external), pair(external))
	return list
}

// waiting is a fault of a coordinator that waits for its last worker.
func waiting(t topology, does action) kind {
	return kind{"waiting-" + string(does) + "/" + string(t), func(r *rand.Rand) scenario {
		s := base(r, t)
		s.Waiting = true
		s.Faults = []fault{{Who: coordinator, Does: does, At: rand64(r, 2*time.Second)}}
		return s
	}}
}

// several runs share one nats-server. Where one is hurt, the others must not notice.
func several(n int, hurt bool) kind {
	name := fmt.Sprintf("runs-%d", n)
	if hurt {
		name += "-hurt"
	}
	return kind{name + "/nats", func(r *rand.Rand) scenario {
		s := base(r, external)
		s.staff(2)
		together := r.IntN(2) == 0
		for range n - 1 {
			at := rand64(r, s.Length)
			if together {
				at = -1
			}
			s.Starts = append(s.Starts, at)
		}
		if hurt {
			does := []action{kill, term, interrupt, interruptTwice, freeze}[r.IntN(5)]
			f := fault{Who: coordinator, Does: does, At: s.moment(r)}
			if f.Does == freeze {
				f.For = 9 * time.Second
			}
			s.Faults = []fault{f}
		}
		return s
	}}
}

// staff gives each run so many workers, with as many slots each: which requests are whose is known then.
func (s *scenario) staff(workers int) {
	if s.Load[0] == "--concurrency" {
		s.Load = []string{"--concurrency", fmt.Sprint(4 * workers)}
	}
	s.Workers = workers
}

// next is a run that begins when the coordinator of another one has just been killed.
func next() kind {
	return kind{"runs-next/nats", func(r *rand.Rand) scenario {
		s := base(r, external)
		s.staff(2)
		f := fault{Who: coordinator, Does: kill, At: s.moment(r)}
		s.Faults = []fault{f}
		s.Starts = append(s.Starts, f.At+rand64(r, 4*time.Second))
		return s
	}}
}

// pair is two faults at once.
func pair(t topology) kind {
	return kind{"pair/" + string(t), func(r *rand.Rand) scenario {
		s := base(r, t)
		for len(s.Faults) < 2 {
			f := fault{At: s.moment(r), Worker: r.IntN(s.Workers)}
			f.Who = []role{worker, worker, coordinator, natsServer}[r.IntN(4)]
			if f.Who == natsServer && t != external {
				continue
			}
			f.Does = map[role][]action{
				worker: {kill, term, freeze}, coordinator: {kill, term, interrupt, interruptTwice, freeze}, natsServer: {kill, restart, freeze},
			}[f.Who][r.IntN(3)]
			switch f.Does {
			case freeze:
				f.For = []time.Duration{2 * time.Second, 9 * time.Second}[r.IntN(2)]
			case restart:
				f.For = time.Second + rand64(r, 7*time.Second)
			case interruptTwice:
				f.For = 50*time.Millisecond + rand64(r, time.Second)
			}
			s.Faults = append(s.Faults, f)
		}
		return s
	}}
}
