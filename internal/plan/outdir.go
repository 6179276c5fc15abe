package plan

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// The placeholders that the name of an output directory can have.
const (
	PlaceTime  = "{timestamp}"
	PlaceModel = "{model}"
	PlaceName  = "{name}"
)

// Placeholders are all of them.
func Placeholders() []string { return []string{PlaceTime, PlaceModel, PlaceName} }

// UnknownPlaceholder is a directory name's first part that looks like a placeholder and is none, or
// empty.
func UnknownPlaceholder(dir string) string {
	for _, found := range regexp.MustCompile(`\{[a-z_]+\}`).FindAllString(dir, -1) {
		if !slices.Contains(Placeholders(), found) {
			return found
		}
	}
	return ""
}

// FilledDir is the output directory with its placeholders filled in. What stands in their place
// is one part of a path, whatever the model or the run is called.
func (p *Plan) FilledDir(at time.Time) string {
	return strings.NewReplacer(PlaceTime, at.UTC().Format("20060102T150405Z"), PlaceModel, pathPart(p.Target.Model), PlaceName, pathPart(p.Name)).Replace(p.Output.Dir)
}

// longestPart is how many characters a part of a path may have, to fit a file name with the rest.
const longestPart = 100

// pathPart is a text as a part of a path that leads nowhere else.
func pathPart(s string) string {
	mapped := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, s)
	mapped = regexp.MustCompile(`-{2,}`).ReplaceAllString(mapped, "-")
	mapped = strings.Trim(mapped[:min(len(mapped), longestPart)], ".-")
	if mapped == "" {
		return "unnamed"
	}
	return mapped
}

// How an S3 server is addressed.
const (
	AddressingAuto    = "auto"
	AddressingVirtual = "virtual"
	AddressingPath    = "path"
)

// S3 is a bucket that reports are copied to. Credentials are those of the environment.
type S3 struct {
	Bucket     string
	Path       string
	Prefix     string
	Endpoint   string
	Region     string
	Addressing string
}

// GCS is a bucket of Google Cloud Storage that reports are copied to.
type GCS struct {
	Bucket string
	Path   string
	Prefix string
}
