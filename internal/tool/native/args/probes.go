package args

import "fmt"

// scrape puts the pages of metrics instead of those of the plan file.
func (b *builder) scrape() {
	pages := b.flags["scrape"]
	if len(pages) == 0 {
		return
	}
	b.draft.Forget("probes.scrape")
	for i, u := range pages {
		b.draft.Put(fmt.Sprintf("probes.scrape[%d]", i), "--scrape", u)
	}
}
