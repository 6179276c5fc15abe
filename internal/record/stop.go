package record

import "strings"

// StopReason is why a stage stopped sending, or why the measurement of it in windows ended.
// Its text is that of files; reports have words for people.
type StopReason string

// The reasons of a stage that came to its end.
const (
	StopDuration    StopReason = "duration"     // its time was over
	StopRequests    StopReason = "requests"     // it had sent as many as it should
	StopArrivals    StopReason = "arrivals"     // the load had no more of them
	StopData        StopReason = "data"         // there were no more prompts
	StopOver        StopReason = "overloaded"   // it was clearly more than the objectives of a search allow
	StopEarlyAnswer StopReason = "early answer" // a response ended before it had as many events as the next step of a growing load waits for
)

// The reasons of a stage that was ended before its time, besides those of StopBreaker. None
// follows it.
const (
	StopInterrupted StopReason = "interrupted"  // by the user
	StopErrors      StopReason = "errors"       // more requests failed than the plan allows
	StopAlike       StopReason = "same_failure" // all requests failed in the same way, from the first one on
	StopPrompts     StopReason = "prompts"      // a prompt could not be made
	StopRecords     StopReason = "records"      // records could not be written
	StopLease       StopReason = "lease"        // the worker had lost its coordinator
)

// The reasons of a measurement in windows, which ends its stage with all but the last.
const (
	StopStable     StopReason = "stable"     // the last windows agree
	StopThroughput StopReason = "throughput" // after the last trial, they agree in throughput alone
	StopThreshold  StopReason = "threshold"  // one of the last windows has the latency threshold or more
	StopTrials     StopReason = "trials"     // no agreement within the trials
	StopEmpty      StopReason = "empty"      // nothing ended well in a window
	StopWhole      StopReason = "whole"      // one window: nothing to agree with
)

// stopBreaker begins the reason of a stage that a breaker has ended.
const stopBreaker = "breaker "

// StopBreaker is the reason of a stage that a breaker of the plan has ended: which one, and
// why it opened.
func StopBreaker(name, why string) StopReason { return StopReason(stopBreaker + name + ": " + why) }

// Breaker reports whether a breaker has ended the stage.
func (r StopReason) Breaker() bool { return strings.HasPrefix(string(r), stopBreaker) }

// Early reports whether the stage was ended before its time.
func (r StopReason) Early() bool {
	switch r {
	case StopInterrupted, StopErrors, StopAlike, StopPrompts, StopRecords, StopLease:
		return true
	}
	return r.Breaker()
}

// Windows gives the reason where a measurement in windows has ended the stage, else "".
func (r StopReason) Windows() StopReason {
	switch r {
	case StopStable, StopThroughput, StopThreshold, StopTrials, StopEmpty:
		return r
	}
	return ""
}
