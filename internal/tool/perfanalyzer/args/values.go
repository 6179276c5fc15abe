package args

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// sentence is an error in the original's words, which begin with a capital letter.
func sentence(format string, args ...any) error { return fmt.Errorf(format, args...) }

// orList is "a, b, or c".
func orList(words []string) string {
	if len(words) == 2 {
		return words[0] + " or " + words[1]
	}
	return strings.Join(words[:len(words)-1], ", ") + ", or " + words[len(words)-1]
}

func (s *settings) setComposing(value string) error {
	for model := range strings.SplitSeq(strings.Join(strings.Fields(value), ""), ",") {
		if model == "" {
			return invalid(value)
		}
		s.composing = append(s.composing, model)
	}
	return nil
}

// setRequestCount takes the number of requests. The first stands.
func (s *settings) setRequestCount(value string) error {
	var n int64
	if err := atLeast(&n, 1, "The value must be > 0.")(value); err != nil {
		return err
	}
	if s.action.RequestCount == 0 {
		s.action.RequestCount = n
	}
	return nil
}

// setPercentile takes a percentile. Whether it is one is verified with all options.
func (s *settings) setPercentile(value string) error {
	n, err := parseInteger(value)
	switch {
	case err != nil && strings.Trim(value, "+- ") != "" && strings.ContainsRune("0123456789", rune(strings.Trim(value, "+- ")[0])):
		return err
	case err != nil:
		n = 0 // as the original reads what is not a number
	}
	s.percentile, s.action.Percentile = int(n), max(int(n), 0)
	return nil
}

// setVariation takes the variation of the length of sequences, which is verified with all options.
func (s *settings) setVariation(value string) (err error) {
	s.variation, err = decimal(value)
	return err
}

func (s *settings) setPeriodic(value string) error {
	if !strings.Contains(value, ":") {
		return sentence("Both <start> and <end> values must be provided.")
	}
	r := &s.action.Periodic
	*r = Range{1, 1, 1}
	if err := span(r, natural)(value); err != nil {
		return err
	}
	switch {
	case r.Step == 0:
		return sentence("The <step> value must be > 0.")
	case r.Start > r.End:
		return sentence("The <start> must be <= <end>.")
	case int64(r.End-r.Start)%int64(r.Step) != 0:
		return sentence("The <step> value must be a factor of the range size (<end> - <start>).")
	}
	return nil
}

func (s *settings) setDistribution(value string) error {
	if value != "poisson" && value != "constant" {
		return sentence("Unsupported type provided: '%s'. Choices are 'poisson' or 'constant'.", printable(value))
	}
	s.action.Poisson = value == "poisson"
	return nil
}

// mostIntervals bounds a file of intervals: they become a part of the plan.
const mostIntervals = 1_000_000

// setIntervals reads a file of microseconds between requests.
func (s *settings) setIntervals(value string) error {
	if s.files.Kind(value) != "file" {
		return sentence("The value must be a valid file path")
	}
	data, err := s.files.Read(value)
	if err != nil {
		return err
	}
	s.intervals = nil
	for i, line := range strings.Split(string(data), "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		n, err := strconv.ParseInt(line, 10, 64)
		if err != nil || n < 0 || n > int64(24*time.Hour/time.Microsecond) {
			return sentence("%s:%d: %q is not a number of microseconds", value, i+1, shorten(line))
		}
		s.intervals = append(s.intervals, plan.Duration(time.Duration(n)*time.Microsecond))
	}
	switch {
	case len(s.intervals) == 0:
		return sentence("%s holds no intervals", value)
	case len(s.intervals) > mostIntervals:
		return sentence("%s holds more than %d intervals", value, mostIntervals)
	}
	return nil
}

func (s *settings) setSequenceLength(value string) error {
	n, err := parseInteger(value)
	if err != nil {
		return err
	}
	if n <= 0 {
		s.warn("The sequence length must be > 0. Perf Analyzer will use default value if it is measuring on sequence model.")
		return nil
	}
	s.sequenceLength = int(n)
	return nil
}

func (s *settings) setIDs(value string) error {
	first, last, ranged := strings.Cut(value, ":")
	if strings.Contains(last, ":") {
		return sentence("The value does not match <start:end>.")
	}
	start, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return invalid(value)
	}
	end := int64(1<<62 - 1)
	if ranged {
		if end, err = strconv.ParseInt(last, 10, 64); err != nil {
			return invalid(value)
		}
	}
	switch {
	case start < 0 || end < 0:
		return sentence("The range values must be >= 0.")
	case start > end:
		return sentence("The 'end' value must be greater than 'start' value.")
	}
	if start == 0 {
		s.warn("using an invalid start sequence id. Perf Analyzer will use default value if it is measuring on sequence model.")
		start = 1
	}
	s.firstID, s.ids = start, 0
	if ranged {
		s.ids, s.idsGiven = end-start, true
	}
	return nil
}

func (s *settings) setData(value string) error {
	switch {
	case s.files.Kind(value) != "":
		return s.addData(value)
	case value == "zero":
		s.zero = true
	case value == "random":
	default:
		return sentence("Unsupported type provided: '%s'. The available options are 'zero', 'random', path to a directory, or a json file.", printable(value))
	}
	return nil
}

