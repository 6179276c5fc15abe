package monitor

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/lib/aside"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/target"
)

// read reads all pages of metrics at once, in the background. edge: nothing is under
// way, and the servers' counters are waited for.
func (s *Servers) read(ctx context.Context, edge bool) <-chan []record.Page {
	done := make(chan []record.Page, 1)
	go func() {
		var pages []record.Page
		if len(s.pages) > 0 {
			pages = make([]record.Page, len(s.pages))
		}
		var wg sync.WaitGroup
		for i, p := range s.pages {
			wg.Go(func() {
				err := aside.Call("Reading it", func() error {
					if edge {
						pages[i] = settledPage(ctx, p)
					} else {
						pages[i] = p.Read(ctx, false)
					}
					return nil
				})
				if err != nil {
					pages[i].Error = err.Error()
				}
				pages[i].Error = s.clean(pages[i].Error)
			})
		}
		wg.Wait()
		done <- pages
	}()
	return done
}

// FindPages looks for the pages of metrics of a plan's own servers, where the plan wants that and names none, and has
// those that are there read. A server is asked once, or twice where what it says is none: TensorRT-LLM has its
// metrics elsewhere.
func FindPages(ctx context.Context, p *plan.Plan, kit registry.Kit, o endpoint.Options, log io.Writer) {
	if !p.Probes.Find || len(p.Probes.Scrape) > 0 || p.Target.Protocol == plan.ProtocolTriton {
		return
	}
	asked := map[string]bool{}
	for _, raw := range p.Target.URLs {
		u, err := url.Parse(raw)
		if err != nil || asked[u.Host] {
			continue
		}
		asked[u.Host] = true
		for _, path := range []string{"/metrics", "/prometheus/metrics"} {
			address := (&url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host, Path: path}).String()
			p.Probes.Scrape = append(p.Probes.Scrape, address)
			page := kit.Pages(p, len(p.Probes.Scrape)-1, o)
			look := page.Read(ctx, false)
			_ = page.Close()
			if look.Error == "" && len(look.Samples) > 0 {
				fmt.Fprintf(log, "reading the server's metrics at %s (--scrape none leaves them alone)\n", plan.SafeURL(address))
				break
			}
			p.Probes.Scrape = p.Probes.Scrape[:len(p.Probes.Scrape)-1]
			if strings.Contains(look.Error, "HTTP status") { // there is no such page
				break
			}
		}
	}
}

// A server may count a request a moment after its last byte. Its page is read again
// until two looks agree, for half a second at most.
const (
	pagePause    = 20 * time.Millisecond
	pagePatience = 500 * time.Millisecond
)

func settledPage(ctx context.Context, p probe.Page) record.Page {
	began := time.Now()
	page := p.Read(ctx, true)
	for page.Error == "" && time.Since(began) < pagePatience {
		select {
		case <-time.After(pagePause):
		case <-ctx.Done():
			return page
		}
		next := p.Read(ctx, true)
		if next.Error != "" {
			return page
		}
		still := slices.Equal(moving(page.Samples), moving(next.Samples))
		page = next
		if still {
			break
		}
	}
	return page
}

// moving are the counters that stand still when nothing is in flight: not those of GPUs' energy.
func moving(all []record.Sample) []record.Sample {
	var out []record.Sample
	for _, s := range all {
		if s.Counter && !strings.Contains(s.Name, "ENERGY") && !strings.Contains(s.Name, "energy") {
			out = append(out, s)
		}
	}
	return out
}

// Prometheus is the Prometheus server of a plan.
type Prometheus struct {
	querier probe.RangeQuerier
	hide    []string // secrets that it may repeat
}

// OpenPrometheus makes what asks the plan's Prometheus server, or nil. hide are secrets.
func OpenPrometheus(ctx context.Context, p *plan.Plan, kit registry.Kit, o endpoint.Options, hide []string) (*Prometheus, error) {
	if !p.Probes.Prometheus.On() {
		return nil, nil
	}
	a, err := kit.Archives(ctx, p, o)
	if err != nil {
		return nil, err
	}
	return &Prometheus{a, hide}, nil
}

// Gather asks what it has of each stage and of all. Without it nothing measured is lost.
func (a *Prometheus) Gather(ctx context.Context, log io.Writer, book *rundir.Journal) {
	of := stretches(book.Facts.Stages)
	if len(of) == 0 {
		return
	}
	fmt.Fprintln(log, "waiting for Prometheus to scrape what the last requests did")
	for _, f := range a.querier.Ask(ctx, of) {
		for i := range f.Faults {
			f.Faults[i] = target.Redact(f.Faults[i], a.hide)
		}
		book.AddFigures(f)
	}
}

// Close ends the connection to it.
func (a *Prometheus) Close() { _ = a.querier.Close() }

// stretches are the stages that have run, and all of them together.
func stretches(marks []record.StageSummary) []probe.TimeRange {
	var of []probe.TimeRange
	for _, m := range marks {
		if m.DrainEnd <= m.Begin {
			continue // it was not begun
		}
		if n := len(of); n > 0 {
			of[n-1].Next = m.Begin
		}
		of = append(of, probe.TimeRange{Stage: m.Stage, Begin: m.Begin, End: m.DrainEnd})
	}
	if len(of) == 0 {
		return nil
	}
	return append(of, probe.TimeRange{Stage: record.WholeRun, Begin: of[0].Begin, End: of[len(of)-1].End})
}
