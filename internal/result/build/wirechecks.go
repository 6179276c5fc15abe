package build

import (
	"fmt"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// connection is what was unusual about the connections of a run; nil means nothing.
func connection(h *record.Header) *result.Connection {
	if h.Proxy == "" && !h.FellBack {
		return nil
	}
	return &result.Connection{Proxy: h.Proxy, FellBack: h.FellBack}
}

func (j *judge) connection() {
	c := j.result.Connection
	if c == nil {
		return
	}
	if c.Proxy != "" {
		j.addNote(wholeRun, "Requests went through the proxy %s: every latency includes it. %v bypasses it.", c.Proxy, message.New("%v", message.Proxy).Or("NO_PROXY"))
	}
	if c.FellBack {
		j.addNote(wholeRun, "HTTP/2 was requested, but the target does not support it: these figures are for HTTP/1.1.")
	}
}

// resent judges requests that went twice, because the server closed their connection before it
// can have taken them. What that added to a latency does no harm where it is little of it.
func (j *judge) resent(i int, sum *metric.StageStats) {
	allowed := fmt.Sprintf("%s or %s", number.Percent(j.plan.Budgets.Error), number.Span(time.Duration(j.plan.Budgets.Lag)))
	n, late, of := sum.Counts.Resent, sum.Counts.Delayed, sum.Whole.Totals.Requests
	share, budget := float64(late)/float64(of), j.plan.Budgets.Resent
	if n > 0 && share <= budget {
		little := ""
		if late == 0 {
			little = ": that added at most " + allowed + " to each"
		}
		j.addNote(i, "%s had to be sent twice: the server closed the connection before reading the request. Latency counts from the first attempt%s.", number.Plural(n, "request"), little)
	}
	j.check(result.Check{Stage: i, Name: "resent", Value: share, Budget: budget, Unit: metric.Share, OK: share <= budget,
		Fix: "Have the server keep idle connections open for longer, or find out why it closes them."},
		fmt.Sprintf("%s of the %d requests had to be sent twice, because the server closed the connection before reading them, which added more than %s to their latency (budget %s).",
			number.Percent(share), of, allowed, number.Percent(budget)))
}

// unended says which responses this side has ended.
func (j *judge) unended(i int, sum *metric.StageStats) {
	if n := sum.Counts.Unended; n > 0 {
		j.addNote(i, "%s signalled completion but did not end. Each was treated as complete after 2 s, while it held its slot, and its connection was closed. Latency ends at the signal.", number.Plural(n, "response"))
	}
}

// ownFaults judges whether requests failed because this machine, not the server, ran out of
// resources.
func (j *judge) ownFaults(i int, sum *metric.StageStats) {
	n := sum.All.OwnFault
	example := ""
	for k := range sum.Failures {
		if f := &sum.Failures[k]; f.Class == record.ClientResource {
			example = " (" + f.Example + ")"
		}
	}
	j.check(result.Check{Stage: i, Name: "client_failures", Value: float64(n), Budget: 0, Unit: metric.Requests, OK: n == 0,
		Fix: j.words(message.New("Raise the limit of open files (ulimit -n), widen net.ipv4.ip_local_port_range%v, free memory, or lower the concurrency%v.",
			message.New(" or add local addresses (%v)", message.SourceAddress).Or(""),
			message.New(" (%v)", message.MaxInFlight).Or("")))},
		fmt.Sprintf("%s failed because this machine ran out of resources%s: that says nothing about the server.", number.Plural(n, "request"), example))
}
