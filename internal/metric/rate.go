package metric

import (
	"time"

	"github.com/inferometer/inferometer/internal/cost"
	"github.com/inferometer/inferometer/internal/record"
)

// Totals are the sums of a window.
type Totals struct {
	Begin, End time.Duration // of the window

	Requests int64 // that ended, failed ones included
	OK       int64
	CutOff   int64
	// UserCancelled are those whose users went away: they have neither succeeded nor failed.
	UserCancelled int64
	// Overflowed are those that failed because they were longer than the model's context.
	Overflowed int64
	Good       int64 // succeeded and met every objective
	Judged     bool  // there are objectives

	GoodLeast, GoodMost int64 // those that are good for certain, and those that can be

	In, Out           int64 // tokens of successful requests
	InKnown, OutKnown int64 // successful requests whose tokens are counted

	// Of successful requests whose server counts the prompt and says what it took from its
	// cache.
	Cached, CacheIn int64

	Held    time.Duration // time in flight, summed over requests
	Noticed time.Duration // from the end of a successful request to when this client read it, summed

	Bill cost.GPUUsage // of the GPUs that did it
}

// per is n per second of the window, where n is known.
func (t *Totals) per(n float64, known bool) (float64, bool) {
	s := (t.End - t.Begin).Seconds()
	if s <= 0 {
		return 0, false
	}
	return n / s, known
}

// share is n over all requests whose users stayed, where n is known.
func (t *Totals) share(n int64, known bool) (float64, bool) {
	return float64(n) / float64(max(t.Stayed(), 1)), known && t.Stayed() > 0
}

// Stayed is how many requests ended whose users did not go away.
func (t *Totals) Stayed() int64 { return t.Requests - t.UserCancelled }

// Failed is how many requests failed.
func (t *Totals) Failed() int64 { return t.Stayed() - t.OK }

// rates are the metrics of a window as a whole.
func rates() []Def {
	return []Def{
		{
			ID: "request_throughput", Name: "Requests/s", Unit: RequestRate,
			Formula: "successful requests ÷ window",
			Help:    "Successful requests per second.",
			Rate:    func(t *Totals) (float64, bool) { return t.per(float64(t.OK), true) },
		},
		{
			ID: "output_token_throughput", Name: "Output tokens/s", Unit: TokenRate,
			Formula: "Σ output tokens of successful requests ÷ window",
			Help:    "Output tokens per second over all requests.",
			Rate:    func(t *Totals) (float64, bool) { return t.per(float64(t.Out), t.OutKnown > 0) },
		},
		{
			ID: "input_token_throughput", Name: "Input tokens/s", Unit: TokenRate,
			Formula: "Σ input tokens of successful requests ÷ window",
			Help:    "Input tokens per second over all requests.",
			Rate:    func(t *Totals) (float64, bool) { return t.per(float64(t.In), t.InKnown > 0) },
		},
		{
			ID: "total_token_throughput", Name: "Total tokens/s", Unit: TokenRate,
			Formula: "Σ (input + output tokens) of successful requests ÷ window",
			Help:    "Input and output tokens per second.",
			Rate:    func(t *Totals) (float64, bool) { return t.per(float64(t.In+t.Out), t.InKnown > 0 && t.OutKnown > 0) },
		},
		{
			ID: "cached_prompt_share", Name: "Prompt tokens from the cache", Unit: Share,
			Formula: "Σ prompt tokens that the server took from its cache ÷ Σ input tokens, for requests whose server reports both",
			Help:    "Share of the prompt tokens that needed no prefill. Only for servers that report it.",
			Rate:    func(t *Totals) (float64, bool) { return float64(t.Cached) / float64(max(t.CacheIn, 1)), t.CacheIn > 0 },
		},
		{
			ID: "request_goodput", Name: "Good requests/s", Unit: RequestRate,
			Formula: "requests that succeeded and met every objective ÷ window",
			Help:    "Throughput of the requests that met every objective. Only with objectives.",
			Rate:    func(t *Totals) (float64, bool) { return t.per(float64(t.Good), t.Judged) },
		},
		{
			ID: "slo_attainment", Name: "Objectives attained", Unit: Share,
			Formula: "requests that succeeded and met every objective ÷ all requests, failed ones included, without those whose users went away",
			Help:    "Only with objectives.",
			Rate:    func(t *Totals) (float64, bool) { return t.share(t.Good, t.Judged) },
		},
		{
			ID: "error_rate", Name: "Failed requests", Unit: Share,
			Formula: "failed requests ÷ all requests",
			Help:    "Every class of failure counts, cut off and cancelled ones too; requests whose users go away (`cancel`) count nowhere here.",
			Rate:    func(t *Totals) (float64, bool) { return t.share(t.Failed(), true) },
		},
		{
			ID: "request_count", Name: "Successful requests", Unit: Requests,
			Formula: "number of successful requests",
			Help:    "The number of requests behind the latencies.",
			Rate:    func(t *Totals) (float64, bool) { return float64(t.OK), true },
		},
		{
			ID: "concurrency", Name: "Requests in flight", Unit: Requests,
			Formula: "Σ (End − Sent) ÷ window; in the steady window the part of each request that lies in it, whatever its phase",
			Help:    "Average number of requests in flight: the concurrency that was reached, not the one configured.",
			Rate:    func(t *Totals) (float64, bool) { return t.per(t.Held.Seconds(), true) },
		},
	}
}

