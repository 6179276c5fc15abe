// Package promtext reads lines of the text format in which servers publish metrics.
package promtext

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Sample is one value of a metric.
type Sample struct {
	Name   string
	Labels string // name="value" pairs, sorted, with commas between them; empty: it has none
	Value  float64
}

// Reader reads samples and labels. It belongs to one goroutine.
type Reader struct {
	parser expfmt.TextParser
	labels map[string][]pair // that were asked for: the same come with every look at a page
}

type pair struct{ name, value string }

// NewReader makes a Reader.
func NewReader() *Reader {
	return &Reader{parser: expfmt.NewTextParser(model.UTF8Validation), labels: map[string][]pair{}}
}

// Sample reads the line of a sample, without OpenMetrics' time and exemplar behind the value.
func (r *Reader) Sample(line string) (Sample, error) {
	bare, _, _ := strings.Cut(line, " # ")
	var first error
	for _, text := range []string{line, bare, bare[:max(strings.LastIndexAny(bare, " \t"), 0)]} {
		s, pairs, err := r.read(text)
		if err != nil {
			first = cmp.Or(first, err)
			continue
		}
		var all []string
		for _, p := range pairs {
			all = append(all, Pair(p.name, p.value))
		}
		slices.Sort(all)
		s.Labels = strings.Join(all, ",")
		return s, nil
	}
	return Sample{}, fmt.Errorf("%w in %.60q", first, line)
}

// read lets the library read a line: without a type it takes any for a lone value.
func (r *Reader) read(line string) (Sample, []pair, error) {
	families, err := r.parser.TextToMetricFamilies(strings.NewReader(line + "\n"))
	var syntax expfmt.ParseError
	if errors.As(err, &syntax) {
		err = errors.New(syntax.Msg) // without its line, which is always the first
	}
	if err != nil {
		return Sample{}, nil, err
	}
	for name, family := range families {
		m := family.GetMetric()[0]
		var pairs []pair
		for _, l := range m.GetLabel() {
			pairs = append(pairs, pair{l.GetName(), l.GetValue()})
		}
		return Sample{Name: name, Value: m.GetUntyped().GetValue()}, pairs, nil
	}
	return Sample{}, nil, errors.New("no sample")
}

// Label is the value of the first of some labels that there is; empty: there is none.
func (r *Reader) Label(labels string, names ...string) string {
	pairs, known := r.labels[labels]
	if !known {
		_, pairs, _ = r.read("x{" + labels + "} 0") // what cannot be read has no labels
		r.labels[labels] = pairs
	}
	for _, name := range names {
		for _, p := range pairs {
			if p.name == name && p.value != "" {
				return p.value
			}
		}
	}
	return ""
}

// Pair is a label as Sample.Labels has it.
func Pair(name, value string) string {
	if !model.LegacyValidation.IsValidLabelName(name) {
		name = quote(name)
	}
	return name + "=" + quote(value)
}

func quote(text string) string {
	if strings.ContainsAny(text, "\\\n\"") {
		text = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(text)
	}
	return `"` + text + `"`
}

// Has reports whether labels have a pair. Quotes within values are escaped: it stands nowhere else.
func Has(labels, pair string) bool {
	return strings.HasPrefix(labels, pair) || strings.Contains(labels, ","+pair)
}

// IsName reports whether a text can be the name of a metric that needs no quotes.
func IsName(text string) bool { return model.LegacyValidation.IsValidMetricName(text) }
