package prometheus

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/probe/servermetrics"
)

// selector names a metric in queries: its names, of which a server has one, and shared matchers.
type selector struct {
	names   []string
	filters string
}

// counterOf is the selector of a counter. Google's service refuses expressions for names.
func counterOf(own, filters string) selector {
	base := strings.TrimSuffix(own, "_total")
	if strings.HasSuffix(base, "_count") || strings.HasSuffix(base, "_sum") || strings.HasSuffix(base, "_bucket") {
		return selector{[]string{base}, filters}
	}
	return selector{[]string{base + "_total", base}, filters}
}

// each joins what is made of each name: a server has one of them.
func (s selector) each(one func(name string) string) string {
	var all []string
	for _, n := range s.names {
		all = append(all, one(n))
	}
	if len(all) == 1 {
		return all[0]
	}
	return "(" + strings.Join(all, " or ") + ")"
}

func (s selector) now() string {
	return s.each(func(n string) string { return n + "{" + s.filters + "}" })
}

// stamps are when the values were taken, which of anything but a bare metric is the query's time.
func (s selector) stamps() string {
	return s.each(func(n string) string { return "timestamp(" + n + "{" + s.filters + "})" })
}

func (s selector) earlier(d string) string {
	return s.each(func(n string) string { return n + "{" + s.filters + "} offset " + d })
}

func (s selector) over(f, d string) string {
	return s.each(func(n string) string { return f + "(" + n + "{" + s.filters + "}[" + d + "])" })
}

func span(d time.Duration) string { return strconv.FormatInt(max(d.Milliseconds(), 1), 10) + "ms" }

// increaseForm is by how much a counter rose in the last d: exactly, or, where it went back or was
// not there before, as Prometheus has it.
func increaseForm(s selector, d string) string {
	return fmt.Sprintf("((sum(%s) - sum(%s)) and (sum(%s) == 0)) or sum(%s)", s.now(), s.earlier(d), s.over("resets", d), s.over("increase", d))
}

// quantileForm is a quantile of what a histogram took in during the last d.
func quantileForm(q float64, own, filters, d string) string {
	b := selector{[]string{own + "_bucket"}, filters}
	n := selector{[]string{own + "_count"}, filters}
	return fmt.Sprintf("histogram_quantile(%v, ((sum by (le) (%s) - sum by (le) (%s)) and on () (sum(%s) == 0)) or sum by (le) (%s))",
		q, b.now(), b.earlier(d), n.over("resets", d), b.over("rate", d))
}

// gaugeForm applies a function over time to a gauge of all servers together.
func gaugeForm(f string, m *servermetrics.Metric, filters, d, step string) string {
	own, extra, found := strings.Cut(m.Own, "{")
	if found {
		filters = strings.Trim(strings.TrimSuffix(extra, "}")+","+filters, ",")
	}
	together := "sum"
	if m.Mean {
		together = "avg"
	}
	inner := fmt.Sprintf("%s(%s{%s})[%s:%s]", together, own, filters, d, step)
	if name, q, ok := strings.Cut(f, " "); ok {
		return fmt.Sprintf("%s(%s, %s)", name, q, inner)
	}
	return fmt.Sprintf("%s(%s)", f, inner)
}