// opening is a Def of a step of opening a connection.
func opening(id, name, step, help string, of func(*record.Conn) time.Duration) Def {
	return ms(Def{
		ID: id, Name: name, Failed: true,
		Formula: step + ", for requests that had to open a connection",
		Help:    help,
		Sample: func(r *Request) (int64, bool) {
			d := of(&r.Conn)
			return int64(d), d > 0
		},
	})
}

// client are the metrics of this program and the way to the server. They cover
// failed requests too.
func client() []Def {
	return []Def{
		ms(Def{
			ID: "lag", Name: "Lag", Failed: true,
			Formula: "Sent − Due",
			Help:    "How late requests were sent, for any reason.",
			Sample:  func(r *Request) (int64, bool) { return since(r.Due, r.Sent) },
		}),
		ms(Def{
			ID: "slot_wait", Name: "Wait for a slot", Failed: true,
			Formula: "Held, for arrivals that had to wait under the in-flight cap",
			Help:    "The part of the lag caused by the load's in-flight cap.",
			Sample:  func(r *Request) (int64, bool) { return int64(r.Held), r.Held > 0 },
		}),
		ms(Def{
			ID: "dispatch_delay", Name: "Client delay", Failed: true,
			Formula: "max(0, Sent − Due − Held − time to open the connection); in closed loop without the first wave, which is due all at once",
			Help:    "The part of the lag caused by this client. The verdict is based on it.",
			Sample:  ownDelay,
		}),
		ms(Def{
			ID: "write_time", Name: "Write time", Failed: true,
			Formula: "Written − Sent, for requests of at most 64 kB that were sent once",
			Help:    "How long after its timestamp a request reached the kernel: latencies from Sent are too long by at most this.",
			Sample: func(r *Request) (int64, bool) {
				v, ok := since(r.Sent, r.Written)
				return max(v, 0), ok && r.Retries == 0 && r.Resent == 0 && r.Size <= fitsBuffer
			},
		}),
		ms(Def{
			ID: "read_delay", Name: "Read delay", Failed: true,
			Formula:    "for each read: when it returned to this program − when the kernel received its last segment",
			Help:       "How late this client read. With kernel timestamps it is not part of any latency.",
			Many:       func(r *Request) []int64 { return r.delays },
			Tail:       (*Request).tailDelays,
			PerRequest: meanDelay,
		}),
		opening("resolve_time", "Resolve time", "time to resolve the host name", "Not part of any latency from Sent.",
			func(c *record.Conn) time.Duration { return c.Resolve }),
		opening("connect_time", "Connect time", "time to connect", "Not part of any latency from Sent.",
			func(c *record.Conn) time.Duration { return c.Connect }),
		opening("tls_time", "TLS time", "time of the TLS handshake", "Not part of any latency from Sent.",
			func(c *record.Conn) time.Duration { return c.TLS }),
	}
}

// ownDelay is how much later than it could have a request went by this client's fault.
func ownDelay(r *Request) (int64, bool) {
	if r.Sent == record.Never || r.closed && r.from != record.NotYet && r.Due <= r.from {
		return 0, false
	}
	c := &r.Conn
	return max(0, int64(r.Sent-r.Due-r.Held-c.Resolve-c.Connect-c.TLS)), true
}

func meanDelay(r *Request) (int64, bool) {
	n, sum := int64(len(r.delays)), int64(0)
	for _, d := range r.delays {
		sum += d
	}
	if r.Tail != nil {
		n, sum = n+r.Tail.Delays.Len(), sum+r.Tail.Delays.Sum()
	}
	if n == 0 {
		return 0, false
	}
	return perUnit(sum, n), true
}
