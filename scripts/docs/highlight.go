package main

import (
	"html"
	"regexp"
	"strings"
)

// highlight marks comments, texts, keys, flags and numbers in shell, YAML and JSON; all else stays as it is. A block
// that does not name its language is looked at.
func highlight(language, code string) string {
	code = strings.TrimRight(code, "\n") + "\n"
	if language == "" {
		language = guess(code)
	}
	switch language {
	case "console", "shell-session":
		return session(code)
	case "sh", "bash", "shell", "zsh":
		return shell(code)
	case "yaml", "yml":
		return yaml(code)
	case "json", "jsonl":
		return tokens(jsonTokens, code)
	}
	return html.EscapeString(code)
}

var (
	prompt  = regexp.MustCompile(`(?m)^\$ `)
	command = regexp.MustCompile(`^(?:[A-Z_]+=\S+ )*(?:inferometer|make|go|git|cd|curl|docker|podman|kubectl|helm|brew|npx|npm|uvx|pip|python3?|genai-perf|perf_analyzer|llm_perf|inference-perf|sudo|cat|tar|scripts/\S+|\./\S+|bin/\S+)(?: |\n)`)
	field   = regexp.MustCompile(`^(?:#[^\n]*\n)*(?:- )?[a-z_]+:(?: |\n)`)
)

func guess(code string) string {
	switch {
	case prompt.MatchString(code):
		return "console"
	case command.MatchString(code):
		return "sh"
	case field.MatchString(code):
		return "yaml"
	case strings.HasPrefix(code, "{"):
		return "json"
	}
	return ""
}

// session is commands behind prompts, and what they print.
func session(code string) string {
	var b strings.Builder
	goesOn := false
	for line := range strings.Lines(code) {
		rest, prompted := strings.CutPrefix(line, "$ ")
		switch {
		case prompted:
			b.WriteString(`<span class="prompt">$ </span>` + shell(rest))
		case goesOn:
			b.WriteString(shell(line))
		default:
			b.WriteString(`<span class="printed">` + html.EscapeString(line) + `</span>`)
		}
		goesOn = (prompted || goesOn) && strings.HasSuffix(strings.TrimRight(line, "\n"), `\`)
	}
	return b.String()
}

// What stands before a token, if anything, is in the group "before"; the other groups are classes of style.css.
var (
	shellTokens = regexp.MustCompile(`(?P<before>^|\s)(?:(?P<comment>#[^\n]*)|(?P<flag>--?[A-Za-z][\w-]*))|(?P<text>'[^']*'|"(?:[^"\\]|\\.)*")|(?P<variable>\$\w+|\$\{[^}]*\})`)
	yamlTokens  = regexp.MustCompile(`(?P<before>^|[\s,\[{])(?:(?P<comment>#.*)|(?P<number>-?\d[\d_.]*(?:ms|us|µs|s|m|h|k|%)?)(?:$|[\s,\]}])|(?P<text>'[^']*'|"(?:[^"\\]|\\.)*")|(?P<key>[A-Za-z_][\w.-]*): |(?P<word>true|false|null|~)(?:$|[\s,\]}]))`)
	yamlKey     = regexp.MustCompile(`^(\s*(?:- +)*)("[^"]*"|'[^']*'|[^\s#:{}\[\]"'-][^#:{}\[\]"']*)(:)(\s|$)`)
	jsonTokens  = regexp.MustCompile(`(?P<key>"(?:[^"\\]|\\.)*"\s*:)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<number>-?\b\d[\d.eE+-]*)|(?P<word>\b(?:true|false|null)\b)`)
	firstWord   = regexp.MustCompile(`^(\s*(?:[A-Z_]+=\S* )*)([\w./@-]+)`)
)

func shell(code string) string {
	var b strings.Builder
	goesOn := false
	for line := range strings.Lines(code) {
		if m := firstWord.FindStringSubmatch(line); m != nil && !goesOn {
			b.WriteString(html.EscapeString(m[1]) + `<span class="command">` + html.EscapeString(m[2]) + `</span>`)
			line = line[len(m[0]):]
		}
		b.WriteString(tokens(shellTokens, line))
		goesOn = strings.HasSuffix(strings.TrimRight(line, "\n"), `\`)
	}
	return b.String()
}

func yaml(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		if m := yamlKey.FindStringSubmatch(line); m != nil {
			b.WriteString(m[1] + `<span class="key">` + html.EscapeString(m[2]) + `</span>:`)
			line = line[len(m[1])+len(m[2])+1:]
		}
		b.WriteString(tokens(yamlTokens, line))
	}
	return b.String()
}

// tokens puts the groups of an expression into spans of their names.
func tokens(expression *regexp.Regexp, code string) string {
	var b strings.Builder
	for code != "" {
		m := expression.FindStringSubmatchIndex(code)
		if m == nil {
			break
		}
		end := m[1]
		for i, class := range expression.SubexpNames() {
			if from, to := m[2*i], m[2*i+1]; class != "" && class != "before" && from >= 0 {
				b.WriteString(html.EscapeString(code[:from]) + `<span class="` + class + `">` + html.EscapeString(code[from:to]) + `</span>`)
				end = to
			}
		}
		code = code[end:]
	}
	return b.String() + html.EscapeString(code)
}
