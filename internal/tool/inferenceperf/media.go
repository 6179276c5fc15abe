package inferenceperf

import (
	"sync"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

// mediaLog remembers what prompts have besides text: records know prompts by their hashes alone.
type mediaLog struct {
	shown sync.Map // []dialect.Medium by the hash of their prompt
}

func (l *mediaLog) media(hash uint64) []dialect.Medium {
	media, _ := l.shown.Load(hash)
	list, _ := media.([]dialect.Medium)
	return list
}

func (l *mediaLog) remember(p *prompt.Prompt) {
	media := appendMedia(nil, p.Parts)
	for i := range p.Messages {
		media = appendMedia(media, p.Messages[i].Parts)
	}
	if media != nil {
		l.shown.Store(p.Hash, media)
	}
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
