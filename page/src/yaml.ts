// A plan as YAML, for documents that have it as data only.

export function yaml(v: unknown, depth = 0): string {
  const pad = "  ".repeat(depth);
  if (Array.isArray(v)) return v.map((e) => pad + "- " + nested(e, depth)).join("");
  if (v && typeof v === "object") {
    return Object.entries(v).map(([k, e]) => {
      const empty = e && typeof e === "object" && Object.keys(e).length === 0;
      if (e && typeof e === "object" && !empty) return `${pad}${scalar(k)}:\n${yaml(e, depth + 1)}`;
      return `${pad}${scalar(k)}: ${empty ? (Array.isArray(e) ? "[]" : "{}") : scalar(e)}\n`;
    }).join("");
  }
  return pad + scalar(v) + "\n";
}

// nested is an item of a list, whose first line stands behind the dash.
function nested(e: unknown, depth: number): string {
  if (e && typeof e === "object" && Object.keys(e).length > 0) return yaml(e, depth + 1).slice((depth + 1) * 2);
  return (e && typeof e === "object" ? (Array.isArray(e) ? "[]" : "{}") : scalar(e)) + "\n";
}

function scalar(v: unknown): string {
  if (typeof v !== "string") return v === undefined ? "null" : JSON.stringify(v);
  const plain = /^[A-Za-z_/][\w ./:@%+,()=-]*$/.test(v) && !/: |:$| #| $/.test(v) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(v);
  return plain || /^\d+(\.\d+)?(ns|us|µs|ms|s|m|h)$/.test(v) ? v : JSON.stringify(v);
}
