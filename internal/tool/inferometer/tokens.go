package inferometer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/run/target"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/tool"
)

func tokensManual() clidoc.Command {
	flags := clidoc.OfSet(new(tokensCommand).flags())
	for i := range flags {
		if flags[i].Name == "tokenizer" {
			flags[i].Takes = clidoc.AnyFile
		}
	}
	return clidoc.Command{
		Name:  "tokens",
		About: "Count, encode and decode tokens.",
		Usage: []clidoc.Usage{{Line: "inferometer tokens count|encode|decode [flags] [FILE...]"}, {Line: "inferometer tokens verify URL [flags] [FILE...]"}},
		Text: `Without FILE, standard input is read. count and encode treat each file as one text and print one line ` +
			`for it; with --json, each line is a text, written as a JSON string. decode reads one JSON array of IDs ` +
			`per line. verify compares with the server's own /tokenize (vLLM, SGLang, llama.cpp, TGI), text by text.`,
		Groups: []clidoc.Group{{Title: "Flags", Flags: flags}},
		Page:   "tokenizers", Takes: clidoc.AnyFile,
		Verbs: []clidoc.Verb{{Name: "count", Help: "count the tokens of a text"}, {Name: "encode", Help: "print the IDs of a text's tokens"}, {Name: "decode", Help: "print the text of token IDs"}, {Name: "verify", Help: "compare with a server's own tokenizer"}},
	}
}

type tokensCommand struct {
	env                 tool.Env
	verb                string
	tokenizer, revision string
	asJSON, special     bool
	model, keyEnv       string
	args                []string
}

// Tokens counts, encodes and decodes text.
func Tokens() tool.Tool {
	return tool.Tool{Name: "tokens", Summary: "count, encode and decode tokens", Manual: tokensManual, Run: tokensMain}
}

func (c *tokensCommand) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("inferometer tokens", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&c.tokenizer, "tokenizer", token.Builtin, "tokenizer: file, directory, Hugging Face ID, or a built-in one")
	flags.StringVar(&c.revision, "revision", "", "branch, tag or commit of a Hugging Face ID (default main)")
	flags.BoolVar(&c.asJSON, "json", false, "each line of input is a JSON string (decode: of output)")
	flags.BoolVar(&c.special, "special", false, "add the special tokens that the model's own tokenizer adds (decode: print them)")
	flags.StringVar(&c.model, "model", "", "verify: model name, for servers that need it")
	flags.StringVar(&c.keyEnv, "api-key-env", "", "verify: environment variable with the API key")
	return flags
}

func tokensMain(env tool.Env, line []string) int {
	env.ResetInterrupts()
	c := tokensCommand{env: env}
	flags := c.flags()
	err := flags.Parse(line)
	if errors.Is(err, pflag.ErrHelp) || (err == nil && flags.NArg() == 0 && len(line) == 0) {
		return env.PrintHelp(tokensManual(), true)
	}
	if err != nil {
		return env.Fail("tokens", fmt.Errorf("%w%s; inferometer tokens --help lists the flags", err, tool.NearestFlag(flags, err)), tool.ExitUsage)
	}
	verbs := []string{"count", "encode", "decode", "verify"}
	if c.verb = flags.Arg(0); !slices.Contains(verbs, c.verb) {
		return env.Fail("tokens", fmt.Errorf("unknown command %q: %s", c.verb, suggest.Hint(c.verb, verbs)), tool.ExitUsage)
	}
	c.args = flags.Args()[1:]
	return c.run()
}

func (c *tokensCommand) run() int {
	found, err := registry.Default(c.env.Getenv).Tokenizers(context.Background(), c.tokenizer, c.revision, plan.DefaultLimits())
	if err != nil {
		return c.env.Fail("tokens", err, tool.ExitUsage)
	}
	out := bufio.NewWriter(c.env.Stdout)
	code, err := c.work(found.Tokenizer, out)
	if full := out.Flush(); full != nil { // which is then what err is about, too
		code, err = tool.ExitRun, fmt.Errorf("writing the output: %w", full)
	}
	if err != nil {
		return c.env.Fail("tokens", err, code)
	}
	return code
}

// work does what is asked for. The code is that of the command, with an error or without.
func (c *tokensCommand) work(tok token.Tokenizer, out io.Writer) (code int, err error) {
	engine, exact := tok.(*token.Pipeline)
	if exact {
		for _, note := range engine.Notes() {
			fmt.Fprintf(c.env.Stderr, "%s: %s\n", tok.Name(), note)
		}
	}
	switch {
	case c.verb == "count":
		err = c.eachText(c.args, func(text string) error {
			n := tok.Count(text)
			if exact && c.special {
				n = len(engine.Encode(text, true))
			}
			if exact && engine.Err() != nil {
				return engine.Err()
			}
			_, err := fmt.Fprintln(out, n)
			return err
		})
	case !exact:
		err = fmt.Errorf("the tokenizer %s can only count: choose one with a vocabulary, such as %s", tok.Name(), token.Builtin)
	case c.verb == "encode":
		err = c.eachText(c.args, func(text string) error {
			ids := engine.Encode(text, c.special)
			if err := engine.Err(); err != nil {
				return err
			}
			return printJSON(out, append([]int32{}, ids...))
		})
	case c.verb == "decode":
		err = c.decode(out, engine)
	default:
		return c.verify(out, engine)
	}
	if err != nil {
		return tool.ExitUsage, err
	}
	return tool.ExitOK, nil
}

