package args

import (
	"fmt"
	"time"
)

// load settles how much is sent, and for how long.
func (b *builder) load() {
	s := &b.a.Settings
	s.Concurrency = 1
	switch {
	case b.given("concurrency") && b.given("request-rate"), !b.sweeping && b.says("concurrency") && b.says("request-rate"):
		b.fault("--request-rate", "cannot be combined with --concurrency", "give one of the two")
	case b.given("request-rate"):
		s.Concurrency, s.Rate = 0, b.number("request-rate", 0)
	default:
		s.Concurrency = b.integer("concurrency", 1)
	}
	s.Stability = b.number("stability", 999)
	b.faultIf(s.Release == ReleaseLast && (s.Stability < 1 || s.Stability > 999), b.as("stability"), "must be from 1 to 999", "")
	s.Warmup = b.integer("warmup", 0)
	interval := map[string]int{Release2403: 5000, Release2404: 10000}[s.Release]
	if s.Release == ReleaseLast && b.middle() {
		interval = 10000
	}
	switch {
	case b.says("interval") && b.says("request-count"):
		b.fault(b.as("request-count"), "cannot be combined with "+b.as("interval"), "give one of the two")
	case b.given("request-count"):
		s.Requests, s.RequestsGiven = b.integer("request-count", 0), true
	case b.given("interval") || interval > 0:
		s.Interval = time.Duration(b.integer("interval", interval)) * time.Millisecond
	default:
		s.Requests = max(10, 2*s.Concurrency)
	}
	b.faultIf(s.Requests > 0 && s.Requests < s.Concurrency, b.as("request-count"), fmt.Sprintf("%d requests cannot keep %d in flight", s.Requests, s.Concurrency), "give at least as many requests as --concurrency")
}

// sessions settles conversations and schedules.
func (b *builder) sessions() {
	s := &b.a.Settings
	s.Sessions, s.SessionConcurrency = b.integer("sessions", 0), b.integer("session-concurrency", 0)
	s.TurnsMean, s.TurnsStddev = b.number("session-turns-mean", 1), b.number("session-turns-stddev", 0)
	s.TurnDelayMean, s.TurnDelayStddev = b.number("session-turn-delay-mean", 0), b.number("session-turn-delay-stddev", 0)
	s.DelayRatio = b.number("session-delay-ratio", 1)
	s.FixedSchedule = b.given("fixed-schedule")
	loads := 0
	for _, key := range []string{"concurrency", "request-rate", "fixed-schedule", "session-concurrency"} {
		if b.given(key) {
			loads++
		}
	}
	if s.PayloadFile != "" && loads == 0 && !b.given("request-count") && !b.given("interval") && b.scheduled() {
		s.FixedSchedule = true
	}
	switch {
	case s.FixedSchedule && s.PayloadFile == "":
		b.fault("--fixed-schedule", "needs a payload file", "give --input-file payload:FILE")
	case s.SessionConcurrency > 0 && s.Sessions == 0 && s.PayloadFile == "":
		b.fault("--session-concurrency", "needs sessions", "give --num-sessions or --input-file payload:FILE")
	case s.Sessions > 0 && s.InputFile != "" && s.SessionConcurrency == 0:
		b.warn("--num-sessions has no effect on an input file")
	case s.Sessions > 0 && s.SessionConcurrency == 0:
		b.fault("--num-sessions", "needs --session-concurrency", "the number of concurrent sessions")
	case s.Sessions > 0 && s.PayloadFile != "":
		b.fault("--num-sessions", "cannot be combined with a payload file, which has its own sessions", "give one of the two")
	case b.says("fixed-schedule") && (loads > 1 || b.loads() > 1) && !(b.says("concurrency") && b.says("request-rate")):
		b.fault(b.as("fixed-schedule"), "cannot be combined with another kind of load", "give one of --concurrency, --request-rate, --session-concurrency and --fixed-schedule")
	case (s.SessionConcurrency > 0 || s.PayloadFile != "") && s.EndpointType != "chat" && s.EndpointType != "completions":
		b.fault("--endpoint-type", "sessions and payload files are only for chat and completions", "")
	case s.SessionConcurrency > 0 && s.EndpointType != "chat":
		b.fault("--session-concurrency", "sessions are only for --endpoint-type chat", "")
	}
	b.faultIf(s.TurnsMean < 1, "--session-turns-mean", "must be at least 1", "")
	if s.SessionConcurrency > 0 || s.FixedSchedule {
		if s.RequestsGiven {
			s.ToldRequests = s.Requests
		}
		s.ToldInterval = s.Interval
		s.Concurrency, s.Rate, s.Requests, s.Interval, s.RequestsGiven = 0, 0, 0, 0, false
	}
}
