package inferenceperf

import (
	"context"
	"maps"
	"sync"

	"inferometer/internal/endpoint"
	"inferometer/internal/plan"
	"inferometer/internal/prompt"
	"inferometer/internal/run/kit"
	"inferometer/internal/tool/inferenceperf/dialect"
)

// gallery remembers what prompts show besides text: the records of their requests know
// the prompts by their hashes alone.
type gallery struct {
	mu    sync.Mutex
	shown map[uint64][]dialect.Medium
}

// of are the media of a prompt.
func (g *gallery) of(hash uint64) []dialect.Medium {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shown[hash]
}

// note remembers a prompt that shows something.
func (g *gallery) note(p *prompt.Prompt) {
	var media []dialect.Medium
	media = appendMedia(media, p.Parts)
	for i := range p.Messages {
		media = appendMedia(media, p.Messages[i].Parts)
	}
	if media == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shown == nil {
		g.shown = map[uint64][]dialect.Medium{}
	}
	g.shown[p.Hash] = media
}

// appendMedia appends the media among parts. Pictures that are frames make one video.
func appendMedia(media []dialect.Medium, parts []prompt.Part) []dialect.Medium {
	for i := range parts {
		p := &parts[i]
		m := dialect.Medium{Bytes: int64(len(p.Data)), Width: p.Width, Height: p.Height, Frames: p.Frames, Length: p.Length}
		switch {
		case p.Kind == prompt.Text:
			continue
		case p.Kind == prompt.Image && p.Frames > 1 && len(media) > 0:
			last := &media[len(media)-1]
			last.Bytes += m.Bytes
			last.Frames = p.Frames
			continue
		case p.Kind == prompt.Image && p.Frames == 0:
			m.Kind = dialect.Image
		case p.Kind == prompt.Audio:
			m.Kind = dialect.Audio
		default:
			m.Kind = dialect.Video
		}
		media = append(media, m)
	}
	return media
}

// through is a kit whose endpoints show the gallery every prompt.
func (g *gallery) through(k kit.Kit, protocol string) kit.Kit {
	inner, ok := k.Endpoints[protocol]
	if !ok {
		return k
	}
	k.Endpoints = maps.Clone(k.Endpoints)
	k.Endpoints[protocol] = func(t plan.Target, o endpoint.Options) (endpoint.Endpoint, error) {
		e, err := inner(t, o)
		if err != nil {
			return nil, err
		}
		return &viewed{Endpoint: e, gallery: g}, nil
	}
	return k
}

// viewed is an endpoint whose prompts a gallery sees.
type viewed struct {
	endpoint.Endpoint
	gallery *gallery
}

var (
	_ endpoint.Warmer  = (*viewed)(nil)
	_ endpoint.Stamper = (*viewed)(nil)
)

// Prepare encodes a request.
func (v *viewed) Prepare(p *prompt.Prompt) (endpoint.Call, error) {
	v.gallery.note(p)
	return v.Endpoint.Prepare(p)
}

// Warm opens connections ahead of the first wave, where the endpoint can.
func (v *viewed) Warm(ctx context.Context, n int) error {
	if w, ok := v.Endpoint.(endpoint.Warmer); ok {
		return w.Warm(ctx, n)
	}
	return nil
}

// KernelStamps reports whether reads carry the kernel's stamps.
func (v *viewed) KernelStamps() bool {
	s, ok := v.Endpoint.(endpoint.Stamper)
	return ok && s.KernelStamps()
}
