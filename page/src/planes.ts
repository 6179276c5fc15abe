// Columns of numbers travel as bytes, split into planes (all low bytes first) because those compress well.
import type { Col } from "./document";

const widths = { u8: 1, u16: 2, u32: 4, i32: 4, f32: 4, f64: 8 } as const;

// unpack gives the bytes of a page's planes: base64 of gzip.
export async function unpack(text: string): Promise<Uint8Array> {
  const packed = text.trim();
  if (packed === "") return new Uint8Array();
  const bytes = decode(packed);
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

// decode reads base64, by the browser's own means where it has them.
function decode(text: string): Uint8Array<ArrayBuffer> {
  const own = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (own) return own.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// column reads one column. One that reaches beyond the bytes is empty: nothing is drawn rather than nonsense.
export function column(bytes: Uint8Array, col: Col | undefined): Float64Array {
  if (!col) return new Float64Array();
  const width = widths[col.t];
  const { o, n } = col;
  if (width === undefined || !(n > 0) || !(o >= 0) || o + n * width > bytes.length) return new Float64Array();
  const out = new Float64Array(n);
  if (col.t === "f32" || col.t === "f64") floats(bytes, o, n, width, out);
  else whole(bytes, o, n, col.t, out);
  const step = col.s || 1;
  if (!col.d && step === 1) return out;
  let sum = 0;
  for (let i = 0; i < n; i++) {
    sum = col.d ? sum + (out[i] as number) : (out[i] as number);
    out[i] = sum * step;
  }
  return out;
}

// whole reads whole numbers, byte by byte: there may be millions.
function whole(bytes: Uint8Array, o: number, n: number, type: Col["t"], out: Float64Array): void {
  for (let i = 0; i < n; i++) {
    let v = bytes[o + i] as number;
    if (type !== "u8") v |= (bytes[o + n + i] as number) << 8;
    if (type === "u32" || type === "i32") v |= ((bytes[o + 2 * n + i] as number) << 16) | ((bytes[o + 3 * n + i] as number) << 24);
    out[i] = type === "u32" ? v >>> 0 : v;
  }
}

function floats(bytes: Uint8Array, o: number, n: number, width: number, out: Float64Array): void {
  const view = new DataView(new ArrayBuffer(8));
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < width; k++) view.setUint8(k, bytes[o + k * n + i] as number);
    out[i] = width === 4 ? view.getFloat32(0, true) : view.getFloat64(0, true);
  }
}
