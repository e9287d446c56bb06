/** The memory of WebAssembly in this thread, which is where oxigraph keeps everything. */

interface Memory {
  readonly buffer: ArrayBuffer;
}
type Getter = (this: Memory) => ArrayBuffer;

/** The types of Node leave out `WebAssembly`. */
const { prototype } = (globalThis as unknown as { readonly WebAssembly: { readonly Memory: { readonly prototype: Memory } } }).WebAssembly
  .Memory;
const buffer = (Object.getOwnPropertyDescriptor(prototype, 'buffer') as { readonly get: Getter }).get;
let used: Memory | undefined;

// oxigraph does not hand out its memory; its code asks for this property after each growth.
Object.defineProperty(prototype, 'buffer', {
  configurable: true,
  enumerable: true,
  get(this: Memory) {
    used = this;
    return buffer.call(this);
  },
});

/** Bytes that oxigraph has taken; it gives none back. `memoryUsage` of Node 20 and 24 counts them as external, that of Node 26 does not. */
export const memoryBytes = (): number => used?.buffer.byteLength ?? 0;