func (s *settings) addData(name string) error {
	s.data = append(s.data, name)
	return nil
}

func (s *settings) setBatch(value string) error {
	n, err := parseInteger(value)
	if err != nil {
		return err
	}
	if n < 1 {
		return usage("Failed to parse -b (batch size). The value must be > 0.")
	}
	s.action.Batch = int(n)
	return nil
}

// setStart takes the start of a range of concurrency, as the option of old.
func (s *settings) setStart(value string) (err error) {
	s.action.Concurrency.Start, err = natural(value)
	return err
}

// setEnd takes the end of a range of concurrency, as the option of old.
func (s *settings) setEnd(value string) (err error) {
	s.action.Concurrency.End, err = natural(value)
	return err
}

// setShape takes NAME:D1,D2. The last shape of a name stands.
func (s *settings) setShape(value string) error {
	at := strings.LastIndexByte(value, ':')
	if at < 0 {
		return sentence("There must be a colon after input name.")
	}
	if at == 0 {
		return sentence("There is no input name before the colon.")
	}
	for d := range strings.SplitSeq(value[at+1:], ",") {
		n, err := strconv.ParseInt(d, 10, 64)
		if err != nil {
			return invalid(value)
		}
		if n <= 0 {
			return sentence("The dimensions of input tensor must be > 0.")
		}
	}
	for i, have := range s.shapes {
		if strings.HasPrefix(have, value[:at+1]) && !strings.Contains(have[at+1:], ":") {
			s.shapes[i] = value
			return nil
		}
	}
	s.shapes = append(s.shapes, value)
	return nil
}

func (s *settings) setParameter(value string) error {
	parts := strings.Split(value, ":")
	if len(parts) != 3 {
		return sentence("The value does not match <name:value:type>.")
	}
	name, text, kind := parts[0], parts[1], strings.ToLower(parts[2])
	s.parametersGiven = true
	switch kind {
	case "bool":
		s.parameters[name] = text == "true"
	case "int":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			s.badParameter = fmt.Sprintf("Failed to parse --request-parameter. '%s' is not a value of type int.", printable(text))
		}
		s.parameters[name] = int(n)
	case "string":
		s.parameters[name] = text
	default:
		s.warn("--request-parameter %s has no effect: its type is none of bool, int and string", printable(value))
	}
	return nil
}

func (s *settings) setProtocol(value string) error {
	s.protocol = strings.ToLower(value)
	return nil
}

func (s *settings) setHeader(value string) error {
	name, v, ok := strings.Cut(value, ":")
	if !ok || strings.TrimSpace(name) == "" {
		return sentence("The value does not match <name:value>.")
	}
	s.headers[strings.TrimSpace(name)] = strings.TrimSpace(v)
	return nil
}

// setCertificateType takes PEM: in that form alone certificates and keys are read.
func (s *settings) setCertificateType(value string) error {
	switch value {
	case "PEM":
		return nil
	case "DER":
		return sentence("DER is not supported: convert it to PEM with openssl x509 -inform der or openssl pkey -inform der.")
	}
	return sentence("Unsupported type provided: '%s'. The available options are 'PEM' or 'DER'.", printable(value))
}

func (s *settings) setCSV(value string) error {
	if s.files.Kind(value) == "dir" {
		return sentence("%s is a directory: name a file.", printable(value))
	}
	s.action.CSV = value
	return s.writable(value)
}

// writable says what stands in the way of a file that is written when all is measured.
func (s *settings) writable(name string) error {
	dir := filepath.Dir(name)
	switch {
	case name == "":
		return sentence("The value must be a file path.")
	case dir != "." && s.files.Kind(dir) != "dir":
		return sentence("There is no directory %s: create it, or choose another path.", printable(dir))
	}
	return nil
}

func (s *settings) setExport(value string) error {
	if s.files.Kind(value) != "" {
		if !s.isExport(value) {
			return sentence("Path must not already exist.")
		}
		s.warn("--profile-export-file: %s is an earlier export and will be replaced", printable(value))
	}
	s.action.Export = value
	return s.writable(value)
}

// isExport reports whether a file is one that this option writes: guides use the same name over and
// over.
func (s *settings) isExport(name string) bool {
	if s.files.Kind(name) != "file" {
		return false
	}
	text, err := s.files.Read(name)
	return err == nil && strings.HasPrefix(string(text[:min(len(text), 32)]), `{"experiments":[`)
}

func (s *settings) traced(name string, check func(string) error) func(string) error {
	return func(value string) error {
		if s.trace == nil {
			s.trace = map[string]string{}
		}
		s.trace[name] = strings.TrimSpace(value)
		return check(value)
	}
}

// verifyServer is whether the server's certificate is verified: in one of a few words, 0 is not.
func (s *settings) verifyServer(words ...string) func(string) error {
	return func(value string) error {
		if !slices.Contains(words, value) {
			return sentence("The value must be either %s.", orList(words))
		}
		s.tls.Insecure = s.tls.Insecure || value == "0"
		return nil
	}
}

func (s *settings) countVerbose(string) error {
	s.action.Verbose++
	return nil
}
