// Columns of numbers travel as bytes, split into planes (all low bytes first) because those compress well.
import type { Col } from "./document";

const widths = { u8: 1, u16: 2, u32: 4, i32: 4, f32: 4, f64: 8 } as const;

// unpack gives the bytes of a page's planes: base64 of gzip.
export async function unpack(text: string): Promise<Uint8Array> {
  const packed = text.trim();
  if (packed === "") return new Uint8Array();
  const binary = atob(packed);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

// column reads one column. One that reaches beyond the bytes is empty: nothing is drawn rather than nonsense.
export function column(bytes: Uint8Array, col: Col | undefined): Float64Array {
  if (!col) return new Float64Array();
  const width = widths[col.t];
  const { o, n } = col;
  if (width === undefined || !(n > 0) || !(o >= 0) || o + n * width > bytes.length) return new Float64Array();
  const out = new Float64Array(n);
  const number = reader(col.t);
  const step = col.s || 1;
  let sum = 0;
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < width; k++) number.bytes[k] = bytes[o + k * n + i] as number;
    const v = number.read();
    sum = col.d ? sum + v : v;
    out[i] = sum * step;
  }
  return out;
}

// reader gives the number whose bytes, low ones first, are in bytes.
function reader(type: Col["t"]): { bytes: Uint8Array; read: () => number } {
  const view = new DataView(new ArrayBuffer(8));
  const reads = {
    u8: () => view.getUint8(0), u16: () => view.getUint16(0, true), u32: () => view.getUint32(0, true),
    i32: () => view.getInt32(0, true), f32: () => view.getFloat32(0, true), f64: () => view.getFloat64(0, true),
  };
  return { bytes: new Uint8Array(view.buffer), read: reads[type] };
}
