package planfile

import (
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestLimitsOfAPlan(t *testing.T) {
	p, err := load("p.yaml", []byte("target: {urls: http://localhost:1}\nlimits: {response: 2GiB, file: 0, header: 1000}\n"))
	if err != nil {
		t.Fatal(err)
	}
	l := p.Limits
	if l.Answer != 2<<30 || l.File != 0 || l.Header != 1000 || l.Stream != plan.DefaultLimits().Stream {
		t.Errorf("%+v", l)
	}
}
