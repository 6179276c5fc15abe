// Package pagedata makes what a page draws of a run: time series in bins, curves of exact
// quantiles, histograms, single requests and the traces of some of them, reduced to what a
// screen can show and a file of two megabytes can hold. It is for looking only: the figures
// that a page writes out are those of the result.
//
// A Sketch takes the requests of a run one by one, in memory that does not grow with their
// number, and makes the Document at the end. Numbers by the thousand are columns of Planes.
package pagedata

import (
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// Version is the version of the document.
const Version = 1

// Document is what a page is given. Its times are on the clock of the run, that of the
// windows of the result.
type Document struct {
	Version int `json:"version"`
	// Result is that of the run, but for the series of its services, which are in Series.
	Result *result.Result `json:"result"`
	// Headline is what a reader decides by.
	Headline string      `json:"headline,omitempty"`
	Best     int         `json:"best"`               // the stage to begin with; -1: none is better than others
	Seed     string      `json:"seed"`               // of the result: JavaScript's numbers end before those of a seed
	Plan     string      `json:"plan"`               // the plan file that runs it again; empty: not known
	Runs     string      `json:"command"`            // the command that does; empty: not known
	Live     bool        `json:"live"`               // the run is going on
	Underway *Underway   `json:"underway,omitempty"` // how far a live run is
	Stages   []StageData `json:"stages"`             // as the result has them
	Bin      float64     `json:"bin"`                // seconds of a bin of series by bins
	Series   []Series    `json:"series"`

	Requests *Requests `json:"requests"`           // nil means there are none to show
	Failures []Failure `json:"failures"`           // that requests have; the first is none
	Labels   []string  `json:"labels"`             // of events
	Sessions []string  `json:"sessions,omitempty"` // conversations that requests are turns of
	Traces   *Traces   `json:"traces"`
	Planes   Planes    `json:"planes"` // the bytes of all columns
}

// Underway is how far a run is.
type Underway struct {
	Stage  int     `json:"stage"` // from 1
	Stages int     `json:"stages"`
	Phase  string  `json:"phase"`            // what the stage is doing
	Share  float64 `json:"share,omitempty"`  // that is over; 0: not known
	Left   float64 `json:"left_s,omitempty"` // seconds
	Whole  bool    `json:"whole,omitempty"`  // both are of the run, not of the phase
}

// StageData is what is drawn of a stage, in seconds and milliseconds.
type StageData struct {
	Begin      float64                      `json:"begin"`
	End        float64                      `json:"end"`
	Warmup     *[2]float64                  `json:"warmup"` // nil means none
	Drain      *[2]float64                  `json:"drain"`
	Load       *SingleLoad                  `json:"load"` // nil means it is not one number
	GPUs       int                          `json:"gpus,omitempty"`
	Turns      []Turn                       `json:"turns,omitempty"`
	Curves     map[string]Sides[Curve]      `json:"curves,omitempty"` // by metric
	Histograms map[string]Sides[*Histogram] `json:"histograms,omitempty"`
}

// SingleLoad is a load that is one number.
type SingleLoad struct {
	Kind  string  `json:"kind"` // concurrency or rate
	Value float64 `json:"value"`
}

// Sides are a thing measured from Sent and the same from Due. What counts from neither is
// in Sent.
type Sides[T any] struct {
	Sent T `json:"sent"`
	Due  T `json:"due,omitempty"`
}

// Curve are exact quantiles, each with its share of the samples, ascending from the least
// sample to the greatest.
type Curve [][2]float64

// Histogram counts samples between edges: one count fewer than edges.
type Histogram struct {
	Edges  []float64 `json:"edges"`
	Counts []int64   `json:"counts"`
}

// The kinds of series.
const (
	Line  = "line"  // a value at each time T
	Step  = "step"  // a value from each time of T to the next
	Band  = "band"  // three values from each time of T to the next, which Labels name
	Range = "range" // from each time of T to the next, between which values the median lies: a bucket of a server's histogram
	// Heat is how many there are from each time of T to the next, between each two values of Lo: V has all of the
	// first stretch of time, from the least values on, then those of the next.
	Heat = "heat"
)

// Series is a quantity over time. A value that is not known is NaN.
type Series struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	Unit   string   `json:"unit"`
	Group  string   `json:"group"` // series of one group and unit are drawn together
	Kind   string   `json:"kind"`
	Target string   `json:"target,omitempty"`
	Labels []string `json:"labels,omitempty"`
	Column Columns  `json:"column"`
}

// Columns are those of a series, of which a kind has some.
type Columns struct {
	T   Column  `json:"t"` // seconds
	V   *Column `json:"v,omitempty"`
	Lo  *Column `json:"lo,omitempty"`
	Mid *Column `json:"mid,omitempty"`
	Hi  *Column `json:"hi,omitempty"`
}

// Requests are single requests, in the order they were due.
type Requests struct {
	Count   int64             `json:"count"`  // of the run
	Kept    int               `json:"kept"`   // of those, here
	Why     string            `json:"reason"` // these
	Columns map[string]Column `json:"columns"`
}

// Failure is why requests failed.
type Failure struct {
	Class   record.Class `json:"class"`
	Status  int          `json:"status,omitempty"`  // of HTTP or gRPC; 0: none
	Message string       `json:"message,omitempty"` // empty: none, or there are too many different ones
}

// Traces are the events of some of the requests.
type Traces struct {
	Of     Column      `json:"of"`   // places among the requests, ascending
	From   Column      `json:"from"` // where the events of each begin, and where those of the last end
	Events TraceEvents `json:"events"`
}

// TraceEvents are the events of all traces.
type TraceEvents struct {
	At     Column `json:"at"`     // µs after the request was sent
	Tokens Column `json:"tokens"` // -1: not known
	Label  Column `json:"label"`
}
