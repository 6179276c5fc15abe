package args

import (
	"net"
	"net/url"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/pattern"
	"github.com/inferometer/inferometer/internal/plan"
)

// hostAndPort is what is typed for a server without a scheme: a host with a port, localhost or an IP
// address, and possibly a path.
var hostAndPort = pattern.New(`^(localhost|[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/.*)?$`)

// schemed gives a server typed without a scheme the likely one; empty: it is no server.
func schemed(arg string) string {
	m := hostAndPort().FindStringSubmatch(arg)
	if m == nil {
		return ""
	}
	host, port := strings.Trim(m[1], "[]"), m[3]
	switch {
	case port == ":443":
		return "https://" + arg
	case port != "" || host == "localhost" || net.ParseIP(host) != nil:
		return "http://" + arg
	}
	return ""
}

// endpointOfPath picks the endpoint that the path of a URL ends in, where nothing else picks one.
func (b *builder) endpointOfPath() {
	for _, name := range []string{"endpoint", "protocol", "path"} {
		if b.given(name) || b.draft.Given("target."+name) {
			return
		}
	}
	urls := b.draft.Plan.Target.URLs
	if len(urls) == 0 {
		return
	}
	var protocol, endpoint string
	for i, raw := range urls {
		u, err := url.Parse(raw)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			return
		}
		p, e := servedAt(strings.TrimRight(u.Path, "/"))
		if i > 0 && (p != protocol || e != endpoint) {
			return
		}
		protocol, endpoint = p, e
	}
	if endpoint == "" {
		return
	}
	if protocol != plan.ProtocolOpenAI {
		b.draft.Put("target.protocol", "the URL's path", protocol)
	}
	b.draft.Put("target.endpoint", "the URL's path", endpoint)
}

// served is the server of a URL that was copied from where its models, metrics or health are.
func served(raw string) string {
	plain := strings.TrimRight(raw, "/")
	for _, path := range []string{"/v1/models", "/metrics", "/health"} {
		if server, ok := strings.CutSuffix(plain, path); ok {
			return server
		}
	}
	return raw
}

// servedAt is the API that a path is the usual one of.
func servedAt(path string) (protocol, endpoint string) {
	for _, known := range []struct{ path, protocol, endpoint string }{
		{"/v1/chat/completions", plan.ProtocolOpenAI, plan.EndpointChat},
		{"/v1/completions", plan.ProtocolOpenAI, plan.EndpointCompletions},
		{"/v1/responses", plan.ProtocolOpenAI, plan.EndpointResponses},
		{"/v1/embeddings", plan.ProtocolOpenAI, plan.EndpointEmbeddings},
		{"/v1/audio/transcriptions", plan.ProtocolOpenAI, plan.EndpointTranscriptions},
		{"/v1/images/generations", plan.ProtocolOpenAI, plan.EndpointImages},
		{"/v1/messages", plan.ProtocolAnthropic, plan.EndpointMessages},
	} {
		if strings.HasSuffix(path, known.path) {
			return known.protocol, known.endpoint
		}
	}
	return "", ""
}

// foreignPlan says whose configuration a file is that is no plan of ours, and what to type for it; empty: nobody
// else's that is known.
func foreignPlan(name string, data []byte) string {
	var top map[string]any
	if yaml.Unmarshal(data, &top) != nil {
		return ""
	}
	has := func(keys ...string) bool {
		for _, k := range keys {
			if _, ok := top[k]; !ok {
				return false
			}
		}
		return true
	}
	switch {
	case has("version") || has("target") || has("stages"):
		return ""
	case has("apiVersion", "kind"):
		return "a manifest of Kubernetes: inferometer help kubernetes"
	case has("load", "server") || has("load", "api"):
		return "an inference-perf config: inferometer inference-perf --config_file " + name
	case has("endpoint", "model_name") || has("perf_analyzer"):
		return "a GenAI-Perf config: inferometer genai-perf config -f " + name
	case has("services"):
		return "a Compose file, and no plan: inferometer run URL"
	}
	return ""
}
