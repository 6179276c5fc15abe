package repository

// IndexEntry is a line of the repository's index.
type IndexEntry struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	State   string `json:"state,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Index lists the models, or only those that are ready.
func (t *Repository) Index(ready bool) []IndexEntry {
	all := []IndexEntry{}
	for _, m := range t.All() {
		all = append(all, IndexEntry{Name: m.Name, Version: "1", State: "READY"})
	}
	if ready {
		return all
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	for name := range t.unloaded {
		all = append(all, IndexEntry{Name: name, Version: "1", State: "UNAVAILABLE", Reason: "unloaded"})
	}
	return all
}
