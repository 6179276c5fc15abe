// Package triton asks a Triton Inference Server for the statistics of a model and of
// those that it is composed of, and for its Prometheus metrics.
package triton

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe/prometheus"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// Options are what a Probe takes besides the target.
type Options struct {
	Clock *timedconn.Clock
	TLS   *tls.Config // for secure targets; nil means as the system has it
	Key   string      // API key; empty: none
	// Getenv looks up the variables that name proxies, or nil.
	Getenv func(string) string
	// Statistics: ask for the statistics of the model.
	Statistics bool
	// Metrics is the address of the server's metrics page; empty: it is not read.
	Metrics string
}

// Probe asks one server. It is safe for concurrent use from several goroutines.
type Probe struct {
	clock   *timedconn.Clock
	server  server // nil means statistics are not wanted
	http    *http.Client
	metrics string
	root    step
	bls     []step

	mu    sync.Mutex
	known map[step]about // what the configuration of a model says, where it was read
}

// about is what a model's configuration says of it.
type about struct {
	parts     []step // models that it is composed of, each once
	cache     bool   // it has a response cache
	decoupled bool   // its requests have any number of responses
}

// step is a model as a configuration names it: an empty version is any.
type step struct{ name, version string }

type server interface {
	// statistics are those of a model, or of all models where the name is empty.
	statistics(ctx context.Context, name, version string) ([]kserve.ModelStatistics, error)
	config(ctx context.Context, name, version string) (*kserve.ModelConfig, error)
	close() error
}

// answerTime bounds one response.
const answerTime = 10 * time.Second

// New makes a probe of the server at one of the target's URLs. It asks nothing yet.
func New(t plan.Target, address string, o Options) (*Probe, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("the address of the server is not a URL: %w", err)
	}
	p := &Probe{
		clock: o.Clock, http: prometheus.NewHTTPClient(o.TLS, answerTime, t.SourceAddresses), metrics: o.Metrics,
		root: step{t.Model, t.Triton.Version}, known: map[step]about{},
	}
	for _, m := range t.Triton.Composing {
		name, version, _ := strings.Cut(m, ":")
		p.bls = append(p.bls, step{name, version})
	}
	if !o.Statistics {
		return p, nil
	}
	if t.Transport == plan.TransportGRPC {
		p.server, err = newGRPCServer(t, u, o)
	} else {
		p.server = &httpServer{client: p.http, base: u, header: header(t, o.Key, u)}
	}
	return p, err
}

// Close gives up the probe's connections.
func (p *Probe) Close() error {
	p.http.CloseIdleConnections()
	if p.server == nil {
		return nil
	}
	return p.server.close()
}

// Snapshot asks the server for its totals. The error, beside a snapshot, names what was missing.
func (p *Probe) Snapshot(ctx context.Context) (*record.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	s := &record.Snapshot{At: p.clock.Now()}
	var errs []error
	if p.server != nil {
		models, err := p.models(ctx)
		if err != nil {
			errs = append(errs, fmt.Errorf("statistics of model %s: %w", p.root.name, err))
		}
		s.Models = models
	}
	if p.metrics != "" {
		if err := p.readMetrics(ctx, s); err != nil {
			errs = append(errs, fmt.Errorf("metrics at %s: %w", plan.SafeURL(p.metrics), err))
		}
	}
	if s.Models == nil && s.Metrics == nil {
		s = nil
	}
	return s, errors.Join(errs...)
}

// models are the statistics of the model in each version, each with those of its
// parts.
func (p *Probe) models(ctx context.Context) ([]record.ModelStats, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// A model without parts is asked for alone: servers may have hundreds.
	ask := p.root
	if root, known := p.known[p.root]; !known || len(root.parts) > 0 || len(p.bls) > 0 {
		ask = step{}
	}
	all, err := p.server.statistics(ctx, ask.name, ask.version)
	if err != nil {
		return nil, err
	}
	models, err := p.gather(ctx, all, p.root, 0)
	if len(models) > 0 {
		for _, b := range p.bls {
			parts, partErr := p.gather(ctx, all, b, 1)
			models[0].Composing = addAll(models[0].Composing, parts)
			err = errors.Join(err, partErr)
		}
	}
	return models, err
}

