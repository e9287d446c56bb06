/**
 * Oxigraph's WebAssembly module. Everything imports it from here.
 *
 * V8 inlines calls from JavaScript into WebAssembly. Where the called function returns a reference to a JavaScript value, as those of
 * oxigraph do, V8 11.3 (Node 20) ends the process with "unreachable code" if the caller is deoptimised during the call: its
 * deoptimiser knows numbers only. Without that inlining the call goes through a separate frame, which has no such gap.
 */
import { setFlagsFromString } from 'node:v8';
import oxigraph from 'oxigraph';

// Read whenever V8 optimises a function, so that it holds for all that follows, in every thread.
setFlagsFromString('--no-turbo-inline-js-wasm-calls');

export default oxigraph;