// printJSON prints a value on a line of its own.
func printJSON(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// eachText calls f for every text of the input.
func (c *tokensCommand) eachText(files []string, f func(text string) error) error {
	return c.eachFile(files, func(name string, data []byte) error {
		if !c.asJSON {
			return f(string(data))
		}
		return eachLine(name, data, func(line []byte) error {
			var text string
			if err := json.Unmarshal(line, &text); err != nil {
				return fmt.Errorf("not a JSON string: %w", err)
			}
			return f(text)
		})
	})
}

// eachFile calls f for every file, or for standard input.
func (c *tokensCommand) eachFile(files []string, f func(name string, data []byte) error) error {
	if len(files) == 0 {
		data, err := tool.Inputs().ReadAll(c.env.Stdin)
		if err != nil {
			return fmt.Errorf("reading standard input: %w", err)
		}
		return f("standard input", data)
	}
	for _, name := range files {
		data, err := tool.ReadFile(name)
		if err != nil {
			return err
		}
		if err := f(name, data); err != nil {
			return err
		}
	}
	return nil
}

// eachLine calls f for every line that is not empty, and says where it failed.
func eachLine(name string, data []byte, f func(line []byte) error) error {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := f(line); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	return nil
}

func (c *tokensCommand) decode(out io.Writer, engine *token.Pipeline) error {
	return c.eachFile(c.args, func(name string, data []byte) error {
		return eachLine(name, data, func(line []byte) error {
			var ids []int32
			if err := json.Unmarshal(line, &ids); err != nil {
				return fmt.Errorf("not a JSON array of token IDs: %w", err)
			}
			for _, id := range ids {
				if _, ok := engine.Token(id); !ok {
					fmt.Fprintf(c.env.Stderr, "note: %s has no token %d: left out\n", engine.Name(), id)
				}
			}
			text := engine.Decode(ids, !c.special)
			if err := engine.Err(); err != nil {
				return err
			}
			if !c.asJSON {
				_, err := fmt.Fprintln(out, text)
				return err
			}
			return printJSON(out, text)
		})
	})
}

// serverError is a server that could not be asked, as opposed to input that is bad.
type serverError struct{ error }

func (c *tokensCommand) verify(out io.Writer, engine *token.Pipeline) (code int, err error) {
	if len(c.args) == 0 || !strings.Contains(c.args[0], "://") {
		return tool.ExitUsage, errors.New("verify needs the server's URL: inferometer tokens verify http://localhost:8000 --tokenizer X FILE")
	}
	ask := target.TokenizeRequest{URL: c.args[0], Model: c.model, Special: c.special}
	if c.keyEnv != "" {
		if ask.Key = c.env.Getenv(c.keyEnv); ask.Key == "" {
			return tool.ExitUsage, fmt.Errorf("the environment variable %s, which should hold the API key, is empty", c.keyEnv)
		}
	}
	texts, different := 0, 0
	err = c.eachText(c.args[1:], func(text string) error {
		ask.Text = text
		theirs, err := target.Tokenize(context.Background(), ask)
		if err != nil {
			return serverError{err}
		}
		ours := engine.Encode(text, c.special)
		texts++
		if at := firstDifference(ours, theirs); at >= 0 {
			different++
			fmt.Fprintf(out, "text %d differs at token %d: %s has %s, the server %s; %d tokens here, %d there\n",
				texts, at, engine.Name(), idAt(engine, ours, at), idAt(engine, theirs, at), len(ours), len(theirs))
		}
		return engine.Err()
	})
	if err != nil {
		if errors.As(err, new(serverError)) {
			return tool.ExitRun, err
		}
		return tool.ExitUsage, err
	}
	fmt.Fprintf(out, "%d of %d texts have the same tokens\n", texts-different, texts)
	if different > 0 {
		return tool.ExitRun, nil
	}
	return tool.ExitOK, nil
}

// firstDifference is where two lists part; -1: nowhere.
func firstDifference(a, b []int32) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

// idAt is an id and the token that it is here.
func idAt(engine *token.Pipeline, ids []int32, i int) string {
	if i >= len(ids) {
		return "no more"
	}
	if _, ok := engine.Token(ids[i]); !ok {
		return fmt.Sprintf("%d (not a token here)", ids[i])
	}
	return fmt.Sprintf("%d (%q)", ids[i], engine.Decode(ids[i:i+1], false))
}