// mostNested bounds how deep ensembles may be nested.
const mostNested = 16

// gather finds the statistics of a model and of its parts.
func (p *Probe) gather(ctx context.Context, all []kserve.ModelStatistics, s step, depth int) ([]record.ModelStats, error) {
	if depth > mostNested {
		return nil, fmt.Errorf("ensembles are nested more than %d deep, down to %s", mostNested, s.name)
	}
	config, err := p.about(ctx, s)
	var found []record.ModelStats
	for _, m := range all {
		if m.Name != s.name || s.version != "" && m.Version != s.version {
			continue
		}
		stats := fromMessage(&m)
		stats.AnyVersion, stats.Cache, stats.Decoupled = s.version == "", config.cache, config.decoupled
		for _, part := range config.parts {
			inner, innerErr := p.gather(ctx, all, part, depth+1)
			stats.Composing = addAll(stats.Composing, inner)
			if len(found) == 0 { // the same for each version
				err = errors.Join(err, innerErr)
			}
		}
		found = append(found, stats)
	}
	if len(found) == 0 {
		err = errors.Join(err, fmt.Errorf("the server has no statistics of model %s", s.name))
	}
	return found, err
}

// addAll adds models to others, each once: one may be named twice, and be a step of the ensemble.
func addAll(list, more []record.ModelStats) []record.ModelStats {
	for _, m := range more {
		if !slices.ContainsFunc(list, func(o record.ModelStats) bool {
			return o.Name == m.Name && o.Version == m.Version && o.AnyVersion == m.AnyVersion
		}) {
			list = append(list, m)
		}
	}
	return list
}

// about is what the configuration of a model says. It is read once.
func (p *Probe) about(ctx context.Context, s step) (about, error) {
	if a, known := p.known[s]; known {
		return a, nil
	}
	c, err := p.server.config(ctx, s.name, s.version)
	if err != nil {
		return about{}, fmt.Errorf("the configuration of %s, which would name its parts: %w", s.name, err)
	}
	a := about{cache: c.Cached(), decoupled: c.Decoupled()}
	for _, e := range c.Steps() {
		part := step{name: e.ModelName}
		if v := e.ModelVersion; v > 0 {
			part.version = strconv.FormatInt(v, 10)
		}
		if !slices.Contains(a.parts, part) {
			a.parts = append(a.parts, part)
		}
	}
	p.known[s] = a
	return a, nil
}

func fromMessage(m *kserve.ModelStatistics) record.ModelStats {
	i := &m.InferenceStats
	s := record.ModelStats{
		Name: m.Name, Version: m.Version, Inferences: m.InferenceCount, Executions: m.ExecutionCount,
		Success: pair(i.Success), Fail: pair(i.Fail), Queue: pair(i.Queue),
		ComputeInput: pair(i.ComputeInput), ComputeInfer: pair(i.ComputeInfer), ComputeOutput: pair(i.ComputeOutput),
		CacheHit: pair(i.CacheHit), CacheMiss: pair(i.CacheMiss),
	}
	for key, r := range m.ResponseStats {
		index, err := strconv.Atoi(key)
		if err != nil {
			continue // the protocol numbers them
		}
		s.Responses = append(s.Responses, record.ResponseStats{
			Index: index, ComputeInfer: pair(r.ComputeInfer), ComputeOutput: pair(r.ComputeOutput),
			Success: pair(r.Success), Fail: pair(r.Fail), Empty: pair(r.EmptyResponse), Cancel: pair(r.Cancel),
		})
	}
	slices.SortFunc(s.Responses, func(a, b record.ResponseStats) int { return a.Index - b.Index })
	return s
}

func pair(d kserve.StatisticDuration) record.CountTime {
	return record.CountTime{Count: d.Count, NS: d.Ns}
}
