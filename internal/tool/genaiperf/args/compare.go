package args

// CompareDir is where the charts of several runs go, and ChartsFile is the name of the
// file in it that describes them.
const (
	CompareDir = "compare"
	ChartsFile = "config.yaml"
)

func (b *builder) compare(read func(name string) ([]byte, error)) (*Action, error) {
	s := &b.a.Settings
	b.a.Command, s.Plots = Compare, true
	s.Faithful, s.Tokenizer, s.TokenizerGiven = b.given("faithful"), b.text("tokenizer", ""), true
	s.TokenizerRevision = b.text("tokenizer-revision", "")
	u, files := b.last("files")
	switch {
	case files && b.given("plot-config"):
		b.fault("--config", "cannot be combined with "+u.as, "give one of the two")
	case files:
		b.a.Charts, b.a.File = UsualCharts(u.text, CompareDir), CompareDir+"/"+ChartsFile
	case b.given("plot-config"):
		b.plotConfig(read)
	default:
		b.fault("compare", "the runs are missing", "give their profile exports with -f FILE FILE…")
	}
	b.allow("compare", "it takes -f, --config and --tokenizer", "files", "plot-config", "faithful", "tokenizer", "tokenizer-revision", "verbose", "release")
	return b.done()
}

// plotConfig takes the charts out of a file that describes them.
func (b *builder) plotConfig(read func(name string) ([]byte, error)) {
	name := b.text("plot-config", "")
	if read == nil {
		b.fault("--config", "files are not read here", "")
		return
	}
	text, err := read(name)
	if err != nil {
		b.fault("--config", err.Error(), "")
		return
	}
	b.readCharts(name, text)
}
