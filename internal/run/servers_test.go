package run

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/saved"
)

// A server that counts the responses of a stream one by one has them in the result.
func TestStatisticsOfTheMock(t *testing.T) {
	s := serve(t, func(c *config.Server) { c.Models = []string{"ensemble"} })
	p := closedPlan(t, s.url, 4, 60)
	p.Target.Protocol, p.Target.Transport, p.Target.Endpoint, p.Target.Model = plan.ProtocolTriton, plan.TransportHTTP, plan.EndpointGenerate, "ensemble"
	p.Data.Output = plan.Length{Dist: plan.DistFixed, Mean: 5}
	p.Probes.Metrics = s.url + "/metrics"
	live := mustRun(t, p)
	server := live.Stages[0].Server
	if server == nil || len(server.Faults) > 0 || server.Requests == nil || *server.Requests != (result.ServerRequests{Sent: 60, OK: 60}) {
		t.Fatalf("server %+v", server)
	}
	whole := server.Models[0]
	if whole.Success.Count != 60 || len(whole.Composing) != 3 || whole.Composing[0].Success.Count != 60 {
		t.Errorf("%+v", whole)
	}
	llm := whole.Composing[1]
	if len(llm.Responses) < 5 || llm.Responses[0].Index != 0 || llm.Responses[4].Success.Count != 60 {
		t.Errorf("responses of %s: %+v", llm.Name, llm.Responses)
	}
	if len(server.Metrics) == 0 {
		t.Error("no metrics")
	}
	again, err := saved.Report(p.Output.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asJSON(t, live), asJSON(t, again)); diff != "" {
		t.Errorf("-run +report:\n%s", diff)
	}

	p = closedPlan(t, s.url, 1, 2)
	p.Target.Protocol, p.Target.Transport, p.Target.Endpoint, p.Target.Model = plan.ProtocolTriton, plan.TransportHTTP, plan.EndpointGenerate, "ensemble"
	p.Probes.Statistics = plan.StatisticsOff
	if server := mustRun(t, p).Stages[0].Server; server != nil {
		t.Errorf("statistics are off, and there are some: %+v", server)
	}
}

// silent is a server that says nothing but the key that it was sent.
type silent struct{ closed *int }

func (silent) Snapshot(context.Context) (*record.Snapshot, error) {
	return nil, errors.New("the key top-secret-key is not welcome")
}

func (s silent) Close() error { *s.closed++; return nil }

// A server that says nothing of itself is measured all the same, and its words hold no
// secret.
func TestServerThatSaysNothing(t *testing.T) {
	s := serve(t, func(c *config.Server) { c.Models = []string{"ensemble"} })
	p := closedPlan(t, s.url, 1, 3)
	p.Target.Protocol, p.Target.Transport, p.Target.Endpoint, p.Target.Model = plan.ProtocolTriton, plan.TransportHTTP, plan.EndpointGenerate, "ensemble"
	p.Target.Headers = map[string]string{"Authorization": "Bearer top-secret-key"}
	closed := 0
	o := options(io.Discard)
	triton := o.Kit.Protocols[plan.ProtocolTriton]
	triton.Probe = func(*plan.Plan, int, endpoint.Options) (probe.Prober, error) { return silent{&closed}, nil }
	o.Kit.Protocols[plan.ProtocolTriton] = triton
	res, err := Run(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	if res.Stages[0].Counts.OK != 3 || closed != 1 {
		t.Errorf("counts %+v, closed %d times", res.Stages[0].Counts, closed)
	}
	if !slices.ContainsFunc(res.Notes, func(n string) bool { return strings.Contains(n, "statistics could not be read") }) {
		t.Errorf("notes %q", res.Notes)
	}
	if text := asJSON(t, res); strings.Contains(text, "top-secret") || !strings.Contains(text, "the key (secret) is not welcome (2 times)") {
		t.Errorf("result %s", text)
	}
}
